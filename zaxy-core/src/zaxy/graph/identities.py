"""By which names things are known: an event that has an id and a title teaches that both mean one thing.

Extraction looks at one event, so names are resolved here, between extraction and the followers, which get resolved
names and need no aliases. Everything is asked as it was known before an event: a follower that is rebuilt, at whatever
time, gets the same rows.

The same step keeps time from going back: where a clock was set back, a row begins no earlier than the newest event
before it. Otherwise what was written last would be filed behind what it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import orjson

from zaxy.api.models import Closing, Cursor, Edge, Entity, EntityRef, Event, ExtractedEvent, Extraction
from zaxy.api.names import folded_name, folded_names
from zaxy.errors import Conflict
from zaxy.eventloom.database_errors import MISSING, Unsealed
from zaxy.eventloom.disposable_database import DisposableDatabase
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.extract.rules import LIVING_TYPES, TYPES_WITH_IDS
from zaxy.graph.known_names import ALIAS, HAS_ID, ID, TITLE, Alias, KnownNames, LearningNames, checked, spelled
from zaxy.graph.seal_check import name_problems, without_session
from zaxy.graph.sessions import SessionRows

T = TypeVar("T")
FORMAT = 4
SCHEMA = """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL DEFAULT 0, hash TEXT, offset INTEGER, fed_by TEXT, newest TEXT NOT NULL DEFAULT '',
    aliases INTEGER NOT NULL DEFAULT 0, late INTEGER NOT NULL DEFAULT 0, seal INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE aliases (
    session INTEGER NOT NULL, alias TEXT NOT NULL, type TEXT NOT NULL, kind INTEGER NOT NULL, seq INTEGER NOT NULL,
    name TEXT NOT NULL, seal INTEGER NOT NULL, PRIMARY KEY (session, alias, type, kind, seq)
) WITHOUT ROWID;
CREATE TABLE late (
    session INTEGER NOT NULL, seq INTEGER NOT NULL, time TEXT NOT NULL, seal INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
"""
AFTER_ALL_EVENTS = 2**62
REMEMBERED = 20_000
"""How many names are remembered from one batch to the next."""

SESSION = "SELECT id, seq, hash, offset, fed_by, newest, aliases, late, name, seal FROM sessions WHERE name = ?"
NEW_SESSION = "INSERT INTO sessions (name) VALUES (?)"
MOVE = (
    "UPDATE sessions SET seq = ?, hash = ?, offset = ?, fed_by = ?, newest = ?, aliases = ?, late = ?, seal = ? "
    "WHERE id = ?"
)
KNOWN_NAMES = (
    f"SELECT {ALIAS} FROM json_each(:aliases) AS n CROSS JOIN json_each(:kinds) AS k CROSS JOIN aliases AS a "
    "ON a.session = :session AND a.alias = n.value AND a.type = json_extract(k.value, '$[0]') "
    "AND a.kind = json_extract(k.value, '$[1]') AND a.seq = (SELECT max(seq) FROM aliases AS b WHERE "
    "b.session = :session AND b.alias = n.value AND b.type = json_extract(k.value, '$[0]') "
    "AND b.kind = json_extract(k.value, '$[1]') AND b.seq < :seq) "
    "WHERE EXISTS (SELECT 1 FROM aliases AS c WHERE c.session = :session AND c.alias = n.value)"
)
"""Of many names few are known: the others cost one look-up each."""
MAX_READ_WHOLE = 64
"""Rows of a session that are all read, whatever is asked for: one that was edited to be passed by is so noticed."""
ALL_NAMES = f"SELECT {ALIAS} FROM aliases AS a WHERE a.session = ? ORDER BY a.seq"
ALL_LATE = "SELECT session, seq, time, seal FROM late WHERE session = ?"
TEACH = "INSERT OR REPLACE INTO aliases VALUES (?, ?, ?, ?, ?, ?, ?)"
LATE = "SELECT session, seq, time, seal FROM late WHERE session = ? AND seq BETWEEN ? AND ?"
NEW_LATE = "INSERT OR REPLACE INTO late VALUES (?, ?, ?, ?)"


class Identities:
    """A small table for each session, derived from its log, with its own cursor."""

    def __init__(
        self,
        folder: Path,
        warn: Callable[[str], None],
        *,
        workspace_id: str = "",
        of_packages: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """`of_packages`: the types of things with ids and titles that the families of packages have."""
        self._file = DisposableDatabase(
            str(folder / "identities.db"),
            "the names of things",
            schema=SCHEMA,
            version=FORMAT,
            bound_to=workspace_id,
            warn=warn,
        )
        self._sessions = SessionRows(SESSION)
        self._of_packages = of_packages
        self._latest: tuple[object, str, int, dict[Alias, str]] = (None, "", 0, {})
        """The file's state, a session, an event of it, and the names that were known after it."""

    @cached_property
    def _living(self) -> frozenset[str]:
        """The types of what lives through several events, and may be known by an id and a title."""
        return LIVING_TYPES.union(self._of_packages())

    @cached_property
    def _with_ids(self) -> frozenset[str]:
        """Those, and the types of things that an id names besides their own name."""
        return TYPES_WITH_IDS | self._living

    @cached_property
    def _kinds(self) -> str:
        kinds = [
            (kind, of) for kind in sorted(self._with_ids) for of in ((ID, TITLE) if kind in self._living else (ID,))
        ]
        return orjson.dumps(kinds).decode()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let all reads of this thread be of one state."""
        with self._file.hold(), self._sessions.remembered():
            yield

    def cursor(self, session: str) -> Cursor | None:
        found = self._file.peek(lambda db: self._sessions.row(db, session))
        return Cursor(*found[1:5]) if found and found[1] else None

    def resolve(self, session: str, events: Sequence[ExtractedEvent], cursor: Cursor) -> tuple[ExtractedEvent, ...]:
        """The events with the names of things as they are known; what they teach is remembered."""
        return self._file.write(lambda db: self._take(db, session, events, cursor=cursor))

    def _take(
        self, db: SealedConnection, session: str, events: Sequence[ExtractedEvent], *, cursor: Cursor
    ) -> tuple[ExtractedEvent, ...]:
        found = self._sessions.fetched(db, session)
        own = int(found[0] if found else db.execute(NEW_SESSION, (session,)).lastrowid or 0)
        taken, newest = (found[1], found[5]) if found else (0, "")
        if events and events[0].event.seq > taken + 1:
            raise Conflict(
                f"the names of {session} are known to event {taken}, and the events begin at {events[0].event.seq}",
                "Ask for the cursor again, and go on from there.",
            )
        late = {seq: time for _, seq, time, _ in (checked(db, row) for row in db.execute(LATE, (own, *_ends(events))))}
        known = self._remembered(db, session, taken)
        if found and not known:  # what is learned from a name that was hidden would stay in the graph
            _few(db, found)
        news = LearningNames(db, own, known, with_ids=self._with_ids)
        new_late = []
        resolved: list[ExtractedEvent] = []
        for extracted in events:
            event, rows = extracted.event, extracted.rows
            is_new = event.seq > taken
            if is_new and event.time < newest:
                late[event.seq] = newest
                new_late.append((own, event.seq, newest, db.seal((own, event.seq, newest))))
            elif is_new:
                newest = event.time
            named = [entity for entity in rows.entities if entity.ids or entity.titles]
            if named or event.seq in late or self._names_things(rows):
                names = news if is_new else LearningNames(db, own, {}, with_ids=self._with_ids)
                names.seq = event.seq
                rows = _resolved(names, extracted, named=named, begins=late.get(event.seq, ""), is_new=is_new)
                extracted = replace(extracted, rows=rows)
            resolved.append(extracted)
        if cursor.seq > taken:
            db.executemany(TEACH, news.taught)
            db.executemany(NEW_LATE, new_late)
            aliases, lates = found[6:8] if found else (0, 0)
            place = (cursor.seq, cursor.hash, cursor.offset, cursor.fed_by, newest)
            moved = (*place, aliases + len(news.taught), lates + len(new_late))
            db.execute(MOVE, (*moved, db.seal((own, *moved, session)), own))
            self._latest = (self._latest[0], session, cursor.seq, news.known)
        return tuple(resolved)

    def _names_things(self, rows: Extraction) -> bool:
        """Whether edges or closings name things that may have aliases."""
        for edge in rows.edges:
            if edge.source.entity_type in self._living or edge.target.entity_type in self._living:
                return True
        return any(closing.entity and closing.entity.entity_type in self._with_ids for closing in rows.closings)

    def _remembered(self, db: SealedConnection, session: str, taken: int) -> dict[Alias, str]:
        """What is known of names after the event `taken`, as far as it was asked for in the batch before."""
        state = (self._file.generation, db.execute("PRAGMA data_version").fetchone()[0])
        if self._latest[:3] != (state, session, taken) or len(self._latest[3]) > REMEMBERED:
            self._latest = (state, session, taken, {})
        return self._latest[3]

    def names(self, session: str, names: Iterable[str], known_at: int | None) -> list[str]:
        """The names given, and those of the things that they mean, as known after an event."""
        wanted = list(dict.fromkeys(names))
        known = self._known(session, wanted, known_at)
        aliases = {alias for _, alias, _ in known.known}
        meant = [name for name in wanted if folded_name(name) in aliases] if aliases else []
        found = (known.called(kind, name) for name in meant for kind in sorted(self._with_ids))
        return list(dict.fromkeys((*wanted, *(name for name in found if name))))

    def refs(self, session: str, refs: Sequence[EntityRef], known_at: int | None = None) -> list[EntityRef]:
        """The things that types and names mean, as known after an event."""
        named = [ref.name for ref in refs if ref.entity_type in self._with_ids]
        known = self._known(session, named, known_at)
        return [known.meant(ref) for ref in refs]

    def time(self, event: Event) -> str:
        """The time of an event; where a clock was set back, that of the newest event before it."""

        def ask(db: SealedConnection) -> str:
            own = self._sessions.row(db, event.session)
            if not own or not own[7]:
                return event.time
            asked = (LATE, (own[0], event.seq, event.seq)) if own[7] > MAX_READ_WHOLE else (ALL_LATE, own[:1])
            late = _all_of(own[7], db.unsealed(db.execute(*asked)))
            return next((str(time) for _, seq, time in late if seq == event.seq), event.time)

        return self._file.read(ask)

    def verify(self, session: str) -> list[str]:
        """Which rows of a session do not hold their seals, and which are missing; nothing if all is well."""

        def problems(db: SealedConnection) -> list[str]:
            found = self._sessions.fetched(db, session)
            return name_problems(db, found) if found else without_session(db, ("aliases", "late"))

        return self._file.examine(problems)

    def wipe(self, session: str) -> None:
        def delete(db: SealedConnection) -> None:
            found = db.execute(SESSION, (session,)).fetchone()
            for statement in ("aliases WHERE session", "late WHERE session", "sessions WHERE id"):
                db.execute(f"DELETE FROM {statement} = ?", (found[0] if found else 0,))

        self._latest = (None, "", 0, {})
        self._file.write(delete)
        self._file.scrub()

    def try_scrub(self, session: str) -> bool:
        """Whether no byte of what was wiped is left, of any session."""
        return self._file.try_scrub()

    def close(self) -> None:
        self._file.close()

    def _known(self, session: str, names: Sequence[str], known_at: int | None) -> KnownNames:
        """What some names meant after an event."""
        aliases = orjson.dumps(list(folded_names(names))).decode()
        seq = AFTER_ALL_EVENTS if known_at is None else known_at + 1

        def ask(db: SealedConnection) -> KnownNames:
            own = self._sessions.row(db, session)
            if not own or not own[6]:
                return KnownNames({}, with_ids=self._with_ids)
            values = {"session": own[0], "seq": seq, "aliases": aliases, "kinds": self._kinds}
            rows = _few(db, own) if own[6] <= MAX_READ_WHOLE else db.unsealed(db.execute(KNOWN_NAMES, values))
            known = [row for row in rows if row[4] < seq and row[3] != HAS_ID]
            names = {(kind, alias, of): name for _, alias, kind, of, _, name in known}
            return KnownNames(names, with_ids=self._with_ids)

        return self._file.read(ask) if names else KnownNames({}, with_ids=self._with_ids)


def _few(db: SealedConnection, own: Any) -> list[Any]:
    """The aliases of a session, oldest first, if it has few: none of them may be missing."""
    return _all_of(own[6], db.unsealed(db.execute(ALL_NAMES, own[:1]))) if own[6] <= MAX_READ_WHOLE else []


def _all_of(count: int, rows: list[T]) -> list[T]:
    """The rows, which are all that a session has if they are few."""
    if count <= MAX_READ_WHOLE and len(rows) != count:
        raise Unsealed(MISSING)
    return rows


def _ends(events: Sequence[ExtractedEvent]) -> tuple[int, int]:
    return (events[0].event.seq, events[-1].event.seq) if events else (0, 0)


def _resolved(
    names: LearningNames, extracted: ExtractedEvent, *, named: Sequence[Entity], begins: str, is_new: bool
) -> Extraction:
    """The rows with resolved names. They begin at `begins`, if it is given, instead of at the event's time."""
    event, rows = extracted.event, extracted.rows
    own = {_key(entity.entity_type, entity.name): names.of(entity) for entity in named}
    learned = dict[Alias, str]()
    if is_new:
        for entity in named:
            learned.update(names.learn(entity, own[_key(entity.entity_type, entity.name)]))

    def meant(ref: EntityRef) -> EntityRef:
        known = own.get(_key(*ref))
        return spelled(ref, known) if known else names.meant(ref)

    resolved = Extraction(
        tuple(_entity(entity, own, begins) for entity in rows.entities),
        tuple(_edge(edge, meant, begins) for edge in rows.edges),
        tuple(_closing(closing, meant, event, begins) for closing in rows.closings),
    )
    names.keep(learned)
    return resolved


def _entity(entity: Entity, own: dict[tuple[str, str], str], begins: str) -> Entity:
    known = own.get(_key(entity.entity_type, entity.name), entity.name)
    name = spelled(EntityRef(entity.entity_type, entity.name), known).name
    if name == entity.name and not entity.ids and not entity.titles and not begins:
        return entity
    return replace(entity, name=name, ids=(), titles=(), observed_at=entity.observed_at or begins)


def _edge(edge: Edge, meant: Callable[[EntityRef], EntityRef], begins: str) -> Edge:
    source, target, since = meant(edge.source), meant(edge.target), edge.valid_from or begins
    if (source, target, since) == (edge.source, edge.target, edge.valid_from):
        return edge
    return replace(edge, source=source, target=target, valid_from=since)


def _closing(closing: Closing, meant: Callable[[EntityRef], EntityRef], event: Event, begins: str) -> Closing:
    at = begins if begins and closing.at == event.time else closing.at
    return replace(closing, at=at, entity=meant(closing.entity) if closing.entity else None)


def _key(entity_type: str, name: str) -> tuple[str, str]:
    return entity_type, folded_name(name)
