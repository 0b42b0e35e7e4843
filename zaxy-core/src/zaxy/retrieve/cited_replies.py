"""What tools answer with, in the shapes that all surfaces share: citations in short for models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zaxy.eventloom.citation import SCHEME, short_citation

if TYPE_CHECKING:
    from zaxy.api.models import Event
    from zaxy.api.tools import Call

PLAIN = frozenset((int, float, bool, type(None)))
"""Kinds of values that cite nothing; most are of these."""
QUOTED = ("content", "prompt", "payload", "summary")


def event_reply(event: Event, replayed: bool = False) -> dict[str, Any]:
    """What an append answers, with the whole citation."""
    reply = {"seq": event.seq, "id": event.id, "hash": event.hash, "citation": event.citation}
    reply["session_id"] = event.session
    return {**reply, "replayed": True} if replayed else reply


def appended(event: Event, replayed: bool = False) -> dict[str, Any]:
    """What an append answers to a model."""
    return {**event_reply(event, replayed), "citation": short_citation(event.citation)}


def cited_for(call: Call, answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as who asks for it gets it: a command shows whole citations, a model needs short ones."""
    return answer if call.from_command else with_short_citations(answer)


def with_short_citations(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The same answer with short citations wherever it cites; what memory quotes is left as it was said."""
    return {key: value if key in QUOTED or type(value) in PLAIN else _shortened(value) for key, value in answer.items()}


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return short_citation(value) if value.startswith(SCHEME) else value
    if isinstance(value, Mapping):
        return with_short_citations(value)
    if isinstance(value, list | tuple):
        return [_shortened(item) for item in value]
    return value
