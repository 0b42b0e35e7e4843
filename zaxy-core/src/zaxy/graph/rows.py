"""The rows of the graph as they are fetched, and what they say at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from zaxy.api.models import AsOf, Edge, EdgeRow, Entity, EntityRef, EntityRow
from zaxy.api.versions import Version, as_known, earlier_ends, holding, holds
from zaxy.eventloom.database_errors import MISSING, Unsealed
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.graph.statements import AFTER_ALL_EVENTS, MAX_VERSIONS

AFTER_ALL_TIMES = "~"
END_OF_ENTITY, END_OF_EDGE = 12, 20
"""Where in a fetched row the fields end that its seal is over."""


class Moment(NamedTuple):
    """When a read looks, in one session."""

    session: int
    at: str
    """Empty: after all times."""
    known: int

    @property
    def values(self) -> dict[str, object]:
        return {"session": self.session, "at": self.at or AFTER_ALL_TIMES, "known": self.known}


def moment_of(as_of: AsOf, session: int, taken: int) -> Moment:
    """The moment of a read in a session that was followed to the event `taken`: what is later is not known anyway."""
    known = as_of.known_at
    return Moment(session, as_of.valid_at, AFTER_ALL_EVENTS if known is None or known >= taken else known)


def entity_order(row: Any) -> tuple[object, ...]:
    """Newest first, then by type, then by name in the form in which names match."""
    return (-row[10], row[5], row[3])


def check_entity(db: SealedConnection, row: Any) -> None:
    db.check_with_ends((row,), END_OF_ENTITY)


def check_edge(db: SealedConnection, row: Any) -> None:
    db.check_with_ends((row,), END_OF_EDGE)


def entity_rows(
    db: SealedConnection, rows: Iterable[Any], moment: Moment, *, limit: int = AFTER_ALL_EVENTS
) -> list[EntityRow]:
    """Those of the fetched rows that hold at the moment, as it was known then. Seals are checked of all of them: what
    an edit has moved to another moment is noticed before it is left out."""
    fetched = list(rows)
    db.check_with_ends(fetched, END_OF_ENTITY)
    fetched.sort(key=entity_order)
    known = [row for row in fetched if row[10] <= moment.known]
    ends = [
        row[14:16] if row[15] is None or row[15] <= moment.known else _end_before(row[14:17], moment.known)
        for row in known
    ]
    held = holding([(row[9], valid_to) for row, (valid_to, _) in zip(known, ends, strict=True)], moment.at)
    return [_entity_row(row, end) for row, end, is_held in zip(known, ends, held, strict=True) if is_held][:limit]


def _entity_row(row: Any, end: Any) -> EntityRow:
    name, kind, summary, properties, observed, since, opened, hash_ = row[4:12]
    return EntityRow(
        Entity(name, kind, summary, orjson.loads(properties), observed), since, end[0], opened, end[1], hash_
    )


def _end_before(end: Any, known: int) -> tuple[str, int | None]:
    """When a row ends whose end has moved since an event, as it was known after that, and what brought that end."""
    return as_known(end[0], end[1], earlier_ends(end[2]), known)


def edge_order(row: Any) -> tuple[object, ...]:
    """Newest first, then by relation, then by the types and names of its ends."""
    return (-row[18], row[10], row[4], row[5], row[7], row[8])


def checked_edges(db: SealedConnection, rows: Iterable[Any]) -> list[Any]:
    """Edges that hold their seals; one that does not is refused."""
    fetched = list(rows)
    db.check_with_ends(fetched, END_OF_EDGE)
    return fetched


def edge_holds(row: Any, moment: Moment) -> bool:
    return row[18] <= moment.known and holds(row[17], _end_of_edge(row, moment)[0], moment.at)


def _end_of_edge(row: Any, moment: Moment) -> tuple[str, int | None]:
    """When an edge ends and which event ended it, as was known then."""
    if row[23] is None or row[23] <= moment.known:
        return row[22], row[23]
    return _end_before(row[22:25], moment.known)


def edge_row(row: Any, moment: Moment, *, depth: int) -> EdgeRow:
    """An edge that was chosen because it holds at the moment, as it was known then."""
    source, target = EntityRef(row[4], row[6]), EntityRef(row[7], row[9])
    edge = Edge(source, target, row[10], row[11], bool(row[12]), row[13], row[14], row[15], row[16])
    ends, closed = _end_of_edge(row, moment)
    return EdgeRow(edge, row[17], ends, row[18], closed, row[19], depth)


def entities_of_events(db: SealedConnection, rows: Iterable[Any]) -> Iterator[Any]:
    """The entities of events, each fetched with its event, which says how many of them there must be.

    The row of its thing is checked too: it may have been edited so that its name does not find it.
    """
    events = [list(together) for _, together in groupby(rows, key=itemgetter(19))]
    things = [row[26:35] for of_event in events for row in of_event if row[1] is not None]
    db.unsealed([*[of_event[0][18:26] for of_event in events], *things])
    for of_event in events:
        expected = of_event[0][22] - of_event[0][21]
        if len(of_event) != max(expected, 1):
            raise Unsealed("rows of an event are missing")
        if expected:
            yield from of_event


def versions_of_things(db: SealedConnection, rows: Iterable[Any]) -> Iterator[Any]:
    """The versions of things, each fetched with its thing, which says how many of them there must be."""
    things = [list(together) for _, together in groupby(rows, key=itemgetter(18))]
    db.unsealed([of_thing[0][18:27] for of_thing in things])
    for of_thing in things:
        found = [row for row in of_thing if row[1] is not None]
        if len(found) < min(of_thing[0][24], MAX_VERSIONS):
            raise Unsealed(MISSING)
        yield from found


# Versions, as those who write need them


def entity_version(db: SealedConnection, row: Any) -> Version:
    check_entity(db, row)
    return Version(row[1], row[9], row[14], row[10], row[15], row[6:8], earlier_ends(row[16]))


def edge_version(db: SealedConnection, row: Any) -> Version:
    check_edge(db, row)
    content = (*row[11:15], row[16])
    return Version(row[1], row[17], row[22], row[18], row[23], content, earlier_ends(row[24]))
