"""Takes events into the graph, in an amount of work that does not depend on what is there already.

Which rows open and end is decided by `zaxy.api.versions`: here they are fetched and stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from zaxy.api.models import Closing, Edge, Entity, Event, ExtractedEvent
from zaxy.api.names import folded_name
from zaxy.api.versions import (
    PLAIN_EDGE_CONTENT,
    Version,
    beginning,
    comes_last,
    earlier_text,
    end_versions,
    open_version,
)
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.graph.rows import edge_version, entity_version
from zaxy.graph.schema import name_key
from zaxy.graph.statements import EDGE, ENTITY, EVENT, THING

Join = tuple[int, int, str]

A_THING = f"SELECT {THING} FROM things AS t WHERE t.key = ? AND t.session = ? AND t.type = ? AND t.name = ?"
# The event that is being taken is not there yet, but some of its rows may be.
OPENED_BY = "LEFT JOIN events AS v ON v.session = t.session AND v.seq = r.opened"
ENTITIES = (
    f"{ENTITY.format('t.session', 'ifnull(v.hash, ?)')} FROM entities AS r CROSS JOIN things AS t ON t.id = r.thing "
    f"{OPENED_BY} WHERE"
)
EDGES = (
    f"{EDGE.format('t.session', 'ifnull(v.hash, ?)')} FROM edges AS r {{}} CROSS JOIN things AS s ON s.id = r.source "
    f"CROSS JOIN things AS t ON t.id = r.target {OPENED_BY} WHERE"
)
ENTITIES_OF_THING = f"{ENTITIES} r.thing = ?"
EDGES_OF_ENDS = (
    f"{EDGES.format('INDEXED BY edges_by_ends')} "
    "max(r.source, r.target) = ? AND min(r.source, r.target) = ? AND r.relation = ? AND r.source = ?"
)
NOT_VOID = "AND (r.valid_to = '' OR r.valid_from < r.valid_to)"
LAST = f"{NOT_VOID} ORDER BY r.valid_from DESC, r.id DESC LIMIT 1"
BY, LATER = f"AND r.valid_from <= ? {LAST}", f"AND r.valid_from > ? {NOT_VOID} ORDER BY r.valid_from LIMIT ?"
AN_EVENT = f"SELECT {EVENT} FROM events AS v WHERE v.session = ? AND v.seq = ?"
ENTITIES_OF_EVENT, EDGES_OF_EVENT = (f"{rows} r.id >= ? AND r.id < ?" for rows in (ENTITIES, EDGES.format("")))
LAST_IDS = "SELECT (SELECT max(id) FROM things), (SELECT max(id) FROM entities), (SELECT max(id) FROM edges)"
ONE, ALL = 1, -1
AS_FIRST = (None, None)
"""Of an edge whose ends are spelled as at first."""

# In this order: a row is there before it is ended.
NEW_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
NEW_THING = "INSERT INTO things VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
COUNT_THING = "UPDATE things SET versions = ?, edges = ?, seal = ? WHERE id = ?"
# Most rows have no end and spell names as before. Each value that is given costs as much as a step in an index.
PLAIN_ENTITY = "INSERT INTO entities VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, '', ?, NULL, NULL, ?, ?)"
NEW_ENTITY = "INSERT INTO entities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)"
PLAIN_EDGE = "INSERT INTO edges VALUES (?, ?, ?, ?, NULL, NULL, 1.0, 0, '', '', '', '', ?, '', ?, NULL, NULL, ?, ?)"
NEW_EDGE = "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)"
END_ENTITY = "UPDATE entities SET valid_to = ?, closed = ?, earlier = ?, end_seal = ? WHERE id = ?"
END_EDGE = "UPDATE edges SET valid_to = ?, closed = ?, earlier = ?, end_seal = ? WHERE id = ?"
WRITES = (NEW_EVENT, NEW_THING, COUNT_THING, PLAIN_ENTITY, NEW_ENTITY, PLAIN_EDGE, NEW_EDGE, END_ENTITY, END_EDGE)


Thing = list[Any]
"""The row of a thing without its seal, and where in it its folded name stands, its first spelling if that is another,
and how many versions and edges it has."""
NAME, SPELLED, VERSIONS, EDGES_AT = 4, 5, 6, 7


class Lines:
    """The versions of one kind, each in the line of its thing or edge; the last of each line is remembered."""

    def __init__(
        self,
        versions: str,
        end: str,
        *,
        place: Callable[[Any], tuple[object, ...]],
        version: Callable[[SealedConnection, Any], Version],
    ) -> None:
        self.last: dict[Any, Version | None] = {}
        self.unsure: set[Any] = set()
        """Lines whose remembered last version came to hold at no time: another may be the last now."""
        self.end = end
        self.place = place
        """By what the index finds the line of a key."""
        self.version = version
        self.hash = ""
        """Of the event that is being taken."""
        self.without_end: Counter[str] = Counter()
        """How many more rows have no end than before the batch, by the type of entity."""
        self._last_of, self._by, self._later = (f"{versions} {which}" for which in (LAST, BY, LATER))

    def fetch_last(self, db: SealedConnection, key: Any) -> Version | None:
        found = db.execute(self._last_of, (self.hash, *self.place(key))).fetchone()
        version = self.last[key] = self.version(db, found) if found else None
        self.unsure.discard(key)
        return version

    def around(self, db: SealedConnection, key: Any, moment: str, later: int) -> list[Version]:
        """The last version that begins by a moment, and the first `later` ones that begin after it."""
        values = (self.hash, *self.place(key), moment)
        found = (*db.execute(self._by, values), *db.execute(self._later, (*values, later)))
        return [self.version(db, row) for row in found]


class GraphWriter:
    """Takes the events of one session, and remembers what it has met, so that meeting it again costs no query.

    It writes in one go at the end of a batch. It must be forgotten after a failed transaction, and when somebody else
    may have written since.
    """

    def __init__(self, db: SealedConnection, session: int, *, is_new: bool = False) -> None:
        """`is_new`: nothing of the session was written before, so that what is not remembered is not there."""
        self._db = db
        self._session = session
        self._knows_all = is_new
        self._things: dict[tuple[str, str], Thing] = {}
        """By type and name, as it was spelled and folded."""
        self._entities = Lines(ENTITIES_OF_THING, END_ENTITY, place=lambda thing: (thing,), version=entity_version)
        self._edges = Lines(EDGES_OF_ENDS, END_EDGE, place=_place, version=edge_version)
        self._changed: dict[int, Thing] = {}
        """Things whose rows are not yet written as they are."""
        self._unwritten: set[int] = set()
        """Those of them that are not in the file at all."""
        self._new_things: set[int] = set()
        """Things that were not there before, so that of their rows none is there that is not remembered."""
        self._said: dict[int, tuple[Entity, Version]] = {}
        """What was said again of a thing, and the version that says so: of who speaks, with every event."""
        self._writes: dict[str, list[tuple[object, ...]]] = {of: [] for of in WRITES}

    @property
    def size(self) -> int:
        return len(self._things) + len(self._entities.last) + len(self._edges.last)

    def begin(self) -> None:
        self._last_thing, self._last_entity, self._last_edge = (of or 0 for of in self._db.execute(LAST_IDS).fetchone())
        self._entities.without_end, self._edges.without_end = Counter(), Counter()
        self._before = (self._last_entity, self._last_edge)

    def take(self, extracted: ExtractedEvent) -> None:
        event, rows = extracted.event, extracted.rows
        self._entities.hash = self._edges.hash = event.hash
        for closing in rows.closings:  # first, so that an event may close a thing and open it again
            self._close(event, closing)
        first_entity, first_edge = self._last_entity + 1, self._last_edge + 1
        for entity in rows.entities:
            self._take_entity(event, entity)
        for edge in rows.edges:
            self._take_edge(event, edge)
        ends = (self._last_entity + 1, self._last_edge + 1)
        if ends != (first_entity, first_edge):
            row = (self._session, event.seq, event.hash, first_entity, ends[0], first_edge, ends[1])
            self._writes[NEW_EVENT].append((*row, self._db.seal(row)))

    def finish(self) -> tuple[int, int, int, int]:
        """How many entities and edges there are more than before, and how many of those without an end."""
        self._flush()
        entities, edges = self._last_entity - self._before[0], self._last_edge - self._before[1]
        return entities, edges, self._entities.without_end.total(), self._edges.without_end.total()

    @property
    def open_by_type(self) -> Counter[str]:
        """How many more entities of each type are without an end than before."""
        return self._entities.without_end

    def _count(self, thing: Thing, what: int) -> None:
        thing[what] += 1
        self._changed[thing[0]] = thing

    def _flush(self) -> None:
        for number, thing in self._changed.items():
            seal = self._db.seal(thing)
            if number in self._unwritten:
                self._writes[NEW_THING].append((*thing, seal))
            else:
                self._writes[COUNT_THING].append((*thing[VERSIONS:], seal, number))
        self._changed.clear()
        self._unwritten.clear()
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
                    self._end(self._entities, known[0], version, kind=closing.entity.entity_type)
            return
        self._flush()
        found = self._db.execute(AN_EVENT, (self._session, closing.seq)).fetchone()
        if found is None:
            return
        self._db.check(found[:7], found[7])
        for row in self._db.execute(ENTITIES_OF_EVENT, ("", *found[3:5])).fetchall():
            for version in end_versions((entity_version(self._db, row),), closing, event):
                self._end(self._entities, row[2], version, kind=row[5])
        for row in self._db.execute(EDGES_OF_EVENT, ("", *found[5:7])).fetchall():
            for version in end_versions((edge_version(self._db, row),), closing, event):
                self._end(self._edges, (row[2], row[3], row[10]), version)
        self._flush()  # the lines of these rows may not be remembered

    def _take_entity(self, event: Event, entity: Entity) -> None:
        ref = (kind, spelled) = (entity.entity_type, entity.name)
        known = self._things.get(ref) or self._thing(ref)
        thing, name, lines = known[0], known[NAME], self._entities
        if thing in self._said and self._says_nothing_new(thing, entity, event.time):
            return
        is_new = thing in self._new_things and thing not in lines.last
        around = () if is_new else self._around(lines, thing, beginning(entity, event), ONE)
        row = self._last_entity + 1
        opened, ended = open_version(around, entity, event, row)
        for version in ended:
            self._end(lines, thing, version, kind=kind)
        if opened is None:
            self._said[thing] = (entity, around[0])
            return
        self._last_entity = row
        self._count(known, VERSIONS)
        _, since, ends, seq, closed, (summary, properties), _, _ = opened
        content = (summary, properties, entity.observed_at, since)
        seal, end_seal = self._db.seals((self._session, row, thing, name, spelled, kind, *content, seq, event.hash))
        if spelled == (known[SPELLED] or name) and not ends:
            self._writes[PLAIN_ENTITY].append((row, self._session, thing, kind, *content, seq, seal, end_seal))
        else:
            end_seal = self._db.seal((row, ends, closed, None)) if ends else end_seal
            place = (row, self._session, thing, kind, _unlike_first(spelled, known))
            self._writes[NEW_ENTITY].append((*place, *content, ends, seq, closed, seal, end_seal))
        self._open(lines, thing, opened, kind=kind)

    def _take_edge(self, event: Event, edge: Edge) -> None:
        known_source = self._things.get(edge.source) or self._thing(edge.source)
        known_target = self._things.get(edge.target) or self._thing(edge.target)
        source, target, relation, lines = known_source[0], known_target[0], edge.relation_type, self._edges
        join = (source, target, relation)
        is_new = (source in self._new_things or target in self._new_things) and join not in lines.last
        around = () if is_new else self._around(lines, join, beginning(edge, event), ONE)
        row = self._last_edge + 1
        opened, ended = open_version(around, edge, event, row)
        for version in ended:
            self._end(lines, join, version)
        if opened is None:
            return
        self._last_edge = row
        self._count(known_source, EDGES_AT)
        if source != target:
            self._count(known_target, EDGES_AT)
        _, since, ends, seq, closed, content, _, _ = opened
        confidence, inferred, method, evidence, given_to = content
        (source_type, source_name), (target_type, target_name) = edge.source, edge.target
        ends_named = (source_type, known_source[NAME], source_name, target_type, known_target[NAME], target_name)
        said = (confidence, int(bool(inferred)), method, evidence, edge.valid_from, given_to, since, seq, event.hash)
        seal, end_seal = self._db.seals((self._session, row, source, target, *ends_named, relation, *said))
        spellings = (_unlike_first(source_name, known_source), _unlike_first(target_name, known_target))
        if content is PLAIN_EDGE_CONTENT and spellings == AS_FIRST and not ends and not edge.valid_from:
            self._writes[PLAIN_EDGE].append((row, source, target, relation, since, seq, seal, end_seal))
        else:
            end_seal = self._db.seal((row, ends, closed, None)) if ends else end_seal
            place = (row, source, target, relation, *spellings)
            given = (*said[:4], given_to, edge.valid_from, since)
            self._writes[NEW_EDGE].append((*place, *given, ends, seq, closed, seal, end_seal))
        self._open(lines, join, opened)

    def _says_nothing_new(self, thing: int, entity: Entity, time: str) -> bool:
        """Whether the very same was said of a thing before, and is still what holds at a time."""
        said, version = self._said[thing]
        is_last = said is entity and version is self._entities.last.get(thing)
        return is_last and not version.valid_to and version.valid_from <= time

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

    def _open(self, lines: Lines, key: object, version: Version, *, kind: str = "") -> None:
        last = lines.last.get(key)
        if not version.valid_to:
            lines.without_end[kind] += 1
        elif version.is_void:
            return
        if last is None or comes_last(last, version.valid_from):
            lines.last[key] = version
            lines.unsure.discard(key)

    def _end(self, lines: Lines, key: object, version: Version, *, kind: str = "") -> None:
        end = (version.valid_to, version.closed_seq, earlier_text(version))
        self._writes[lines.end].append((*end, self._db.seal((version.number, *end)), version.number))
        lines.without_end[kind] -= not version.moved
        last = lines.last.get(key)
        if last is not None and last.number == version.number:
            lines.last[key] = version
            if version.is_void:
                lines.unsure.add(key)

    def _thing(self, ref: tuple[str, str]) -> Thing:
        """The thing that is meant; it gets an id when it is first heard of."""
        kind, name = ref
        matched = folded_name(name)
        known = self._known((kind, matched))
        if known is None:
            number = self._last_thing = self._last_thing + 1
            known = [number, self._session, self._key, kind, matched, None if name == matched else name, 0, 0]
            self._things[(kind, matched)] = self._changed[number] = known
            self._new_things.add(number)
            self._unwritten.add(number)
        self._things[ref] = known
        return known

    def _known(self, key: tuple[str, str]) -> Thing | None:
        """A thing by its type and folded name, if it was ever heard of."""
        known = self._things.get(key)
        if known is not None:
            return known
        self._key = name_key(self._session, key[1])
        values = (self._key, self._session, *key)
        found = None if self._knows_all else self._db.execute(A_THING, values).fetchone()
        if found is None:
            return None
        self._db.check(found[:8], found[8])
        known = self._things[key] = list(found[:8])
        return known


def _unlike_first(name: str, thing: Thing) -> str | None:
    """The name of a thing where it is spelled otherwise than at first."""
    return None if name == (thing[SPELLED] or thing[NAME]) else name


def _place(join: Join) -> tuple[int, int, str, int]:
    source, target, relation = join
    return (max(source, target), min(source, target), relation, source)
