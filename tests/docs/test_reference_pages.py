"""The reference pages say what the code says: commands, error codes, settings and contracts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from zaxy.command_table import COMMANDS
from zaxy.contracts.diff import compare
from zaxy.contracts.packages import plugin_contract
from zaxy.contracts.snapshot import Item, Items, kit_items, live_contracts
from zaxy.errors import CODES, ZaxyError
from zaxy.plugins.manifest import COMMANDS_POINT, read_manifest
from zaxy.settings import SETTINGS

TREE = Path(__file__).parents[2]
DOCS = TREE / "docs"
MANIFESTS = {name: read_manifest(name.replace("-", "_"), name) for name in ("zaxy-export", "zaxy-why")}
CLI: Items = live_contracts()["cli"]["items"] | kit_items()
for name, manifest in MANIFESTS.items():
    CLI |= plugin_contract(manifest, name)["items"]
PROVIDED = [provided for manifest in MANIFESTS.values() for provided in manifest.provides]
OF_PACKAGES = ["plugins new", *(provided.words for provided in PROVIDED if provided.point == COMMANDS_POINT)]
WORDS = [*(command.words for command in COMMANDS), *OF_PACKAGES]


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """The text of a page under one heading of the second level."""
    match = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page(name), re.MULTILINE | re.DOTALL)
    assert match, f"docs/{name} has no section '## {heading}'"
    return match[1]


def table(text: str, first_column: str) -> list[tuple[str, ...]]:
    """The rows of the table whose first column has this title, with code marks kept."""
    match = re.search(rf"^\| {re.escape(first_column)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert match, f"there is no table whose first column is {first_column!r}"
    return [tuple(cell.strip() for cell in row.strip("|").split(" | ")) for row in match[1].splitlines()]


def usage(words: str) -> str:
    match = re.search(rf"^```\n(zaxy {words}\b[^`]*)\n```$", section("commands.md", f"zaxy {words}"), re.MULTILINE)
    assert match, f"the section of 'zaxy {words}' shows no usage"
    return match[1]


def documented_parameters(words: str) -> list[str]:
    rows = table(section("commands.md", f"zaxy {words}"), "argument or option")
    return [row[0].strip("`") for row in rows]


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    headings = re.findall(r"^## zaxy (.+)$", page("commands.md"), re.MULTILINE)
    assert [words for words in headings if words not in OF_PACKAGES] == [command.words for command in COMMANDS]
    assert sorted(headings) == sorted(WORDS)


@pytest.mark.parametrize("words", WORDS)
def test_a_commands_section_has_exactly_its_options_and_as_many_arguments(words: str) -> None:
    parameters = [parameter["name"] for parameter in CLI[f"command {words}"]["parameters"]]
    documented = documented_parameters(words)
    assert {name for name in documented if name.startswith("--")} == {n for n in parameters if n.startswith("--")}
    assert len(documented) == len(parameters)


@pytest.mark.parametrize("words", WORDS)
def test_a_commands_usage_names_its_parameters_in_order_with_optional_ones_in_brackets(words: str) -> None:
    shown = re.findall(r"\[?--[a-z/-]+(?: [A-Z]+)?\]?|\[?[A-Z]+\]?", usage(words))
    parameters = CLI[f"command {words}"]["parameters"]
    assert [word.strip("[]").split()[0] for word in shown] == documented_parameters(words)
    assert [word.startswith("[") for word in shown] == [not parameter["required"] for parameter in parameters]


@pytest.mark.parametrize("words", WORDS)
def test_a_commands_section_tells_exit_codes_and_json_and_shows_an_example(words: str) -> None:
    text = section("commands.md", f"zaxy {words}")
    assert "\nExit codes: " in text
    assert "\nThe JSON" in text
    assert re.search(rf"^\$ (?:[A-Z_]+=\S+ )?zaxy {words}\b.*\n(?!\$|```)", text, re.MULTILINE)


def test_every_error_code_is_documented_with_its_meaning_and_exit_code() -> None:
    assert table(page("commands.md"), "code | meaning | exit code") == [
        (f"`{code}`", meaning, str(ZaxyError(code, "", "").exit_code)) for code, meaning in CODES.items()
    ]


def test_the_configuration_table_is_the_one_that_the_code_has() -> None:
    assert table(page("configuration.md"), "variable") == [
        (f"`{setting.env}`", setting.kind, written(setting.default), setting.meaning) for setting in SETTINGS
    ]


def test_the_settings_that_only_the_environment_gives_are_named() -> None:
    only = [f"`{setting.env}`" for setting in SETTINGS if setting.environment_only]
    assert f"Environment only: {', '.join(only)}." in page("configuration.md")


def test_the_settings_of_our_packages_are_those_of_their_manifests() -> None:
    manifests = [json.loads(path.read_bytes()) for path in sorted(TREE.glob("plugins/*/src/*/zaxy-plugin.json"))]
    assert table(page("configuration.md"), "setting") == [
        (
            f"`{one['env']}`",
            f"zaxy-{manifest['name']}",
            one.get("type", "string"),
            written(one.get("default")) or "-",
            one["meaning"],
        )
        for manifest in manifests
        for one in manifest.get("settings", [])
    ]


def test_every_variable_that_the_code_reads_is_on_the_page_about_configuration() -> None:
    files = (*TREE.glob("zaxy-core/src/**/*.py"), *TREE.glob("plugins/*/src/**/*.py"))
    sources = [path.read_text(encoding="utf-8") for path in files]
    read = {name for text in sources for name in re.findall(r"""environ(?:\.get\(|\[)"([A-Z0-9_]+)\"""", text)}
    assert len(read) > 15
    assert sorted(name for name in read if f"`{name}`" not in page("configuration.md")) == []


def written(default: object) -> str:
    """A default as `zaxy config list` would print it."""
    if default in (None, (), []):
        return "-"
    return str(default).lower() if isinstance(default, bool) else str(default)


def test_every_contract_file_is_described_and_every_described_one_is_there() -> None:
    described = [row[0].strip("`") for row in table(page("contracts.md"), "file")]
    assert set(described) == {file.relative_to(TREE).as_posix() for file in (TREE / "contracts").rglob("*.json")}
    for row in table(page("contracts.md"), "file"):
        assert f'"{row[2].strip("`")}"' in (TREE / row[0].strip("`")).read_text(encoding="utf-8"), "its example is gone"


# How each row of the table of changes comes about: an item on that side, and what becomes of it.

Pair = tuple[Items, Items]
FIELD = {"name": "known", "type": "str", "required": True}
OPTIONAL = {"name": "known", "type": "str", "required": False}


def item_of(side: str, **described: object) -> Item:
    return {"side": side, "stability": "beta", "since": "0.1", **described}


def changed(**described: tuple[object, object]) -> Callable[[str], Pair]:
    """One item, of which each of these keys has another value afterwards."""
    old = {key: before for key, (before, _) in described.items()}
    new = {key: after for key, (_, after) in described.items()}
    return lambda side: ({"model Known": item_of(side, **old)}, {"model Known": item_of(side, **new)})


def added(name: str, beside: str = "model Known", **described: object) -> Callable[[str], Pair]:
    return lambda side: ({beside: item_of(side)}, {beside: item_of(side), name: item_of(side, **described)})


OTHER = {**FIELD, "name": "other"}
ARGUMENT = {"name": "query", "required": True, "schema": {"type": "string", "maxLength": 900}}
SHORTER = {"name": "query", "required": True, "schema": {"type": "string", "maxLength": 90}}
REWORDED = {"name": "reason", "required": False, "schema": {"type": "string", "description": "Why"}}
METHOD = {"name": "go", "parameters": [], "returns": "None"}
CHANGES: dict[str, Callable[[str], Pair]] = {
    "an item is removed": lambda side: ({"model Known": item_of(side)}, {}),
    "an item is added": added("model New"),
    "a method is added to a Protocol that was there before": added("method Sink.new", "method Sink.known"),
    "a required manifest field is added": added("field new", "field known", required=True),
    "a parameter is removed": changed(parameters=([FIELD], [])),
    "parameters change places": changed(parameters=([FIELD, OTHER], [OTHER, FIELD])),
    "a required parameter is added": changed(parameters=([], [FIELD])),
    "an optional parameter is added": changed(parameters=([], [OPTIONAL])),
    "a parameter becomes required": changed(parameters=([OPTIONAL], [FIELD])),
    "a parameter becomes optional": changed(parameters=([FIELD], [OPTIONAL])),
    "a field is removed from a model": changed(fields=([FIELD], [])),
    "a required field is added to a model": changed(fields=([], [FIELD])),
    "an optional field is added to a model": changed(fields=([], [OPTIONAL])),
    "a field becomes required": changed(fields=([OPTIONAL], [FIELD])),
    "a field becomes optional": changed(fields=([FIELD], [OPTIONAL])),
    "a method is removed from an object that the core hands out": changed(methods=([METHOD], [])),
    "a method is added to an object that the core hands out": changed(methods=([], [METHOD])),
    "a provider loses a capability": changed(capabilities=(["follower"], [])),
    "a provider gains a capability": changed(capabilities=([], ["follower"])),
    "an event type no longer gives an entity type or a relation": changed(
        entities=(["task", "actor"], ["task"]), relations=(["has_task"], [])
    ),
    "an event type gives one more entity type or relation": changed(
        entities=(["task"], ["task", "actor"]), relations=([], ["has_task"])
    ),
    "a payload no longer has a field": changed(payload=(["text", "title"], ["text"])),
    "a payload has one more field": changed(payload=(["text"], ["text", "title"])),
    "an argument takes less, or something else": changed(parameters=([ARGUMENT], [SHORTER])),
    "an argument takes more, or is described in other words": changed(
        parameters=([SHORTER, REWORDED], [ARGUMENT, {**REWORDED, "schema": {"type": "string", "description": "How"}}])
    ),
    "arguments of Python by place: one is moved, taken out or put in between": changed(
        places=(["query", "session"], ["query", "limit", "session"])
    ),
    "arguments of Python by place: one comes after the others": changed(places=(["query"], ["query", "session"])),
    "stability is lowered": changed(stability=("stable", "beta")),
    "stability is raised": changed(stability=("beta", "stable")),
    "`summary` or `since` changes": changed(summary=("Old.", "New."), since=("0.1", "0.2")),
    "the type of a parameter or field changes": changed(fields=([FIELD], [{**FIELD, "type": "int"}])),
    "anything else changes: a return type, a setting's type or default, the side": changed(default=(1, 2)),
}


def test_the_table_of_changes_has_a_row_for_each_kind_of_change() -> None:
    assert [row[0] for row in table(page("contracts.md"), "change")] == list(CHANGES)


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_documented_with_the_verdict_that_the_comparison_gives(kind: str) -> None:
    documented = next(row[1:] for row in table(page("contracts.md"), "change") if row[0] == kind)
    for side, verdict in zip(("core", "plugin", "both"), documented, strict=True):
        if verdict != "-":
            old, new = CHANGES[kind](side)
            assert {change.verdict for change in compare(old, new)} == {verdict}, side
