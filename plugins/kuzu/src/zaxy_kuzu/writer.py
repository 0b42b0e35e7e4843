"""Takes events into the graph, in an amount of work that does not depend on what is there already.

Which rows open and end is decided by `zaxy.api`: here they are fetched and stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from zaxy.api import (
    Closing,
    Edge,
    Entity,
    Event,
    ExtractedEvent,
    Version,
    beginning,
    comes_last,
    earlier_ends,
    earlier_text,
    end_versions,
    folded_name,
    last_of,
    open_version,
)
from zaxy_kuzu.engine import Database
from zaxy_kuzu.schema import microseconds, thing_key

Join = tuple[str, str, str]

TYPES_OF_NAME = "MATCH (n:Name {name: $name}) RETURN n.types"
NEW_NAME = "CREATE (:Name {name: $name, types: [$kind]})"
MORE_TYPES = "MATCH (n:Name {name: $name}) SET n.types = list_append(n.types, $kind)"
THING = "MATCH (t:Thing {key: $key}) RETURN t.born, t.last"
NEW_THING = "CREATE (:Thing {key: $key, type: $kind, name: $name, born: $born, last: ''})"

CODES = "MATCH (t:Type) RETURN t.name, t.code"
NEW_CODE = "CREATE (:Type {name: $name, code: $code})"

VERSION = "v.id, v.valid_from, v.valid_to, v.opened, v.closed, v.earlier, v.summary, v.properties"
VERSION_BY_ID = f"MATCH (v:Version {{id: $id}}) RETURN {VERSION}"
THING_OF_VERSION = "MATCH (v:Version {id: $id}) RETURN v.type, v.folded"
ALL_VERSIONS = f"MATCH (t:Thing {{key: $key}})-[:HasVersion]->(v:Version) RETURN {VERSION}"
ITS_VERSION = (
    "-[:HasVersion]->(:Version {id: $id, number: $number, type_code: $code, type: $kind, folded: $folded, "
    "name: $name, summary: $summary, properties: $properties, observed_at: $observed_at, from_us: $from_us, "
    "to_us: $to_us, valid_from: $valid_from, valid_to: $valid_to, opened: $seq, closed: $closed, earlier: '', "
    "hash: $hash, row: $row})"
)
NEW_THING_WITH_ROW = f"CREATE (:Thing {{key: $key, type: $kind, name: $folded, born: $seq, last: $id}}){ITS_VERSION}"
NEW_VERSION = f"MATCH (t:Thing {{key: $key}}) CREATE (t){ITS_VERSION}"
SET_LAST = "MATCH (t:Thing {key: $key}) SET t.last = $id"
END = "SET {0}.valid_to = $valid_to, {0}.closed = $closed, {0}.earlier = $earlier"
END_VERSION = f"MATCH (v:Version {{id: $id}}) {END.format('v')}, v.to_us = $to_us"
# A pattern is followed from its first node on, and so begins at the younger end: the older one may have any number of
# edges.
BETWEEN = {
    True: "MATCH (:Thing {key: $source})-[e:Edge]->(:Thing {key: $target})",
    False: "MATCH (:Thing {key: $target})<-[e:Edge]-(:Thing {key: $source})",
}
FACT = (
    "MATCH (f:Fact {id: $id}) RETURN f.id, f.valid_from, f.valid_to, f.opened, f.closed, f.earlier, "
    "f.confidence, f.inferred, f.method, f.evidence, f.given_to"
)
JOIN_OF_FACT = "MATCH (f:Fact {id: $id}) RETURN f.source_type, f.source_name, f.target_type, f.target_name, f.relation"
NEW_EDGE = (
    "MATCH (a:Thing {key: $source}), (b:Thing {key: $target}) CREATE (a)-[:Edge {id: $id, relation: $relation, "
    "from_us: $from_us, to_us: $to_us, opened: $seq, closed: $closed}]->(b), (:Fact {id: $key_of_id, "
    "relation: $relation, "
    "source_type: $source_type, source_name: $source_name, target_type: $target_type, target_name: $target_name, "
    "confidence: $confidence, inferred: $inferred, method: $method, evidence: $evidence, given_from: $given_from, "
    "given_to: $given_to, valid_from: $valid_from, valid_to: $valid_to, opened: $seq, closed: $closed, earlier: '', "
    "hash: $hash, row: $row})"
)
END_EDGE = "WHERE e.id = $id SET e.to_us = $to_us, e.closed = $closed"
END_FACT = f"MATCH (f:Fact {{id: $id}}) {END.format('f')}"
EVENT = "MATCH (e:Event {seq: $seq}) RETURN e.versions, e.facts"
NEW_EVENT = "CREATE (:Event {seq: $seq, versions: $versions, facts: $facts})"
COUNTS = "MATCH (p:Place {id: 1}) RETURN p.versions, p.edges, p.open_versions, p.open_edges, p.moved, p.latest"
SET_COUNTS = (
    "MATCH (p:Place {id: 1}) SET p.versions = $versions, p.edges = $edges, p.open_versions = $open_versions, "
    "p.open_edges = $open_edges, p.moved = $moved, p.latest = $latest"
)


class Written(NamedTuple):
    """What a batch has changed."""

    opened: list[int]
    """The event of each version that was written, in their order."""
    touched: set[str]
    """Keys, of whatever table, whose rows are others than before."""
    moved: int = 0
    """How many ends have moved, in all."""
    latest: int = 0
    """The latest time, in microseconds, at which a row begins or ends."""


class Writer:
    """Takes a session's events, and remembers what it has met: nobody else can write while the database is open.

    It must be forgotten after a failed transaction.
    """

    def __init__(self, database: Database) -> None:
        self._run = database.run
        self._born: dict[str, int] = {}
        self._versions: dict[str, Version | None] = {}
        self._edges: dict[Join, Version | None] = {}
        self._new_things: set[str] = set()
        """Things that were not there before, so that of their rows none is there that is not remembered."""
        self._written = Written([], set())
        self._codes: dict[str, int] = dict(self._run(CODES))
        (counts,) = self._run(COUNTS)
        self._version_count, self._edge_count, self._open_versions, self._open_edges, self._moved, self._latest = counts

    @property
    def size(self) -> int:
        return len(self._born) + len(self._versions) + len(self._edges)

    def take(self, extracted: ExtractedEvent) -> None:
        event, rows = extracted.event, extracted.rows
        for closing in rows.closings:  # first, so that an event may close a thing and open it again
            self._close(event, closing)
        versions = [number for entity in rows.entities if (number := self._take_entity(event, entity))]
        facts = [number for edge in rows.edges if (number := self._take_edge(event, edge))]
        self._written.opened.extend([event.seq] * len(versions))
        if versions or facts:
            self._run(NEW_EVENT, seq=str(event.seq), versions=versions, facts=facts)

    def finish(self) -> Written:
        """End a batch."""
        self._run(
            SET_COUNTS,
            versions=self._version_count,
            edges=self._edge_count,
            open_versions=self._open_versions,
            open_edges=self._open_edges,
            moved=self._moved,
            latest=self._latest,
        )
        written, self._written = self._written, Written([], set())
        return written._replace(moved=self._moved, latest=self._latest)

    def _close(self, event: Event, closing: Closing) -> None:
        if closing.entity is not None:
            key = thing_key(closing.entity.entity_type, folded_name(closing.entity.name))
            for version in end_versions(self._versions_around(key, event.time), closing, event):
                self._end_version(key, version)
            return
        for versions, facts in self._run(EVENT, seq=str(closing.seq)):
            for number in versions:
                (row,), ((kind, name),) = self._run(VERSION_BY_ID, id=number), self._run(THING_OF_VERSION, id=number)
                for version in end_versions((_version(row),), closing, event):
                    self._end_version(thing_key(kind, name), version)
            for number in facts:
                (row,), ((*ends, relation),) = self._run(FACT, id=number), self._run(JOIN_OF_FACT, id=number)
                source, target = (thing_key(kind, folded_name(name)) for kind, name in (ends[:2], ends[2:]))
                for version in end_versions((_version(row),), closing, event):
                    self._end_edge((source, target, relation), version)

    def _take_entity(self, event: Event, entity: Entity) -> str:
        """The id of the version that was written; empty if it is as it was."""
        matched = folded_name(entity.name)
        key = thing_key(entity.entity_type, matched)
        is_new = self._is_new(event, key, entity.entity_type, matched)
        opened, ended = open_version(self._versions_around(key, beginning(entity, event)), entity, event)
        for version in ended:
            self._end_version(key, version)
        if opened is None:
            return ""
        self._version_count += 1
        self._open_versions += not opened.valid_to
        summary, properties = opened.content
        names = (entity.name, entity.entity_type)
        self._run(
            NEW_THING_WITH_ROW if is_new else NEW_VERSION,
            key=key,
            id=str(self._version_count),
            number=self._version_count,
            code=self._code(entity.entity_type),
            kind=entity.entity_type,
            folded=matched,
            name=entity.name,
            summary=summary,
            properties=properties,
            observed_at=entity.observed_at,
            row=_text(*names, *opened.content, entity.observed_at, opened.valid_from, event.seq, event.hash),
            **self._window(event, opened),
        )
        self._written.touched.add(key)
        if is_new or (not opened.is_void and comes_last(self._last_version(key), opened.valid_from)):
            self._set_last(key, opened._replace(number=self._version_count), write=not is_new)
        return str(self._version_count)

    def _take_edge(self, event: Event, edge: Edge) -> str:
        """The id of the fact that was written; empty if it is as it was."""
        source, target = (
            self._thing(event, ref.entity_type, folded_name(ref.name)) for ref in (edge.source, edge.target)
        )
        join = (source, target, edge.relation_type)
        opened, ended = open_version(self._edges_around(join, beginning(edge, event)), edge, event)
        for version in ended:
            self._end_edge(join, version)
        if opened is None:
            return ""
        self._edge_count += 1
        self._open_edges += not opened.valid_to
        names, content = (*edge.source, *edge.target, edge.relation_type), opened.content
        given = (edge.valid_from, edge.valid_to)
        self._run(
            NEW_EDGE,
            row=_text(*names, *content[:4], *given, opened.valid_from, event.seq, event.hash),
            source=source,
            target=target,
            id=self._edge_count,
            key_of_id=str(self._edge_count),
            relation=edge.relation_type,
            source_type=edge.source.entity_type,
            source_name=edge.source.name,
            target_type=edge.target.entity_type,
            target_name=edge.target.name,
            **dict(zip(("confidence", "inferred", "method", "evidence", "given_to"), content, strict=True)),
            given_from=edge.valid_from,
            **self._window(event, opened),
        )
        self._written.touched.update((source, target))
        if not opened.is_void and comes_last(self._last_edge(join), opened.valid_from):
            self._edges[join] = opened._replace(number=self._edge_count)
        return str(self._edge_count)

    def _window(self, event: Event, version: Version) -> dict[str, object]:
        begins, ends = microseconds(version.valid_from), microseconds(version.valid_to)
        self._latest = max(self._latest, begins, ends)
        return {
            "valid_from": version.valid_from,
            "valid_to": version.valid_to,
            "from_us": begins,
            "to_us": ends,
            "seq": event.seq,
            "closed": version.closed_seq or 0,
            "hash": event.hash,
        }

    def _end_version(self, key: str, version: Version) -> None:
        end = self._end_of(version)
        self._run(END_VERSION, id=str(version.number), to_us=microseconds(version.valid_to), **end)
        self._open_versions -= not version.moved
        self._written.touched.add(str(version.number))
        last = self._last_version(key)
        if last is not None and last.number == version.number:
            self._versions[key] = version
            if version.is_void:  # then another is the last
                self._set_last(key, last_of(map(_version, self._run(ALL_VERSIONS, key=key))), write=True)

    def _end_edge(self, join: Join, version: Version) -> None:
        end, to_us = self._end_of(version), microseconds(version.valid_to)
        source, target, _ = join
        between = f"{self._between(join)} {END_EDGE}"
        self._run(between, source=source, target=target, id=version.number, to_us=to_us, closed=version.closed_seq)
        self._run(END_FACT, id=str(version.number), **end)
        self._open_edges -= not version.moved
        self._written.touched.update((source, target, str(version.number)))
        last = self._edges.get(join)
        if last is not None and last.number == version.number:
            self._edges[join] = version
            if version.is_void:
                self._edges[join] = last_of(self._all_edges(join))

    def _end_of(self, version: Version) -> dict[str, object]:
        self._moved += version.moved
        self._latest = max(self._latest, microseconds(version.valid_to))
        return {"valid_to": version.valid_to, "closed": version.closed_seq, "earlier": earlier_text(version) or ""}

    def _set_last(self, key: str, version: Version | None, write: bool) -> None:
        self._versions[key] = version
        self._written.touched.add(key)
        if write:
            self._run(SET_LAST, key=key, id=str(version.number) if version else "")

    def _versions_around(self, key: str, moment: str) -> Sequence[Version]:
        last = self._last_version(key)
        if comes_last(last, moment):
            return (last,) if last else ()
        return [_version(row) for row in self._run(ALL_VERSIONS, key=key)]

    def _edges_around(self, join: Join, moment: str) -> Sequence[Version]:
        last = self._last_edge(join)
        if comes_last(last, moment):
            return (last,) if last else ()
        return self._all_edges(join)

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
        self._new_things.add(key)
        return True

    def _code(self, kind: str) -> int:
        if kind not in self._codes:
            self._codes[kind] = len(self._codes) + 1
            self._run(NEW_CODE, name=kind, code=self._codes[kind])
        return self._codes[kind]

    def _last_version(self, key: str) -> Version | None:
        if key in self._versions:
            return self._versions[key]
        if key in self._new_things:
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
        if join[0] in self._new_things or join[1] in self._new_things:
            return None
        last = self._edges[join] = last_of(self._all_edges(join))
        return last

    def _all_edges(self, join: Join) -> list[Version]:
        source, target, relation = join
        query = f"{self._between(join)} WHERE e.relation = $relation RETURN e.id"
        found = self._run(query, source=source, target=target, relation=relation)
        return [_version(self._run(FACT, id=str(number))[0]) for (number,) in found]

    def _between(self, join: Join) -> str:
        born = [self._born[key] if key in self._born else self._run(THING, key=key)[0][0] for key in join[:2]]
        return BETWEEN[born[0] >= born[1]]


def _text(*values: object) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _version(row: Any) -> Version:
    number, valid_from, valid_to, opened, closed, earlier, *content = row
    return Version(int(number), valid_from, valid_to, opened, closed or None, tuple(content), earlier_ends(earlier))
