"""Takes events into the graph, in an amount of work that does not depend on what is there already."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import orjson

from zaxy.api.models import Closing, Edge, Entity, Event, ExtractedEvent
from zaxy.api.names import folded_name
from zaxy.graph.schema import name_key

Join = tuple[int, int, str]
Version = tuple[int, str, str, tuple[object, ...]]
"""A row's id, valid_from and valid_to, and the content in which another version would differ."""

THING = "SELECT id, ifnull(spelled, name) FROM things WHERE key = ? AND session = ? AND type = ? AND name = ?"
ENTITY = "SELECT id, valid_from, valid_to, summary, properties FROM entities WHERE thing = ?"
EDGE = (
    "SELECT id, valid_from, valid_to, confidence, inferred, method, evidence, told_to FROM edges INDEXED BY "
    "edges_by_ends WHERE max(source, target) = ? AND min(source, target) = ? AND relation = ? AND source = ?"
)
LAST = "ORDER BY valid_from DESC, id DESC LIMIT 1"
LAST_ENTITY, LAST_EDGE = f"{ENTITY} {LAST}", f"{EDGE} {LAST}"
ENTITY_BY, EDGE_BY = f"{ENTITY} AND valid_from <= ? {LAST}", f"{EDGE} AND valid_from <= ? {LAST}"
NEXT = "AND valid_from > ? ORDER BY valid_from LIMIT 1"
NEXT_ENTITY, NEXT_EDGE = f"{ENTITY} {NEXT}", f"{EDGE} {NEXT}"
EVENT = "SELECT first_entity, end_of_entities, first_edge, end_of_edges FROM events WHERE session = ? AND seq = ?"
OPEN_ENTITIES = "SELECT thing FROM entities WHERE id >= ? AND id < ? AND valid_to = ''"
OPEN_EDGES = "SELECT source, target, relation FROM edges WHERE id >= ? AND id < ? AND valid_to = ''"
LAST_IDS = "SELECT (SELECT max(id) FROM things), (SELECT max(id) FROM entities), (SELECT max(id) FROM edges)"

# In this order: a row is there before it is ended.
NEW_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
NEW_THING = "INSERT INTO things VALUES (?, ?, ?, ?, ?, ?)"
NEW_ENTITY = "INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
NEW_EDGE = "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
END_ENTITY = "UPDATE entities SET valid_to = ?, closed = ifnull(closed, ?) WHERE id = ?"
END_EDGE = "UPDATE edges SET valid_to = ?, closed = ifnull(closed, ?) WHERE id = ?"
WRITES = (NEW_EVENT, NEW_THING, NEW_ENTITY, NEW_EDGE, END_ENTITY, END_EDGE)
COUNTS = (
    "UPDATE sessions SET entities = entities + ?, edges = edges + ?, open_entities = open_entities + ?, "
    "open_edges = open_edges + ? WHERE id = ?"
)


def _properties(properties: Mapping[str, object]) -> str:
    return orjson.dumps(properties, dict, orjson.OPT_SORT_KEYS).decode() if properties else "{}"


class GraphWriter:
    """Takes the events of one session, and remembers what it has met, so that telling it again costs no query.

    It writes in one go at the end of a batch. It must be forgotten after a failed transaction, and when somebody else
    may have written since.
    """

    def __init__(self, db: sqlite3.Connection, session: int) -> None:
        self._db = db
        self._session = session
        self._refs: dict[tuple[str, str], tuple[int, str | None]] = {}
        self._things: dict[tuple[str, str], tuple[int, str]] = {}
        self._entities: dict[int, Version | None] = {}
        self._edges: dict[Join, Version | None] = {}
        self._untold: set[int] = set()
        """Things that were not there before, so that of their rows none is there that is not remembered."""
        self._writes: dict[str, list[tuple[object, ...]]] = {of: [] for of in WRITES}

    @property
    def size(self) -> int:
        return len(self._refs) + len(self._entities) + len(self._edges)

    def begin(self) -> None:
        self._last_thing, self._last_entity, self._last_edge = (of or 0 for of in self._db.execute(LAST_IDS).fetchone())
        self._opened_entities = self._opened_edges = 0
        self._before = (self._last_entity, self._last_edge)

    def take(self, extracted: ExtractedEvent) -> None:
        event, rows = extracted.event, extracted.rows
        for closing in rows.closings:  # first, so that an event may close a thing and open it anew
            self._close(event, closing)
        first_entity, first_edge = self._last_entity + 1, self._last_edge + 1
        for entity in rows.entities:
            self._tell_entity(event, entity)
        for edge in rows.edges:
            self._tell_edge(event, edge)
        ends = (self._last_entity + 1, self._last_edge + 1)
        if ends != (first_entity, first_edge):
            place = (self._session, event.seq, event.hash)
            self._writes[NEW_EVENT].append((*place, first_entity, ends[0], first_edge, ends[1]))

    def finish(self) -> None:
        self._flush()
        entities, edges = self._last_entity - self._before[0], self._last_edge - self._before[1]
        self._db.execute(COUNTS, (entities, edges, self._opened_entities, self._opened_edges, self._session))

    def _flush(self) -> None:
        for statement, rows in self._writes.items():
            if rows:
                self._db.executemany(statement, rows)
                rows.clear()

    def _close(self, event: Event, closing: Closing) -> None:
        if closing.entity is not None:
            known = self._known((closing.entity.entity_type, folded_name(closing.entity.name)))
            if known:
                self._close_entity(event, closing, known[0])
            return
        self._flush()
        found = self._db.execute(EVENT, (self._session, closing.seq)).fetchone()
        if found is None:
            return
        for (thing,) in self._db.execute(OPEN_ENTITIES, found[:2]).fetchall():
            self._close_entity(event, closing, thing)
        for join in self._db.execute(OPEN_EDGES, found[2:]).fetchall():
            last = self._version_of_edge(join)
            if last and not last[2]:
                self._end_edge(last, closing.at, event)
                self._edges[join] = (last[0], last[1], closing.at, last[3])

    def _close_entity(self, event: Event, closing: Closing, thing: int) -> None:
        last = self._version_of_entity(thing)
        if last and not last[2]:
            self._end_entity(last, closing.at, event)
            self._entities[thing] = (last[0], last[1], closing.at, last[3])

    def _tell_entity(self, event: Event, entity: Entity) -> None:
        thing, spelled = self._thing((entity.entity_type, entity.name))
        content = (entity.summary, _properties(entity.properties))
        begins = entity.observed_at or event.time
        before = last = self._version_of_entity(thing)
        ends = ""
        if last and begins < last[1]:
            self._flush()
            before = _version(self._db.execute(ENTITY_BY, (thing, begins)).fetchone())
            ends = self._db.execute(NEXT_ENTITY, (thing, begins)).fetchone()[1]
        if before and (not before[2] or begins < before[2]):
            if before[3] == content:
                return
            self._end_entity(before, begins, event)
        window = (begins, ends, event.seq, event.seq if ends else None)
        self._last_entity = row = self._last_entity + 1
        self._writes[NEW_ENTITY].append(
            (row, self._session, thing, entity.entity_type, spelled, *content, entity.observed_at, *window)
        )
        self._opened_entities += not ends
        if before is last:
            self._entities[thing] = (row, begins, ends, content)

    def _tell_edge(self, event: Event, edge: Edge) -> None:
        (source, source_spelled), (target, target_spelled) = self._thing(edge.source), self._thing(edge.target)
        join = (source, target, edge.relation_type)
        content = (float(edge.confidence), bool(edge.inferred), edge.inference_method, edge.evidence, edge.valid_to)
        begins = edge.valid_from or event.time
        before = last = self._version_of_edge(join)
        ends = edge.valid_to
        if last and begins < last[1]:
            self._flush()
            before = _version(self._db.execute(EDGE_BY, (*_place(join), begins)).fetchone())
            later: str = self._db.execute(NEXT_EDGE, (*_place(join), begins)).fetchone()[1]
            ends = min(ends, later) if ends else later
        if before and (not before[2] or begins < before[2]):
            if before[3] == content:
                return
            self._end_edge(before, begins, event)
        window = (begins, ends, event.seq, event.seq if ends else None)
        self._last_edge = row = self._last_edge + 1
        self._writes[NEW_EDGE].append((row, *join, source_spelled, target_spelled, *content, edge.valid_from, *window))
        self._opened_edges += not ends
        if before is last:
            self._edges[join] = (row, begins, ends, content)

    def _end_entity(self, version: Version, at: str, event: Event) -> None:
        self._writes[END_ENTITY].append((at, event.seq, version[0]))
        self._opened_entities -= not version[2]

    def _end_edge(self, version: Version, at: str, event: Event) -> None:
        self._writes[END_EDGE].append((at, event.seq, version[0]))
        self._opened_edges -= not version[2]

    def _thing(self, ref: tuple[str, str]) -> tuple[int, str | None]:
        """The id of what is told of, given to it when it is first heard of, and its name if that is spelled anew."""
        seen = self._refs.get(ref)
        if seen is not None:
            return seen
        kind, name = ref
        matched = folded_name(name)
        known = self._known((kind, matched))
        if known is None:
            self._last_thing += 1
            known = self._things[(kind, matched)] = (self._last_thing, name)
            self._untold.add(self._last_thing)
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

    def _version_of_entity(self, thing: int) -> Version | None:
        if thing in self._entities:
            return self._entities[thing]
        if thing in self._untold:
            return None
        found = self._entities[thing] = _version(self._db.execute(LAST_ENTITY, (thing,)).fetchone())
        return found

    def _version_of_edge(self, join: Join) -> Version | None:
        if join in self._edges:
            return self._edges[join]
        if join[0] in self._untold or join[1] in self._untold:
            return None
        found = self._edges[join] = _version(self._db.execute(LAST_EDGE, _place(join)).fetchone())
        return found


def _place(join: Join) -> tuple[int, int, str, int]:
    source, target, relation = join
    return (max(source, target), min(source, target), relation, source)


def _version(row: Any) -> Version | None:
    return (row[0], row[1], row[2], row[3:]) if row else None
