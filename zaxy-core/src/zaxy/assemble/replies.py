"""What memory answers a program with. Fields are typed, and `as_dict` is the JSON that every surface shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from zaxy.api.models import Event
from zaxy.assemble.copies import Copy

JSON_NAMES = {
    "session": "session_id",
    "parent_session": "parent_session_id",
    "subagent_session": "subagent_session_id",
}
"""The fields that JSON calls by another name."""
FIELD_NAMES = {name: field for field, name in JSON_NAMES.items()}
JsonValues = dict[str, Any]


class TypedReply:
    """The base of replies whose fields are the JSON's own. A field that is None is not in the JSON."""

    __slots__ = ()

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Self:
        return cls(**{FIELD_NAMES.get(name, name): value for name, value in reply.items()})

    def as_dict(self) -> JsonValues:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {
            JSON_NAMES.get(name, name): value.as_dict() if isinstance(value, TypedReply) else value
            for name, value in values.items()
            if value is not None
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(TypedReply):
    """Where the work stands, what happened last, and what memory has on a question."""

    prompt: str
    """All of it as a text for a model."""
    session: str
    query: str
    context: Sequence[JsonValues]
    """What was found, each row with its citation."""
    replay: Sequence[JsonValues]
    """The last events."""
    working_set: JsonValues
    assembly_policy: JsonValues
    context_counts: Mapping[str, int]
    warnings: Sequence[str]
    notices: Sequence[str]
    truncated: bool
    tokens_used: int


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A turn of the conversation as it was recorded, and the context for the next one."""

    event: Event
    context: Context
    tokens_used: int

    def as_dict(self) -> JsonValues:
        return {"event": turn_receipt(self.event), **self.context.as_dict(), "tokens_used": self.tokens_used}


def turn_receipt(event: Event) -> JsonValues:
    return {"seq": event.seq, "citation": event.citation, "session_id": event.session}


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisRecord(TypedReply):
    """A composed answer as it was recorded, and what became of one of its candidates."""

    artifact_id: str
    """The SHA-256 of its content: the same answer of the same state has the same one."""
    artifact: JsonValues
    """The event that holds it; `replayed` if it was on record before."""
    candidate: JsonValues | None = None
    """As the artifact has it, if one was given."""
    outcome: JsonValues | None = None
    """The event that says what became of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities(TypedReply):
    """What a model should know of this memory."""

    name: str
    version: str
    what: str
    session: str
    eventloom: JsonValues
    """How the session's log stands: `status`, `events` and `head`."""
    tools: Mapping[str, str]
    call_rhythm: Sequence[str]
    refresh_when: Sequence[str]
    capture: JsonValues
    next: JsonValues
    """The call to make first: `tool` and `arguments`."""
    warnings: Sequence[str]
    tokens_used: int
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap(TypedReply):
    """The packet for a session's start."""

    session: str
    startup_sequence: Sequence[str]
    recommended_next: JsonValues
    trust_policy: Sequence[str]
    capture_status: str
    capabilities: Capabilities
    reminder: str | None = None
    tokens_used: int
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentCleanup(TypedReply):
    """What a subagent leaves to its parent."""

    parent_session: str
    subagent_session: str
    summary: str
    outcome: str | None = None
    events: int
    """How many the subagent had written."""
    integrity: JsonValues
    """Whether its log is intact: `status`, `head` and `erased`, and where it is `damaged` also `damage`."""
    cleaned: str | None = None
    completed: str
    """The citations of the two events that record it. In a log that is damaged nothing is recorded."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erased event, the event that records it, what could not be made to forget, and who else holds its words."""

    erased: str
    """The citation of the event whose payload is gone."""
    event: Event
    warnings: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()
    """Other events that hold its words, and still do."""
    erased_copies: tuple[Copy, ...] = ()
    """Those that were erased with it."""

    def as_dict(self) -> JsonValues:
        event = self.event
        recorded = {"seq": event.seq, "id": event.id, "hash": event.hash, "citation": event.citation}
        return {
            "erased": self.erased,
            **recorded,
            "session_id": event.session,
            "warnings": list(self.warnings),
            **({"copies": [copy.as_dict() for copy in self.copies]} if self.copies else {}),
            **({"erased_copies": [copy.as_dict() for copy in self.erased_copies]} if self.erased_copies else {}),
        }
