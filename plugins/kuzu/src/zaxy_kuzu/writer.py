"""Takes events into the graph, in an amount of work that does not depend on what is there already."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from zaxy.api import Closing, Edge, Entity, Event, ExtractedEvent, folded_name
from zaxy_kuzu.engine import Database
from zaxy_kuzu.schema import microseconds, thing_key

Join = tuple[str, str, str]
Version = tuple[int, str, str, int, tuple[object, ...]]
"""A row's id, valid_from, valid_to and opened, and the content in which another version would differ."""

TYPES_OF_NAME = "MATCH (n:Name {name: $name}) RETURN n.types"
NEW_NAME = "CREATE (:Name {name: $name, types: [$kind]})"
MORE_TYPES = "MATCH (n:Name {name: $name}) SET n.types = list_append(n.types, $kind)"
THING = "MATCH (t:Thing {key: $key}) RETURN t.born, t.last"
NEW_THING = "CREATE (:Thing {key: $key, type: $kind, name: $name, born: $born, last: ''})"

CODES = "MATCH (t:Type) RETURN t.name, t.code"
NEW_CODE = "CREATE (:Type {name: $name, code: $code})"

VERSION = "v.id, v.valid_from, v.valid_to, v.opened, v.summary, v.properties"
VERSION_BY_ID = f"MATCH (v:Version {{id: $id}}) RETURN {VERSION}"
ALL_VERSIONS = f"MATCH (t:Thing {{key: $key}})-[:HasVersion]->(v:Version) RETURN {VERSION}"
ITS_VERSION = (
    "-[:HasVersion]->(:Version {id: $id, number: $number, type_code: $code, type: $kind, folded: $folded, "
    "name: $name, summary: $summary, properties: $properties, told_from: $told_from, valid_from: $valid_from, "
    "valid_to: $valid_to, opened: $seq, closed: $closed, hash: $hash, told: $told})"
)
NEW_THING_TOLD = f"CREATE (:Thing {{key: $key, type: $kind, name: $folded, born: $seq, last: $id}}){ITS_VERSION}"
NEW_VERSION = f"MATCH (t:Thing {{key: $key}}) CREATE (t){ITS_VERSION}"
SET_LAST = "MATCH (t:Thing {key: $key}) SET t.last = $id"
END_VERSION = (
    "MATCH (v:Version {id: $id}) SET v.valid_to = $at, v.closed = CASE WHEN v.closed = 0 THEN $seq ELSE v.closed END"
)
# A pattern is followed from its first node on, and so begins at the younger end: the older one may have any number of
# edges.
BETWEEN = {
    True: "MATCH (:Thing {key: $source})-[e:Edge]->(:Thing {key: $target})",
    False: "MATCH (:Thing {key: $target})<-[e:Edge]-(:Thing {key: $source})",
}
FACT = (
    "MATCH (f:Fact {id: $id}) "
    "RETURN f.id, f.valid_from, f.valid_to, f.opened, f.confidence, f.inferred, f.method, f.evidence, f.told_to"
)
NEW_EDGE = (
    "MATCH (a:Thing {key: $source}), (b:Thing {key: $target}) CREATE (a)-[:Edge {id: $id, relation: $relation, "
    "from_us: $from_us, to_us: $to_us, opened: $seq, closed: $closed}]->(b), (:Fact {id: $key_of_id, "
    "relation: $relation, "
    "source_type: $source_type, source_name: $source_name, target_type: $target_type, target_name: $target_name, "
    "confidence: $confidence, inferred: $inferred, method: $method, evidence: $evidence, told_from: $told_from, "
    "told_to: $told_to, valid_from: $valid_from, valid_to: $valid_to, opened: $seq, closed: $closed, hash: $hash, "
    "told: $told})"
)
END_EDGE = "WHERE e.id = $id SET e.to_us = $at, e.closed = CASE WHEN e.closed = 0 THEN $seq ELSE e.closed END"
END_FACT = (
    "MATCH (f:Fact {id: $id}) SET f.valid_to = $at, f.closed = CASE WHEN f.closed = 0 THEN $seq ELSE f.closed END"
)
EVENT = "MATCH (e:Event {seq: $seq}) RETURN e.things, e.joins"
NEW_EVENT = "CREATE (:Event {seq: $seq, things: $things, joins: $joins})"
COUNTS = "MATCH (p:Place {id: 1}) RETURN p.versions, p.edges, p.open_versions, p.open_edges"
SET_COUNTS = (
    "MATCH (p:Place {id: 1}) SET p.versions = $versions, p.edges = $edges, p.open_versions = $open_versions, "
    "p.open_edges = $open_edges"
)


def _plain(value: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be a property")


_properties = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain).encode


class Written(NamedTuple):
    """What a batch has changed."""

    opened: list[int]
    """The event of each version that was written, in their order."""
    touched: set[str]
    """Keys, of whatever table, whose rows are others than before."""


class Writer:
    """Takes a session's events, and remembers what it has met: nobody else can write while the database is open.

    It must be forgotten after a failed transaction.
    """

    def __init__(self, database: Database) -> None:
        self._run = database.run
        self._born: dict[str, int] = {}
        self._versions: dict[str, Version | None] = {}
        self._edges: dict[Join, Version | None] = {}
        self._untold: set[str] = set()
        """Things that were not there before, so that of their rows none is there that is not remembered."""
        self._written = Written([], set())
        self._codes: dict[str, int] = dict(self._run(CODES))
        (counts,) = self._run(COUNTS)
        self._version_count, self._edge_count, self._open_versions, self._open_edges = counts

    @property
    def size(self) -> int:
        return len(self._born) + len(self._versions) + len(self._edges)

    def take(self, extracted: ExtractedEvent) -> None:
        event, rows = extracted.event, extracted.rows
        for closing in rows.closings:  # first, so that an event may close a thing and open it anew
            self._close(event, closing)
        things: list[str] = []
        joins: list[Join] = []
        for entity in rows.entities:
            key = self._tell_entity(event, entity)
            if key:
                self._written.opened.append(event.seq)
                things.append(key)
        for edge in rows.edges:
            join = self._tell_edge(event, edge)
            if join:
                joins.append(join)
        if things or joins:
            self._run(NEW_EVENT, seq=str(event.seq), things=things, joins=json.dumps(joins))

    def finish(self) -> Written:
        """End a batch."""
        self._run(
            SET_COUNTS,
            versions=self._version_count,
            edges=self._edge_count,
            open_versions=self._open_versions,
            open_edges=self._open_edges,
        )
        written, self._written = self._written, Written([], set())
        return written

    def _close(self, event: Event, closing: Closing) -> None:
        if closing.entity is not None:
            kind, name = closing.entity
            self._close_thing(event, closing, thing_key(kind, folded_name(name)))
            return
        for things, joins in self._run(EVENT, seq=str(closing.seq)):
            for key in things:
                self._close_thing(event, closing, key)
            for source, target, relation in json.loads(joins):
                join = (source, target, relation)
                last = self._last_edge(join)
                if last and not last[2] and last[3] == closing.seq:
                    self._end_edge(join, last, closing.at, event)
                    self._edges[join] = (last[0], last[1], closing.at, *last[3:])

    def _close_thing(self, event: Event, closing: Closing, key: str) -> None:
        last = self._last_version(key)
        if last and not last[2] and closing.seq in (None, last[3]):
            self._end_version(last, closing.at, event)
            self._versions[key] = (last[0], last[1], closing.at, *last[3:])

    def _tell_entity(self, event: Event, entity: Entity) -> str:
        """The thing of which a version was written; empty if it is as it was."""
        matched = folded_name(entity.name)
        key = thing_key(entity.entity_type, matched)
        is_new = self._is_new(event, key, entity.entity_type, matched)
        content = (entity.summary, _properties(entity.properties) if entity.properties else "{}")
        begins = entity.observed_at or event.time
        before = last = self._last_version(key)
        ends = ""
        if last and begins < last[1]:
            before, ends = _place_among(self._run(ALL_VERSIONS, key=key), begins)
        if before and (not before[2] or begins < before[2]):
            if before[4] == content:
                return ""
            self._end_version(before, begins, event)
        self._version_count += 1
        self._open_versions += not ends
        self._run(
            NEW_THING_TOLD if is_new else NEW_VERSION,
            key=key,
            id=str(self._version_count),
            number=self._version_count,
            code=self._code(entity.entity_type),
            kind=entity.entity_type,
            folded=matched,
            name=entity.name,
            summary=content[0],
            properties=content[1],
            told_from=entity.observed_at,
            told=_told(entity.name, entity.entity_type, *content, entity.observed_at, begins, event.seq, event.hash),
            **_window(event, begins, ends),
        )
        self._written.touched.add(key)
        if before is last:
            if not is_new:
                self._run(SET_LAST, key=key, id=str(self._version_count))
            self._versions[key] = (self._version_count, begins, ends, event.seq, content)
        return key

    def _tell_edge(self, event: Event, edge: Edge) -> Join | None:
        """The join of which a version was written; None if it is as it was."""
        source, target = (
            self._thing(event, ref.entity_type, folded_name(ref.name)) for ref in (edge.source, edge.target)
        )
        join = (source, target, edge.relation_type)
        content = (float(edge.confidence), bool(edge.inferred), edge.inference_method, edge.evidence, edge.valid_to)
        begins = edge.valid_from or event.time
        before = last = self._last_edge(join)
        ends = edge.valid_to
        if last and begins < last[1]:
            facts = [self._run(FACT, id=str(row[0]))[0] for row in self._edges_between(join)]
            before, later = _place_among(facts, begins)
            ends = min(ends, later) if ends else later
        if before and (not before[2] or begins < before[2]):
            if before[4] == content:
                return None
            self._end_edge(join, before, begins, event)
        self._edge_count += 1
        self._open_edges += not ends
        self._run(
            NEW_EDGE,
            told=_told(
                *(*edge.source, *edge.target, edge.relation_type, *content[:4], edge.valid_from, edge.valid_to),
                *(begins, event.seq, event.hash),
            ),
            source=source,
            target=target,
            id=self._edge_count,
            key_of_id=str(self._edge_count),
            relation=edge.relation_type,
            source_type=edge.source.entity_type,
            source_name=edge.source.name,
            target_type=edge.target.entity_type,
            target_name=edge.target.name,
            **dict(zip(("confidence", "inferred", "method", "evidence", "told_to"), content, strict=True)),
            told_from=edge.valid_from,
            from_us=microseconds(begins),
            to_us=microseconds(ends),
            **_window(event, begins, ends),
        )
        self._written.touched.update((source, target))
        if before is last:
            self._edges[join] = (self._edge_count, begins, ends, event.seq, content)
        return join

    def _end_version(self, version: Version, at: str, event: Event) -> None:
        self._run(END_VERSION, id=str(version[0]), at=at, seq=event.seq)
        self._written.touched.add(str(version[0]))
        self._open_versions -= not version[2]

    def _end_edge(self, join: Join, version: Version, at: str, event: Event) -> None:
        source, target, _ = join
        between = f"{self._between(join)} {END_EDGE}"
        self._run(between, source=source, target=target, id=version[0], at=microseconds(at), seq=event.seq)
        self._run(END_FACT, id=str(version[0]), at=at, seq=event.seq)
        self._written.touched.update((source, target, str(version[0])))
        self._open_edges -= not version[2]

    def _thing(self, event: Event, kind: str, name: str) -> str:
        """The key of what an edge leads to or from; it is made when it is first heard of."""
        key = thing_key(kind, name)
        if self._is_new(event, key, kind, name):
            self._run(NEW_THING, key=key, kind=kind, name=name, born=event.seq)
        return key

    def _is_new(self, event: Event, key: str, kind: str, name: str) -> bool:
        """Whether a thing is first heard of now; its name is then noted, and the caller makes it."""
        if key in self._born:
            return False
        types = self._run(TYPES_OF_NAME, name=name)
        if types and kind in types[0][0]:
            self._born[key] = self._run(THING, key=key)[0][0]
            return False
        self._run(MORE_TYPES if types else NEW_NAME, name=name, kind=kind)
        self._written.touched.add(name)
        self._born[key] = event.seq
        self._untold.add(key)
        return True

    def _code(self, kind: str) -> int:
        if kind not in self._codes:
            self._codes[kind] = len(self._codes) + 1
            self._run(NEW_CODE, name=kind, code=self._codes[kind])
        return self._codes[kind]

    def _last_version(self, key: str) -> Version | None:
        if key in self._versions:
            return self._versions[key]
        if key in self._untold:
            return None
        found = self._run(THING, key=key)
        rows = self._run(VERSION_BY_ID, id=found[0][1]) if found and found[0][1] else []
        last = _version(rows[0]) if rows else None
        if found:
            self._versions[key] = last
        return last

    def _last_edge(self, join: Join) -> Version | None:
        if join in self._edges:
            return self._edges[join]
        if join[0] in self._untold or join[1] in self._untold:
            return None
        last = max(self._edges_between(join), key=lambda row: (row[1], row[0]), default=None)
        found = self._edges[join] = _version(self._run(FACT, id=str(last[0]))[0]) if last else None
        return found

    def _edges_between(self, join: Join) -> list[Any]:
        """The ids and beginnings of an edge's versions."""
        source, target, relation = join
        query = f"{self._between(join)} WHERE e.relation = $relation RETURN e.id, e.from_us"
        return self._run(query, source=source, target=target, relation=relation)

    def _between(self, join: Join) -> str:
        born = [self._born[key] if key in self._born else self._run(THING, key=key)[0][0] for key in join[:2]]
        return BETWEEN[born[0] >= born[1]]


def _told(*values: object) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _window(event: Event, begins: str, ends: str) -> dict[str, object]:
    closed = event.seq if ends else 0
    return {"valid_from": begins, "valid_to": ends, "seq": event.seq, "closed": closed, "hash": event.hash}


def _place_among(rows: list[Any], begins: str) -> tuple[Version | None, str]:
    """The last version that begins by then, and when the next one begins."""
    before = max((row for row in rows if row[1] <= begins), key=lambda row: (row[1], int(row[0])), default=None)
    return (_version(before) if before else None, min(row[1] for row in rows if row[1] > begins))


def _version(row: Any) -> Version:
    return (int(row[0]), row[1], row[2], row[3], tuple(row[4:]))
