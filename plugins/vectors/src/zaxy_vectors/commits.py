"""What is committed of a session: how far it has been followed, and how many rows of its files count.

One small file for each session, which is replaced in one step. What the other files hold beyond it is not there.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

from zaxy.api import Cursor, Unavailable, atomic_file, own_folder_within, read_small_json

FORMAT = 1
MAX_BYTES = 65536
WIDTHS = {"vectors": 256, "codes": 32, "marks": 8}
"""The files of rows by their endings, with the bytes of a row."""
HEADER = 64
"""Bytes at the beginning of each, with the name of its generation."""


@dataclass(frozen=True, slots=True)
class Commit:
    cursor: Cursor
    count: int
    """How many rows are there."""
    checksum: int
    """Of the codes and marks of all of them."""
    generation: str
    """Stands at the beginning of each file: rows of an earlier build are none of this one."""
    model: str


class Folder:
    """The files of all sessions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, tuple[tuple[int, int, int], Commit | None]] = {}

    def path(self, session: str, ending: str) -> Path:
        """A file of a session. An id is safe as a name; one that is not is refused, wherever it came from."""
        if not session or session.startswith(".") or Path(session).name != session or "\0" in session:
            raise Unavailable(f"{session!r:.80} is no name for a file", "Use an id of letters, digits, '_', '.', '-'.")
        return self._folder / f"{session}.{ending}"

    def paths(self, session: str) -> tuple[Path, ...]:
        """The files of rows, in the order of `WIDTHS`."""
        return tuple(self.path(session, ending) for ending in WIDTHS)

    def are_there(self, session: str, commit: Commit) -> bool:
        """Whether the files are as long as they must be: what is mapped beyond their end cannot be read."""
        try:
            return all(
                os.stat(path).st_size >= HEADER + commit.count * width
                for path, width in zip(self.paths(session), WIDTHS.values(), strict=True)
            )
        except OSError:
            return False

    def commit(self, session: str) -> Commit | None:
        """What was last committed; None where that is nothing, or cannot be read."""
        path = self.path(session, "commit")
        try:
            status = os.lstat(path)
        except OSError:
            self._read.pop(session, None)
            return None
        version = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = self._read.get(session)
        if known is None or known[0] != version:
            if len(self._read) > 256:
                self._read.clear()
            known = self._read[session] = (version, _parsed(str(path)))
        return known[1]

    def store(self, session: str, commit: Commit) -> None:
        """Commit: after a crash there is the old one or the new one."""
        content = {**asdict(commit), "format": FORMAT}
        data = json.dumps({**content, "check": _check(content)}, indent=1).encode()
        with atomic_file(str(self.path(session, "commit"))) as file:
            file.write(data)

    def prepare(self) -> None:
        own_folder_within(str(self._folder.parent), self._folder.name, create=True)

    def wipe(self, session: str) -> None:
        """The commit goes first: what is left if this is interrupted belongs to nothing."""
        self._read.pop(session, None)
        for ending in ("commit", *WIDTHS):
            self.path(session, ending).unlink(missing_ok=True)
        unfinished = re.compile(rf"\.{re.escape(session)}\.commit\.[0-9a-f]+\.partial")
        for partial in self._folder.glob(".*.partial"):
            if unfinished.fullmatch(partial.name):
                with suppress(OSError):
                    partial.unlink()


def _parsed(path: str) -> Commit | None:
    try:
        found = read_small_json(path, MAX_BYTES)
        if found.pop("check") != _check(found) or found.pop("format") != FORMAT:
            return None
        return Commit(Cursor(**found.pop("cursor")), **found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _check(content: dict[str, object]) -> int:
    return crc32(json.dumps(content, sort_keys=True).encode())
