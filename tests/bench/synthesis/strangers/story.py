"""How a story is written down: named events, and questions that say which of them their answers rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.synthesis.history import Asked, History, Told

Question = tuple[str, str, str, float | str | None, str]
"""What is asked, the operation, the names of the needed events, what is right (None: nothing may be said), its unit."""


def story(name: str, language: str, told: Mapping[str, Told], *questions: Question) -> History:
    places = {name: place for place, name in enumerate(told)}
    asked = (
        Asked(ask, operation, tuple(places[name] for name in needed.split()), value, unit, operation == "order")
        for ask, operation, needed, value, unit in questions
    )
    return History(name, language, tuple(told.values()), tuple(asked))


def on(day: str, type_: str, actor: str = "app", **payload: Any) -> Told:
    """Something that was recorded with the day on which it happened."""
    when = day if "T" in day else f"{day}T09:00:00Z"
    return Told(type_, {**payload, "occurred_at": when}, actor)


def said(day: str, content: str, actor: str = "user", role: str = "user") -> Told:
    """A turn of a chat on that day."""
    return on(day, "transcript.turn", actor, role=role, content=content)
