"""Reads a session's graph. The engine takes its time for every statement and every key in it: few of both are asked."""

from __future__ import annotations

import hashlib
import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from zaxy.api import (
    AsOf,
    Cursor,
    Edge,
    EdgeRow,
    Entity,
    EntityRef,
    EntityRow,
    GraphStats,
    as_known,
    earlier_ends,
    folded_name,
    holds,
)
from zaxy_kuzu.engine import Database
from zaxy_kuzu.lookups import Lookups
from zaxy_kuzu.schema import microseconds, thing_key
from zaxy_kuzu.writer import Written

Values = dict[str, object]
FEW_ROWS, MANY_ROWS = 200, 2_000
AFTER_ALL_EVENTS = 2**62
EVENTS_AT_ONCE = 5_000

PLACE = "MATCH (p:Place {id: 1}) RETURN p.seq, p.hash, p.offset, p.fed_by"
TIMES = "MATCH (p:Place {id: 1}) RETURN p.moved, p.latest"
STATS = "MATCH (p:Place {id: 1}) RETURN p.versions, p.edges, p.open_versions, p.open_edges"

# What holds at a moment. It is asked for in as few columns as will do, and those are numbers: comparing texts is what
# costs. Of what was known earlier these give some rows too many, whose ends have moved; `_held` leaves those out.
HOLDS_NOW = "{0}.closed = 0"
HOLDS_AT = "{0}.from_us <= $at AND ({0}.closed = 0 OR $at < {0}.to_us)"
HELD_AS_KNOWN = "{0}.opened <= $known AND ({0}.closed = 0 OR {0}.closed > $known)"
HELD_THEN = "{0}.opened <= $known AND {0}.from_us <= $at AND ({0}.closed = 0 OR {0}.closed > $known OR $at < {0}.to_us)"
VERSION = "v.row, v.valid_to, v.closed, v.earlier"
TYPES_OF_NAME = "MATCH (n:Name {name: $key}) RETURN n.name, n.types"
OF_THING = f"MATCH (:Thing {{{{key: $key}}}})-[:HasVersion]->(v:Version) WHERE {{}} RETURN {VERSION}"
LAST_OF_THING = "MATCH (t:Thing {key: $key}) RETURN t.key, t.last"
BY_ID = f"MATCH (v:Version {{id: $key}}) RETURN v.id, {VERSION}"
EVENTS_OF_VERSIONS = "MATCH (v:Version) RETURN collect(v.opened)"
TYPE = "MATCH (t:Type {name: $key}) RETURN t.code"
OF_TYPES = "MATCH (v:Version) WHERE v.type_code IN $codes AND {}"
FACT_ROW = "f.row, f.valid_to, f.closed, f.earlier"
FACT = f"MATCH (f:Fact {{id: $key}}) RETURN f.id, {FACT_ROW}"
AROUND = "MATCH (t:Thing {{key: $key}})-[e:Edge]-(:Thing) WHERE {}"
SINCE = " AND {}.opened > $since"
OF_RELATIONS = " AND e.relation IN $relations"
ALL_VERSIONS = f"MATCH (v:Version) WHERE v.opened > $since AND v.opened <= $until RETURN {VERSION}"
ALL_EDGES = f"MATCH (f:Fact) WHERE f.opened > $since AND f.opened <= $until RETURN {FACT_ROW}"


class Reader:
    """Knows where the graph stands without asking: nobody else can write while the database is open.

    It must hear of every batch, and be forgotten after a failed one.
    """

    def __init__(self, database: Database) -> None:
        self._run = database.run
        self._run_for = database.run_for
        self._lookups = Lookups(database)
        found = self._run(PLACE)[0]
        self.cursor = Cursor(*found) if found[0] else None
        self._opened: array[int] | None = None
        """By which event each version was opened, in their order, which is that of the events; read when first used."""
        self._moved, self._latest = self._run(TIMES)[0]

    @property
    def last(self) -> int:
        """The last event that was followed."""
        return self.cursor.seq if self.cursor else 0

    def advance(self, cursor: Cursor, written: Written) -> None:
        """A batch was taken."""
        self.cursor = cursor
        self._moved, self._latest = written.moved, written.latest
        self._lookups.forget(written.touched)
        if self._opened is not None:
            self._opened.extend(written.opened)

    def entities(self, names: Sequence[str], as_of: AsOf, limit: int) -> list[EntityRow]:
        named = self._lookups.find(TYPES_OF_NAME, map(folded_name, names))
        keys = [thing_key(kind, name) for name, rows in named for (types,) in rows for kind in types]
        which, moment = self._which(as_of)
        if self._knows_all(as_of):  # then it is the last version, or one of a thing whose last is still to come
            things = self._lookups.find(LAST_OF_THING, keys)
            last = {number: key for key, rows in things for (number,) in rows if number}
            found = [(last[number], row) for number, rows in self._lookups.find(BY_ID, last) for row in rows]
            keys = [key for key, row in found if _begins_after(row, as_of)]
            rows = [row for key, row in found if key not in keys]
        else:
            rows = []
        rows += self._run_for(OF_THING.format(which.format("v")), keys, **moment) if keys else []
        return _entity_rows(rows, as_of)[: max(limit, 0)]

    def rows_of_events(self, seqs: Sequence[int], as_of: AsOf) -> list[EntityRow]:
        if self._opened is None:
            self._opened = array("q", sorted(self._run(EVENTS_OF_VERSIONS)[0][0] or []))
        ids: list[str] = []
        for seq in dict.fromkeys(seqs):
            found = range(bisect_left(self._opened, seq), bisect_right(self._opened, seq))
            ids += [str(place + 1) for place in found]
        return _entity_rows(self._versions(ids), as_of)

    def current(self, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        types = list(dict.fromkeys(entity_types))
        if not types or limit <= 0:
            return []
        codes = [code for (code,) in self._run_for(TYPE, types)]
        if not codes:
            return []
        condition, values = self._which(as_of)
        which = OF_TYPES.format(condition.format("v"))
        enough = limit + self._too_many(as_of)
        which, narrow = self._narrowed(which, "v", {**values, "codes": codes}, enough)
        found = self._run(f"{which} RETURN v.number, v.opened", **narrow)
        ids = [str(number) for number in _newest(found, enough)]
        return _entity_rows(self._versions(ids), as_of)[:limit]

    def neighbours(
        self, start: Sequence[EntityRef], relations: Sequence[str], *, depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        if limit <= 0:
            return []
        outermost = {thing_key(ref.entity_type, folded_name(ref.name)) for ref in start}
        reached: set[str] = set()
        rows: dict[int, EdgeRow] = {}
        for step in range(1, depth + 1):
            reached |= outermost
            met: dict[int, int] = {}
            for newest in self._newest_around(sorted(outermost), relations, as_of, limit):
                met.update((row, opened) for row, opened in newest if row not in rows)
            wanted = limit - len(rows)
            facts = self._lookups.find(FACT, map(str, _newest(met.items(), wanted + self._too_many(as_of))))
            read = [(int(number), _edge_row(as_of, step, fact)) for number, rows_of in facts for fact in rows_of]
            held = [each for each in read if _held(each[1], as_of)]
            found = sorted(held, key=lambda each: _edge_order(each[1]))[:wanted]
            rows.update(found)
            ends = (end for _, row in found for end in (row.edge.source, row.edge.target))
            outermost = {thing_key(end.entity_type, folded_name(end.name)) for end in ends} - reached
            if len(rows) >= limit:  # what is farther comes later
                break
        return list(rows.values())

    def stats(self) -> GraphStats:
        return GraphStats(*self._run(STATS)[0])

    def digest(self) -> str:
        total = hashlib.sha256()
        for rows in (ALL_VERSIONS, ALL_EDGES):
            for since in range(0, self.last, EVENTS_AT_ONCE):
                found = self._run(rows, since=since, until=since + EVENTS_AT_ONCE)
                for line in sorted(json.dumps(row) for row in found):
                    total.update(line.encode() + b"\n")
            total.update(b"\n")
        return total.hexdigest()

    def _versions(self, ids: Iterable[str]) -> list[list[Any]]:
        return [row for _, rows in self._lookups.find(BY_ID, ids) for row in rows]

    def _knows_all(self, as_of: AsOf) -> bool:
        return as_of.known_at is None or as_of.known_at >= self.last

    def _too_many(self, as_of: AsOf) -> int:
        """How many rows the conditions may give that did not hold."""
        return 0 if self._knows_all(as_of) else int(self._moved)

    def _which(self, as_of: AsOf) -> tuple[str, Values]:
        """The condition under which a row holds at a moment, and the values in it."""
        at = microseconds(as_of.valid_at)
        if self._knows_all(as_of):
            if not as_of.valid_at or at >= self._latest:
                return HOLDS_NOW, {}
            return HOLDS_AT, {"at": at}
        if as_of.valid_at:
            return HELD_THEN, {"at": at, "known": as_of.known_at}
        return HELD_AS_KNOWN, {"known": as_of.known_at}

    def _newest_around(
        self, keys: list[str], relations: Sequence[str], as_of: AsOf, limit: int
    ) -> Iterator[list[list[int]]]:
        """Each node's edges, id and event; of very many, as many of the newest as have the `limit` first in them."""
        condition, values = self._which(as_of)
        which = AROUND.format(condition.format("e")) + (OF_RELATIONS if relations else "")
        values |= {"relations": list(relations)} if relations else {}
        few = f"{which} RETURN t.key, e.id, e.opened LIMIT {FEW_ROWS + 1}"
        for key, rows in self._lookups.find(few, keys, **values):
            if len(rows) <= FEW_ROWS:
                yield rows
            else:  # an edge from a node to itself comes twice
                narrow, narrowed = self._narrowed(
                    which, "e", {**values, "key": key}, 2 * (limit + self._too_many(as_of))
                )
                yield self._run(f"{narrow} RETURN e.id, e.opened", **narrowed)

    def _narrowed(self, which: str, of: str, values: Values, enough: int) -> tuple[str, Values]:
        """A query for rows made to give, of very many, the newest: enough of them, and whole events.

        The engine sorts slowly and filters fast: so it is asked for those after an event, which is guessed and counted.
        """
        (rows,) = self._run(f"{which} RETURN count(*)", **values)[0]
        if rows <= max(enough, FEW_ROWS):
            return which, values
        which += SINCE.format(of)
        last = self.last
        too_few, window = 0, min(last, 2 * enough * last // rows)
        while True:
            (found,) = self._run(f"{which} RETURN count(*)", since=last - window, **values)[0]
            if found < enough and window < last:
                too_few, window = window, min(last, window * 4)
            elif found <= MANY_ROWS or window - too_few <= 1:
                return which, {**values, "since": last - window}
            else:
                middle = (too_few + window) // 2
                (there,) = self._run(f"{which} RETURN count(*)", since=last - middle, **values)[0]
                too_few, window = (middle, window) if there < enough else (too_few, middle)


def _newest(rows: Iterable[Sequence[int]], count: int) -> list[int]:
    """The numbers of the newest rows by their events: `count`, and the others of the last one's event."""
    known = list(rows)
    oldest = min(sorted((opened for _, opened in known), reverse=True)[:count], default=0)
    return [number for number, opened in known if opened >= oldest]


def _entity_rows(rows: Iterable[Sequence[Any]], as_of: AsOf) -> list[EntityRow]:
    """Newest first, then by type, then by name in the form in which names match."""
    found = (_entity_row(as_of, row) for row in rows)
    held = [row for row in found if _held(row, as_of)]
    return sorted(held, key=lambda row: (-row.opened_seq, row.entity.entity_type, folded_name(row.entity.name)))


def _held(row: EntityRow | EdgeRow, as_of: AsOf) -> bool:
    """Whether a row, as it was known then, holds at the moment."""
    known = as_of.known_at is None or row.opened_seq <= as_of.known_at
    return known and holds(row.valid_from, row.valid_to, as_of.valid_at)


def _begins_after(row: Sequence[Any], as_of: AsOf) -> bool:
    """Whether a version begins after the moment: then one before it may hold."""
    return bool(as_of.valid_at) and not holds(json.loads(row[0])[5], "", as_of.valid_at)


def _entity_row(as_of: AsOf, found: Sequence[Any]) -> EntityRow:
    row, valid_to, closed, earlier = found
    name, kind, summary, properties, observed_at, valid_from, opened, event_hash = json.loads(row)
    ends, closed_seq = as_known(valid_to, closed or None, earlier_ends(earlier), as_of.known_at)
    entity = Entity(name, kind, summary, json.loads(properties), observed_at)
    return EntityRow(entity, valid_from, ends, opened, closed_seq, event_hash)


def _edge_row(as_of: AsOf, step: int, found: Sequence[Any]) -> EdgeRow:
    row, valid_to, closed, earlier = found
    source_type, source, target_type, target, *content, valid_from, opened, event_hash = json.loads(row)
    ends, closed_seq = as_known(valid_to, closed or None, earlier_ends(earlier), as_of.known_at)
    edge = Edge(EntityRef(source_type, source), EntityRef(target_type, target), *content)
    return EdgeRow(edge, valid_from, ends, opened, closed_seq, event_hash, step)


def _edge_order(row: EdgeRow) -> tuple[object, ...]:
    ends = ((ref.entity_type, folded_name(ref.name)) for ref in (row.edge.source, row.edge.target))
    return (-row.opened_seq, row.edge.relation_type, *ends)
