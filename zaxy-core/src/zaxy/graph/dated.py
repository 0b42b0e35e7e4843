"""The graph as the core reads it: at a moment that is always given, and by names that are resolved first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from zaxy.api.models import AsOf, Batch, Cursor, EdgeRow, EntityRef, EntityRow, GraphStats
from zaxy.extract.names import entity_keys

MAX_TYPES = 8
"""Entities that may have one name, each of another type."""

if TYPE_CHECKING:
    from zaxy.api.models import Event
    from zaxy.api.points import ProjectionBackend
    from zaxy.eventloom.event_log import EventLog
    from zaxy.graph.identities import Identities


class DatedGraph:
    """A backend needs no clock: what holds now is asked for by the moment.

    Now is the clock's, or the time of the newest event where the clock is behind it: what was just written is never
    hidden. What was known after an event is read at that event's time, and so stays the same for ever.
    """

    def __init__(
        self,
        backend: ProjectionBackend,
        identities: Identities,
        store: EventLog,
        clock: Callable[[], str],
        *,
        is_own: bool = False,
    ) -> None:
        self._backend = backend
        self._identities = identities
        self._store = store
        self._clock = clock
        self.is_own = is_own
        """Whether the backend is the core's own, whose rows carry seals."""
        self._last: tuple[str, int, str] = ("", 0, "")
        """The session and seq of the event whose time was asked for last, and that time."""

    def moment(self, session: str, as_of: AsOf) -> str:
        """The moment that a read means."""
        if as_of.valid_at:
            return as_of.valid_at
        if as_of.known_at is None:
            head = self._store.head(session)
            return max(self._clock(), self._time(session, head.seq if head else 0))
        return self._time(session, as_of.known_at) or self.moment(session, AsOf())

    def now(self) -> str:
        """What the clock says."""
        return self._clock()

    def _time(self, session: str, seq: int) -> str:
        if self._last[:2] != (session, seq):
            event = self._store.get(session, seq) if seq > 0 else None
            if event is None:
                return ""
            self._last = (session, seq, self._identities.time(event))
        return self._last[2]

    def _dated(self, session: str, as_of: AsOf) -> AsOf:
        return as_of if as_of.valid_at else replace(as_of, valid_at=self.moment(session, as_of))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let all reads of this thread be of one state, as far as the backend can do that."""
        hold = getattr(self._backend, "hold", None)
        with self._identities.hold(), hold() if hold else nullcontext():
            yield

    # Reading

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        meant = self._identities.names(session, names, as_of.known_at)
        return self._backend.entities(session, meant, self._dated(session, as_of), limit)

    def versions(self, session: str, entity: EntityRef, as_of: AsOf) -> list[EntityRow]:
        """The rows of one entity that hold at a moment."""
        meant = self.ref(session, entity, as_of.known_at)
        rows = self._backend.entities(session, [meant.name], self._dated(session, as_of), 100)
        return [row for row in rows if row.entity.entity_type == meant.entity_type]

    def version_of_each(self, session: str, entities: Sequence[EntityRef], as_of: AsOf) -> list[EntityRow | None]:
        """Of each entity the row that holds at a moment, if one does."""
        meant = self._identities.refs(session, entities, as_of.known_at)
        names = list(dict.fromkeys([ref.name for ref in meant]))
        found = self._backend.entities(session, names, self._dated(session, as_of), MAX_TYPES * len(names))
        keys = entity_keys([EntityRef(row.entity.entity_type, row.entity.name) for row in found])
        rows = dict(zip(keys, found, strict=True))
        return [rows.get(key) for key in entity_keys(meant)]

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        return self._backend.rows_of_events(session, seqs, self._dated(session, as_of))

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        return self._backend.current(session, entity_types, self._dated(session, as_of), limit)

    def current_of_each(
        self, session: str, kinds: Sequence[Sequence[str]], as_of: AsOf, limit: int
    ) -> list[list[EntityRow]]:
        """What is current of several kinds, each given by its types; asked together where the backend can do that."""
        dated = self._dated(session, as_of)
        together = getattr(self._backend, "current_of_each", None)
        if together is not None:
            return list(together(session, kinds, dated, limit))
        return [list(self._backend.current(session, kind, dated, limit)) for kind in kinds]

    def neighbours(
        self, session: str, start: Sequence[EntityRef], *, relations: Sequence[str], depth: int, as_of: AsOf, limit: int
    ) -> Sequence[EdgeRow]:
        meant = self._identities.refs(session, start, as_of.known_at)
        return self._backend.neighbours(
            session, meant, relations=relations, depth=depth, as_of=self._dated(session, as_of), limit=limit
        )

    def ref(self, session: str, ref: EntityRef, known_at: int | None = None) -> EntityRef:
        """The thing that a type and a name meant after an event."""
        return self._identities.refs(session, [ref], known_at)[0]

    def time(self, event: Event) -> str:
        """The time of an event; where a clock was set back, that of the newest event before it."""
        return self._identities.time(event)

    def stats(self, session: str) -> GraphStats:
        return self._backend.stats(session)

    # Following

    def cursor(self, session: str) -> Cursor | None:
        return self._backend.cursor(session)

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        self._backend.apply(batch, cursor)

    def digest(self, session: str) -> str:
        return self._backend.digest(session)

    def verify(self, session: str) -> Sequence[str] | None:
        """What is wrong with the rows of a session; None where the backend cannot say."""
        verify = getattr(self._backend, "verify", None)
        return verify(session) if verify else None

    def wipe(self, session: str) -> None:
        self._backend.wipe(session)

    def try_scrub(self, session: str) -> bool:
        """Whether no byte of what was wiped is left; a backend of a plugin leaves none when it has wiped."""
        scrub = getattr(self._backend, "try_scrub", None)
        return bool(scrub(session)) if scrub else True

    def close(self) -> None:
        self._backend.close()
