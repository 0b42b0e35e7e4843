"""Keeps the graph in one SQLite file; an event's rows and the cursor after it change in the same transaction."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from functools import cached_property
from itertools import islice
from typing import Any

from zaxy.api import (
    AsOf,
    Batch,
    Closing,
    Cursor,
    Edge,
    EdgeRow,
    Entity,
    EntityRef,
    EntityRow,
    Event,
    GraphStats,
    ProviderContext,
    Version,
    beginning,
    earlier_ends,
    earlier_text,
    end_versions,
    open_version,
    seen,
)

# Entities and edges are versioned alike and so share a table. An entity's subject is its name, folded, and its object
# is empty; an edge leads from one node to another. `content` is what another version differs in, `given` all the rest.
SCHEMA = """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS cursors (session TEXT PRIMARY KEY, cursor TEXT);
CREATE TABLE IF NOT EXISTS rows (
    id INTEGER PRIMARY KEY, session TEXT, kind TEXT, type TEXT, subject TEXT, object TEXT, given TEXT, hash TEXT,
    valid_from TEXT, valid_to TEXT, opened INTEGER, closed INTEGER, content TEXT, earlier TEXT
);
CREATE INDEX IF NOT EXISTS by_subject ON rows (session, kind, subject, object, type, valid_from);
CREATE INDEX IF NOT EXISTS by_object ON rows (session, kind, object);
CREATE INDEX IF NOT EXISTS by_type ON rows (session, kind, type, opened);
CREATE INDEX IF NOT EXISTS by_event ON rows (session, opened);
"""
COLUMNS = "session, kind, type, subject, object, given, hash, valid_from, valid_to, opened, closed, content, earlier"
VERSION = "id, valid_from, valid_to, opened, closed, content, earlier"
LINE = f"SELECT {VERSION} FROM rows WHERE session = ? AND kind = ? AND type = ? AND subject = ? AND object = ?"
NOT_VOID = "(valid_to = '' OR valid_from < valid_to)"
BY = f"{LINE} AND valid_from <= ? AND {NOT_VOID} ORDER BY valid_from DESC, id DESC LIMIT 1"
LATER = f"{LINE} AND valid_from > ? AND {NOT_VOID} ORDER BY valid_from"
OF_EVENT = f"SELECT {VERSION} FROM rows WHERE session = ? AND opened = ?"


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


def node(ref: EntityRef) -> str:
    """A text that sorts as the type does, and then as the name does in the form in which names match."""
    return f"{ref.entity_type}\x1f{folded(ref.name)}"


def given(row: Entity | Edge) -> str:
    """What a row says besides its content, as the arguments of its class."""
    if isinstance(row, Entity):
        return json.dumps([row.name, row.entity_type, row.observed_at])
    return json.dumps([row.source, row.target, row.relation_type, row.valid_from])


def version(row: Sequence[Any]) -> Version:
    number, valid_from, valid_to, opened, closed, content, earlier = row
    return Version(number, valid_from, valid_to, opened, closed, tuple(json.loads(content)), earlier_ends(earlier))


def among(column: str, parameter: str) -> str:
    return f"{column} IN (SELECT value FROM json_each(:{parameter}))"


def entity_row(held: Version, names: list[Any], event_hash: str) -> EntityRow:
    name, entity_type, observed_at = names
    summary, properties = map(str, held.content)
    entity = Entity(name, entity_type, summary, json.loads(properties), observed_at)
    return EntityRow(entity, held.valid_from, held.valid_to, held.opened_seq, held.closed_seq, event_hash)


def edge_row(held: Version, names: list[Any], event_hash: str, depth: int) -> EdgeRow:
    source, target, relation, valid_from = names
    content: Any = held.content
    confidence, inferred, method, evidence, valid_to = content
    ends = (EntityRef(*source), EntityRef(*target))
    edge = Edge(*ends, relation, confidence, inferred, method, evidence, valid_from, valid_to)
    return EdgeRow(edge, held.valid_from, held.valid_to, held.opened_seq, held.closed_seq, event_hash, depth)


class Backend:
    def __init__(self, context: ProviderContext) -> None:
        self._path = context.state_dir / "graph.db"

    @cached_property
    def _db(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None)
        db.executescript(SCHEMA)
        return db

    def cursor(self, session: str) -> Cursor | None:
        found = self._db.execute("SELECT cursor FROM cursors WHERE session = ?", (session,)).fetchone()
        return Cursor(*json.loads(found[0])) if found else None

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        with self._db as db:
            db.execute("BEGIN IMMEDIATE")
            before = self.cursor(batch.session)
            taken = before.seq if before else 0
            for event, rows in ((e.event, e.rows) for e in batch.events if e.event.seq > taken):
                for closing in rows.closings:  # first, so that an event may close a thing and open it again
                    self._close(event, closing)
                for entity in rows.entities:
                    self._open(event, ("entity", entity.entity_type, folded(entity.name), ""), entity)
                for edge in rows.edges:
                    self._open(event, ("edge", edge.relation_type, node(edge.source), node(edge.target)), edge)
            if cursor.seq > taken:
                db.execute("REPLACE INTO cursors VALUES (?, ?)", (batch.session, json.dumps(astuple(cursor))))

    def _close(self, event: Event, closing: Closing) -> None:
        if closing.entity:
            line = (event.session, "entity", closing.entity.entity_type, folded(closing.entity.name), "", event.time)
            found = [*self._db.execute(BY, line), *self._db.execute(LATER, line)]
        else:
            found = self._db.execute(OF_EVENT, (event.session, closing.seq)).fetchall()
        self._end(end_versions(map(version, found), closing, event))

    def _open(self, event: Event, key: tuple[str, ...], row: Entity | Edge) -> None:
        """Fetch the versions around a row, and store what `open_version` makes of them."""
        line = (event.session, *key, beginning(row, event))
        around = [*self._db.execute(BY, line), *self._db.execute(f"{LATER} LIMIT 1", line)]
        opened, ended = open_version(map(version, around), row, event)
        self._end(ended)
        if opened:
            window = (opened.valid_from, opened.valid_to, opened.opened_seq, opened.closed_seq)
            values = (event.session, *key, given(row), event.hash, *window, json.dumps(opened.content), None)
            self._db.execute(f"INSERT INTO rows ({COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)

    def _end(self, ended: Sequence[Version]) -> None:
        end = "UPDATE rows SET valid_to = ?, closed = ?, earlier = ? WHERE id = ?"
        for version in ended:
            self._db.execute(end, (version.valid_to, version.closed_seq, earlier_text(version), version.number))

    def digest(self, session: str) -> str:
        rows = self._db.execute(f"SELECT {COLUMNS} FROM rows WHERE session = ? ORDER BY {COLUMNS}", (session,))
        return hashlib.sha256(b"".join(json.dumps(row).encode() for row in rows)).hexdigest()

    def wipe(self, session: str) -> None:
        with self._db as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM rows WHERE session = ?", (session,))
            db.execute("DELETE FROM cursors WHERE session = ?", (session,))
        self._db.execute("VACUUM")

    def close(self) -> None:
        self._db.close()

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self._entities(session, "subject", wanted=[folded(name) for name in names], as_of=as_of, limit=limit)

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        return self._entities(session, "opened", wanted=seqs, as_of=as_of, limit=sys.maxsize)

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self._entities(session, "type", wanted=entity_types, as_of=as_of, limit=limit)

    def _entities(
        self, session: str, column: str, *, wanted: Sequence[Any], as_of: AsOf, limit: int
    ) -> list[EntityRow]:
        which = f"kind = 'entity' AND {among(column, 'wanted')} ORDER BY opened DESC, type, subject"
        rows = islice(self._rows(session, which, as_of, wanted=wanted), max(limit, 0))
        return [entity_row(*row) for row in rows]

    def neighbours(
        self, session: str, start: Sequence[EntityRef], *, relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        which = f"kind = 'edge' AND ({among('subject', 'nodes')} OR {among('object', 'nodes')})"
        if relations:
            which += f" AND {among('type', 'relations')}"
        which += " ORDER BY opened DESC, type, subject, object"
        found: dict[int, EdgeRow] = {}
        reached: set[str] = set()
        outermost = {node(ref) for ref in start}
        for step in range(1, depth + 1):
            reached |= outermost
            rows = self._rows(session, which, as_of, nodes=list(outermost), relations=relations)
            outermost = set()
            for held, names, event_hash in rows:
                row = edge_row(held, names, event_hash, step)
                found.setdefault(held.number, row)
                outermost |= {node(row.edge.source), node(row.edge.target)} - reached
        return list(found.values())[: max(limit, 0)]

    def _rows(
        self, session: str, which: str, as_of: AsOf, **lists: Sequence[object]
    ) -> Iterator[tuple[Version, list[Any], str]]:
        """The versions that hold at a moment, as they were known then, with what else their rows say."""
        values: dict[str, object] = {name: json.dumps(list(of)) for name, of in lists.items()}
        query = f"SELECT given, hash, {VERSION} FROM rows WHERE session = :session AND {which}"
        for names, event_hash, *row in self._db.execute(query, {**values, "session": session}):
            if held := seen(version(row), as_of):
                yield held, json.loads(names), event_hash

    def stats(self, session: str) -> GraphStats:
        count = "SELECT ifnull(sum({0}), 0), ifnull(sum(valid_to = '' AND {0}), 0) FROM rows WHERE session = ?"
        entities, open_entities = self._db.execute(count.format("kind = 'entity'"), (session,)).fetchone()
        edges, open_edges = self._db.execute(count.format("kind = 'edge'"), (session,)).fetchone()
        return GraphStats(entities, edges, open_entities, open_edges)
