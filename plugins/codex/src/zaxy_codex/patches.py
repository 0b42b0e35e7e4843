"""Which files a patch changed, and by how many lines: never what the lines say."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from zaxy.api import hunks_of, lines_in, numbers_of_edit, whole_file

BEGIN = "*** Begin Patch"
HEADINGS = {"*** Add File: ": "created", "*** Update File: ": "modified", "*** Delete File: ": "deleted"}
MOVED = "*** Move to: "
OPERATIONS = {"add": "created", "update": "modified", "delete": "deleted"}


class Edit(NamedTuple):
    path: str
    operation: str
    added: int = 0
    removed: int = 0
    numbers: Mapping[str, object] = MappingProxyType({})
    """Where those lines are, and how long the file was and became."""
    renamed_from: str = ""


def edits_in_patch(text: str) -> list[Edit]:
    """The edits of a patch in the form of the tool `apply_patch`."""
    edits: list[Edit] = []
    for line in text[text.find(BEGIN) :].splitlines() if BEGIN in text else ():
        heading = next((heading for heading in HEADINGS if line.startswith(heading)), "")
        if heading:
            edits.append(Edit(line.removeprefix(heading).strip(), HEADINGS[heading]))
        elif line.startswith(MOVED) and edits:
            path = line.removeprefix(MOVED).strip()
            edits[-1] = edits[-1]._replace(path=path, operation="renamed", renamed_from=edits[-1].path)
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
    kind, diff = str(change.get("type")), change.get("unified_diff")
    moved, content = change.get("move_path"), change.get("content")
    if isinstance(moved, str) and moved:
        numbers = numbers_of_edit(hunks_of(diff), None, None, change=diff)
        return Edit(moved, "renamed", *_counted(diff), numbers, path)
    text = content if isinstance(content, str) else ""
    lines = lines_in(text)
    if kind == "add":
        return Edit(path, "created", lines, 0, numbers_of_edit(whole_file(lines), "", text))
    if kind == "delete":
        return Edit(path, "deleted", 0, lines)
    numbers = numbers_of_edit(hunks_of(diff), None, None, change=diff)
    return Edit(path, OPERATIONS.get(kind, "modified"), *_counted(diff), numbers)


def _counted(diff: object) -> tuple[int, int]:
    """Lines added and removed by a unified diff."""
    lines = diff.split("\n") if isinstance(diff, str) else []
    body = [line for line in lines if not line.startswith(("+++ ", "--- "))]
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)
