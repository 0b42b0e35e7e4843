"""The folders read in the order in which an event travels, and each imports only from those before it."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from zaxy.command_table import COMMANDS
from zaxy.plugins.sources import foreign_imports, imported_modules

TREE = Path(__file__).parents[1]
CORE = TREE / "zaxy-core" / "src" / "zaxy"
ORDER = """
    __init__ errors printing file_lock atomic_write tuples security user_state settings trust projects workspace
    token_count
    command_table api rights plugins eventloom extract follow text graph
    retrieve assemble observe importing direct_reads questions writes model_tools memory access async_memory
    clients owner setup terminal
    serve contracts commands __main__
""".split()
KIT = TREE / "plugins" / "testkit" / "src" / "zaxy_testkit"
TEMPLATES = KIT / "templates"


def part_of(module: str) -> str:
    """The folder or top-level module of `zaxy` that a dotted name belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def core_modules() -> list[Path]:
    return sorted(CORE.rglob("*.py"))


PUBLIC_NAMES = (CORE / "__init__.py", CORE / "api" / "__init__.py", CORE / "api" / "access.py")
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


@pytest.mark.parametrize(
    "folder",
    sorted({project.parent for project in TREE.glob("plugins/*/pyproject.toml")} - {KIT.parents[1]}),
    ids=lambda folder: folder.name,
)
def test_a_plugin_imports_nothing_of_zaxy_but_its_api(folder: Path) -> None:
    for path in folder.rglob("src/**/*.py"):
        assert foreign_imports(path.read_text()) == [], path


def test_the_page_on_the_architecture_lists_the_tree_as_it_is_and_in_this_order() -> None:
    page = (TREE / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)(/|\.py)` \|", page[page.index("## The tree") : page.index("## What happens")], re.M)
    there = [(name, "/" if (CORE / name).is_dir() else ".py") for name in ORDER]
    assert rows == there
    assert all((CORE / f"{name}{ending}").exists() for name, ending in rows)


# The author kit and the templates


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.py")), ids=lambda path: path.stem)
def test_a_template_imports_nothing_of_zaxy_but_its_api(path: Path) -> None:
    assert foreign_imports(path.read_text()) == []


def test_the_kit_imports_only_what_finds_checks_and_describes_plugins() -> None:
    names = {name for path in KIT.rglob("*.py") for name in foreign_imports(path.read_text())}
    assert {part_of(name) for name in names} == {"__init__", "atomic_write", "contracts", "plugins", "settings"}


def test_the_core_imports_no_package_of_the_tree() -> None:
    """It finds them by their entry points, and the kit through `plugins/kit.py`: so there is no cycle.

    `plugins/bundles.py` names the types of zaxy-export, for type checkers alone.
    """
    packages = {path.name for path in (TREE / "plugins").glob("*/src/*")}
    for path in core_modules():
        if path == CORE / "plugins" / "bundles.py":
            assert "TYPE_CHECKING:\n    from zaxy_export import" in path.read_text()
            continue
        assert not {name.split(".")[0] for name in imported_modules(path.read_text())} & packages, path


def test_commands_and_skins_do_not_import_each_other() -> None:
    for path in (CORE / "commands").glob("*.py"):
        names = imported_modules(path.read_text())
        others = {name for name in names if name.startswith("zaxy.commands.")} - BEHIND_COMMANDS
        assert not others, f"{path.name} imports {others}"


# What is built in uses what packages may use

THE_PLATFORM = {
    "capture": "it starts and stops what watches clients",
    "completion": "it completes the words of all commands",
    "config": "it keeps the settings",
    "contracts": "it describes every surface",
    "demo": "it makes a workspace of its own to show",
    "doctor": "it examines what memory stands on",
    "hook_context": "it prints what stands in the log, and may not wait for a host of plugins",
    "hook_event": "it records hooks, and may not wait for a host of plugins",
    "hook_status": "it looks at what hooks and the watcher did",
    "hooks": "it writes the hooks of clients",
    "ide_config": "it writes the configuration of clients",
    "init": "it sets up a project",
    "plugins": "it finds and checks packages",
    "plugins_list": "it finds packages",
    "recording": "it says whether anything is recorded",
    "serve": "it serves tools of all packages",
    "trust": "it decides whose memory is believed",
    **dict.fromkeys(("__init__", "of_packages"), "it finds a command and runs it"),
    **dict.fromkeys(("doors", "log_of_command", "quick_append"), "it is what `CommandCall` leads to"),
    **dict.fromkeys(("hot", "hot_help", "options", "typer_options"), "it is offered in `zaxy.api`"),
    **dict.fromkeys(("event_names", "given", "moments"), "it is offered in `zaxy.api`"),
}
"""Modules of commands that are no commands over memory, and what they are instead."""
BEHIND_COMMANDS = {
    f"zaxy.commands.{name}"
    for name in "doors event_names given hot hot_help log_of_command moments options quick_append typer_options".split()
}

BUILT_IN_CLIENTS = sorted(
    provided["target"].partition(":")[0].rpartition(".")[2]
    for provided in json.loads((CORE / "plugins" / "zaxy-plugin.json").read_text(encoding="utf-8"))["provides"]
    if provided["point"] == "ide_config_writers"
)
NOT_FOR_PACKAGES = {
    "for_commands": "it is what commands ask of the owner of a graph, and no client may",
}
"""Tools of the core that need more than packages are given, and why."""


@pytest.mark.parametrize("name", BUILT_IN_CLIENTS)
def test_a_built_in_client_imports_nothing_of_zaxy_but_its_api(name: str) -> None:
    assert foreign_imports((CORE / "clients" / f"{name}.py").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted((CORE / "serve" / "tools").glob("*.py")), ids=lambda path: path.stem)
def test_a_built_in_tool_imports_nothing_of_zaxy_but_its_api(path: Path) -> None:
    foreign = foreign_imports(path.read_text(encoding="utf-8"))
    assert bool(foreign) == (path.stem in NOT_FOR_PACKAGES), foreign


@pytest.mark.parametrize("path", sorted((CORE / "commands").glob("*.py")), ids=lambda path: path.stem)
def test_a_built_in_command_over_memory_imports_nothing_of_zaxy_but_its_api(path: Path) -> None:
    foreign = foreign_imports(path.read_text(encoding="utf-8"))
    assert bool(foreign) == (path.stem in THE_PLATFORM), foreign


def test_a_built_in_command_over_memory_is_run_as_one_of_a_package_is() -> None:
    run_so = {row.module.rpartition(".")[2] for row in COMMANDS if row.attribute}
    assert run_so == {path.stem for path in (CORE / "commands").glob("*.py")} - THE_PLATFORM.keys()
