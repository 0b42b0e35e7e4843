"""Which workspace a session belongs to, by the folders in which it worked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname

from zaxy_codex.lines import COMPRESSED, lines_from, parsed
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


class Folders:
    """The folders in which each session worked, found by looking through each file once as it grows."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, tuple[int, int], set[str]]] = {}

    def of(self, rollout: Rollout, room: int) -> tuple[set[str], int]:
        """The folders found so far, and how many bytes are left to look at in this search."""
        reached, before, folders = self._known.get(rollout.id, (0, (0, 0), set()))
        try:
            status = rollout.path.stat()
        except OSError:
            return folders, room
        state = (status.st_size, status.st_mtime_ns)
        if state == before or (reached and room <= 0):
            return folders, room
        if not rollout.path.name.endswith(COMPRESSED) and status.st_size < reached:
            reached = 0
        complete = True
        for line in lines_from(rollout.path, reached):
            if any(word in line.data for word in CHANGES):
                folder = folder_of(parsed(line.data))
                folders = folders | {folder} if folder else folders
            room -= line.end - reached
            reached = line.end
            if room <= 0:
                complete = False
                break
        self._known[rollout.id] = (reached, state if complete else (0, 0), folders)
        return folders, room
