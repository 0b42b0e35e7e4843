"""Takes a batch of events into the graph: what they touch is fetched at once, worked out here, and written at once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from zaxy.api import Closing, Edge, Entity, Event, ExtractedEvent
from zaxy_neo4j.remembered import Held, Memory, Run, edges_around, versions_around
from zaxy_neo4j.schema import CLOSED, OPEN, join_key, kind_key

# A row that is to be written is a list without the nulls at its end, as the driver takes its time for every value. All
# begin alike, and have the end of what they say at the same places. What is null is not kept.
ENDS, CLOSED_BY = 10, 11
WINDOW = (
    "number: r[0], valid_from: r[1], opened_seq: r[2], event_hash: r[3], valid_to: r[10], closed_seq: r[11], "
    "space: $space, session: $session"
)
STATE = f"CASE WHEN r[10] IS NULL THEN '{OPEN}' ELSE '{CLOSED}' END"
# In this order: a row is there before it is ended.
NEW_THINGS = (
    "UNWIND $rows AS r CREATE (:ZaxyThing {key: r[0], workspace: $workspace, session: $session, type: r[1], "
    "name: r[2]})"
)
NEW_VERSIONS = (
    f"UNWIND $rows AS r MATCH (t:ZaxyThing {{key: r[4]}}) CREATE (t)-[:ZAXY_VERSION]->(:ZaxyVersion {{{WINDOW}, "
    f"thing: r[4], kind: r[5] + {STATE}, type: r[6], name: r[7], summary: r[8], properties: r[9], observed_at: r[12]}})"
)
NEW_EDGES = (
    f"UNWIND $rows AS r WITH r, {STATE} AS state MATCH (s:ZaxyThing {{key: r[4]}}) MATCH (t:ZaxyThing {{key: r[5]}}) "
    f"CREATE (s)-[:ZAXY_EDGE {{{WINDOW}, out: r[4] + state, into: r[5] + state, join: r[6], relation: r[7], "
    "evidence: r[8], confidence: r[9], source_name: r[12], target_name: r[13], told_from: r[14], inferred: r[15], "
    "method: r[16], told_to: r[17]}]->(t)"
)
END_VERSIONS = (
    "UNWIND $rows AS r MATCH (v:ZaxyVersion) WHERE v.thing = r[0] AND v.valid_from = r[1] AND v.number = r[2] "
    "SET v.valid_to = r[3], v.closed_seq = coalesce(v.closed_seq, r[4]), "
    f"v.kind = left(v.kind, size(v.kind) - 1) + '{CLOSED}'"
)
END_EDGES = (
    "UNWIND $rows AS r MATCH ()-[e:ZAXY_EDGE]->() WHERE e.join = r[0] AND e.valid_from = r[1] AND e.number = r[2] "
    "SET e.valid_to = r[3], e.closed_seq = coalesce(e.closed_seq, r[4]), "
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
        self.new: list[Held] = []
        self.ended: dict[int, tuple[Held, str, int]] = {}
        """Rows on the server by their numbers: when they end, and the first event that said so."""
        self.opened: defaultdict[int, list[Held]] = defaultdict(list)
        self._met: defaultdict[str, dict[int, Held]] = defaultdict(dict)

    def meet(self, rows: Iterable[Held]) -> None:
        """Take up rows from the middle of their lines; a row that is known already is known better."""
        for row in rows:
            last = self.last[row.key]
            if last is not None:
                self._met[row.key].setdefault(last.number, last)
            self._met[row.key].setdefault(row.number, row)

    def know(self, rows: Iterable[Held]) -> None:
        """Take up the open rows of events before the batch."""
        for row in rows:
            self.opened[row.opened].append(row)

    def place(self, key: str, begins: str) -> tuple[Held | None, str]:
        """The row that a new one comes after, and when the next one begins; empty if none does."""
        last = self.last.get(key)
        if last is None or begins >= last.begins:
            return last, ""
        line = self._met[key].values()
        before = max((row for row in line if row.begins <= begins), key=_order, default=None)
        return before, min(row.begins for row in line if row.begins > begins)

    def add(self, row: Held) -> None:
        before = self.last.get(row.key)
        line = self._met[row.key]
        if before is not None:
            line.setdefault(before.number, before)
        line[row.number] = row
        if before is None or row.begins >= before.begins:
            self.last[row.key] = row
        self.new.append(row)
        self.opened[row.opened].append(row)
        self.count += 1
        self.count_of_open += not row.ends

    def end(self, row: Held, at: str, event: Event) -> None:
        self.count_of_open -= not row.ends
        row.ends = at
        if row.unwritten is not None:
            row.unwritten[ENDS] = at
            row.unwritten[CLOSED_BY] = row.unwritten[CLOSED_BY] or event.seq
        else:
            _, _, first = self.ended.get(row.number, (row, at, event.seq))
            self.ended[row.number] = (row, at, first)

    def close(self, row: Held, at: str, event: Event) -> None:
        """End a row that is open."""
        if not row.ends:
            self.end(row, at, event)

    def is_told_already(self, before: Held | None, content: tuple[object, ...], begins: str, event: Event) -> bool:
        """Whether a row that holds says so; one that holds and says something else is ended."""
        if before is None or (before.ends and begins >= before.ends):
            return False
        if before.content == content:
            return True
        self.end(before, begins, event)
        return False


class Writer:
    """Takes one batch; what it learns goes into the memory, which must be forgotten if the batch fails."""

    def __init__(self, owner: Owner, memory: Memory, counts: Counts) -> None:
        self._owner = owner
        self._memory = memory
        self._things: list[list[str]] = []
        self._versions = Line(memory.versions, counts.entities, counts.open_entities)
        self._edges = Line(memory.edges, counts.edges, counts.open_edges)

    def take(self, run: Run, events: Sequence[ExtractedEvent]) -> Counts:
        self._fetch(run, events)
        for extracted in events:
            for closing in extracted.rows.closings:  # first, so that an event may close a thing and open it anew
                self._close(extracted.event, closing)
            for entity in extracted.rows.entities:
                self._tell_entity(extracted.event, entity)
            for edge in extracted.rows.edges:
                self._tell_edge(extracted.event, edge)
        self._write(run)
        versions, edges = self._versions, self._edges
        return Counts(versions.count, edges.count, versions.count_of_open, edges.count_of_open)

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
        self._versions.know(memory.fetch_opened_versions(run, space, before))
        self._edges.know(memory.fetch_opened_edges(run, space, before))
        told = ((key, entity.observed_at or event.time) for key, entity, event in entities)
        self._versions.meet(versions_around(run, _back_dated(told, memory.versions)))
        told = (
            (join[0], edge.valid_from or event.time) for join, (_, _, edge, event) in zip(joins, edges, strict=True)
        )
        self._edges.meet(edges_around(run, _back_dated(told, memory.edges)))

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
            last = self._memory.versions.get(self._memory.key(self._owner.space, closing.entity))
            if last is not None:
                self._versions.close(last, closing.at, event)
            return
        seq = closing.seq or 0
        for line in (self._versions, self._edges):
            for row in line.opened[seq]:
                line.close(row, closing.at, event)

    def _tell_entity(self, event: Event, entity: Entity) -> None:
        key = self._thing(entity.entity_type, entity.name)
        content = (entity.summary, _properties(entity.properties) if entity.properties else "{}")
        begins = entity.observed_at or event.time
        before, ends = self._versions.place(key, begins)
        if self._versions.is_told_already(before, content, begins, event):
            return
        number = self._versions.count + 1
        row = [
            *(number, begins, event.seq, event.hash),
            *(key, kind_key(self._owner.space, entity.entity_type), entity.entity_type, entity.name, entity.summary),
            content[1] if entity.properties else None,
            *_end(event, ends),
            entity.observed_at or None,
        ]
        self._versions.add(Held(key, number, begins, ends, event.seq, content, row))

    def _tell_edge(self, event: Event, edge: Edge) -> None:
        source, target = self._thing(*edge.source), self._thing(*edge.target)
        join = join_key(self._owner.space, source, target, edge.relation_type)
        content = (float(edge.confidence), bool(edge.inferred), edge.inference_method, edge.evidence, edge.valid_to)
        begins = edge.valid_from or event.time
        before, next_begins = self._edges.place(join, begins)
        if self._edges.is_told_already(before, content, begins, event):
            return
        ends = min(filter(None, (edge.valid_to, next_begins)), default="")
        number = self._edges.count + 1
        names = (self._memory.things[source], edge.source.name), (self._memory.things[target], edge.target.name)
        row = [
            *(number, begins, event.seq, event.hash, source, target, join, edge.relation_type),
            *(edge.evidence or None, None if content[0] == SURE else content[0]),
            *_end(event, ends),
            *(None if name == first else name for first, name in names),
            *(edge.valid_from or None, content[1] or None, edge.inference_method or None, edge.valid_to or None),
        ]
        self._edges.add(Held(join, number, begins, ends, event.seq, content, row))

    def _thing(self, kind: str, name: str) -> str:
        """The key of what is told of; it is made when it is first heard of."""
        key = self._memory.key(self._owner.space, (kind, name))
        if key not in self._memory.things:
            self._memory.things[key] = name
            self._memory.versions[key] = None
            self._memory.untold.add(key)
            self._things.append([key, kind, name])
        return key

    def _key_of(self, entity: Entity) -> str:
        return self._memory.key(self._owner.space, (entity.entity_type, entity.name))

    def _ends_of(self, edge: Edge) -> tuple[str, str]:
        return self._memory.key(self._owner.space, edge.source), self._memory.key(self._owner.space, edge.target)


def _plain(value: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be a property")


_properties = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain).encode


def _end(event: Event, ends: str) -> tuple[str | None, int | None]:
    """The end with which a row is told: known from the first as closed."""
    return (ends, event.seq) if ends else (None, None)


def _trimmed(row: list[Any]) -> list[Any]:
    while row and row[-1] is None:
        row.pop()
    return row


def _back_dated(told: Iterable[tuple[str, str]], last: Mapping[str, Held | None]) -> Iterator[tuple[str, str]]:
    """What is told of a time before the last version that the server has."""
    for key, begins in told:
        row = last.get(key)
        if row is not None and begins < row.begins:
            yield key, begins


def _endings(line: Line) -> list[list[object]]:
    return [[row.key, row.begins, row.number, at, first] for row, at, first in line.ended.values()]


def _order(row: Held) -> tuple[str, int]:
    return row.begins, row.number
