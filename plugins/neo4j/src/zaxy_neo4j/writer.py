"""Takes a batch of events into the graph: what they touch is fetched at once, worked out here, and written at once.

Which rows open and end is decided by `zaxy.api`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    end_versions,
    last_of,
    open_version,
)
from zaxy_neo4j.remembered import (
    EDGES_AROUND,
    EDGES_OF_EVENTS,
    EDGES_SINCE,
    VERSIONS_AROUND,
    VERSIONS_OF_EVENTS,
    VERSIONS_SINCE,
    Held,
    Remembered,
    Run,
    fetch_around,
    fetch_opened,
)
from zaxy_neo4j.schema import CLOSED, OPEN, join_key, kind_key

# A row that is to be written is a list without the nulls at its end, as the driver takes its time for every value. All
# begin alike, and have the end of what they say at the same places. What is null is not kept.
ENDS, CLOSED_BY, EARLIER_SEQS, EARLIER_ENDS = 10, 11, 12, 13
WINDOW = (
    "number: r[0], valid_from: r[1], opened_seq: r[2], event_hash: r[3], valid_to: r[10], closed_seq: r[11], "
    "earlier_seqs: r[12], earlier_ends: r[13], space: $space, session: $session"
)
STATE = f"CASE WHEN r[10] IS NULL THEN '{OPEN}' ELSE '{CLOSED}' END"
# In this order: a row is there before it is ended.
NEW_THINGS = (
    "UNWIND $rows AS r CREATE (:ZaxyThing {key: r[0], workspace: $workspace, session: $session, type: r[1], "
    "name: r[2]})"
)
NEW_VERSIONS = (
    f"UNWIND $rows AS r MATCH (t:ZaxyThing {{key: r[4]}}) CREATE (t)-[:ZAXY_VERSION]->(:ZaxyVersion {{{WINDOW}, "
    f"thing: r[4], kind: r[5] + {STATE}, type: r[6], name: r[7], summary: r[8], properties: r[9], observed_at: r[14]}})"
)
NEW_EDGES = (
    f"UNWIND $rows AS r WITH r, {STATE} AS state MATCH (s:ZaxyThing {{key: r[4]}}) MATCH (t:ZaxyThing {{key: r[5]}}) "
    f"CREATE (s)-[:ZAXY_EDGE {{{WINDOW}, out: r[4] + state, into: r[5] + state, join: r[6], relation: r[7], "
    "evidence: r[8], confidence: r[9], source_name: r[14], target_name: r[15], given_from: r[16], inferred: r[17], "
    "method: r[18], given_to: r[19]}]->(t)"
)
END_VERSIONS = (
    "UNWIND $rows AS r MATCH (v:ZaxyVersion) WHERE v.thing = r[0] AND v.valid_from = r[1] AND v.number = r[2] "
    "SET v.valid_to = r[3], v.closed_seq = r[4], v.earlier_seqs = r[5], v.earlier_ends = r[6], "
    f"v.kind = left(v.kind, size(v.kind) - 1) + '{CLOSED}'"
)
END_EDGES = (
    "UNWIND $rows AS r MATCH ()-[e:ZAXY_EDGE]->() WHERE e.join = r[0] AND e.valid_from = r[1] AND e.number = r[2] "
    "SET e.valid_to = r[3], e.closed_seq = r[4], e.earlier_seqs = r[5], e.earlier_ends = r[6], "
    f"e.out = left(e.out, size(e.out) - 1) + '{CLOSED}', e.into = left(e.into, size(e.into) - 1) + '{CLOSED}'"
)
WRITTEN_TOGETHER = 10_000
SURE = 1.0


class Counts(NamedTuple):
    """How many rows there are, in all and open."""

    entities: int
    edges: int
    open_entities: int
    open_edges: int
    latest: str = ""
    """The latest time at which a row begins or ends: only before that can what holds differ from what has no end."""


class Owner(NamedTuple):
    """Whose rows they are."""

    workspace: str
    session: str
    space: str


class Line:
    """The rows of one kind, versions or edges, that a batch makes and ends, each in the line of its thing or edge."""

    def __init__(self, last: dict[str, Held | None], count: int, count_of_open: int) -> None:
        self.last = last
        self.count = count
        self.count_of_open = count_of_open
        self.latest = ""
        self.has_void = False
        """Whether the last row of a line holds at no time any more: which one is the last is then to be fetched."""
        self.new: list[Held] = []
        self.ended: dict[int, Held] = {}
        """Rows on the server by their numbers."""
        self.opened: defaultdict[int, list[Held]] = defaultdict(list)
        self._met: defaultdict[str, dict[int, Held]] = defaultdict(dict)

    def meet(self, rows: Iterable[Held]) -> None:
        """Take up rows from the middle of their lines; a row that is known already is known better."""
        for row in rows:
            self._known(row.key).setdefault(row.version.number, row)

    def know(self, rows: Iterable[Held]) -> None:
        """Take up the rows of events before the batch."""
        for row in rows:
            self.opened[row.version.opened_seq].append(self._known(row.key).setdefault(row.version.number, row))

    def around(self, key: str, moment: str) -> list[Version]:
        last = self.last.get(key)
        if last is None or (not last.version.is_void and comes_last(last.version, moment)):
            return [last.version] if last else []
        return [row.version for row in self._met[key].values()]

    def open(self, key: str, opened: Version, row: list[Any]) -> None:
        held = Held(key, opened, row)
        line = self._known(key)
        line[opened.number] = held
        last = self.last.get(key)
        if last is not None and last.version.is_void:
            alive = last_of(row.version for row in line.values())
            self.last[key] = line[alive.number] if alive else last
        elif not opened.is_void and comes_last(last.version if last else None, opened.valid_from):
            self.last[key] = held
        self.new.append(held)
        self.opened[opened.opened_seq].append(held)
        self.count += 1
        self.count_of_open += not opened.valid_to
        self.latest = max(self.latest, opened.valid_from, opened.valid_to)

    def end(self, key: str, versions: Iterable[Version]) -> None:
        for version in versions:
            row = self._known(key)[version.number]
            row.version = version
            self.count_of_open -= not version.moved
            self.latest = max(self.latest, version.valid_to)
            self.has_void = self.has_void or version.is_void
            if row.unwritten is None:
                self.ended[version.number] = row
            else:
                row.unwritten[ENDS : EARLIER_ENDS + 1] = _end(version)

    def _known(self, key: str) -> dict[int, Held]:
        line, last = self._met[key], self.last.get(key)
        if last is not None:
            line.setdefault(last.version.number, last)
        return line


class Writer:
    """Takes one batch; what it learns is remembered, and must be forgotten if the batch fails."""

    def __init__(self, owner: Owner, memory: Remembered, counts: Counts) -> None:
        self._owner = owner
        self._memory = memory
        self._things: list[list[str]] = []
        self._versions = Line(memory.versions, counts.entities, counts.open_entities)
        self._edges = Line(memory.edges, counts.edges, counts.open_edges)
        self._latest = counts.latest

    def take(self, run: Run, events: Sequence[ExtractedEvent]) -> Counts:
        self._fetch(run, events)
        for extracted in events:
            for closing in extracted.rows.closings:  # first, so that an event may close a thing and open it again
                self._close(extracted.event, closing)
            for entity in extracted.rows.entities:
                self._take_entity(extracted.event, entity)
            for edge in extracted.rows.edges:
                self._take_edge(extracted.event, edge)
        self._write(run)
        versions, edges = self._versions, self._edges
        if versions.has_void or edges.has_void:
            self._memory.clear()
        latest = max(self._latest, versions.latest, edges.latest)
        return Counts(versions.count, edges.count, versions.count_of_open, edges.count_of_open, latest)

    def _fetch(self, run: Run, events: Sequence[ExtractedEvent]) -> None:
        """Everything on the server that the batch may change or depend on. What it makes itself changes none of it."""
        memory, space = self._memory, self._owner.space
        entities = [(self._key_of(entity), entity, of.event) for of in events for entity in of.rows.entities]
        edges = [(*self._ends_of(edge), edge, of.event) for of in events for edge in of.rows.edges]
        closings = [closing for of in events for closing in of.rows.closings]
        named = (memory.key(space, closing.entity) for closing in closings if closing.entity is not None)
        ends = (end for source, target, _, _ in edges for end in (source, target))
        memory.fetch_things(run, [*(key for key, _, _ in entities), *ends, *named])
        joins = [
            (join_key(space, source, target, edge.relation_type), source, target) for source, target, edge, _ in edges
        ]
        memory.fetch_edges(run, joins)
        first = events[0].event.seq if events else 0
        seqs = [closing.seq for closing in closings if closing.entity is None and closing.seq is not None]
        before = list(dict.fromkeys(seq for seq in seqs if seq < first))
        opened, joined = (fetch_opened(run, of, space, before) for of in (VERSIONS_OF_EVENTS, EDGES_OF_EVENTS))
        begins = ((key, beginning(entity, event)) for key, entity, event in entities)
        self._versions.meet(fetch_around(run, VERSIONS_AROUND, _not_last(begins, memory.versions)))
        begins = ((of[0], beginning(edge, event)) for of, (_, _, edge, event) in zip(joins, edges, strict=True))
        self._edges.meet(fetch_around(run, EDGES_AROUND, _not_last(begins, memory.edges)))
        # What a closing may make void, others begin after: those are needed too.
        closed = ((memory.key(space, of), event.time) for of, event in _closed_entities(events))
        later = (*_not_last(closed, memory.versions), *((row.key, row.version.valid_from) for row in opened))
        self._versions.meet(fetch_around(run, VERSIONS_SINCE, later))
        self._edges.meet(fetch_around(run, EDGES_SINCE, ((row.key, row.version.valid_from) for row in joined)))
        self._versions.know(opened)
        self._edges.know(joined)

    def _write(self, run: Run) -> None:
        of = self._owner._asdict()
        work = (
            (NEW_THINGS, self._things),
            (NEW_VERSIONS, [_trimmed(row.unwritten or []) for row in self._versions.new]),
            (NEW_EDGES, [_trimmed(row.unwritten or []) for row in self._edges.new]),
            (END_VERSIONS, _endings(self._versions)),
            (END_EDGES, _endings(self._edges)),
        )
        for statement, rows in work:
            for at in range(0, len(rows), WRITTEN_TOGETHER):
                run(statement, rows=rows[at : at + WRITTEN_TOGETHER], **of)
        for row in (*self._versions.new, *self._edges.new):
            row.unwritten = None

    def _close(self, event: Event, closing: Closing) -> None:
        if closing.entity is not None:
            key = self._memory.key(self._owner.space, closing.entity)
            self._versions.end(key, end_versions(self._versions.around(key, event.time), closing, event))
            return
        for line in (self._versions, self._edges):
            for row in line.opened[closing.seq or 0]:
                line.end(row.key, end_versions((row.version,), closing, event))

    def _take_entity(self, event: Event, entity: Entity) -> None:
        key = self._thing(entity.entity_type, entity.name)
        opened, ended = open_version(self._versions.around(key, beginning(entity, event)), entity, event)
        self._versions.end(key, ended)
        if opened is None:
            return
        number = self._versions.count + 1
        summary, properties = opened.content
        kind = kind_key(self._owner.space, entity.entity_type)
        row = [number, opened.valid_from, event.seq, event.hash, key, kind, entity.entity_type, entity.name, summary]
        row += [None if properties == "{}" else properties, *_end(opened), entity.observed_at or None]
        self._versions.open(key, opened._replace(number=number), row)

    def _take_edge(self, event: Event, edge: Edge) -> None:
        source, target = self._thing(*edge.source), self._thing(*edge.target)
        join = join_key(self._owner.space, source, target, edge.relation_type)
        opened, ended = open_version(self._edges.around(join, beginning(edge, event)), edge, event)
        self._edges.end(join, ended)
        if opened is None:
            return
        number = self._edges.count + 1
        confidence, inferred, *_ = opened.content
        names = (self._memory.things[source], edge.source.name), (self._memory.things[target], edge.target.name)
        row = [number, opened.valid_from, event.seq, event.hash, source, target, join, edge.relation_type]
        row += [edge.evidence or None, None if confidence == SURE else confidence, *_end(opened)]
        row += [None if name == first else name for first, name in names]
        row += [edge.valid_from or None, inferred or None, edge.inference_method or None, edge.valid_to or None]
        self._edges.open(join, opened._replace(number=number), row)

    def _thing(self, kind: str, name: str) -> str:
        """The key of a thing; it is made when it is first heard of."""
        key = self._memory.key(self._owner.space, (kind, name))
        if key not in self._memory.things:
            self._memory.things[key] = name
            self._memory.versions[key] = None
            self._memory.new_things.add(key)
            self._things.append([key, kind, name])
        return key

    def _key_of(self, entity: Entity) -> str:
        return self._memory.key(self._owner.space, (entity.entity_type, entity.name))

    def _ends_of(self, edge: Edge) -> tuple[str, str]:
        return self._memory.key(self._owner.space, edge.source), self._memory.key(self._owner.space, edge.target)


def _end(version: Version) -> list[Any]:
    """The end of a row, and those before it, as they are written."""
    seqs, ends = [list(of) for of in zip(*version.earlier, strict=True)] if version.earlier else (None, None)
    return [version.valid_to or None, version.closed_seq, seqs, ends]


def _trimmed(row: list[Any]) -> list[Any]:
    while row and row[-1] is None:
        row.pop()
    return row


def _not_last(begins: Iterable[tuple[str, str]], last: Mapping[str, Held | None]) -> Iterator[tuple[str, str]]:
    """Of lines and moments those for which the last row that the server has is not enough."""
    for key, moment in begins:
        row = last.get(key)
        if row is not None and not comes_last(row.version, moment):
            yield key, moment


def _closed_entities(events: Sequence[ExtractedEvent]) -> Iterator[tuple[tuple[str, str], Event]]:
    for of in events:
        yield from ((closing.entity, of.event) for closing in of.rows.closings if closing.entity is not None)


def _endings(line: Line) -> list[list[object]]:
    return [[row.key, row.version.valid_from, number, *_end(row.version)] for number, row in line.ended.items()]
