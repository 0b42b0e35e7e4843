"""The folders read in the order in which an event travels, and each imports only from those before it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from zaxy.plugins.sources import foreign_imports, imported_modules

TREE = Path(__file__).parents[1]
CORE = TREE / "zaxy-core" / "src" / "zaxy"
ORDER = """
    __init__ errors printing file_lock atomic_write tuples security user_state settings trust workspace token_count
    __main__ api plugins eventloom extract follow text graph
    retrieve assemble export observe memory clients owner setup terminal
    serve contracts commands
""".split()
KIT = TREE / "zaxy-core" / "src" / "zaxy_testkit"
TEMPLATES = CORE / "plugins" / "templates"


def part_of(module: str) -> str:
    """The folder or top-level module of `zaxy` that a dotted name belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def core_modules() -> list[Path]:
    return sorted(CORE.rglob("*.py"))


PUBLIC_NAMES = (CORE / "__init__.py", CORE / "api" / "__init__.py")
"""They name what is public for type checkers, and load each only when it is asked for."""


@pytest.mark.parametrize(
    "path", [path for path in core_modules() if path not in PUBLIC_NAMES], ids=lambda path: str(path.relative_to(CORE))
)
def test_a_module_imports_only_from_folders_that_stand_above_its_own(path: Path) -> None:
    own = path.relative_to(CORE).parts[0].removesuffix(".py")
    names = {name for name in imported_modules(path.read_text()) if name.split(".")[0] == "zaxy"}
    below = {name for name in names if part_of(name) != own and ORDER.index(part_of(name)) > ORDER.index(own)}
    assert not below, f"{own} may not import {sorted(below)}"


def test_the_core_takes_nothing_from_its_public_names_but_the_version() -> None:
    for path in core_modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "zaxy":
                assert [alias.name for alias in node.names] == ["__version__"], path


def test_every_folder_of_the_core_has_its_place_in_the_order() -> None:
    present = {path.relative_to(CORE).parts[0].removesuffix(".py") for path in core_modules()}
    assert present <= set(ORDER)


@pytest.mark.parametrize("folder", sorted((TREE / "plugins").iterdir()), ids=lambda folder: folder.name)
def test_a_plugin_imports_nothing_of_zaxy_but_its_api(folder: Path) -> None:
    for path in folder.rglob("src/**/*.py"):
        assert foreign_imports(path.read_text()) == [], path


def test_the_page_on_the_architecture_lists_the_tree_as_it_is_and_in_this_order() -> None:
    page = (TREE / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)(/|\.py)` \|", page[page.index("## The tree") : page.index("## What happens")], re.M)
    there = [(name, "/" if (CORE / name).is_dir() else ".py") for name in ORDER]
    assert rows == there
    assert all((CORE / f"{name}{ending}").exists() for name, ending in rows)


# The test kit and the templates


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.py")), ids=lambda path: path.stem)
def test_a_template_imports_nothing_of_zaxy_but_its_api_and_what_it_tests(path: Path) -> None:
    foreign = foreign_imports(path.read_text())
    tested = f"zaxy.plugins.templates.{path.stem.removeprefix('case_')}"
    assert set(foreign) <= {tested}


def test_the_kit_imports_only_what_finds_and_checks_plugins() -> None:
    names = {name for path in KIT.glob("*.py") for name in imported_modules(path.read_text())}
    used = {part_of(name) for name in names if name.split(".")[0] == "zaxy"}
    assert used == {"api", "contracts", "plugins", "settings"}


def test_the_only_cycle_is_that_of_the_templates_tests_and_the_kit() -> None:
    """Known until the kit, which imports the core, is a package of its own with the templates."""
    of_kit = [path for path in core_modules() if "zaxy_testkit" in imported_modules(path.read_text())]
    assert of_kit == sorted(TEMPLATES.glob("case_*.py"))


def test_commands_and_skins_do_not_import_each_other() -> None:
    for path in (CORE / "commands").glob("*.py"):
        names = imported_modules(path.read_text())
        shared = {f"zaxy.commands.{name}" for name in ("events", "hot", "hot_help", "options", "typer_options")}
        others = {name for name in names if name.startswith("zaxy.commands.")} - shared
        assert not others, f"{path.name} imports {others}"
