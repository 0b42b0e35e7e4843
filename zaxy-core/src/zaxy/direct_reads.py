"""What is read without a question: events straight from the log, rows from the graph, and refs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Event as Signal, Lock
from typing import TYPE_CHECKING, NoReturn

from zaxy.api.models import AsOf, EntityRef, Event
from zaxy.assemble.use_marks import UseMarks
from zaxy.errors import InvalidRequest, NotFound, Unavailable, ZaxyError
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.grammar import Malformed
from zaxy.eventloom.store import event_of_record
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.extract.times import utc_text
from zaxy.workspace import default_session

if TYPE_CHECKING:
    from zaxy.api.models import EdgeRow, EntityRow, Report
    from zaxy.graph.dated import DatedGraph
    from zaxy.retrieve.recall import Recall
    from zaxy.retrieve.snapshot import Snapshot
    from zaxy.workspace import Workspace

REPLAYED_AT_ONCE = 1000
MAX_ROWS = 1000
MAX_DEPTH = 5
LATEST_SEARCHED = 10_000
"""How many events `latest` looks through for those of the types that are asked for."""
LOOK_AGAIN = 0.2
"""Seconds between two looks at a log that is followed."""


class Replay(list[Event]):
    """A page of a session's events, in order."""

    def __init__(self, events: Iterable[Event], *, truncated: bool, next_seq: int) -> None:
        super().__init__(events)
        self._truncated = truncated
        self._next_seq = next_seq

    @property
    def truncated(self) -> bool:
        """Whether there are more."""
        return self._truncated

    @property
    def next_seq(self) -> int:
        """The `from_seq` of the next page."""
        return self._next_seq


class ClosedRecall:
    """Stands where the log and its followers were, once the memory is closed."""

    def __getattr__(self, name: str) -> NoReturn:
        raise Unavailable("this memory is closed", "Open it again, with Memory.open().")


class DirectReads:
    """The reads of `Memory` that rank nothing."""

    workspace: Workspace
    recall: Recall
    _marks: UseMarks
    _session = ""
    _closed: Signal
    _looking: Lock
    """Held while a log that is followed is looked at: memory is not closed meanwhile."""

    @property
    def session(self) -> str:
        """The session that is meant where none is named. Until the project's memory has begun it may still change."""
        if not self._session:
            has_begun, session = self.workspace.has_begun, default_session(self.workspace)
            if not has_begun:
                return session
            self._session = session
        return self._session

    @property
    def is_foreign(self) -> bool:
        """Whether it came from elsewhere, and this user has not taken it in: what it says is not believed."""
        return not self.recall.is_own

    @property
    def _log(self) -> EventLog:
        """The log, with every mark of use in it."""
        self._marks.flush()
        return self.recall.store

    # Events

    def sessions(self) -> list[str]:
        return self._log.sessions()

    def head(self, session: str = "") -> int:
        """The seq of the last durable event; 0 where there is none."""
        return self._log.end(session or self.session)

    def get(self, seq: int, session: str = "") -> Event:
        """The event with that number."""
        session = session or self.session
        event = self._log.get(session, seq)
        if event is None:
            raise NotFound(f"{session} has no event {seq}", f"Its last one is {self.head(session)}.")
        return event

    def lines(self, session: str = "", *, first: int = 1, last: int | None = None) -> Iterator[tuple[Event, bytes]]:
        """The events of a range in order, each with the line that the log holds of it, proven.

        One that was erased has no payload. What breaks the grammar of events is left out: nothing of it is passed on.
        """
        records = self._log.records(session or self.session, first, last)
        return ((event_of_record(record), line) for record, line in records if type(record) is not Malformed)

    def fitting(self, query: str, session: str = "", *, limit: int = 50) -> list[int]:
        """The seqs of the events that `verbatim` finds by their words, best first.

        While not all of the session can be searched this is an error: some would miss.
        """
        return self.recall.fitting(session or self.session, query, limit)

    def doubts(self, session: str = "") -> list[str]:
        """Why what a session's log says is not to be relied on: it is damaged."""
        return self.recall.doubts(session or self.session, [])

    def resolve(self, citation: str) -> Event:
        """The event that a citation names. A wrong hash never resolves."""
        return self._log.resolve(parse_citation(citation))

    def replay(
        self,
        session: str = "",
        from_seq: int = 1,
        *,
        limit: int = REPLAYED_AT_ONCE,
        include_housekeeping: bool = False,
    ) -> Replay:
        """A page of events in order, straight from the log; `truncated` says whether there are more.

        Behind damage nothing is read: an error says so once nothing is left before it.
        """
        if limit < 1:
            raise InvalidRequest(f"limit is {limit}", "Give a number from 1 on.")
        found: list[Event] = []
        next_seq, truncated = from_seq, False
        try:
            for event in self._log.events(session or self.session, from_seq):
                shown = include_housekeeping or not self._is_housekeeping(event)
                if shown and len(found) == limit:
                    truncated = True
                    break
                next_seq = event.seq + 1
                found += [event] * shown
        except ZaxyError:
            if not found:
                raise
            truncated = True
        return Replay(found, truncated=truncated, next_seq=next_seq)

    def events(self, session: str = "", from_seq: int = 1, *, include_housekeeping: bool = False) -> Iterator[Event]:
        """All events in order, straight from the log as it is now, however many there are. Damage is an error."""
        events = self._log.events(session or self.session, from_seq)
        return (event for event in events if not self._is_housekeeping(event) or include_housekeeping)

    def tail(self, session: str = "", limit: int = 10, *, include_housekeeping: bool = False) -> Iterator[Event]:
        """The last events, oldest first, and then each that comes. It ends when the memory is closed."""
        session = session or self.session
        start = start_of_tail(self, session, limit, include_housekeeping=include_housekeeping)
        return self._followed(session, start, include_housekeeping=include_housekeeping)

    def _followed(self, session: str, next_seq: int, *, include_housekeeping: bool) -> Iterator[Event]:
        while True:
            with self._looking:
                if self._closed.is_set():
                    return
                page = self.replay(session, next_seq, include_housekeeping=include_housekeeping)
            yield from page
            next_seq = page.next_seq
            if not page:
                self._closed.wait(LOOK_AGAIN)

    def latest(self, session: str = "", limit: int = 10, *, types: Sequence[str] = ()) -> list[Event]:
        """The last events that are not bookkeeping, newest first; of some types alone, if they are named.

        A name that ends in `.*` is a whole family. At most the last 10,000 events are looked through.
        """
        session, types = session or self.session, several("types", types)
        families = tuple(name.removesuffix("*") for name in types if name.endswith(".*"))

        def wanted(event: Event) -> bool:
            if types:
                return event.type in types or (bool(families) and event.type.startswith(families))
            return not self._is_housekeeping(event)

        found: list[Event] = []
        end = last = self._log.end(session)
        while last > max(end - LATEST_SEARCHED, 0) and len(found) < limit:
            first = max(last - REPLAYED_AT_ONCE + 1, 1)
            found += [event for event in reversed(list(self._log.events(session, first, last))) if wanted(event)]
            last = first - 1
        return found[:limit]

    def _is_housekeeping(self, event: Event) -> bool:
        return is_housekeeping(event, self.recall.families.housekeeping)

    def verify(self, session: str = "") -> Report:
        """Prove a session's log: every byte, digest, hash and link."""
        return self._log.verify(session or self.session)

    # Refs

    def refs(self, session: str = "") -> dict[str, str]:
        """All refs of a session, each with the citation that it names."""
        return {name: str(target) for name, target in self._log.ref_targets(session or self.session).items()}

    def set_ref(self, name: str, citation: str = "", *, session: str = "") -> Event:
        """Let a ref name an event: the cited one, or the last of a session. Returns the event that records it."""
        target = self.resolve(citation) if citation else self._log.last_event(session or self.session)
        return self._log.set_ref(name, target)

    def resolve_ref(self, name: str, session: str = "") -> Event:
        """The event that a ref names."""
        return self._log.resolve_ref(session or self.session, name)

    # The graph

    def current(
        self,
        entity_types: Sequence[str],
        session: str = "",
        *,
        valid_at: str = "",
        known_at: int | None = None,
        limit: int = 100,
    ) -> list[EntityRow]:
        """The things of these types that hold now, or held then, newest first, in the words of the log."""
        as_of, types = AsOf(moment_of(valid_at), known_at), several("entity_types", entity_types)
        return self._rows(session, limit, lambda graph, of: graph.current(of, types, as_of, limit))

    def entities(
        self,
        names: Sequence[str],
        session: str = "",
        *,
        valid_at: str = "",
        known_at: int | None = None,
        limit: int = 100,
    ) -> list[EntityRow]:
        """The things that have one of these names, in the words of the log."""
        as_of, names = AsOf(moment_of(valid_at), known_at), several("names", names)
        return self._rows(session, limit, lambda graph, of: graph.entities(of, names, as_of, limit))

    def neighbours(
        self,
        start: Sequence[EntityRef],
        session: str = "",
        *,
        relations: Sequence[str] = (),
        depth: int = 1,
        valid_at: str = "",
        known_at: int | None = None,
        limit: int = 100,
    ) -> list[EdgeRow]:
        """What is related to things, nearest first. An edge whose event the log does not hold is left out."""
        _check(limit, depth)
        as_of, relations = AsOf(moment_of(valid_at), known_at), several("relations", relations)

        def read(snapshot: Snapshot) -> list[EdgeRow]:
            rows = _graph_of(snapshot).neighbours(
                snapshot.session, start, relations=relations, depth=depth, as_of=as_of, limit=limit
            )
            held = {event.seq: event.hash for event in snapshot.events(dict.fromkeys(row.opened_seq for row in rows))}
            return [row for row in rows if held.get(row.opened_seq) == row.event_hash]

        return self.recall.reply(session or self.session, read)

    def _rows(
        self, session: str, limit: int, rows: Callable[[DatedGraph, str], Sequence[EntityRow]]
    ) -> list[EntityRow]:
        _check(limit)

        def read(snapshot: Snapshot) -> list[EntityRow]:
            found = rows(_graph_of(snapshot), snapshot.session)
            return [replace(row, entity=entity) for row, entity in snapshot.worded(found)]

        return self.recall.reply(session or self.session, read)


def start_of_tail(memory: DirectReads, session: str, limit: int, *, include_housekeeping: bool) -> int:
    """The number from which on the last events are read, and then those that come."""
    if limit < 0:
        raise InvalidRequest(f"limit is {limit}", "Give a number from 0 on.")
    end = memory.head(session)
    if include_housekeeping:
        return max(end - limit, 0) + 1
    shown = memory.latest(session, limit)
    return shown[-1].seq if shown else end + 1


def several(name: str, given: Sequence[str]) -> Sequence[str]:
    """Texts, of which one alone is refused: it would be taken for its letters."""
    if isinstance(given, str):
        raise InvalidRequest(f"{name} is one text, and several are meant", f"Write [{given!r:.60}].")
    return given


def moment_of(given: str) -> str:
    """A moment in the log's own form; empty where none is given."""
    moment = utc_text(given)
    if given and not moment:
        raise InvalidRequest(
            f"{given!r:.60} is not a date or time",
            "Write it as ISO-8601, such as 2026-06-15 or 2026-06-15T12:00:00Z.",
        )
    return moment


def _graph_of(snapshot: Snapshot) -> DatedGraph:
    if snapshot.graph is None:
        raise Unavailable("the graph does not take part", "'zaxy doctor' says what keeps it.")
    return snapshot.graph


def _check(limit: int, depth: int = 1) -> None:
    for name, value, bound in (("limit", limit, MAX_ROWS), ("depth", depth, MAX_DEPTH)):
        if not 1 <= value <= bound:
            raise InvalidRequest(f"{name} is {value}", f"Give a number from 1 to {bound:,}.")
