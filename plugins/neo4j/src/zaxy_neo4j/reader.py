"""Reads the graph of a session, each question in one round trip, and sees it as no commit in between has changed it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from zaxy.api import AsOf, Edge, EdgeRow, Entity, EntityRef, EntityRow, Unavailable, ZaxyError, as_known, folded_name
from zaxy_neo4j.connection import SECONDS_FOR_ALL_ROWS
from zaxy_neo4j.schema import CLOSED, ENDING, FORMAT, OPEN, kind_key, name_key, thing_key

T = TypeVar("T")
Ask = Callable[..., list[list[Any]]]
ATTEMPTS = 5
AFTER_ALL_TIMES, AFTER_ALL_EVENTS = "~", 2**62
MORE = 12
"""Rows that are asked for beyond the limit, so that those of the last event are there, and can be put in order."""
EVENTS_AT_ONCE = 2_000

# A statement reads where the session stands before its rows and after them: with both alike nobody wrote meanwhile, and
# the server, which shows every commit at once, has shown one state. With all that is known, rows without an end are
# looked at, and those whose end is still to come, if there can be any; of what was known earlier any row may be meant.
BEGIN = (
    f"MATCH (p:ZaxyPlace {{space: $space}}) WHERE p.format = {FORMAT} WITH p.stamp AS before, "
    f"CASE WHEN $known < p.seq THEN ['{OPEN}', '{CLOSED}'] WHEN $at < p.latest THEN ['{OPEN}', '{ENDING}'] "
    f"ELSE ['{OPEN}'] END AS states "
)
END = "WITH before, collect(row) AS rows MATCH (q:ZaxyPlace {space: $space}) RETURN before, q.stamp, rows"

# The end as it was known: how many of the earlier ends had come tells which one it was.
EARLIER = "size([seq IN {0}.earlier_seqs WHERE seq <= $known])"
HOLDS = (
    "{0}.opened_seq <= $known AND {0}.valid_from <= $at AND ({0}.valid_to IS NULL OR "
    "CASE WHEN {0}.closed_seq <= $known THEN $at < {0}.valid_to WHEN {0}.earlier_seqs IS NULL THEN true "
    f"WHEN {EARLIER} = 0 THEN true ELSE $at < {{0}}.earlier_ends[{EARLIER} - 1] END)"
)
TO_END = "{0}.valid_to > $at AND {0}.valid_from <= $at"
STATE_TO_END = f"CASE state WHEN '{ENDING}' THEN '{CLOSED}' ELSE '{ENDING}' END"
VERSION = (
    "[v.name, v.type, v.summary, v.properties, v.observed_at, v.valid_from, v.valid_to, v.opened_seq, v.closed_seq, "
    "v.earlier_seqs, v.earlier_ends, v.event_hash]"
)
LAST = "ORDER BY v.thing DESC, v.valid_from DESC, v.number DESC LIMIT 1"
NAMED = (
    f"{BEGIN}CALL () {{ UNWIND $names AS name MATCH (t:ZaxyThing) WHERE t.key STARTS WITH name WITH t.key AS key "
    f"CALL (key) {{ MATCH (v:ZaxyVersion) WHERE v.thing = key AND {HOLDS.format('v')} RETURN v {LAST} }} "
    f"RETURN {VERSION} AS row }} {END}"
)
OF_EVENTS = (
    f"{BEGIN}CALL () {{ UNWIND $seqs AS seq MATCH (v:ZaxyVersion) WHERE v.space = $space AND v.opened_seq = seq "
    f"AND {HOLDS.format('v')} RETURN {VERSION} AS row }} {END}"
)
OF_TYPES = (
    f"{BEGIN}CALL (states) {{ UNWIND $kinds AS kind UNWIND states AS state CALL (kind, state) {{ "
    f"MATCH (v:ZaxyVersion) WHERE v.kind = kind + state AND {HOLDS.format('v')} "
    "RETURN v ORDER BY v.kind DESC, v.opened_seq DESC LIMIT $enough UNION "
    "MATCH (v:ZaxyVersion) USING INDEX v:ZaxyVersion(kind, valid_to) "
    f"WHERE v.kind = kind + {STATE_TO_END} AND {TO_END.format('v')} RETURN v }} "
    f"WITH v ORDER BY v.opened_seq DESC LIMIT $enough RETURN {VERSION} AS row }} {END}"
)
EDGE = (
    "[e.number, s.key, t.key, s.type, coalesce(e.source_name, s.name), t.type, coalesce(e.target_name, t.name), "
    "e.relation, e.confidence, e.inferred, e.method, e.evidence, e.given_from, e.given_to, e.valid_from, "
    "e.valid_to, e.opened_seq, e.closed_seq, e.earlier_seqs, e.earlier_ends, e.event_hash]"
)
AROUND = (
    "MATCH ()-[e:ZAXY_EDGE]->() WHERE e.{0} = key + state AND "
    + HOLDS.format("e")
    + " AND ($relations IS NULL OR e.relation IN $relations) "
    "RETURN e ORDER BY e.{0} DESC, e.opened_seq DESC LIMIT $enough"
)
AROUND_TO_END = (
    "MATCH ()-[e:ZAXY_EDGE]->() USING INDEX e:ZAXY_EDGE({0}, valid_to) "
    f"WHERE e.{{0}} = key + {STATE_TO_END} AND {TO_END.format('e')} "
    "AND ($relations IS NULL OR e.relation IN $relations) RETURN e"
)
EACH_WAY = [way.format(end) for way in (AROUND, AROUND_TO_END) for end in ("out", "into")]
NEIGHBOURS = (
    f"{BEGIN}CALL (states) {{ UNWIND $keys AS key UNWIND states AS state CALL (key, state) {{ "
    f"{' UNION '.join(EACH_WAY)} }} "
    "WITH DISTINCT e ORDER BY e.opened_seq DESC LIMIT $enough "
    f"WITH e, startNode(e) AS s, endNode(e) AS t RETURN {EDGE} AS row }} {END}"
)

STAMP = f"MATCH (p:ZaxyPlace {{space: $space}}) WHERE p.format = {FORMAT} RETURN p.stamp, p.seq"
BETWEEN = "{0}.space = $space AND {0}.opened_seq > $since AND {0}.opened_seq <= $until"
ALL_VERSIONS = f"MATCH (v:ZaxyVersion) WHERE {BETWEEN.format('v')} RETURN {VERSION}"
ALL_EDGES = f"MATCH (s)-[e:ZAXY_EDGE]->(t) WHERE {BETWEEN.format('e')} RETURN {EDGE}"


class Reader:
    def __init__(self, ask: Ask, space: str) -> None:
        self._ask = ask
        self._space = space

    def entities(self, names: Sequence[str], as_of: AsOf, limit: int) -> list[EntityRow]:
        keys = list(dict.fromkeys(name_key(self._space, folded_name(name)) for name in names))
        if not keys or limit <= 0:
            return []
        return _entity_rows(self._rows(NAMED, as_of, names=keys), as_of)[:limit]

    def rows_of_events(self, seqs: Sequence[int], as_of: AsOf) -> list[EntityRow]:
        if not seqs:
            return []
        return _entity_rows(self._rows(OF_EVENTS, as_of, seqs=list(dict.fromkeys(seqs))), as_of)

    def current(self, entity_types: Sequence[str], as_of: AsOf, limit: int) -> list[EntityRow]:
        kinds = [kind_key(self._space, kind) for kind in dict.fromkeys(entity_types)]
        if not kinds or limit <= 0:
            return []

        def some(enough: int) -> list[EntityRow]:
            return _entity_rows(self._rows(OF_TYPES, as_of, kinds=kinds, enough=enough), as_of)

        return _first(limit, some, lambda rows: rows[:limit])

    def neighbours(
        self, start: Sequence[EntityRef], relations: Sequence[str], *, depth: int, as_of: AsOf, limit: int
    ) -> list[EdgeRow]:
        outermost = {thing_key(self._space, ref.entity_type, folded_name(ref.name)) for ref in start}
        reached: set[str] = set()
        rows: dict[int, EdgeRow] = {}
        for step in range(1, depth + 1):
            if not outermost or len(rows) >= limit:  # what is farther comes later
                break
            reached |= outermost
            found = self._around(sorted(outermost), relations, as_of=as_of, limit=limit, known=rows)
            rows.update((row[0], _edge_row(row, as_of, step)) for row in found)
            outermost = {end for row in found for end in row[1:3]} - reached
        return list(rows.values())

    def _around(
        self, keys: list[str], relations: Sequence[str], *, as_of: AsOf, limit: int, known: dict[int, EdgeRow]
    ) -> list[list[Any]]:
        """The next edges in their order around some things, without those that are known."""
        values = {"keys": keys, "relations": list(relations) or None}

        def some(enough: int) -> list[list[Any]]:
            return sorted(self._rows(NEIGHBOURS, as_of, enough=enough, **values), key=_edge_order)

        return _first(limit, some, lambda rows: [row for row in rows if row[0] not in known][: limit - len(known)])

    def digest(self) -> str:
        for _ in range(ATTEMPTS):
            before = self._stamp()
            total = hashlib.sha256()
            for statement in (ALL_VERSIONS, ALL_EDGES):
                for line in self._lines(statement, before[1]):
                    total.update(line)
                total.update(b"\n")
            if self._stamp() == before:
                return total.hexdigest()
        raise _never_still()

    def _stamp(self) -> tuple[str, int]:
        found = self._ask(STAMP, space=self._space)
        return (found[0][0], found[0][1]) if found else ("", 0)

    def _lines(self, statement: str, last: int) -> Iterator[bytes]:
        """Each row as a line, those of some events at a time sorted: in which order they were written is no matter."""
        for since in range(0, last, EVENTS_AT_ONCE):
            until = since + EVENTS_AT_ONCE
            found = self._ask(statement, SECONDS_FOR_ALL_ROWS, space=self._space, since=since, until=until)
            # An edge's number, and the keys of its ends, tell only in which order and for whom it was written.
            lines = (json.dumps(row[3:] if statement is ALL_EDGES else row) for (row,) in found)
            yield from (line.encode() + b"\n" for line in sorted(lines))

    def _rows(self, statement: str, as_of: AsOf, **values: object) -> list[list[Any]]:
        """The rows of a session that nobody changed meanwhile; none of one that was never followed."""
        known = AFTER_ALL_EVENTS if as_of.known_at is None else as_of.known_at
        values |= {"space": self._space, "at": as_of.valid_at or AFTER_ALL_TIMES, "known": known}
        for _ in range(ATTEMPTS):
            found = self._ask(statement, **values)
            if not found:
                return []
            before, after, rows = found[0]
            if before == after:
                return list(rows)
        raise _never_still()


def _first(limit: int, some: Callable[[int], list[T]], cut: Callable[[list[T]], list[T]]) -> list[T]:
    """The first rows in their order, of some of the newest: more are asked for until none that is left out can be."""
    enough = limit + MORE
    while True:
        rows = some(enough)
        chosen = cut(rows)
        if len(rows) < enough or not chosen or _opened(chosen[-1]) > min(map(_opened, rows)):
            return chosen
        enough *= 8


def _never_still() -> ZaxyError:
    return Unavailable("the graph was written to all the while it was read", "Ask again.")


def _opened(row: Any) -> int:
    return row.opened_seq if isinstance(row, EntityRow) else int(row[16])


def _entity_rows(rows: Iterable[list[Any]], as_of: AsOf) -> list[EntityRow]:
    """Newest first, then by type, then by name in the form in which names match."""
    found = (_entity_row(row, as_of) for row in rows)
    return sorted(found, key=lambda row: (-row.opened_seq, row.entity.entity_type, folded_name(row.entity.name)))


def _entity_row(row: list[Any], as_of: AsOf) -> EntityRow:
    name, kind, summary, properties, observed_at, *window = row
    entity = Entity(name, kind, summary, json.loads(properties) if properties else {}, observed_at or "")
    return EntityRow(entity, *_window(window, as_of))


def _edge_row(row: list[Any], as_of: AsOf, step: int) -> EdgeRow:
    source_type, source, target_type, target, relation, sure, inferred, *texts = row[3:14]
    ends = EntityRef(source_type, source), EntityRef(target_type, target)
    edge = Edge(*ends, relation, 1.0 if sure is None else sure, bool(inferred), *(text or "" for text in texts))
    return EdgeRow(edge, *_window(row[14:], as_of), step)


def _window(window: list[Any], as_of: AsOf) -> tuple[str, str, int, int | None, str]:
    """A row's window as it was known then, with its event's hash."""
    valid_from, valid_to, opened, closed, seqs, ends, event_hash = window
    earlier = list(zip(seqs or (), ends or (), strict=True))
    end, closed_seq = as_known(valid_to or "", closed, earlier, as_of.known_at)
    return valid_from, end, opened, closed_seq, event_hash


def _edge_order(row: list[Any]) -> tuple[object, ...]:
    return (-row[16], row[7], row[3], folded_name(row[4]), row[5], folded_name(row[6]))
