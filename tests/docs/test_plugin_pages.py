"""The plugin pages say what the code says: hooks, Protocols, models, checks, manifest, examples, links and commands."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import zaxy.api
from zaxy.api import points
from zaxy.api.catalog import HOOK_FIELDS, POINTS, Point
from zaxy.command_table import COMMANDS
from zaxy.plugins.manifest import parse_manifest
from zaxy.plugins.manifest_fields import FIELDS, REQUIRED
from zaxy.plugins.roster import STATES
from zaxy_testkit.checks import checks_of
from zaxy_testkit.scaffold import plugin_files
from zaxy_testkit.suites import SUITES, PluginSuite
from zaxy_testkit.trial import TRIED

TREE = Path(__file__).parents[2]
CORE_SOURCES = TREE / "zaxy-core" / "src" / "zaxy"
PAGES = sorted((TREE / "docs" / "plugins").glob("*.md"))
ALL_PAGES = [TREE / "README.md", *sorted(TREE.glob("docs/**/*.md"))]
SECTIONS = [
    "Hook",
    "Protocol",
    "What each method does",
    "Models",
    "Capabilities",
    "A minimal example",
    "Checks",
]
ALSO_SHOWN: dict[str, tuple[type, ...]] = {
    "doctor_checks": (points.HealthFix,),
    "event_stores": (points.StoredLog,),
    "ide_config_writers": (points.ClientHooks,),
    "retrieval_lanes": (points.Follower, points.WordSimilarity, points.Reranker),
    "tool_packs": (points.ResourcePack, points.PromptPack),
}
"""Protocols that a point's page shows besides its own."""

each_point = pytest.mark.parametrize("point", POINTS.values(), ids=list(POINTS))
each_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def page(point: Point) -> str:
    return (TREE / "docs" / "plugins" / f"{point.name}.md").read_text(encoding="utf-8")


def plugins_page() -> str:
    return (TREE / "docs" / "plugins" / "README.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    match = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"there is no section '## {heading}'"
    return match[1]


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks in these languages, or in any, without what they are indented by."""
    fenced = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [
        re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        for indent, language, body in fenced
        if language in languages or not languages
    ]


def table(text: str, first_column: str) -> list[list[str]]:
    """The rows of the table whose first column has this title."""
    match = re.search(rf"^\| {re.escape(first_column)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert match, f"there is no table whose first column is {first_column!r}"
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in match[1].splitlines()]


def without_fences(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def protocols_of(point: Point) -> list[type]:
    return [getattr(points, point.protocol), *ALSO_SHOWN.get(point.name, ())]


def members(protocol: type) -> Iterator[tuple[str, FunctionType]]:
    """The methods and properties of a Protocol, those that it inherits from another one of ours included."""
    for base in protocol.__mro__:
        if base.__module__ == points.__name__:
            for name, member in vars(base).items():
                function = member.fget if isinstance(member, property) else member
                if isinstance(function, FunctionType) and not name.startswith("_"):
                    yield name, function


def written(name: str, function: FunctionType) -> str:
    """A signature as one would write it: annotations are texts, which `inspect` puts into quotes."""
    return f"def {name}{str(inspect.signature(function)).replace(chr(39), '')}"


def on_one_line(text: str) -> str:
    return re.sub(r",? \)", ")", re.sub(r"\s+", " ", text).replace("( ", "("))


# The pages of the points


@each_point
def test_a_point_has_a_page_whose_sections_come_in_the_same_order_as_everywhere(point: Point) -> None:
    assert page(point).startswith(f"# {point.name}\n\n")
    assert re.findall(r"^## (.+)$", page(point), re.MULTILINE) == SECTIONS


@each_point
def test_a_points_page_shows_its_hook(point: Point) -> None:
    assert blocks(section(page(point), "Hook"), "python") == [f"def {point.hook}() -> list[Provider]\n"]


@each_point
def test_a_points_page_shows_every_method_of_its_protocol_with_the_signature_that_the_code_has(point: Point) -> None:
    shown = on_one_line(" ".join(blocks(section(page(point), "Protocol"), "python")))
    for protocol in protocols_of(point):
        assert f"class {protocol.__name__}(" in shown
        for name, function in members(protocol):
            assert f"{written(name, function)}: ..." in shown


@each_point
def test_a_points_page_shows_no_method_that_its_protocol_does_not_have(point: Point) -> None:
    shown = re.findall(r"\bdef (\w+)\(", section(page(point), "Protocol"))
    assert sorted(shown) == sorted(name for protocol in protocols_of(point) for name, _ in members(protocol))


@each_point
def test_a_points_page_says_what_each_method_must_do(point: Point) -> None:
    told = re.findall(r"\*\*`(\w+)`\*\*", section(page(point), "What each method does"))
    assert sorted(told) == sorted(name for protocol in protocols_of(point) for name, _ in members(protocol))


@each_point
def test_a_points_page_describes_every_model_that_its_protocol_speaks_of(point: Point) -> None:
    signatures = " ".join(written(*member) for protocol in protocols_of(point) for member in members(protocol))
    spoken_of = {name for name in re.findall(r"\w+", signatures) if is_model(name)}
    assert spoken_of <= set(re.findall(r"^### `(\w+)`$", section(page(point), "Models"), re.MULTILINE))


def is_model(name: str) -> bool:
    return name in dir(zaxy.api) and bool(fields(name))


def fields(model: str) -> list[tuple[str, str]]:
    """The names and types of a model's fields, with `=` after the type of one that has a default."""
    found = getattr(zaxy.api, model)
    if dataclasses.is_dataclass(found):
        return [
            (field.name, f"{field.type}{'' if is_required(field) else ' ='}") for field in dataclasses.fields(found)
        ]
    annotations = inspect.get_annotations(found) if hasattr(found, "_fields") else {}
    return [
        (name, f"{getattr(kind, '__forward_arg__', kind)}{' =' if name in found._field_defaults else ''}")
        for name, kind in annotations.items()
    ]


def is_required(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@each_page
def test_a_model_is_described_with_the_fields_that_the_code_has(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name, described in re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL):
        shown = [(row[0].strip("`"), row[1].strip("`").replace("\\|", "|")) for row in table(described, "field")]
        assert [(field, re.sub(r" = .*", " =", kind)) for field, kind in shown] == fields(name), name


@each_point
def test_a_points_page_lists_exactly_the_checks_of_its_suite_and_what_they_need(point: Point) -> None:
    text = section(page(point), "Checks")
    listed = re.findall(r"^- `(\w+)`: (.+?)(?=^- |\Z)", text, re.MULTILINE | re.DOTALL)
    needs = [(name, (re.findall(r"Needs\s+`([\w-]+)`", told) or [""])[0]) for name, told in listed]
    assert needs == [(known.name, known.needs) for known in checks_of(point.name)]
    assert f"`zaxy_testkit.{SUITES[point.name].__name__}`" in text
    assert f"`zaxy_testkit.{point.protocol}Case`" in text


@each_point
def test_the_example_on_a_points_page_is_code_that_is_tested(point: Point) -> None:
    """Most of it is what `zaxy plugins new` writes; of signing our own algorithm makes a better one."""
    example = section(page(point), "A minimal example")
    command = re.search(rf"`zaxy plugins new ([a-z-]+) --point {point.name}`", example)
    assert command, "the page says how to get the whole"
    templates = TREE / "plugins" / "testkit" / "src" / "zaxy_testkit" / "templates"
    tested = [
        (templates / f"{point.name}.py").read_text(encoding="utf-8"),
        plugin_files(command[1], point.name)["tests/test_conformance.py"],
        (TREE / "plugins" / "export" / "src" / "zaxy_export" / "ed25519.py").read_text(encoding="utf-8"),
    ]
    shown = blocks(example, "python")
    assert shown
    for block in shown:
        assert any(block in source for source in tested), block


# The page about memory


@pytest.mark.parametrize(
    ("name", "heading", "module"),
    [("memory.md", "", "access.py"), ("commands.md", "### The log alone\n", "log_access.py")],
)
def test_the_page_about_an_access_shows_every_method_as_the_code_has_it(name: str, heading: str, module: str) -> None:
    page = (TREE / "docs" / "plugins" / name).read_text(encoding="utf-8")
    text = re.split(r"^## ", page[page.index(heading) :], flags=re.MULTILINE)[0] if heading else page
    shown = on_one_line(" ".join(blocks(text, "python")))
    source = (CORE_SOURCES / "api" / module).read_text(encoding="utf-8")
    (protocol,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    methods = [node for node in protocol.body if isinstance(node, ast.FunctionDef)]
    assert len(methods) == shown.count("def ")
    for method in methods:
        lines = source.splitlines()[method.lineno - 1 : method.body[0].lineno - 1]
        assert on_one_line(" ".join(lines)).strip() in shown


# The page about plugins, and the one about the test kit


def test_the_table_of_points_has_each_point_with_its_built_in_providers_and_its_trial_call() -> None:
    builtin = json.loads((CORE_SOURCES / "plugins" / "zaxy-plugin.json").read_text(encoding="utf-8"))["provides"]
    expected = []
    for point in POINTS.values():
        names = [f"`{provided['name']}`" for provided in builtin if provided["point"] == point.name]
        link = f"[{point.name}]({point.name}.md)"
        expected.append(
            [
                link,
                point.summary,
                ", ".join(names) or "none",
                ", ".join(f"`{method}`" for method in TRIED.get(point.name, ())) or "nothing",
            ]
        )
    assert table(plugins_page(), "point") == expected


def test_the_manifest_is_described_with_the_fields_that_the_code_has() -> None:
    shown = [(row[0].strip("`"), row[1], row[2]) for row in table(section(plugins_page(), "The manifest"), "field")]
    assert shown == [
        (f"{place}.{field.key}" if place else field.key, field.kind, "yes" if field.default is REQUIRED else "no")
        for place, fields_there in FIELDS.items()
        for field in fields_there
    ]


def test_the_example_of_a_manifest_shows_every_field() -> None:
    (example,) = blocks(section(plugins_page(), "The manifest"), "json")
    manifest = json.loads(example)
    shown = {"": set(manifest), "api": set(manifest["api"])}
    lists = ("provides", "settings", "clients", "purposes", "event_types")
    shown |= {f"{key}[]": {field for item in manifest[key] for field in item} for key in lists}
    shown["provides[].lane"] = {field for item in manifest["provides"] for field in item.get("lane", ())}
    shown["clients[].options[]"] = {
        field for client in manifest["clients"] for row in client["options"] for field in row
    }
    assert shown == {place: {field.key for field in fields_there} for place, fields_there in FIELDS.items()}


def test_the_fields_of_a_hooks_json_are_shown_with_their_places() -> None:
    text = (TREE / "docs" / "plugins" / "ide_config_writers.md").read_text(encoding="utf-8")
    shown = {
        row[0].strip("`"): tuple(place.strip("`") for place in row[1].split(", "))
        for row in table(text, "field | places")
    }
    assert shown == HOOK_FIELDS


def test_the_states_are_the_ones_that_the_code_has() -> None:
    assert [row[0].strip("`") for row in table(plugins_page(), "state")] == list(STATES)


def test_the_test_kits_page_names_the_suite_and_the_case_of_each_point() -> None:
    text = (TREE / "docs" / "plugins" / "testkit.md").read_text(encoding="utf-8")
    assert table(text, "point") == [
        [f"[{name}]({name}.md)", f"`{SUITES[name].__name__}`", f"`{point.protocol}Case`"]
        for name, point in POINTS.items()
    ]
    tests = [name for name in vars(PluginSuite) if name.startswith("test_")]
    assert re.findall(r"^- `(test_\w+)`:", text, re.MULTILINE) == tests


# All plugin pages


@each_page
def test_the_json_on_a_page_is_json_and_a_manifest_on_it_is_accepted(path: Path) -> None:
    for block in blocks(path.read_text(encoding="utf-8"), "json"):
        if "manifest" in json.loads(block):
            assert parse_manifest(block.encode(), "acme-notes").unknown_keys == ()


@each_page
def test_a_command_on_a_page_is_one_that_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    in_blocks = re.findall(
        r"^(?:\$ )?(?:\w+=\S+ )*(?:\S+/)?zaxy ([a-z]+ [a-z-]+)", "\n".join(blocks(text)), re.MULTILINE
    )
    in_prose = re.findall(r"`zaxy ([a-z]+ [a-z-]+)[^`]*`", without_fences(text))
    known = {"plugins new", *(command.words for command in COMMANDS)}
    strange = {words for words in (*in_blocks, *in_prose) if not {words, words.split()[0]} & known}
    assert {words for words in strange if not words.startswith(("acme ", "glossary "))} == set()


def test_the_tutorial_uses_the_commands_that_an_author_needs() -> None:
    text = (TREE / "docs" / "plugins" / "tutorial.md").read_text(encoding="utf-8")
    used = set(re.findall(r"^(?:\$ )?(?:\w+=\S+ )?zaxy ([a-z]+ [a-z-]+)", "\n".join(blocks(text)), re.MULTILINE))
    assert used >= {"plugins new", "plugins list", "plugins show", "plugins check", "contracts pin", "contracts check"}
    points = {provided["point"] for provided in json.loads(blocks(text, "json")[0])["provides"]}
    assert points == {"commands", "event_types", "retrieval_lanes", "doctor_checks"}


@each_page
def test_no_line_of_a_page_is_longer_than_120_characters_unless_it_is_a_row_of_a_table(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


# Links, everywhere


@pytest.mark.parametrize("path", ALL_PAGES, ids=lambda path: str(path.relative_to(TREE)))
def test_a_relative_link_points_to_a_file_and_a_heading_that_are_there(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue  # it leads out of the tree
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as Git hosts make them."""
    headings = re.findall(r"^#+ (.+)$", without_fences(text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
