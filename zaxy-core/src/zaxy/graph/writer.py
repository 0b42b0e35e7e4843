"""Takes events into the graph, in an amount of work that does not depend on what is there already.

Which rows open and end is decided by `zaxy.api.versions`: here they are fetched and stored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from zaxy.api.models import Closing, Edge, Entity, Event, ExtractedEvent
from zaxy.api.names import folded_name
from zaxy.api.versions import (
    Version,
    beginning,
    comes_last,
    earlier_ends,
    earlier_text,
    end_versions,
    open_version,
)
from zaxy.graph.schema import name_key

Join = tuple[int, int, str]

THING = "SELECT id, ifnull(spelled, name) FROM things WHERE key = ? AND session = ? AND type = ? AND name = ?"
WINDOW = "id, valid_from, valid_to, opened, closed, earlier"
ENTITY = f"SELECT {WINDOW}, summary, properties FROM entities WHERE thing = ?"
EDGE_CONTENT = f"SELECT {WINDOW}, confidence, inferred, method, evidence, given_to"
EDGE = (
    f"{EDGE_CONTENT} FROM edges INDEXED BY edges_by_ends "
    "WHERE max(source, target) = ? AND min(source, target) = ? AND relation = ? AND source = ?"
)
NOT_VOID = "AND (valid_to = '' OR valid_from < valid_to)"
LAST = f"{NOT_VOID} ORDER BY valid_from DESC, id DESC LIMIT 1"
BY, LATER = f"AND valid_from <= ? {LAST}", f"AND valid_from > ? {NOT_VOID} ORDER BY valid_from LIMIT ?"
EVENT = "SELECT first_entity, end_of_entities, first_edge, end_of_edges FROM events WHERE session = ? AND seq = ?"
ENTITIES_OF_EVENT = f"SELECT thing, {WINDOW}, summary, properties FROM entities WHERE id >= ? AND id < ?"
EDGES_OF_EVENT = f"SELECT source, target, relation, {EDGE_CONTENT[7:]} FROM edges WHERE id >= ? AND id < ?"
LAST_IDS = "SELECT (SELECT max(id) FROM things), (SELECT max(id) FROM entities), (SELECT max(id) FROM edges)"
ONE, ALL = 1, -1

# In this order: a row is there before it is ended.
NEW_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
NEW_THING = "INSERT INTO things VALUES (?, ?, ?, ?, ?, ?)"
NEW_ENTITY = "INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
NEW_EDGE = "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
END_ENTITY = "UPDATE entities SET valid_to = ?, closed = ?, earlier = ? WHERE id = ?"
END_EDGE = "UPDATE edges SET valid_to = ?, closed = ?, earlier = ? WHERE id = ?"
WRITES = (NEW_EVENT, NEW_THING, NEW_ENTITY, NEW_EDGE, END_ENTITY, END_EDGE)
COUNTS = (
    "UPDATE sessions SET entities = entities + ?, edges = edges + ?, open_entities = open_entities + ?, "
    "open_edges = open_edges + ? WHERE id = ?"
)


class Lines:
    """The versions of one kind, each in the line of its thing or edge; the last of each line is remembered."""

    def __init__(self, versions: str, end: str, place: Callable[[Any], tuple[object, ...]]) -> None:
        self.last: dict[Any, Version | None] = {}
        self.unsure: set[Any] = set()
        """Lines whose remembered last version came to hold at no time: another may be the last now."""
        self.end = end
        self.place = place
        """By what the index finds the line of a key."""
        self.without_end = 0
        """How many more rows have no end than before the batch."""
        self._last_of, self._by, self._later = (f"{versions} {which}" for which in (LAST, BY, LATER))

    def fetch_last(self, db: sqlite3.Connection, key: Any) -> Version | None:
        found = db.execute(self._last_of, self.place(key)).fetchone()
        version = self.last[key] = _version(found) if found else None
        self.unsure.discard(key)
        return version

    def around(self, db: sqlite3.Connection, key: Any, moment: str, later: int) -> list[Version]:
        """The last version that begins by a moment, and the first `later` ones that begin after it."""
        values = self.place(key)
        found = db.execute(self._by, (*values, moment)).fetchall()
        return [_version(row) for row in (*found, *db.execute(self._later, (*values, moment, later)))]


class GraphWriter:
    """Takes the events of one session, and remembers what it has met, so that meeting it again costs no query.

    It writes in one go at the end of a batch. It must be forgotten after a failed transaction, and when somebody else
    may have written since.
    """

    def __init__(self, db: sqlite3.Connection, session: int) -> None:
        self._db = db
        self._session = session
        self._refs: dict[tuple[str, str], tuple[int, str | None]] = {}
        self._things: dict[tuple[str, str], tuple[int, str]] = {}
        self._entities = Lines(ENTITY, END_ENTITY, lambda thing: (thing,))
        self._edges = Lines(EDGE, END_EDGE, _place)
        self._new_things: set[int] = set()
        """Things that were not there before, so that of their rows none is there that is not remembered."""
        self._writes: dict[str, list[tuple[object, ...]]] = {of: [] for of in WRITES}

    @property
    def size(self) -> int:
        return len(self._refs) + len(self._entities.last) + len(self._edges.last)

    def begin(self) -> None:
        self._last_thing, self._last_entity, self._last_edge = (of or 0 for of in self._db.execute(LAST_IDS).fetchone())
        self._entities.without_end = self._edges.without_end = 0
        self._before = (self._last_entity, self._last_edge)

    def take(self, extracted: ExtractedEvent) -> None:
        event, rows = extracted.event, extracted.rows
        for closing in rows.closings:  # first, so that an event may close a thing and open it again
            self._close(event, closing)
        first_entity, first_edge = self._last_entity + 1, self._last_edge + 1
        for entity in rows.entities:
            self._take_entity(event, entity)
        for edge in rows.edges:
            self._take_edge(event, edge)
        ends = (self._last_entity + 1, self._last_edge + 1)
        if ends != (first_entity, first_edge):
            place = (self._session, event.seq, event.hash)
            self._writes[NEW_EVENT].append((*place, first_entity, ends[0], first_edge, ends[1]))

    def finish(self) -> None:
        self._flush()
        entities, edges = self._last_entity - self._before[0], self._last_edge - self._before[1]
        without_end = (self._entities.without_end, self._edges.without_end)
        self._db.execute(COUNTS, (entities, edges, *without_end, self._session))

    def _flush(self) -> None:
        for statement, rows in self._writes.items():
            if rows:
                self._db.executemany(statement, rows)
                rows.clear()

    def _close(self, event: Event, closing: Closing) -> None:
        if closing.entity is not None:
            known = self._known((closing.entity.entity_type, folded_name(closing.entity.name)))
            if known:
                around = self._around(self._entities, known[0], event.time, ALL)
                for version in end_versions(around, closing, event):
                    self._end(self._entities, known[0], version)
            return
        self._flush()
        found = self._db.execute(EVENT, (self._session, closing.seq)).fetchone()
        if found is None:
            return
        for thing, *row in self._db.execute(ENTITIES_OF_EVENT, found[:2]).fetchall():
            for version in end_versions((_version(row),), closing, event):
                self._end(self._entities, thing, version)
        for source, target, relation, *row in self._db.execute(EDGES_OF_EVENT, found[2:]).fetchall():
            for version in end_versions((_version(row),), closing, event):
                self._end(self._edges, (source, target, relation), version)
        self._flush()  # the lines of these rows may not be remembered

    def _take_entity(self, event: Event, entity: Entity) -> None:
        thing, spelled = self._thing((entity.entity_type, entity.name))
        row = self._last_entity + 1
        is_new = thing in self._new_things and thing not in self._entities.last
        around = () if is_new else self._around(self._entities, thing, beginning(entity, event), ONE)
        opened, ended = open_version(around, entity, event, row)
        for version in ended:
            self._end(self._entities, thing, version)
        if opened is None:
            return
        self._last_entity = row
        window = (opened.valid_from, opened.valid_to, event.seq, opened.closed_seq)
        names = (self._session, thing, entity.entity_type, spelled)
        self._writes[NEW_ENTITY].append((row, *names, *opened.content, entity.observed_at, *window))
        self._open(self._entities, thing, opened)

    def _take_edge(self, event: Event, edge: Edge) -> None:
        (source, source_spelled), (target, target_spelled) = self._thing(edge.source), self._thing(edge.target)
        join = (source, target, edge.relation_type)
        row = self._last_edge + 1
        is_new = (source in self._new_things or target in self._new_things) and join not in self._edges.last
        around = () if is_new else self._around(self._edges, join, beginning(edge, event), ONE)
        opened, ended = open_version(around, edge, event, row)
        for version in ended:
            self._end(self._edges, join, version)
        if opened is None:
            return
        self._last_edge = row
        window = (opened.valid_from, opened.valid_to, event.seq, opened.closed_seq)
        names = (*join, source_spelled, target_spelled)
        self._writes[NEW_EDGE].append((row, *names, *opened.content, edge.valid_from, *window))
        self._open(self._edges, join, opened)

    def _around(self, lines: Lines, key: Any, moment: str, later: int) -> tuple[Version, ...]:
        """The versions of a line around a moment: the last is all there is unless it begins later."""
        if key in lines.unsure:
            self._flush()
            last = lines.fetch_last(self._db, key)
        elif key in lines.last:
            last = lines.last[key]
        elif not self._new_things.isdisjoint(lines.place(key)):
            return ()
        else:
            last = lines.fetch_last(self._db, key)
        if comes_last(last, moment):
            return (last,) if last else ()
        self._flush()
        return tuple(lines.around(self._db, key, moment, later))

    def _open(self, lines: Lines, key: object, version: Version) -> None:
        last = lines.last.get(key)
        if not version.valid_to:
            lines.without_end += 1
        elif version.is_void:
            return
        if last is None or comes_last(last, version.valid_from):
            lines.last[key] = version
            lines.unsure.discard(key)

    def _end(self, lines: Lines, key: object, version: Version) -> None:
        self._writes[lines.end].append((version.valid_to, version.closed_seq, earlier_text(version), version.number))
        lines.without_end -= not version.moved
        last = lines.last.get(key)
        if last is not None and last.number == version.number:
            lines.last[key] = version
            if version.is_void:
                lines.unsure.add(key)

    def _thing(self, ref: tuple[str, str]) -> tuple[int, str | None]:
        """The id of a thing, given to it when it is first heard of, and its name if that is spelled otherwise."""
        seen = self._refs.get(ref)
        if seen is not None:
            return seen
        kind, name = ref
        matched = folded_name(name)
        known = self._known((kind, matched))
        if known is None:
            self._last_thing += 1
            known = self._things[(kind, matched)] = (self._last_thing, name)
            self._new_things.add(self._last_thing)
            spelled = None if name == matched else name
            self._writes[NEW_THING].append((self._last_thing, self._session, self._key, kind, matched, spelled))
        seen = self._refs[ref] = (known[0], None if name == known[1] else name)
        return seen

    def _known(self, key: tuple[str, str]) -> tuple[int, str] | None:
        """The id and the first spelling of a thing by its type and folded name, if it was ever heard of."""
        known = self._things.get(key)
        if known is not None:
            return known
        self._key = name_key(self._session, key[1])
        found: tuple[int, str] | None = self._db.execute(THING, (self._key, self._session, *key)).fetchone()
        if found is not None:
            self._things[key] = found
        return found


def _place(join: Join) -> tuple[int, int, str, int]:
    source, target, relation = join
    return (max(source, target), min(source, target), relation, source)


def _version(row: Any) -> Version:
    number, valid_from, valid_to, opened, closed, earlier, *content = row
    return Version(number, valid_from, valid_to, opened, closed, tuple(content), earlier_ends(earlier))
