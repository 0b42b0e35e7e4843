"""The built-in graph: every version of every entity and edge in one SQLite file, for many processes at once."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, TypeVar

import orjson

from zaxy.api.models import AsOf, Batch, Cursor, EdgeRow, EntityRef, EntityRow, GraphStats
from zaxy.api.names import folded_names
from zaxy.api.provider import ProviderContext
from zaxy.errors import Conflict
from zaxy.eventloom.disposable_database import DisposableDatabase
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.graph.current_rows import CurrentRows
from zaxy.graph.rows import Moment, entities_of_events, entity_rows, moment_of, versions_of_things
from zaxy.graph.schema import FORMAT, SCHEMA, name_key
from zaxy.graph.seal_check import graph_problems, without_session
from zaxy.graph.sessions import SessionRows
from zaxy.graph.statements import (
    AFTER_ALL_EVENTS,
    ALL_EDGES,
    ALL_ENTITIES,
    NAMED_NOW,
    NAMED_THEN,
    OF_EVENTS,
    SESSION,
)
from zaxy.graph.walk import Walk
from zaxy.graph.writer import GraphWriter

T = TypeVar("T")
REMEMBERED = 60_000
"""How many things, entities and edges are remembered from one batch to the next."""
NEW_SESSION = "INSERT INTO sessions (name) VALUES (?)"
MOVE = (
    "UPDATE sessions SET seq = ?, hash = ?, offset = ?, fed_by = ?, entities = ?, edges = ?, open_entities = ?, "
    "open_edges = ?, open_by_type = ?, seal = ? WHERE id = ?"
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
        self._sessions = SessionRows(SESSION)
        self._writers: dict[str, GraphWriter] = {}
        self._writers_state: tuple[int, int] | None = None

    # Following

    def cursor(self, session: str) -> Cursor | None:
        found = self._file.peek(lambda db: self._sessions.row(db, session))
        return Cursor(*found[1:5]) if found else None

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self._file.write(lambda db: self._take(db, batch, cursor))

    def _take(self, db: SealedConnection, batch: Batch, cursor: Cursor) -> None:
        found = self._sessions.fetched(db, batch.session)
        taken: int = found[1] if found else 0
        session = int(found[0] if found else db.execute(NEW_SESSION, (batch.session,)).lastrowid or 0)
        writer = self._writer(db, batch.session, session, is_new=not found)
        news = [extracted for extracted in batch.events if extracted.event.seq > taken]
        if news and news[0].event.seq != taken + 1:
            raise Conflict(
                f"the graph has followed {batch.session} to event {taken}, and the batch begins at {news[0].event.seq}",
                "Ask for its cursor again, and go on from there: it may have been rebuilt meanwhile.",
            )
        writer.begin()
        for extracted in news:
            writer.take(extracted)
        counts = map(sum, zip(found[5:9] if found else (0, 0, 0, 0), writer.finish(), strict=True))
        if cursor.seq > taken or not found:
            open_by_type = _added(found[9] if found else "{}", writer.open_by_type)
            moved = (cursor.seq, cursor.hash, cursor.offset, cursor.fed_by, *counts, open_by_type)
            db.execute(MOVE, (*moved, db.seal((session, *moved, batch.session)), session))

    def _writer(self, db: SealedConnection, name: str, session: int, *, is_new: bool) -> GraphWriter:
        """The session's writer: the one before, if it is still right about the file and not too large."""
        state = (self._file.generation, db.execute("PRAGMA data_version").fetchone()[0])
        if state != self._writers_state or sum(writer.size for writer in self._writers.values()) > REMEMBERED:
            self._writers.clear()
        self._writers_state = state
        if name not in self._writers:
            self._writers[name] = GraphWriter(db, session, is_new=is_new)
        return self._writers[name]

    def digest(self, session: str) -> str:
        def all_of(db: SealedConnection) -> str:
            found = db.execute(SESSION, (session,)).fetchone()
            total = hashlib.sha256()
            for rows in (ALL_ENTITIES, ALL_EDGES):
                for line in _lines_by_event(db.execute(rows, found[:1] if found else (0,))):
                    total.update(line)
                total.update(b"\n")
            return total.hexdigest()

        return self._file.read(all_of)

    def verify(self, session: str) -> list[str]:
        """Which rows of a session do not hold their seals, and which are missing; nothing if all is well."""

        def problems(db: SealedConnection) -> list[str]:
            found = self._sessions.fetched(db, session)
            return graph_problems(db, found) if found else without_session(db, ("events", "things"))

        return self._file.examine(problems)

    def wipe(self, session: str) -> None:
        def delete(db: SealedConnection) -> None:
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

    def try_scrub(self, session: str) -> bool:
        """Whether no byte of what was wiped is left, of any session."""
        return self._file.try_scrub()

    def close(self) -> None:
        self._writers.clear()
        self._file.close()

    # Reading

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let all reads of this thread be of one state."""
        with self._file.hold(), self._sessions.remembered():
            yield

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        wanted = folded_names(names)

        def ask(db: SealedConnection, moment: Moment) -> list[EntityRow]:
            query = NAMED_NOW if moment.known == AFTER_ALL_EVENTS else NAMED_THEN
            keys = orjson.dumps([name_key(moment.session, name) for name in wanted]).decode()
            rows = versions_of_things(db, db.execute(query, {**moment.values, "keys": keys}))
            return entity_rows(db, (row for row in rows if row[3] in wanted), moment)

        return self._ask(session, as_of, ask)[: max(limit, 0)] if wanted else []

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        def ask(db: SealedConnection, moment: Moment) -> list[EntityRow]:
            wanted = orjson.dumps(list(dict.fromkeys(seqs))).decode()
            rows = db.execute(OF_EVENTS, {**moment.values, "seqs": wanted})
            return entity_rows(db, entities_of_events(db, rows), moment)

        return self._ask(session, as_of, ask) if seqs else []

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self.current_of_each(session, [entity_types], as_of, limit)[0]

    def current_of_each(
        self, session: str, kinds: Sequence[Sequence[str]], as_of: AsOf, limit: int
    ) -> list[list[EntityRow]]:
        """What is current of several kinds, each given by its types."""

        def ask(db: SealedConnection, moment: Moment) -> list[list[EntityRow]]:
            return [of_kind(db, moment, kind) for kind in kinds]

        def of_kind(db: SealedConnection, moment: Moment, entity_types: Sequence[str]) -> list[EntityRow]:
            wanted = list(dict.fromkeys(entity_types))
            open_by_type = orjson.loads(self._sessions.row(db, session)[9])
            return CurrentRows(db, moment, limit=limit).of_types({kind: open_by_type.get(kind, 0) for kind in wanted})

        return (self._ask(session, as_of, ask) if limit > 0 and any(kinds) else []) or [[] for _ in kinds]

    def neighbours(
        self, session: str, start: Sequence[EntityRef], *, relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        def ask(db: SealedConnection, moment: Moment) -> list[EdgeRow]:
            return Walk(db, moment, relations=relations, limit=limit).edges(start, depth)

        return self._ask(session, as_of, ask) if limit > 0 and start else []

    def stats(self, session: str) -> GraphStats:
        found = self._file.read(lambda db: self._sessions.row(db, session))
        return GraphStats(*found[5:9]) if found else GraphStats(0, 0, 0, 0)

    def _ask(self, session: str, as_of: AsOf, ask: Callable[[SealedConnection, Moment], list[T]]) -> list[T]:
        """Ask about one session at one moment; of a session that was never followed there is nothing."""

        def answer(db: SealedConnection) -> list[T]:
            found = self._sessions.row(db, session)
            return ask(db, moment_of(as_of, found[0], found[1])) if found else []

        return self._file.read(answer)


def _added(counts: str, more: Mapping[str, int]) -> str:
    """Counts by type, kept as JSON, and what came to them; types that have come to nothing are left out."""
    total = Counter(orjson.loads(counts))
    total.update(more)
    return orjson.dumps({kind: count for kind, count in total.items() if count}, option=orjson.OPT_SORT_KEYS).decode()


def _lines_by_event(rows: Iterable[Any]) -> Iterator[bytes]:
    """Each row as a line; those of one event sorted, so that the order in which they were written is no matter."""
    for _, of_event in groupby(rows, key=lambda row: row[0]):
        yield from sorted(json.dumps(row).encode() + b"\n" for row in of_event)
