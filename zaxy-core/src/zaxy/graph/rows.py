"""The rows of the graph as they are fetched, and what they say at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from zaxy.api.models import AsOf, Edge, EdgeRow, Entity, EntityRef, EntityRow
from zaxy.api.versions import Version, as_known, earlier_ends, holding
from zaxy.eventloom.database_errors import Unsealed
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.graph.statements import AFTER_ALL_EVENTS

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


def entity_rows(db: SealedConnection, rows: Iterable[Any], moment: Moment) -> list[EntityRow]:
    """Those of the fetched rows that hold at the moment, as it was known then."""
    found = []
    known = [row for row in sorted(rows, key=entity_order) if row[10] <= moment.known]
    db.check_with_ends(known, END_OF_ENTITY)
    ends = [_known_end(row, moment.known) for row in known]
    held = holding([(row[9], valid_to) for row, (valid_to, _) in zip(known, ends, strict=True)], moment.at)
    for row, (valid_to, closed), holds in zip(known, ends, held, strict=True):
        if holds:
            name, kind, summary, properties, observed, since, opened, hash_ = row[4:12]
            entity = Entity(name, kind, summary, orjson.loads(properties), observed)
            found.append(EntityRow(entity, since, valid_to, opened, closed, hash_))
    return found


def _known_end(row: Any, known: int) -> tuple[str, int | None]:
    """When an entity's row ends, as it was known after an event, and the event that brought that end."""
    valid_to, closed, earlier = row[14:17]
    if closed is None or closed <= known:
        return valid_to, closed
    return as_known(valid_to, closed, earlier_ends(earlier), known)


def edge_order(row: Any) -> tuple[object, ...]:
    """Newest first, then by relation, then by the types and names of its ends."""
    return (-row[18], row[10], row[4], row[5], row[7], row[8])


def edge_row(db: SealedConnection, row: Any, moment: Moment, *, depth: int) -> EdgeRow:
    """An edge that was chosen because it holds at the moment, as it was known then."""
    check_edge(db, row)
    source, target = EntityRef(row[4], row[6]), EntityRef(row[7], row[9])
    edge = Edge(source, target, row[10], row[11], bool(row[12]), row[13], row[14], row[15], row[16])
    ends, closed = as_known(row[22], row[23], earlier_ends(row[24]), moment.known)
    return EdgeRow(edge, row[17], ends, row[18], closed, row[19], depth)


def entities_of_events(db: SealedConnection, rows: Iterable[Any]) -> Iterator[Any]:
    """The entities of events, each fetched with its event, which says how many of them there must be."""
    events = [list(together) for _, together in groupby(rows, key=itemgetter(19))]
    db.unsealed([of_event[0][18:26] for of_event in events])
    for of_event in events:
        expected = of_event[0][22] - of_event[0][21]
        if len(of_event) != max(expected, 1):
            raise Unsealed("rows of an event are missing")
        if expected:
            yield from of_event


# Versions, as those who write need them


def entity_version(db: SealedConnection, row: Any) -> Version:
    check_entity(db, row)
    return Version(row[1], row[9], row[14], row[10], row[15], row[6:8], earlier_ends(row[16]))


def edge_version(db: SealedConnection, row: Any) -> Version:
    check_edge(db, row)
    content = (*row[11:15], row[16])
    return Version(row[1], row[17], row[22], row[18], row[23], content, earlier_ends(row[24]))
