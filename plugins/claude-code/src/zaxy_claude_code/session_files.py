"""Where Claude Code keeps its sessions, and which of them belong to a workspace."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

ENDING = ".jsonl"
LOG_FOLDER = ".eventloom"
SUBAGENT = "agent-"
"""Older versions put a subagent's transcript beside the sessions; newer ones in a folder of the session."""
MAX_HEAD_CHARS = 1 << 20
"""So much of a file is searched for the folder that it was started in; the first turn names it."""
COMPARED = 150
"""Claude Code shortens very long folder names and adds a hash, so no more than this much is compared."""


def session_files(config_folder: Path, workspace: Path) -> Iterator[Path]:
    """The files whose project folder is named like the workspace or a folder in it: candidates, cheaply found."""
    paths = (str(workspace.absolute()), os.path.realpath(workspace))
    wanted = {_plain(normalize(form, path)) for path in paths for form in ("NFC", "NFD")} | {*map(_plain, paths)}
    for folder in _listed(config_folder / "projects"):
        name = _plain(folder.name)
        if any(name[:COMPARED].startswith(start[:COMPARED]) for start in wanted):
            for file in _listed(folder):
                if file.name.endswith(ENDING) and not file.name.startswith(SUBAGENT) and file.is_file():
                    yield file


def started_in(file: Path) -> Path | None:
    """The folder that the session itself names first; None while it names none, or cannot be read."""
    try:
        with file.open("rb") as lines:
            while lines.tell() < MAX_HEAD_CHARS and (line := lines.readline(MAX_HEAD_CHARS)):
                if b'"cwd"' in line and (folder := _folder_of(line)):
                    return Path(folder)
    except OSError:
        return None
    return None


def belongs_to(folder: Path, workspace: Path) -> bool:
    """Whether work in a folder is the workspace's own; a folder below it may have a memory of its own."""
    here, root = (normalize("NFC", os.path.normcase(os.path.realpath(path))) for path in (folder, workspace))
    if here != root and not here.startswith(os.path.join(root, "")):
        return False
    while here != root:
        if os.path.isdir(os.path.join(here, LOG_FOLDER)):
            return False
        here = os.path.dirname(here)
    return True


def _folder_of(line: bytes) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    folder = record.get("cwd") if isinstance(record, dict) else None
    return folder if isinstance(folder, str) and os.path.isabs(folder) and "\0" not in folder else ""


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # most people do not use every client
        return []


def _plain(name: str) -> str:
    """Claude Code writes `/home/ann/my_shop` as `-home-ann-my-shop`; which characters it replaces has changed."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).lower()
