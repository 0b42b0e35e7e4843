"""What an edit followed: the prompt before it, and the decisions that held then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from zaxy.api import Citation, EntityRow, LogAccess, MemoryAccess, ZaxyError, parent_session
from zaxy_why.edits import Edit, Record, when

TURN = "transcript.turn"
PARENT = "parent"
"""Who speaks to a subagent: the agent that started it."""
MAX_DECISIONS = 1000
MAX_OTHERS = 8
"""Other sessions of the workspace in which a decision is looked for."""

BETWEEN = "made between the prompt and the edit"
NAMES_FILE = "it names the file"
LATEST = "the latest one that held then: whether the edit followed it is not on record"


class Decision(NamedTuple):
    citation: str
    text: str
    at: str
    why: str
    """Why it is this one."""

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()


def prompt_of(edit: Edit, log: LogAccess, sessions: Sequence[str]) -> tuple[Record | None, Record | None]:
    """The user's words before an edit, and for a subagent the task that it was given."""
    session = str(edit.record["thread"])
    own = _last_turn(log, session, edit, before=edit.record["seq"])
    parent = parent_session(session, sessions)
    if not parent:
        return own, None
    task = own if own and own["payload"].get("speaker") == PARENT else None
    return _last_turn(log, parent, edit, before=None), task


def _last_turn(log: LogAccess, session: str, edit: Edit, *, before: int | None) -> Record | None:
    """The user's last turn before the edit, in the same session of the client where that can be known."""

    def is_wanted(record: Record) -> bool:
        payload = record.get("payload")
        return (
            record["type"] == TURN
            and isinstance(payload, dict)
            and payload.get("role") == "user"
            and when(record) <= edit.at
            and _is_same_conversation(payload, edit.payload)
        )

    try:
        return next(iter(log.newest(session, limit=1, before=before, wanted=is_wanted)[0]), None)
    except ZaxyError:
        return None


def _is_same_conversation(turn: dict[str, Any], edit: Any) -> bool:
    """A session of a workspace may hold several of its clients'."""
    one, other = str(turn.get("source", "")), str(edit.get("source", ""))
    files = turn.get("transcript_path"), edit.get("transcript_path")
    if all(files) and files[0] != files[1]:
        return False
    return one == other or other.startswith(f"{one}/")


def decision_of(edit: Edit, prompt: Record | None, *, memory: MemoryAccess, sessions: Sequence[str]) -> Decision | None:
    """The decision that held at the time of an edit and is nearest to it: of its own session, else of the others."""
    chain = [str(edit.record["thread"])]
    while parent := parent_session(chain[-1], sessions):
        chain.append(parent)
    others = [name for name in sessions if name not in chain and not parent_session(name, sessions)][:MAX_OTHERS]
    held = [[(name, row) for name in names for row in _held(memory, name, edit.at)] for names in (chain, others)]
    asked = when(prompt) if prompt else ""
    name = PurePosixPath(edit.path).name.casefold()
    rules: tuple[tuple[str, Callable[[EntityRow], bool]], ...] = (
        (BETWEEN, lambda row: bool(asked) and row.valid_from >= asked),
        (NAMES_FILE, lambda row: name in f"{row.entity.name} {row.entity.summary}".casefold()),
        (LATEST, lambda row: True),
    )
    for why, fits in rules:
        for group in held:
            if fitting := [one for one in group if fits(one[1])]:
                return _decision(*max(fitting, key=lambda one: one[1].valid_from), why)
    return None


def _held(memory: MemoryAccess, session: str, at: str) -> Sequence[EntityRow]:
    try:
        return memory.current(("decision",), session, valid_at=at, limit=MAX_DECISIONS)
    except ZaxyError:
        return ()


def _decision(session: str, row: EntityRow, why: str) -> Decision:
    citation = str(Citation(session, row.opened_seq, row.event_hash))
    return Decision(citation, row.entity.summary or row.entity.name, row.valid_from, why)
