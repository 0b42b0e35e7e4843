"""What a workspace is recorded to be: its beginning, once, and its instruction files whenever they have changed."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Any, NamedTuple

from zaxy import __version__
from zaxy.api.models import Event
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.eventloom.drafts import own_draft
from zaxy.eventloom.event_log import EventLog
from zaxy.security.small_files import read_named_file
from zaxy.workspace import Workspace

GENESIS, DISCOVERED = "session.genesis", "workspace.instructions.discovered"
INSTRUCTION_FILES = (
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "HERMES.md",
    ".claude/CLAUDE.md",
    ".cursorrules",
    ".windsurfrules",
    ".github/copilot-instructions.md",
)
RULE_FOLDERS = {".cursor/rules": ".mdc", ".github/instructions": ".md", ".claude/rules": ".md"}
MAX_FILES = 32
MAX_FILE = 8 << 20


class InstructionFile(NamedTuple):
    """A file that tells agents how to work here; of its text only the hash is kept."""

    path: str
    size: int
    sha256: str


class WorkspaceFacts(NamedTuple):
    """What the first event says of a workspace."""

    domain: str
    backend: str


class Missing(NamedTuple):
    genesis: bool
    instructions: tuple[InstructionFile, ...] | None
    """The instruction files as they are, where the log does not say so; None where it does."""

    @property
    def any(self) -> bool:
        return self.genesis or self.instructions is not None


def instruction_files(root: str) -> tuple[InstructionFile, ...]:
    """The instruction files of a project, in a fixed order; links are not followed."""
    names = list(INSTRUCTION_FILES)
    for folder, ending in RULE_FOLDERS.items():
        try:
            found = sorted(os.listdir(os.path.join(root, folder)))
        except OSError:
            continue
        names += [f"{folder}/{name}" for name in found if name.endswith(ending)]
    described = (_described(root, name) for name in names)
    return tuple(file for file in described if file is not None)[:MAX_FILES]


def _described(root: str, name: str) -> InstructionFile | None:
    path = os.path.join(root, *name.split("/"))
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE:
            return None
        data = read_named_file(path, MAX_FILE)
    except OSError:
        return None
    return InstructionFile(name, len(data), hashlib.sha256(data).hexdigest())


def missing_records(log: EventLog, session: str, root: str) -> Missing:
    """What a session's log does not say yet of the project in `root`. Nothing is written."""
    begun, known = _on_record(log, session)
    found = instruction_files(root)
    changed = [file._asdict() for file in found] != known
    return Missing(not begun, found if changed else None)


def record(
    log: EventLog, session: str, *, workspace: Workspace, missing: Missing, identity: WorkspaceFacts
) -> list[Event]:
    """Append what is missing, all at once."""
    drafts = []
    name = os.path.basename(workspace.root) or identity.domain
    if missing.genesis:
        about = {"workspace": name, "path": workspace.root, "version": __version__, **identity._asdict()}
        drafts.append(own_draft(GENESIS, OWN_ACTOR, {**about, "workspace_id": workspace.identity()}))
    if missing.instructions is not None:
        files = [file._asdict() for file in missing.instructions]
        drafts.append(own_draft(DISCOVERED, OWN_ACTOR, {"workspace": name, "files": files}))
    return log.append(session, drafts)


def _on_record(log: EventLog, session: str) -> tuple[bool, list[Any]]:
    """Whether a session's beginning is recorded, and the instruction files as they were recorded last."""
    begun, files = False, list[Any]()
    if session not in log.sessions():
        return begun, files
    for event in log.events(session):
        if event.type == GENESIS:
            begun = True
        elif event.type == DISCOVERED and event.payload is not None:
            recorded = event.payload.get("files")
            files = recorded if isinstance(recorded, list) else []
    return begun, files
