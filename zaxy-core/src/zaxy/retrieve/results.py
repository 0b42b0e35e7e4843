"""What a read of memory answers with: rows that each cite the log, within a budget of tokens."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from zaxy.api.models import JsonObject
from zaxy.errors import InvalidRequest
from zaxy.eventloom.citation import FULL, SHORT, parse_citation
from zaxy.extract.texts import cut
from zaxy.text.schema import Text

FARTHEST = 2**53
MAX_NAME_CHARS = 80
"""A longer name is made of the text."""
MAX_PLACE_CHARS = 160
"""Characters of a path, a title or a source that a row in brief shows."""


OF_ROWS = "content citation score event_type actor valid_from valid_to entity_name entity_type metadata foreign".split()
"""The fields of a result that its row has under the same names."""
GRAPH_LANES = ("exact", "keyword", "traversal")


@dataclass(frozen=True, slots=True)
class ScoreStep:
    """One part of a score: `raw` divided by the lane's best is `normalised`, times `weight` is what it adds."""

    lane: str
    raw: float
    normalised: float
    weight: float

    @property
    def weighted(self) -> float:
        return self.normalised * self.weight

    def as_dict(self) -> dict[str, Any]:
        values = {"raw": self.raw, "normalised": self.normalised, "weight": self.weight}
        return {"lane": self.lane, **{name: round(value, 4) for name, value in values.items()}}


@dataclass(frozen=True, slots=True)
class Result:
    content: str
    citation: str
    seq: int
    lane: str
    """The lane that weighs most in its score."""
    score: float
    steps: tuple[ScoreStep, ...]
    profile: str
    event_type: str
    actor: str
    valid_from: str
    valid_to: str = ""
    entity_name: str = ""
    entity_type: str = ""
    metadata: JsonObject = field(default_factory=dict)
    parts: JsonObject = field(default_factory=dict)
    """What the score over words is made of."""
    summary: str = ""
    properties: JsonObject = field(default_factory=dict)
    """What the graph keeps of its entity; for those who judge a result, and not shown."""
    foreign: bool = False
    """Whether it is of a log that this user neither wrote nor trusts."""
    meaning: float = 0.0
    """How far it stands out by its meaning, as a lane of a plugin says; for those who judge a result."""
    derived: tuple[JsonObject, ...] = ()
    """What extractors of plugins see in it that bears on the question: name, type, summary, and the extractor."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """The result that `as_dict` describes."""
        why = row["score_explanation"]
        return cls(
            seq=parse_citation(row["citation"]).seq,
            lane=why["source"],
            steps=tuple(ScoreStep(**step) for step in why["steps"]),
            profile=why["profile"],
            parts=why.get("words", {}),
            **{name: row[name] for name in OF_ROWS if name in row},
        )

    @property
    def source_lane(self) -> str:
        """`graph` for what the lanes of the graph found, else the lane itself."""
        return "graph" if self.lane in GRAPH_LANES else self.lane

    @property
    def statement(self) -> str:
        """What it says in a sentence: of an event whose payload is fields the summary, else its content."""
        return self.summary if self.summary and self.metadata.get("kind") == "event" else self.content

    def as_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "content": self.content,
            "citation": self.citation,
            "source_lane": self.source_lane,
            "score": round(self.score, 4),
            "score_explanation": {
                "source": self.lane,
                "profile": self.profile,
                "weighted_score": round(self.score, 4),
                "steps": [step.as_dict() for step in self.steps],
                **({"words": dict(self.parts)} if self.parts else {}),
            },
            "event_type": self.event_type,
            "actor": self.actor,
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
        }
        if self.entity_name:
            row |= {"entity_name": self.entity_name, "entity_type": self.entity_type}
        if self.foreign:
            row["foreign"] = True
        if self.derived:
            row["derived"] = list(self.derived)
        return {**row, "metadata": dict(self.metadata)}

    def explained(self) -> dict[str, Any]:
        """The row for a model that has room: every field, with where the score comes from and no sum."""
        why = {"source": self.lane, "weighted_score": round(self.score, 2)}
        row = {**self.in_brief(), "score_explanation": why}
        return {"valid_to": "", "metadata": {}, **row}

    def in_brief(self) -> dict[str, Any]:
        """The row as a model needs it: nothing that is empty, and nothing that another field says."""
        row: dict[str, Any] = {
            "content": self.content,
            "citation": self.citation[: SHORT - FULL],
            "source_lane": self.source_lane,
            "score": round(self.score, 2),
            "event_type": self.event_type,
            "actor": self.actor,
            "valid_from": _to_the_minute(self.valid_from),
        }
        if self.valid_to:
            row["valid_to"] = _to_the_minute(self.valid_to)
        if self.entity_type and not self.entity_name.startswith(f"{self.event_type}:"):
            is_text = len(self.entity_name) > MAX_NAME_CHARS or self.content.startswith(self.entity_name)
            row |= {**({} if is_text else {"entity_name": self.entity_name}), "entity_type": self.entity_type}
        if self.foreign:
            row["foreign"] = True
        if self.derived:
            row["derived"] = list(self.derived)
        if place := self._place():
            row["metadata"] = place
        return row

    def _place(self) -> dict[str, Any]:
        """Where it stands, without what the row says elsewhere: its kind by its type, a title by its name or text."""
        known = f"{self.entity_name}\n{self.content}"
        place = {key: one for key, one in self.metadata.items() if key != "kind"}
        if str(place.get("title", "")) in known:
            place.pop("title", None)
        return {key: cut(one, MAX_PLACE_CHARS) if isinstance(one, str) else one for key, one in place.items()}


def _to_the_minute(moment: str) -> str:
    return f"{moment[:16]}Z"


def source_lanes(results: Iterable[Result]) -> list[str]:
    return [result.source_lane for result in results]


@dataclass(frozen=True, slots=True)
class Answer:
    results: tuple[Result, ...]
    tokens_used: int
    truncated: bool
    """Whether there is more than was asked for or than fits into the budget."""
    next_cursor: str = ""
    warnings: tuple[str, ...] = ()
    """About trust: damage, a follower that lags or is frozen."""
    notices: tuple[str, ...] = ()
    """About service: a lane that dropped out, a question with nothing to look for."""
    has_room: bool = False
    """Whether its rows fit with all their fields, whole."""
    superseded: tuple[Text, ...] = ()
    """What would have come before the last of the results, but no longer holds."""
    replaced: Mapping[int, Text] = field(default_factory=dict)
    """By the seq of a result that came in its place: what would have come, but no longer holds."""

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Self:
        """The answer that `as_dict` describes."""
        return cls(
            results=tuple(map(Result.of, reply["results"])),
            tokens_used=reply["tokens_used"],
            truncated=reply["truncated"],
            next_cursor=reply["next_cursor"] or "",
            warnings=tuple(reply["warnings"]),
            notices=tuple(reply["notices"]),
        )

    def in_brief(self) -> dict[str, Any]:
        """The same for a model, which needs no sums of scores."""
        rows = [result.explained() if self.has_room else result.in_brief() for result in self.results]
        return {**self.as_dict(), "results": rows}

    def as_dict(self) -> dict[str, Any]:
        return {
            "results": [result.as_dict() for result in self.results],
            "tokens_used": self.tokens_used,
            "truncated": self.truncated,
            "next_cursor": self.next_cursor or None,
            "warnings": list(self.warnings),
            "notices": list(self.notices),
        }


@dataclass(frozen=True, slots=True)
class Position:
    """Where the next page begins: after how many results, of the log as it was at the first page."""

    offset: int
    known_at: int


def cursor_text(position: Position, asked: str) -> str:
    """A cursor as callers see it. It fits the question that it came with, and no other."""
    fields = [position.offset, position.known_at, _fingerprint(asked)]
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def position_of(cursor: str, asked: str) -> Position:
    try:
        offset, known_at, fingerprint = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        fits = fingerprint == _fingerprint(asked) and type(offset) is type(known_at) is int
        if fits and 0 <= offset <= FARTHEST and 0 <= known_at <= FARTHEST:
            return Position(offset, known_at)
    except (ValueError, TypeError, RecursionError):
        pass
    raise InvalidRequest("the cursor does not belong to this question", "Send it with the question that gave it.")


def _fingerprint(asked: str) -> str:
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:12]
