"""Which files a patch changed, and by how many lines: never what the lines say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

BEGIN = "*** Begin Patch"
HEADINGS = {"*** Add File: ": "created", "*** Update File: ": "modified", "*** Delete File: ": "deleted"}
MOVED = "*** Move to: "
OPERATIONS = {"add": "created", "update": "modified", "delete": "deleted"}


class Edit(NamedTuple):
    path: str
    operation: str
    added: int = 0
    removed: int = 0


def edits_in_patch(text: str) -> list[Edit]:
    """The edits of a patch in the form of the tool `apply_patch`."""
    edits: list[Edit] = []
    for line in text[text.find(BEGIN) :].splitlines() if BEGIN in text else ():
        heading = next((heading for heading in HEADINGS if line.startswith(heading)), "")
        if heading:
            edits.append(Edit(line.removeprefix(heading).strip(), HEADINGS[heading]))
        elif line.startswith(MOVED) and edits:
            edits[-1] = edits[-1]._replace(path=line.removeprefix(MOVED).strip(), operation="renamed")
        elif line.startswith("+") and edits:
            edits[-1] = edits[-1]._replace(added=edits[-1].added + 1)
        elif line.startswith("-") and edits:
            edits[-1] = edits[-1]._replace(removed=edits[-1].removed + 1)
    return [edit for edit in edits if edit.path]


def edits_of_changes(changes: object) -> list[Edit]:
    """The edits that Codex lists by path once a patch was applied."""
    if not isinstance(changes, Mapping):
        return []
    return [_edit(str(path), change if isinstance(change, Mapping) else {}) for path, change in changes.items()]


def _edit(path: str, change: Mapping[str, Any]) -> Edit:
    kind = str(change.get("type"))
    moved = change.get("move_path")
    if isinstance(moved, str) and moved:
        return Edit(moved, "renamed", *_counted(change.get("unified_diff")))
    content = change.get("content")
    lines = len(content.splitlines()) if isinstance(content, str) else 0
    if kind == "add":
        return Edit(path, "created", lines)
    if kind == "delete":
        return Edit(path, "deleted", 0, lines)
    return Edit(path, OPERATIONS.get(kind, "modified"), *_counted(change.get("unified_diff")))


def _counted(diff: object) -> tuple[int, int]:
    """Lines added and removed by a unified diff."""
    lines = diff.splitlines() if isinstance(diff, str) else []
    body = [line for line in lines if not line.startswith(("+++ ", "--- "))]
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)
