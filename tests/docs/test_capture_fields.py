"""The page on capture adapters has the payload fields of each observation: those that hooks and our adapters write."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from zaxy.observe.hook_events import ALWAYS, COMMON, TRIGGERS, fields_of_type
from zaxy_codex import observed
from zaxy_codex.commands import Outcome
from zaxy_codex.patches import edits_of_changes

TREE = Path(__file__).parents[2]
PAGE = (TREE / "docs" / "plugins" / "capture_adapters.md").read_text(encoding="utf-8")
OF_EVERY_HOOK = (*ALWAYS, *COMMON, "note")
CHANGES = {
    "a.py": {"type": "add", "content": "a\n"},
    "b.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": "c.py"},
}
OF_EVERY_ADAPTER = ("source", "workspace")


def by_hooks() -> dict[str, list[str]]:
    return {
        trigger.type: [field for field in fields_of_type(trigger.type) if field not in OF_EVERY_HOOK]
        for trigger in TRIGGERS.values()
    }


def by_codex() -> dict[str, set[str]]:
    given = {"path": "a.py"}
    made = (
        observed.observed_turn("user", "Go on", 1),
        observed.observed_task("Go on", 1),
        observed.observed_end(),
        observed.observed_command("pytest", Outcome(0, "3 passed", 12)),
        *(observed.observed_edit(edit, "/work", "/work") for edit in edits_of_changes(CHANGES)),
        observed.observed_call("fetch", False, arguments=given, result={"text": "x"}, duration=0.5),
        observed.observed_compaction("so far"),
        observed.observed_rollback(2),
    )
    found: dict[str, set[str]] = {}
    for one in made:
        found.setdefault(one.type, set()).update(one.payload)
    return found


def by_claude_code(folder: Path) -> dict[str, set[str]]:
    """What is read off a session in which everything happens."""
    sys.path.insert(0, str(TREE / "plugins" / "claude-code" / "tests"))
    from session_writer import Claude, told

    claude = Claude(folder, folder / "work")
    patch = [{"lines": ["+a", "-b"]}]
    claude.write(
        claude.user("Run the tests"),
        claude.call("1", "Bash", command="pytest"),
        claude.result("1", "Exit code 1\nfailed", {"stdout": "3 failed", "stderr": "warning"}, is_error=True),
        claude.call("2", "Edit", file_path="a.py"),
        claude.result("2", "done", {"structuredPatch": patch}),
        claude.call("3", "WebFetch", url="x"),
        claude.result("3", "text", {"durationMs": 7}),
        claude.record("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 9}),
        claude.user("So far", isCompactSummary=True),
    )
    found: dict[str, set[str]] = {}
    for one in told(folder, folder / "work"):
        found.setdefault(one.type, set()).update(one.payload.keys() - set(OF_EVERY_ADAPTER))
    return found


def rows() -> dict[str, tuple[str, str]]:
    table = re.search(r"^\| observation \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table, "the page has no table of observations"
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table[1].splitlines()]
    return {row[0].strip("`"): (row[1], row[2]) for row in cells}


def listed(fields: list[str]) -> str:
    return ", ".join(f"`{field}`" for field in fields) or "-"


def test_the_page_has_the_fields_of_every_observation(tmp_path: Path) -> None:
    hooks, codex, claude = by_hooks(), by_codex(), by_claude_code(tmp_path)
    adapters = {type_: sorted(codex.get(type_, set()) | claude.get(type_, set())) for type_ in {**codex, **claude}}
    assert rows() == {
        type_: (listed(hooks.get(type_, [])), listed(adapters.get(type_, []))) for type_ in {**hooks, **adapters}
    }


def test_the_page_names_what_every_observation_has() -> None:
    assert f"A hook writes {listed(list(OF_EVERY_HOOK))} with each" in " ".join(PAGE.split())
    assert f"our adapters {listed(list(OF_EVERY_ADAPTER))}" in " ".join(PAGE.split())
