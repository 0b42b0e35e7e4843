"""What tools answer with, in the shapes that all surfaces share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.api.models import Event
from zaxy.eventloom.citation import SCHEME, short_citation
from zaxy.serve.served_tool import Call

MAX_SUMMARY_CHARS = 120
PLAIN = frozenset((int, float, bool, type(None)))
"""Kinds of values that cite nothing; most are of these."""
QUOTED = ("content", "prompt", "payload", "summary")


def appended(event: Event, replayed: bool = False) -> dict[str, Any]:
    """What an append answers."""
    place = {"seq": event.seq, "id": event.id, "hash": event.hash, "citation": short_citation(event.citation)}
    reply = {**place, "session_id": event.session}
    return {**reply, "replayed": True} if replayed else reply


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


def summary_of(answer: Mapping[str, Any]) -> str:
    """A few words on an answer that tell nothing of what it says: for the record of tool calls."""
    error = answer.get("error")
    if isinstance(error, Mapping) and "code" in error:
        return str(error["code"])[:MAX_SUMMARY_CHARS]
    results = answer.get("results")
    if isinstance(results, list):
        return f"{len(results)} results"
    quality = answer.get("quality")
    if isinstance(quality, Mapping) and "answerability" in quality:
        return str(quality["answerability"])[:MAX_SUMMARY_CHARS]
    return f"event {answer['seq']}" if isinstance(answer.get("seq"), int) else "answered"
