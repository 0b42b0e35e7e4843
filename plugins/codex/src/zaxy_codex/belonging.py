"""Which workspace a session belongs to, by the folders in which it worked, and whether it is a subagent's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname

from zaxy_codex.lines import COMPRESSED, lines_from, parsed
from zaxy_codex.origins import Origin, origin_of
from zaxy_codex.rollouts import Rollout

LOG_FOLDER = ".eventloom"
LOOKED_AT_ONCE = 64 << 20
"""Bytes that one search looks through; what is left over is looked through the next time."""
CHANGES = (b"session_meta", b"turn_context")


def real_folder(folder: str) -> str:
    """A folder as Codex tells it, in the one form in which folders are compared."""
    if folder.startswith("file://"):
        folder = url2pathname(unquote(urlparse(folder).path))
    return os.path.normcase(os.path.realpath(folder.removeprefix("\\\\?\\")))


def is_within(folder: str, workspace: Path) -> bool:
    """Whether work in that folder is the workspace's own; a folder below it may have a memory of its own."""
    if not folder:
        return False
    root, here = real_folder(str(workspace)), real_folder(folder)
    if here == root:
        return True
    if not here.startswith(root.rstrip(os.sep) + os.sep):
        return False
    while here != root:
        if os.path.isdir(os.path.join(here, LOG_FOLDER)):
            return False
        here = os.path.dirname(here)
    return True


def folder_of(record: dict[str, Any]) -> str:
    """The folder to which a record changes; empty if it does not."""
    payload = record.get("payload")
    if record.get("type") not in ("session_meta", "turn_context") or not isinstance(payload, dict):
        return ""
    cwd = payload.get("cwd")
    return cwd if isinstance(cwd, str) else ""


class Known(NamedTuple):
    """What was found out about a session so far."""

    reached: int = 0
    file: tuple[int, int] = (0, 0)
    """Size and time of the file when it was looked through; zeros while some of it is left."""
    folders: frozenset[str] = frozenset()
    origin: Origin | None = None
    """None before its first record."""


class Folders:
    """The folders in which each session worked, found by looking through each file once as it grows."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}

    def of(self, rollout: Rollout, room: int) -> tuple[Known, int]:
        """What was found so far, and how many bytes are left to look at in this search."""
        known = self._known.get(rollout.id, Known())
        try:
            status = rollout.path.stat()
        except OSError:
            return known, room
        state = (status.st_size, status.st_mtime_ns)
        if state == known.file or (known.reached and room <= 0):
            return known, room
        if not rollout.path.name.endswith(COMPRESSED) and status.st_size < known.reached:
            known = known._replace(reached=0)
        reached, left = known.reached, False
        for line in lines_from(rollout.path, reached):
            if any(word in line.data for word in CHANGES):
                known = _with_record(known, parsed(line.data))
            room -= line.end - reached
            reached, left = line.end, room <= 0
            if left:
                break
        self._known[rollout.id] = known = known._replace(reached=reached, file=(0, 0) if left else state)
        return known, room


def _with_record(known: Known, record: dict[str, Any]) -> Known:
    """What is known after a record that may say where the session works, and where it comes from."""
    folder, payload = folder_of(record), record.get("payload")
    if known.origin is None and record.get("type") == "session_meta":
        known = known._replace(origin=origin_of(payload if isinstance(payload, dict) else {}))
    return known._replace(folders=known.folders | {folder}) if folder else known
