"""The page on coordination says what the package does: its program, its commands, its tools and its packets."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from zaxy.contracts.packages import plugin_contract
from zaxy.plugins.manifest import COMMANDS_POINT, read_manifest
from zaxy_coordinate.packet_schema import PACKET
from zaxy_coordinate.standing import AUTHORITIES
from zaxy_coordinate.tools import TOOLS

PAGE = (Path(__file__).parents[2] / "docs" / "coordination.md").read_text(encoding="utf-8")
MANIFEST = read_manifest("zaxy_coordinate", "zaxy-coordinate")
ITEMS = plugin_contract(MANIFEST, "zaxy-coordinate")["items"]
WORDS = [provided.words for provided in MANIFEST.provides if provided.point == COMMANDS_POINT]
SHARED = ("--json", "--workspace", "--eventloom-path")
WITHOUT_SHARED = {"coordinate packet": {"--json"}, "coordinate sign": set(SHARED)}
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def rows(heading: str) -> list[list[str]]:
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_program_of_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    (example,) = EXAMPLE.findall(PAGE)
    done = subprocess.run([sys.executable, "-c", example[0]], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == (example[1], "")


def usage(words: str) -> list[str]:
    """A row of the table: the command with its arguments, and its options besides those that all have."""
    parameters = ITEMS[f"command {words}"]["parameters"]
    places = [one for one in parameters if not one["name"].startswith("--")]
    options = [one for one in parameters if one["name"].startswith("--") and one["name"] not in SHARED]
    named = [one["name"].upper() if one["required"] else f"[{one['name'].upper()}]" for one in places]
    shown = [f"`{one['name']}`{' (required)' if one['required'] else ''}" for one in options]
    return [f"`{' '.join(['zaxy', words, *named])}`", ", ".join(shown)]


def test_the_table_of_commands_has_each_with_its_arguments_and_options() -> None:
    assert rows("Commands") == [usage(words) for words in WORDS]


def test_all_commands_take_the_options_that_the_page_says_all_take() -> None:
    for words in WORDS:
        taken = {one["name"] for one in ITEMS[f"command {words}"]["parameters"]} & set(SHARED)
        assert taken == set(SHARED) - WITHOUT_SHARED.get(words, set()), words


def test_the_rhythm_names_every_tool_and_every_command() -> None:
    called = " ".join(row[1] for row in rows("The rhythm"))
    assert set(re.findall(r"`(coordination_\w+)`", called)) == {tool.name for tool in TOOLS}
    typed = {f"coordinate {name}" for row in rows("The rhythm") for name in re.findall(r"`([a-z]+)`", row[2])}
    assert typed == set(WORDS)


def test_the_table_of_authorities_has_each_of_them() -> None:
    assert {row[0].strip("`") for row in rows("States and authority")} == set(AUTHORITIES)


def test_the_table_of_a_packet_has_the_fields_of_its_schema() -> None:
    shown = [(row[0].strip("`"), row[1]) for row in rows("Approval packets")]
    required = PACKET["required"]
    assert shown == [(name, "yes" if name in required else "no") for name in PACKET["properties"]]
    assert ITEMS["schema approval_packet"]["schema"] == PACKET
