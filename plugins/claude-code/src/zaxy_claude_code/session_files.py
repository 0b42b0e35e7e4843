"""Where Claude Code keeps its sessions and those of its subagents, and which of them belong to a workspace."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

ENDING = ".jsonl"
LOG_FOLDER = ".eventloom"
SUBAGENT = "agent-"
SUBAGENTS = "subagents"
"""The folder in a session's own folder. Older versions put a subagent's transcript beside the sessions."""
CLIENTS_OWN_AGENTS = ("acompact-", "aprompt_suggestion-", "aside_question-")
"""Ids of agents that the client starts for itself, with a copy of the whole conversation before it."""
MAX_HEAD_CHARS = 1 << 20
"""So much of a file is searched for the folder that it was started in; the first turn names it."""
COMPARED = 150
"""Claude Code shortens very long folder names and adds a hash, so no more than this much is compared."""


class SessionFile(NamedTuple):
    path: Path
    id: str
    """Its place among the projects, without the ending."""
    session: str = ""
    """The session that it belongs to, where the place tells it."""
    agent: str = ""
    """The subagent's own id; empty for a session."""


class Head(NamedTuple):
    """What a transcript says of itself at its beginning."""

    folder: Path
    session: str


def session_files(config_folder: Path, workspace: Path) -> Iterator[SessionFile]:
    """The files whose project folder is named like the workspace or a folder in it: candidates, cheaply found."""
    paths = (str(workspace.absolute()), os.path.realpath(workspace))
    wanted = {_plain(normalize(form, path)) for path in paths for form in ("NFC", "NFD")} | {*map(_plain, paths)}
    for folder in _listed(config_folder / "projects"):
        name = _plain(folder.name)
        if any(name[:COMPARED].startswith(start[:COMPARED]) for start in wanted):
            for path in sorted(_listed(folder), key=lambda path: not path.name.endswith(ENDING)):  # sessions first
                yield from _files_at(path)


def head_of(file: Path) -> Head | None:
    """The folder and the session that a transcript names first; None while it names none, or cannot be read."""
    try:
        with file.open("rb") as lines:
            while lines.tell() < MAX_HEAD_CHARS and (line := lines.readline(MAX_HEAD_CHARS)):
                if b'"cwd"' in line and (head := _head_in(line)):
                    return head
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


def _files_at(path: Path) -> Iterator[SessionFile]:
    """A session, a subagent of an older version, or the subagents in the folder of a session."""
    project = path.parent.name
    if path.name.endswith(ENDING) and path.is_file():
        name = path.name.removesuffix(ENDING)
        agent = name.removeprefix(SUBAGENT) if name.startswith(SUBAGENT) else ""
        if not agent.startswith(CLIENTS_OWN_AGENTS):
            yield SessionFile(path, f"{project}/{name}", "" if agent else name, agent)
        return
    for file in sorted((path / SUBAGENTS).rglob(f"{SUBAGENT}*{ENDING}")):
        inner = file.relative_to(path.parent).as_posix().removesuffix(ENDING)
        agent = file.name.removesuffix(ENDING).removeprefix(SUBAGENT)
        if agent and not agent.startswith(CLIENTS_OWN_AGENTS):
            yield SessionFile(file, f"{project}/{inner}", path.name, agent)


def _head_in(line: bytes) -> Head | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    folder, session = (record.get("cwd"), record.get("sessionId")) if isinstance(record, dict) else (None, None)
    if not isinstance(folder, str) or not os.path.isabs(folder) or "\0" in folder:
        return None
    return Head(Path(folder), session if isinstance(session, str) else "")


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # most people do not use every client
        return []


def _plain(name: str) -> str:
    """Claude Code writes `/home/ann/my_shop` as `-home-ann-my-shop`; which characters it replaces has changed."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).lower()
