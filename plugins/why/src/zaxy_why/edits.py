"""Edits on record, and those of them that concern one file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from zaxy.api import LogAccess, ZaxyError

EDIT = "file.edit.applied"

Record = Mapping[str, Any]


class State(NamedTuple):
    """How long a file was at a moment; None where nobody knows."""

    lines: int | None = None
    bytes: int | None = None

    @property
    def is_known(self) -> bool:
        return self.lines is not None and self.bytes is not None


class Hunk(NamedTuple):
    """Lines that an edit replaced. A start is where they begin, also where there are none."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class Edit(NamedTuple):
    record: Record
    at: str
    """When it was made."""
    path: str
    """In the project, or whole if it is elsewhere."""
    renamed_from: str
    hunks: tuple[Hunk, ...]
    before: State
    after: State
    lines_changed: int | None
    """By how many lines it made the file longer."""
    bytes_changed: int | None

    @property
    def citation(self) -> str:
        return str(self.record["citation"])

    @property
    def payload(self) -> Mapping[str, Any]:
        payload: Mapping[str, Any] = self.record["payload"]
        return payload

    def as_dict(self) -> dict[str, Any]:
        kept = ("operation", "lines_added", "lines_removed", "source")
        about = {"citation": self.citation, "session_id": self.record["thread"], "at": self.at, "path": self.path}
        return {
            **about,
            "actor": self.record["actor"],
            **{key: self.payload[key] for key in kept if key in self.payload},
        }


class Edits(NamedTuple):
    """The edits of some sessions, oldest first, and the sessions that could not be read whole."""

    found: Sequence[Edit]
    damaged: Sequence[str]

    def of(self, names: Iterable[str]) -> list[Edit]:
        """Those of a file, by all the names that it had; what it was called before a rename counts too."""
        known = set(names)
        kept = []
        for edit in reversed(self.found):
            if edit.path in known:
                kept.append(edit)
                known |= {edit.renamed_from} if edit.renamed_from else set()
        return kept[::-1]


def edits_on_record(log: LogAccess, sessions: Iterable[str], since: str = "") -> Edits:
    """The edits of the sessions that were recorded from a moment on."""
    found: list[Edit] = []
    damaged: list[str] = []
    for session in sessions:
        try:
            found += [
                edit_of(record, log.folder)
                for record in log.of_types((EDIT,), session, since=since)
                if _is_edit(record)
            ]
            is_whole = log.state(session) == "ok"  # asked last: a log is known to be damaged once it was read
        except ZaxyError:
            is_whole = False
        damaged += [] if is_whole else [session]
    return Edits(sorted(found, key=lambda edit: (edit.at, edit.record["thread"], edit.record["seq"])), damaged)


def _is_edit(record: Record) -> bool:
    """Whether it says a path: one that was erased says nothing."""
    return isinstance((record.get("payload") or {}).get("path"), str)


def when(record: Record) -> str:
    """When something happened: capture records it later."""
    at = (record.get("payload") or {}).get("occurred_at")
    return at if isinstance(at, str) and at else str(record["time"])


def edit_of(record: Record, root: str) -> Edit:
    payload = record["payload"]
    hunks = _hunks(payload.get("hunks"))
    (lines_before, lines_after), (bytes_before, bytes_after) = (
        _pair(payload.get(name)) for name in ("file_lines", "file_bytes")
    )
    known = None if bytes_before is None or bytes_after is None else bytes_after - bytes_before
    changed = payload.get("bytes_changed") if known is None else known
    added, removed = payload.get("lines_added"), payload.get("lines_removed")
    counted = added - removed if type(added) is int and type(removed) is int else None
    folder = str(payload.get("workspace") or root)
    return Edit(
        record,
        when(record),
        place_in(root, str(payload["path"]), folder),
        place_in(root, str(payload["renamed_from"]), folder) if payload.get("renamed_from") else "",
        hunks,
        State(lines_before, bytes_before),
        State(lines_after, bytes_after),
        sum(hunk.new_lines - hunk.old_lines for hunk in hunks) if hunks else counted,
        changed if type(changed) is int else None,
    )


@cache
def place_in(root: str, path: str, folder: str) -> str:
    """A path as it stands in the project, with slashes; whole if it is elsewhere. `folder` is where it was named.

    A project that was moved since had its files below the folder that the client was in.
    """
    whole = os.path.normpath(os.path.join(root, folder, path))
    for base in dict.fromkeys((root, os.path.realpath(root))):
        for place in dict.fromkeys((whole, os.path.realpath(whole))):
            if place.startswith(os.path.join(base, "")):
                return place[len(os.path.join(base, "")) :].replace(os.sep, "/")
    if not os.path.isdir(folder) and whole.startswith(os.path.join(folder, "")):
        return whole[len(os.path.join(folder, "")) :].replace(os.sep, "/")
    return whole.replace(os.sep, "/")


def _hunks(value: object) -> tuple[Hunk, ...]:
    """The hunks of a payload; none where they are not what they should be."""
    rows = value if isinstance(value, list) else []
    if not all(isinstance(row, list) and len(row) == 4 and all(type(n) is int and n >= 0 for n in row) for row in rows):
        return ()
    return tuple(Hunk(*row) for row in rows)


def _pair(value: object) -> tuple[int | None, int | None]:
    if isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value):
        return value[0], value[1]
    return None, None
