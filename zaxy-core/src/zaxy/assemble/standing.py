"""How a thing stands, by what the graph keeps of it: open, finished, blocked, failed, decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from zaxy.api.models import Entity, EntityRow
from zaxy.api.names import folded_name
from zaxy.text.status_words import (
    BLOCKED,
    DECIDED,
    DONE,
    FAILED,
    GOALS,
    LEFT_OFF,
    NEXT,
    OPEN,
    PROBLEMS,
    TASKS,
    state_of_value,
    status_words,
)  # fmt: skip

FINISHED = frozenset(("completed", "done", "closed", "resolved", "fixed", "cancelled", "abandoned", "rejected"))
DROPPED = frozenset(
    ("cancelled", "canceled", "abandoned", "rejected", "superseded", "withdrawn", "reverted", "obsolete")
)
ENDED = FINISHED | DROPPED
PENDING = frozenset(("proposed", "pending", "draft", "open", "deferred", "tentative", "undecided"))
WAITING = frozenset(("on hold", "on_hold", "waiting", "paused", "stalled"))
OPENING = frozenset(("opened", "raised", "reported", "reopened"))
CLOSING = frozenset(("closed", "resolved", "cleared", "lifted", "fixed", "done", "finished", "completed", "cancelled"))
"""The last parts of types that users invent: `incident.opened`, `incident.closed`."""
RUN = ("verification", "command_run")
NAMES = ("key", "id", "name", "title", "subject")
_SOME_FAILED = re.compile(r"\b[1-9]\d* (?:\w+ )?(?:fail|error)|\bfail(?:ed|s|ure)?\b(?<!\b0 failed)(?<!\bno failure)")

Name = tuple[str, str]
"""What kind of thing it is, and a name that it is known by, without case."""


def status_of(entity: Entity) -> str:
    return str(entity.properties.get("status") or "").lower()


def is_open(entity: Entity) -> bool:
    """Whether it is not finished, in whatever language its status is written."""
    status = status_of(entity)
    return status not in ENDED and (not status or state_of_value(status) != DONE)


def has_failed(entity: Entity) -> bool:
    """Whether a check or a command did not pass."""
    code = entity.properties.get("exit_code")
    said = [str(entity.properties[field]) for field in ("status", "result") if entity.properties.get(field)]
    if said:
        return state_of_value(said[0]) == FAILED
    if code is not None:
        return str(code) not in ("0", "")
    return _SOME_FAILED.search(entity.summary.casefold()) is not None


def has_state(entity: Entity, state: str, *, of_topic: bool) -> bool:
    """Whether a thing is in a state that was asked for; of a topic that was named also what is over tells how it is."""
    kind = entity.entity_type
    if kind == "event":
        return state in states_of_type(str(entity.properties.get("event_type", ""))) and is_open(entity)
    if kind == "hook_checkpoint":
        return _has_words(entity)
    if kind in ("handoff", "subagent_run"):
        return True
    if of_topic and (state in (LEFT_OFF, DONE) or (state == FAILED and kind == "issue")):
        return True
    return _HAS[state](entity)


def _decided(entity: Entity) -> bool:
    return entity.entity_type == "decision" and status_of(entity) not in DROPPED | PENDING


def _open(entity: Entity) -> bool:
    if entity.entity_type == "decision":
        return status_of(entity) in PENDING
    return has_failed(entity) if entity.entity_type == "verification" else is_open(entity)


def _blocked(entity: Entity) -> bool:
    if entity.entity_type in ("issue", "conflict"):
        return is_open(entity)
    if entity.entity_type == "verification":
        return has_failed(entity)
    status = status_of(entity)
    waits = status in WAITING or state_of_value(status) == BLOCKED or bool(entity.properties.get("blocked_by"))
    return waits and is_open(entity)


def _failed(entity: Entity) -> bool:
    return is_open(entity) if entity.entity_type in ("issue", "conflict") else has_failed(entity)


def _stands(entity: Entity) -> bool:
    return _decided(entity) if entity.entity_type == "decision" else is_open(entity)


def _done(entity: Entity) -> bool:
    return not is_open(entity) and status_of(entity) not in DROPPED


_HAS: dict[str, Callable[[Entity], bool]] = {
    DECIDED: _decided,
    BLOCKED: _blocked,
    OPEN: _open,
    NEXT: is_open,
    LEFT_OFF: _stands,
    FAILED: _failed,
    DONE: _done,
    GOALS: is_open,
    TASKS: is_open,
    PROBLEMS: _open,
}


def _has_words(entity: Entity) -> bool:
    """Whether a checkpoint has words of an agent: one without them is called by its trigger or its type."""
    return entity.name != entity.properties.get("trigger") and not entity.name.startswith(("hook.", "session."))


def last_of_each(rows: Iterable[EntityRow]) -> list[EntityRow]:
    """The rows, newest first, without checks and commands that were run again since."""
    found: dict[object, EntityRow] = {}
    for row in rows:
        again = row.entity.properties.get("command") if row.entity.entity_type in RUN else None
        found.setdefault(again or row.opened_seq, row)
    return list(found.values())


# Types that users invent


@lru_cache(4096)
def states_of_type(event_type: str) -> frozenset[str]:
    """The states that a type names: `blocker.raised` blocks, `incident.opened` is open, `session.wrapped` was left."""
    words = event_type.replace(".", " ").replace("_", " ").replace("-", " ")
    states = set(status_words(words).states) - {DONE}
    last = event_type.rpartition(".")[2]
    if last in CLOSING:
        return frozenset()
    if last in OPENING:
        states |= {OPEN, PROBLEMS}
    return frozenset(states | {LEFT_OFF} if event_type.startswith("session.") else states)


def closed_by(rows: Iterable[EntityRow]) -> dict[Name, int]:
    """The things that events of invented types close, such as `incident.closed`, and by which event."""
    closed: dict[Name, int] = {}
    for row in rows:
        noun, _, last = str(row.entity.properties.get("event_type", "")).rpartition(".")
        for name in names_of(row.entity) if last in CLOSING else ():
            closed.setdefault((noun, name), row.opened_seq)
    return closed


def is_closed(row: EntityRow, closed: dict[Name, int]) -> bool:
    entity = row.entity
    noun = str(entity.properties.get("event_type", "")).rpartition(".")[0] or entity.entity_type
    return any(closed.get((noun, name), 0) > row.opened_seq for name in names_of(entity))


def names_of(entity: Entity) -> set[str]:
    given = [str(entity.properties[field]) for field in NAMES if entity.properties.get(field)]
    return {folded_name(name) for name in (*given, entity.name)}
