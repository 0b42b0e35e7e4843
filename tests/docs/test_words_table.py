"""One table of words for Python, shell and MCP: the page has it, and it is what the code has."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from zaxy import Memory
from zaxy.assemble import records
from zaxy.contracts.packages import plugin_contract
from zaxy.contracts.snapshot import live_contracts
from zaxy.plugins.manifest import read_manifest

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
EVERY_COMMAND_HAS = ("--workspace", "--eventloom-path", "--json")
OF_BUNDLES = ("export", "import_bundle")
"""The words of a selector are those of the export contract."""


class Ability(NamedTuple):
    name: str
    python: str
    shell: str
    mcp: str


def rows(heading: str) -> list[list[str]]:
    section = PAGE.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


ABILITIES = [Ability(*cells) for cells in rows("## The same words on every surface")]
DIFFERENT = rows("### Words that differ")
ONLY = {(place, word) for place, word, _ in rows("### Words of one surface")}
CONTRACTS = live_contracts()
OF_EXPORT = plugin_contract(read_manifest("zaxy_export", "zaxy-export"), "zaxy-export")["items"]
COMMANDS = {**CONTRACTS["cli"]["items"], **OF_EXPORT}
TOOLS = {name: of for name, of in {**CONTRACTS["mcp-tools"]["items"], **OF_EXPORT}.items() if name.startswith("tool ")}


def method_words(name: str) -> list[str]:
    found: list[str] = []
    for one in inspect.signature(getattr(Memory, name)).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            found += getattr(records, re.sub(r"Unpack\[(\w+)\]", r"\1", one.annotation)).__annotations__
        elif one.name != "self":
            found.append(one.name)
    return found


def command_words(name: str) -> list[str]:
    parameters: list[dict[str, Any]] = COMMANDS[f"command {name}"]["parameters"]
    return [one["name"] for one in parameters if one["name"] not in EVERY_COMMAND_HAS]


def tool_words(name: str) -> list[str]:
    return [one["name"] for one in TOOLS[f"tool {name}"]["parameters"]]


def named(cell: str) -> tuple[str, list[str]]:
    """The name in a cell and the words behind it; a command's name is all before its first option or argument."""
    text = cell.strip("`")
    if "(" in text:
        name, _, words = text.removesuffix(")").partition("(")
        return name, [word for word in words.split(", ") if word]
    parts = text.split()
    first = next((number for number, part in enumerate(parts) if part[0] == "-" or part.isupper()), len(parts))
    return " ".join(parts[:first]), parts[first:]


@pytest.mark.parametrize("ability", ABILITIES, ids=lambda ability: ability.name)
def test_a_row_has_the_words_of_the_code_and_no_others(ability: Ability) -> None:
    for cell, words_of in ((ability.python, method_words), (ability.shell, command_words), (ability.mcp, tool_words)):
        if cell != "-":
            name, words = named(cell)
            assert words == words_of(name)


def test_every_tool_has_its_row() -> None:
    tools = {name.removeprefix("tool ") for name in TOOLS}
    assert {named(ability.mcp)[0] for ability in ABILITIES if ability.mcp != "-"} == tools


def test_every_method_has_its_row_or_is_python_alone() -> None:
    listed = {named(ability.python)[0] for ability in ABILITIES if ability.python != "-"}
    alone = set(re.findall(r"`(\w+)`", PAGE.split("\nPython alone has ", 1)[1].split(".\n", 1)[0]))
    methods = {name for name in dir(Memory) if not name.startswith("_")}
    assert listed | alone == methods and not listed & alone


def test_every_command_that_takes_a_session_has_its_row_or_is_the_shells_alone() -> None:
    listed = {named(ability.shell)[0] for ability in ABILITIES if ability.shell != "-"}
    said = PAGE.split("\nOf the commands that take a session, the shell alone has ", 1)[1].split("\n\n", 1)[0]
    alone = set(re.findall(r"`([a-z -]+)`", said)) - listed
    taking = {
        name.removeprefix("command ")
        for name, of in COMMANDS.items()
        if any(one["name"] == "--session-id" for one in of.get("parameters", ()))
    }
    assert taking - listed == alone


@pytest.mark.parametrize(
    "ability",
    [one for one in ABILITIES if one.python != "-" and named(one.python)[0] not in OF_BUNDLES],
    ids=lambda ability: ability.name,
)
def test_a_word_of_another_surface_is_pythons_own_or_listed_as_different(ability: Ability) -> None:
    _, own = named(ability.python)
    for column, cell in ((1, ability.shell), (2, ability.mcp)):
        if cell == "-":
            continue
        name, words = named(cell)
        for word in words:
            python = {row[0].strip("`") for row in DIFFERENT if f"`{word}`" in row[column].split(", ")}
            python.add(word.lower().removeprefix("--").replace("-", "_") if column == 1 else word)
            assert python & set(own) or (f"`{name}`", f"`{word}`") in ONLY, f"{name}: {word}"


def test_no_listed_difference_is_stale() -> None:
    shown = [{word for one in ABILITIES for word in named(one[column])[1]} for column in (1, 2, 3)]
    for row in DIFFERENT:
        for column, words in enumerate(shown):
            assert row[column] == "-" or {word.strip("`") for word in row[column].split(", ")} <= words
    places = {named(cell)[0]: named(cell)[1] for one in ABILITIES for cell in (one.shell, one.mcp) if cell != "-"}
    assert all(word.strip("`") in places[place.strip("`")] for place, word in ONLY)
