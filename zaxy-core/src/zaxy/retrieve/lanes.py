"""The lanes that look things up in the graph: by name, and along relations from what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zaxy.api.models import AsOf, EntityRef, EntityRow
from zaxy.api.names import folded_name
from zaxy.api.versions import EXTRACTOR
from zaxy.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from zaxy.api.points import ProjectionBackend

MAX_NAME_WORDS = 6
"""Words of a question that are tried together as a name."""
MAX_NAMES = 60
MAX_ROWS = 50
MAX_EDGES = 20
BACKGROUND = frozenset(("actor", "session", "user", "workspace", "source_group"))
"""Entities that nearly every event names: what leads to them says little about a question."""
_WORDS = re.compile(r"[^\s,;:!?()\[\]{}\"“”«»]+")


class LaneHit(NamedTuple):
    """An event that a lane proposes, with its score on the lane's own scale."""

    seq: int
    score: float
    entity: EntityRef | None = None
    """What it must be about for the score to count."""


class NamedRow(NamedTuple):
    row: EntityRow
    share: float
    """How much of the question its name is."""


def entities_named(backend: ProjectionBackend, session: str, question: str, as_of: AsOf) -> list[NamedRow]:
    """The entities whose whole names stand in the question."""
    words = [word.strip(".'’") for word in _WORDS.findall(question)][:64]
    plain = [word.casefold() for word in words]
    names: dict[str, int] = {}
    for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            ends = {plain[start], plain[start + length - 1]}
            if length < len(words) and not ends.isdisjoint(STOP_WORDS):
                continue  # no name begins or ends so
            name = " ".join(plain[start : start + length])
            if len(name) > 2 and len(names) < MAX_NAMES:
                names.setdefault(name, length)
    if not names:
        return []
    rows = backend.entities(session, list(names), as_of, MAX_ROWS)
    return [NamedRow(row, names.get(row.entity.name.strip().casefold(), 1) / len(words)) for row in rows]


def exact(named: Iterable[NamedRow]) -> list[LaneHit]:
    """Events that tell of something which the question calls by its name, or in which an extractor sees it."""
    return [
        LaneHit(
            row.opened_seq,
            share,
            None if EXTRACTOR in row.entity.properties else EntityRef(row.entity.entity_type, row.entity.name),
        )
        for row, share in named
        if row.entity.entity_type not in BACKGROUND
    ]


def traversal(
    backend: ProjectionBackend, session: str, starts: Sequence[tuple[EntityRef, float]], as_of: AsOf
) -> list[LaneHit]:
    """Events that relate something to what was found: the nearer and the surer, the better."""
    worth: dict[EntityRef, float] = {}
    for ref, score in starts:
        worth[_matched(ref)] = max(score, worth.get(_matched(ref), 0.0))
    if not worth:
        return []
    best: dict[int, float] = {}
    # One step only: the second leads through people and sessions, to whom everything is related.
    for row in backend.neighbours(session, list(worth), relations=[], depth=1, as_of=as_of, limit=MAX_EDGES):
        start = max(worth.get(_matched(end), 0.0) for end in (row.edge.source, row.edge.target))
        best[row.opened_seq] = max(row.edge.confidence * start, best.get(row.opened_seq, 0.0))
    return [LaneHit(seq, score) for seq, score in best.items()]


def _matched(ref: EntityRef) -> EntityRef:
    """The entity in the form in which names match: edges spell it as their own events did."""
    return EntityRef(ref.entity_type, folded_name(ref.name))
