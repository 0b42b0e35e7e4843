"""The built-in graph: every version of every entity and edge in one SQLite file, for many processes at once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any, TypeVar

from zaxy.api.models import AsOf, Batch, Cursor, Edge, EdgeRow, Entity, EntityRef, EntityRow, GraphStats
from zaxy.api.names import folded_name
from zaxy.api.provider import ProviderContext
from zaxy.errors import Conflict
from zaxy.eventloom.disposable_database import DisposableDatabase
from zaxy.graph.schema import FORMAT, SCHEMA, name_key
from zaxy.graph.writer import GraphWriter

T = TypeVar("T")
Values = dict[str, object]
REMEMBERED = 20_000
"""How many things, entities and edges are remembered from one batch to the next."""
AFTER_ALL_TIMES, AFTER_ALL_EVENTS = "~", 2**62

SESSION = "SELECT id, seq, hash, offset, fed_by FROM sessions WHERE name = ?"
NEW_SESSION = "INSERT INTO sessions (name) VALUES (?)"
MOVE_CURSOR = "UPDATE sessions SET seq = ?, hash = ?, offset = ?, fed_by = ? WHERE id = ?"
STATS = "SELECT entities, edges, open_entities, open_edges FROM sessions WHERE name = ?"

# A row is shown as it was known. An end that came later is left out; where it had moved, the one before it is shown.
EARLIER = (
    "(SELECT json_extract({0}.earlier, '$[' || max(key) || '][{1}]') FROM json_each({0}.earlier) "
    "WHERE json_extract(value, '$[0]') <= :known)"
)
KNOWN_END = f"iif({{0}}.closed > :known, ifnull({EARLIER.format('{0}', 1)}, ''), {{0}}.valid_to)"
KNOWN_CLOSED = f"iif({{0}}.closed > :known, {EARLIER.format('{0}', 0)}, {{0}}.closed)"
WINDOW = f"e.valid_from, {KNOWN_END.format('e')}, e.opened, {KNOWN_CLOSED.format('e')}, v.hash"
HOLDS = f"{{0}}.opened <= :known AND {{0}}.valid_from <= :at AND ({KNOWN_END} = '' OR :at < {KNOWN_END})"
OPENED_BY = "CROSS JOIN events AS v ON v.session = :session AND v.seq = e.opened"

ENTITY = (
    "SELECT t.name, coalesce(e.spelled, t.spelled, t.name), e.type, e.summary, e.properties, e.observed_at, "
    f"{WINDOW} FROM"
)
# With all that is known only the last version that begins by a moment can hold at it. Of what was known earlier it may
# be one before that, so that one is looked for among them.
LAST_BY = "SELECT id FROM entities AS w WHERE thing = t.id AND {} ORDER BY valid_from DESC, id DESC LIMIT 1"
NAMED = (
    f"{ENTITY} things AS t CROSS JOIN entities AS e ON e.id = ({LAST_BY}) {OPENED_BY} "
    f"WHERE t.key = :key AND t.session = :session AND t.name = :name AND {HOLDS.format('e')}"
)
NOT_VOID = "(valid_to = '' OR valid_from < valid_to)"
NAMED_NOW, NAMED_THEN = NAMED.format(f"valid_from <= :at AND {NOT_VOID}"), NAMED.format(HOLDS.format("w"))
OF_EVENT = (
    f"{ENTITY} events AS v CROSS JOIN entities AS e ON e.id >= v.first_entity AND e.id < v.end_of_entities "
    f"CROSS JOIN things AS t ON t.id = e.thing WHERE v.session = :session AND v.seq = :seq AND {HOLDS.format('e')}"
)
OF_TYPE = (
    f"{ENTITY} entities AS e INDEXED BY {{}} CROSS JOIN things AS t ON t.id = e.thing {OPENED_BY} "
    f"WHERE e.session = :session AND e.type = :type AND {{}} AND {HOLDS.format('e')} "
    "ORDER BY e.opened DESC, t.name LIMIT :limit"
)
WITHOUT_END, WITH_END = "(e.valid_to = '') = 1", "(e.valid_to = '') = 0"
TO_END = "e.valid_to <> '' AND e.valid_to > :at"
"""With all that is known, of the rows with an end only those hold whose end is still to come."""

KNOWN_KEYS = "SELECT key FROM things WHERE key IN (SELECT value FROM json_each(?))"
"""Of many names few are known: those are sorted out at once, before any is looked up."""
THING = "SELECT id FROM things WHERE key = ? AND session = ? AND type = ? AND name = ?"
ENDS = ("source", "target")
EDGE = (
    "SELECT s.name, t.name, e.id, e.source, e.target, coalesce(e.source_spelled, s.spelled, s.name), s.type, "
    "coalesce(e.target_spelled, t.spelled, t.name), t.type, e.relation, e.confidence, e.inferred, e.method, "
    f"e.evidence, e.given_from, e.given_to, {WINDOW} FROM"
)
ENDS_OF = f"CROSS JOIN things AS s ON s.id = e.source CROSS JOIN things AS t ON t.id = e.target {OPENED_BY}"
FEW = "SELECT count(*) FROM (SELECT 1 FROM edges INDEXED BY edges_by_{0} WHERE {0} = :node LIMIT :limit + 1)"
RELATION = (
    "SELECT relation FROM edges INDEXED BY edges_by_{0} WHERE {0} = :node AND relation > :relation "
    "ORDER BY relation LIMIT 1"
)
AROUND = f"{EDGE} edges AS e INDEXED BY edges_by_{{0}} {ENDS_OF} WHERE e.{{0}} = :node AND {HOLDS.format('e')}"
NEWEST_AROUND = (
    f"{EDGE} edges AS e INDEXED BY {{1}} {ENDS_OF} WHERE e.{{0}} = :node AND e.relation = :relation "
    f"AND {{2}} AND e.opened >= :newer AND {HOLDS.format('e')} "
    "ORDER BY e.opened DESC, s.type, s.name, t.type, t.name LIMIT :limit"
)

ALL_ENTITIES = (
    "SELECT e.opened, v.hash, t.name, coalesce(e.spelled, t.spelled, t.name), e.type, e.summary, e.properties, "
    "e.observed_at, e.valid_from, e.valid_to, e.closed, e.earlier FROM events AS v "
    "CROSS JOIN entities AS e ON e.id >= v.first_entity AND e.id < v.end_of_entities "
    "CROSS JOIN things AS t ON t.id = e.thing WHERE v.session = ? ORDER BY v.seq"
)
ALL_EDGES = (
    "SELECT e.opened, v.hash, s.type, s.name, coalesce(e.source_spelled, s.spelled, s.name), t.type, t.name, "
    "coalesce(e.target_spelled, t.spelled, t.name), e.relation, e.confidence, e.inferred, e.method, e.evidence, "
    "e.given_from, e.given_to, e.valid_from, e.valid_to, e.closed, e.earlier FROM events AS v "
    "CROSS JOIN edges AS e ON e.id >= v.first_edge AND e.id < v.end_of_edges "
    "CROSS JOIN things AS s ON s.id = e.source CROSS JOIN things AS t ON t.id = e.target "
    "WHERE v.session = ? ORDER BY v.seq"
)


class SqliteGraph:
    """The `projection_backends` provider `sqlite`."""

    def __init__(self, context: ProviderContext) -> None:
        path = str(context.state_dir / "graph.db")
        self._file = DisposableDatabase(
            path,
            "the graph",
            schema=SCHEMA,
            version=FORMAT,
            bound_to=context.workspace_id,
            cache_kib=32_000,
            warn=context.warn,
        )
        self._writers: dict[str, GraphWriter] = {}
        self._writers_state: tuple[int, int] | None = None

    # Following

    def cursor(self, session: str) -> Cursor | None:
        found = self._file.read(lambda db: db.execute(SESSION, (session,)).fetchone())
        return Cursor(*found[1:]) if found else None

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self._file.write(lambda db: self._take(db, batch, cursor))

    def _take(self, db: sqlite3.Connection, batch: Batch, cursor: Cursor) -> None:
        found = db.execute(SESSION, (batch.session,)).fetchone()
        taken: int = found[1] if found else 0
        session = int(found[0] if found else db.execute(NEW_SESSION, (batch.session,)).lastrowid or 0)
        writer = self._writer(db, batch.session, session)
        news = [extracted for extracted in batch.events if extracted.event.seq > taken]
        if news and news[0].event.seq != taken + 1:
            raise Conflict(
                f"the graph has followed {batch.session} to event {taken}, and the batch begins at {news[0].event.seq}",
                "Ask for its cursor again, and go on from there: it may have been rebuilt meanwhile.",
            )
        writer.begin()
        for extracted in news:
            writer.take(extracted)
        writer.finish()
        if cursor.seq > taken or not found:
            db.execute(MOVE_CURSOR, (cursor.seq, cursor.hash, cursor.offset, cursor.fed_by, session))

    def _writer(self, db: sqlite3.Connection, name: str, session: int) -> GraphWriter:
        """The session's writer: the one before, if it is still right about the file and not too large."""
        state = (self._file.generation, db.execute("PRAGMA data_version").fetchone()[0])
        if state != self._writers_state or sum(writer.size for writer in self._writers.values()) > REMEMBERED:
            self._writers.clear()
        self._writers_state = state
        if name not in self._writers:
            self._writers[name] = GraphWriter(db, session)
        return self._writers[name]

    def digest(self, session: str) -> str:
        def all_of(db: sqlite3.Connection) -> str:
            found = db.execute(SESSION, (session,)).fetchone()
            total = hashlib.sha256()
            for rows in (ALL_ENTITIES, ALL_EDGES):
                for line in _lines_by_event(db.execute(rows, found[:1] if found else (0,))):
                    total.update(line)
                total.update(b"\n")
            return total.hexdigest()

        return self._file.read(all_of)

    def wipe(self, session: str) -> None:
        def delete(db: sqlite3.Connection) -> None:
            self._writers.clear()
            found = db.execute(SESSION, (session,)).fetchone()
            if found is None:
                return
            own = "(SELECT id FROM things WHERE session = ?)"
            db.execute(f"DELETE FROM edges WHERE source IN {own}", found[:1])
            db.execute(f"DELETE FROM entities WHERE thing IN {own}", found[:1])
            db.execute("DELETE FROM things WHERE session = ?", found[:1])
            db.execute("DELETE FROM events WHERE session = ?", found[:1])
            db.execute("DELETE FROM sessions WHERE id = ?", found[:1])

        self._file.write(delete)
        self._file.scrub()

    def close(self) -> None:
        self._writers.clear()
        self._file.close()

    # Reading

    def hold(self) -> AbstractContextManager[None]:
        """Let all reads of this thread be of one state."""
        return self._file.hold()

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        def ask(db: sqlite3.Connection, own: int, values: Values) -> list[Any]:
            query = NAMED_NOW if values["known"] == AFTER_ALL_EVENTS else NAMED_THEN
            wanted = {name_key(own, name): name for name in map(folded_name, names)}
            known = dict.fromkeys(key for (key,) in db.execute(KNOWN_KEYS, (json.dumps(list(wanted)),)))
            keyed = ({**values, "name": wanted[key], "key": key} for key in known)
            return [row for each in keyed for row in db.execute(query, each)]

        return _entity_rows(self._ask(session, as_of, ask))[: max(limit, 0)]

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        def ask(db: sqlite3.Connection, own: int, values: Values) -> list[Any]:
            return [row for seq in dict.fromkeys(seqs) for row in db.execute(OF_EVENT, {**values, "seq": seq})]

        return _entity_rows(self._ask(session, as_of, ask))

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        def ask(db: sqlite3.Connection, own: int, values: Values) -> list[Any]:
            values["limit"] = limit
            queries = [OF_TYPE.format(f"entities_by_{index}", which) for index, which in _parts(values, "type", "end")]
            return [
                row
                for wanted in dict.fromkeys(entity_types)
                for query in queries
                for row in db.execute(query, {**values, "type": wanted})
            ]

        return _entity_rows(self._ask(session, as_of, ask) if limit > 0 else [])[: max(limit, 0)]

    def neighbours(
        self, session: str, start: Sequence[EntityRef], *, relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        def walk(db: sqlite3.Connection, own: int, values: Values) -> list[EdgeRow]:
            values["limit"] = limit
            names = ((folded_name(ref.name), ref.entity_type) for ref in start)
            things = (db.execute(THING, (name_key(own, name), own, kind, name)).fetchone() for name, kind in names)
            outermost: set[int] = {thing[0] for thing in things if thing}
            reached: set[int] = set()
            rows: dict[int, EdgeRow] = {}
            for step in range(1, depth + 1):
                reached |= outermost
                asked = (ask for node in outermost for ask in _around(db, {**values, "node": node}, relations))
                found = _newest(db, asked, limit - len(rows), rows)
                rows.update((row[2], _edge_row(row, step)) for row in found)
                outermost = {end for row in found for end in row[3:5]} - reached
                if len(rows) >= limit:  # what is farther comes later
                    break
            return list(rows.values())

        return self._ask(session, as_of, walk) if limit > 0 else []

    def stats(self, session: str) -> GraphStats:
        found = self._file.read(lambda db: db.execute(STATS, (session,)).fetchone())
        return GraphStats(*found) if found else GraphStats(0, 0, 0, 0)

    def _ask(self, session: str, as_of: AsOf, ask: Callable[[sqlite3.Connection, int, Values], list[T]]) -> list[T]:
        """Ask about one session at one moment; of a session that was never followed there is nothing."""
        values: Values = {
            "at": as_of.valid_at or AFTER_ALL_TIMES,
            "known": AFTER_ALL_EVENTS if as_of.known_at is None else as_of.known_at,
        }

        def answer(db: sqlite3.Connection) -> list[T]:
            found = db.execute(SESSION, (session,)).fetchone()
            if found is None:
                return []
            if as_of.known_at is not None and as_of.known_at >= found[1]:
                values["known"] = AFTER_ALL_EVENTS
            return ask(db, found[0], {**values, "session": found[0]})

        return self._file.read(answer)


def _parts(values: Values, newest: str, ending: str) -> list[tuple[str, str]]:
    """Where the rows are that can hold at the moment, as an index and a condition.

    With all that is known, rows without an end and those whose end is still to come; else any.
    """
    if values["known"] != AFTER_ALL_EVENTS:
        return [(newest, WITHOUT_END), (newest, WITH_END)]
    if values["at"] == AFTER_ALL_TIMES:
        return [(newest, WITHOUT_END)]
    return [(newest, WITHOUT_END), (ending, TO_END)]


def _around(db: sqlite3.Connection, values: Values, relations: Sequence[str]) -> Iterator[tuple[str, Values]]:
    """What to ask for the edges of a node: all of them if they are few, else the newest of each relation."""
    for end in ENDS:
        if relations:
            wanted: Iterable[str] = dict.fromkeys(relations)
        else:
            (few,) = db.execute(FEW.format(end), values).fetchone()
            if few <= int(str(values["limit"])):
                if few:
                    yield AROUND.format(end), values
                continue
            wanted = _relations(db, RELATION.format(end), values)
        for relation in wanted:
            for index, which in _parts(values, end, f"end_at_{end}"):
                yield NEWEST_AROUND.format(end, f"edges_by_{index}", which), {**values, "relation": relation}


def _relations(db: sqlite3.Connection, query: str, values: Values) -> Iterator[str]:
    """The relations of a node's edges, each found by a step in the index."""
    found = ("",)
    while found := db.execute(query, {**values, "relation": found[0]}).fetchone():
        yield found[0]


def _newest(
    db: sqlite3.Connection, asked: Iterable[tuple[str, Values]], count: int, but: dict[int, EdgeRow]
) -> list[Any]:
    """The first `count` edges of all the answers in their order. None is read that is older than the last of those."""
    found: dict[int, Any] = {}
    newer = 0
    for query, values in asked:
        rows = db.execute(query, {**values, "newer": newer})
        found.update((row[2], row) for row in rows if row[2] not in but)
        if len(found) >= count:
            found = {row[2]: row for row in sorted(found.values(), key=_edge_order)[:count]}
            newer = min(row[18] for row in found.values())
    return sorted(found.values(), key=_edge_order)


def _edge_order(row: Any) -> tuple[object, ...]:
    return (-row[18], row[9], row[6], row[0], row[8], row[1])


def _edge_row(row: Any, step: int) -> EdgeRow:
    source, target = EntityRef(row[6], row[5]), EntityRef(row[8], row[7])
    edge = Edge(source, target, row[9], row[10], bool(row[11]), row[12], row[13], row[14], row[15])
    return EdgeRow(edge, row[16], row[17], row[18], row[19], row[20], step)


def _entity_rows(rows: Iterable[Any]) -> list[EntityRow]:
    """Newest first, then by type, then by name in the form in which names match."""
    ordered = sorted(rows, key=lambda row: (-row[8], row[2], row[0]))
    return [EntityRow(Entity(row[1], row[2], row[3], json.loads(row[4]), row[5]), *row[6:]) for row in ordered]


def _lines_by_event(rows: Iterable[Any]) -> Iterator[bytes]:
    """Each row as a line; those of one event sorted, so that the order in which they were written is no matter."""
    for _, together in groupby(rows, key=lambda row: row[0]):
        yield from sorted(json.dumps(row).encode() + b"\n" for row in together)
