"""What is current of some types: the newest entities that hold, found by indexes, and none that an edit has hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from zaxy.api.models import EntityRow
from zaxy.eventloom.disposable_database import MISSING, SealedConnection, Unsealed
from zaxy.graph.rows import Moment, entity_rows
from zaxy.graph.statements import (
    AFTER_ALL_EVENTS,
    ENDS_OF_TYPES,
    HELD,
    OF_TYPES,
    TO_END,
    WITHOUT_END,
    parts,
    together,
)

NEWEST, ENDING = "entities_by_type", "entities_by_end"


class CurrentRows:
    """One question for what is current, of the state of the graph that a connection sees."""

    def __init__(self, db: SealedConnection, moment: Moment, *, limit: int) -> None:
        self._db = db
        self._moment = moment
        self._limit = limit

    def of_types(self, counts: Mapping[str, int]) -> list[EntityRow]:
        """The newest rows of the types, each given with the number of its rows that have no end.

        Rows without an end are fetched whether they hold or not, and must be as many as the session says. That proves
        nothing where only the newest of many are fetched: there the ends of rows as new as these are checked too, so
        that one whose end was edited in is met.
        """
        if self._moment.known != AFTER_ALL_EVENTS:
            return self._filtered(counts)
        asked = [OF_TYPES.format(NEWEST, WITHOUT_END)]
        asked += [OF_TYPES.format(ENDING, f"{TO_END} AND {HELD}")] if self._moment.at else []
        rows = self._fetched(together(asked), counts)
        without_end = [row for row in rows if row[14] == ""]
        there = Counter([row[5] for row in without_end])
        if [kind for kind, count in counts.items() if there.get(kind, 0) < min(count, self._limit)]:
            raise Unsealed(MISSING)
        found = entity_rows(self._db, rows, self._moment, limit=self._limit)
        if long := [kind for kind, count in counts.items() if count > self._limit]:
            self._db.unsealed(self._fetched(ENDS_OF_TYPES, long, newer=min([row[10] for row in without_end])))
        begins_last = max([row[9] for row in without_end], default="")
        # What begins only after the moment has taken the place of others.
        return self._filtered(counts) if self._moment.at and begins_last > self._moment.at else found

    def _filtered(self, types: Iterable[str]) -> list[EntityRow]:
        """By rows that the index and the condition choose: what they pass by is not looked at."""
        where = parts(self._moment.known, self._moment.at, NEWEST, ENDING)
        query = together(OF_TYPES.format(index, f"{which} AND {HELD}") for index, which in where)
        return entity_rows(self._db, self._fetched(query, types), self._moment, limit=self._limit)

    def _fetched(self, query: str, types: Iterable[str], *, newer: int = 0) -> list[Any]:
        values = {"types": orjson.dumps(list(types)).decode(), "limit": self._limit, "newer": newer}
        return self._db.execute(query, {**self._moment.values, **values}).fetchall()
