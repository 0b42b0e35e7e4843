"""Where Codex keeps its session files, and which session each one holds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
NAME = re.compile(rf"rollout-.*?(?P<thread>{UUID})(?:_(?P<rollout>{UUID}))?\.jsonl(?P<compressed>\.zst)?")
FOLDERS = ("sessions", "archived_sessions")


class Rollout(NamedTuple):
    """A session file. Its name, without what tells that it is compressed, never changes."""

    id: str
    thread: str
    path: Path


def codex_home(setting: object) -> Path:
    return Path(str(setting)) if setting else Path.home() / ".codex"


def find_rollouts(home: Path) -> dict[str, Rollout]:
    """Every session file by its id; while one is being compressed there are two, and the plain one counts."""
    found: dict[str, Rollout] = {}
    for folder in FOLDERS:
        for path in _files(home / folder):
            match = NAME.fullmatch(path.name)
            if match is None:
                continue
            name = match["thread"] + (f"_{match['rollout']}" if match["rollout"] else "")
            known = found.get(name)
            if known is None or (known.path.name.endswith(".zst") and not match["compressed"]):
                found[name] = Rollout(f"codex:{name}", match["thread"], path)
    return found


def _files(folder: Path) -> Iterator[Path]:
    """In order of the names, so oldest first. A folder that is not there has none."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(names))
