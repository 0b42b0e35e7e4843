"""Keeps the graph in one SQLite file; an event's rows and the cursor after it change in the same transaction."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import astuple, fields, replace
from functools import cached_property
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
)

# Entities and edges are versioned alike and so share a table. An entity's subject is its name, folded, and its object
# is empty; an edge leads from one node to another. `told` is all of it; `content` is what another version differs in.
SCHEMA = """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS cursors (session TEXT PRIMARY KEY, cursor TEXT);
CREATE TABLE IF NOT EXISTS rows (
    id INTEGER PRIMARY KEY, session TEXT, kind TEXT, type TEXT, subject TEXT, object TEXT, told TEXT, content TEXT,
    valid_from TEXT, valid_to TEXT, opened INTEGER, closed INTEGER, hash TEXT
);
CREATE INDEX IF NOT EXISTS by_subject ON rows (session, kind, subject, object, type, valid_from);
CREATE INDEX IF NOT EXISTS by_object ON rows (session, kind, object);
CREATE INDEX IF NOT EXISTS by_type ON rows (session, kind, type, opened);
CREATE INDEX IF NOT EXISTS by_event ON rows (session, opened);
"""
COLUMNS = "session, kind, type, subject, object, told, content, valid_from, valid_to, opened, closed, hash"
SAME_THING = "session = ? AND kind = ? AND type = ? AND subject = ? AND object = ?"
KNOWN_END = "iif(closed > :known, '', valid_to)"
HOLDS = f"opened <= :known AND valid_from <= :at AND ({KNOWN_END} = '' OR :at < {KNOWN_END})"
AFTER_ALL_TIMES, AFTER_ALL_EVENTS = "~", 2**62


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


def node(ref: EntityRef) -> str:
    """A text that sorts as the type does, and then as the name does in the form in which names match."""
    return f"{ref.entity_type}\x1f{folded(ref.name)}"


def text(thing: Entity | Edge, without: Sequence[str] = ()) -> str:
    values = {field.name: getattr(thing, field.name) for field in fields(thing) if field.name not in without}
    return json.dumps(values, sort_keys=True, default=dict)


def among(column: str, parameter: str) -> str:
    return f"{column} IN (SELECT value FROM json_each(:{parameter}))"


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
                for closing in rows.closings:  # first, so that an event may close a thing and open it anew
                    self._close(event, closing)
                for entity in rows.entities:
                    key = ("entity", entity.entity_type, folded(entity.name), "")
                    self._open(event, key, entity, entity.observed_at or event.time, "")
                for edge in rows.edges:
                    key = ("edge", edge.relation_type, node(edge.source), node(edge.target))
                    self._open(event, key, edge, edge.valid_from or event.time, edge.valid_to)
            if cursor.seq > taken:
                db.execute("REPLACE INTO cursors VALUES (?, ?)", (batch.session, json.dumps(astuple(cursor))))

    def _close(self, event: Event, closing: Closing) -> None:
        end = "UPDATE rows SET valid_to = ?, closed = ? WHERE valid_to = '' AND session = ?"
        values = (closing.at, event.seq, event.session)
        if closing.entity:
            entity_type, name = closing.entity
            which = "kind = 'entity' AND type = ? AND subject = ?"
            self._db.execute(f"{end} AND {which}", (*values, entity_type, folded(name)))
        else:
            self._db.execute(f"{end} AND opened = ?", (*values, closing.seq))

    def _open(self, event: Event, key: tuple[str, ...], told: Entity | Edge, begins: str, ends: str) -> None:
        """File a version between the one before it, which it ends, and the one after it, which ends it."""
        place = (event.session, *key, begins)
        versions = f"FROM rows WHERE {SAME_THING}"
        (later,) = self._db.execute(f"SELECT min(valid_from) {versions} AND valid_from > ?", place).fetchone()
        last = "valid_from <= ? ORDER BY valid_from DESC, id DESC LIMIT 1"
        earlier = self._db.execute(f"SELECT id, content, valid_to {versions} AND {last}", place).fetchone()
        content = text(told, without=("name", "observed_at", "source", "target", "valid_from"))
        if earlier and (not earlier[2] or begins < earlier[2]):
            if earlier[1] == content:
                return
            end = "UPDATE rows SET valid_to = ?, closed = ifnull(closed, ?) WHERE id = ?"
            self._db.execute(end, (begins, event.seq, earlier[0]))
        ends = min(filter(None, (ends, later)), default="")
        closed = event.seq if ends else None
        self._db.execute(
            f"INSERT INTO rows ({COLUMNS}) VALUES ({', '.join('?' * 12)})",
            (event.session, *key, text(told), content, begins, ends, event.seq, closed, event.hash),
        )

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
        return self._entities(session, "subject", [folded(name) for name in names], as_of, limit)

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        return self._entities(session, "opened", seqs, as_of, limit=-1)

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self._entities(session, "type", entity_types, as_of, limit)

    def _entities(self, session: str, column: str, wanted: Sequence[Any], as_of: AsOf, limit: int) -> list[EntityRow]:
        which = f"kind = 'entity' AND {among(column, 'wanted')} ORDER BY opened DESC, type, subject LIMIT {limit:d}"
        rows = self._rows(session, which, as_of, wanted=wanted)
        return [EntityRow(Entity(**json.loads(told)), *window) for _, told, *window in rows]

    def neighbours(
        self, session: str, start: Sequence[EntityRef], relations: Sequence[str], depth: int, as_of: AsOf, limit: int
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
            for row_id, told, *window in rows:
                values = json.loads(told)
                source, target = EntityRef(*values.pop("source")), EntityRef(*values.pop("target"))
                row = EdgeRow(Edge(source, target, **values), *window)
                found.setdefault(row_id, replace(row, depth=step))
                outermost |= {node(source), node(target)} - reached
        return list(found.values())[:limit]

    def _rows(self, session: str, which: str, as_of: AsOf, **lists: Sequence[object]) -> list[Any]:
        """The rows that hold at a moment: id, what was told, and the window as it was known then."""
        values: dict[str, object] = {name: json.dumps(list(of)) for name, of in lists.items()}
        values["session"] = session
        values["at"] = as_of.valid_at or AFTER_ALL_TIMES
        values["known"] = AFTER_ALL_EVENTS if as_of.known_at is None else as_of.known_at
        window = f"valid_from, {KNOWN_END}, opened, iif(closed > :known, NULL, closed), hash"
        query = f"SELECT id, told, {window} FROM rows WHERE session = :session AND {HOLDS} AND {which}"
        return self._db.execute(query, values).fetchall()

    def stats(self, session: str) -> GraphStats:
        count = "SELECT ifnull(sum({0}), 0), ifnull(sum(valid_to = '' AND {0}), 0) FROM rows WHERE session = ?"
        entities, open_entities = self._db.execute(count.format("kind = 'entity'"), (session,)).fetchone()
        edges, open_edges = self._db.execute(count.format("kind = 'edge'"), (session,)).fetchone()
        return GraphStats(entities, edges, open_entities, open_edges)
