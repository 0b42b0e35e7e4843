"""Followers on their way from one place in a session's log to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from zaxy.api.models import Batch, Closing, Cursor, EntityRef, Event, ExtractedEvent
from zaxy.errors import ZaxyError
from zaxy.eventloom.event_log import EventLog
from zaxy.follow.extraction import Extractors, ended_by_erased, ended_elsewhere, refers_to_erased, things_cited
from zaxy.follow.pace import Pace
from zaxy.follow.scrubbing import NAMES, Scrubber, began_at

if TYPE_CHECKING:
    from zaxy.api.points import Follower

BATCH, MAX_BATCH = 500, 8000
GROWTH = 8
"""How many times as large as the batch before one may be."""
QUICK = 1.0
"""Seconds that a batch should take at most, by how long the one before took. A larger one costs less for each event."""
FOREVER = 3600.0
ERASED = "event.erased"

Progress = Callable[[int, int], None]
"""Called with the number of events that were followed, and of all events."""


def always(events: int, seconds: float) -> bool:
    return True


class BatchSizes(NamedTuple):
    """How many events are taken at once, and in how many seconds they should be."""

    min: int
    max: int
    seconds: float


def usual_sizes() -> BatchSizes:
    return BatchSizes(BATCH, MAX_BATCH, QUICK)


SLOW_SIZES = BatchSizes(min=8, max=512, seconds=0.1)
"""For followers that reads do not wait for: a read may ask one of them, and then waits for its batch."""


class FollowerState(NamedTuple):
    """How far a follower has come with a session."""

    follower: str
    session: str
    seq: int
    behind: int
    """How many events it has not taken yet."""
    problem: str = ""
    """Why it does not go on; empty while it does."""
    frozen: bool = False
    """It has followed a history that the log no longer holds: only a rebuild takes it on."""
    cursor: Cursor | None = None
    """As it was committed when this was found out; None before the first batch, and where it does not say."""
    remediation: str = ""
    """What to do about the problem, where that is known."""

    @property
    def warning(self) -> str:
        if self.problem:
            return f"{self.follower} of {self.session} stands at event {self.seq}: {self.problem}"
        if not self.behind:
            return ""
        place = f"event {self.seq:,} of {self.seq + self.behind:,}"
        return f"{self.follower} of {self.session} is {self.behind:,} events behind the log ({place})"

    def kept_by(self, error: ZaxyError) -> FollowerState:
        """The same, with what keeps it from going on."""
        return self._replace(problem=error.message, remediation=error.remediation)


class Resolver(Protocol):
    """Gives things their names between extraction and the followers, by what the events before have taught."""

    def cursor(self, session: str) -> Cursor | None: ...

    def resolve(self, session: str, events: Sequence[ExtractedEvent], cursor: Cursor) -> tuple[ExtractedEvent, ...]: ...

    def verify(self, session: str) -> Sequence[str]: ...

    def wipe(self, session: str) -> None: ...

    def close(self) -> None: ...


CUT_BACK = "the log was cut back or replaced since, and 'zaxy followers rebuild' accepts it as it is"


def extractors_of(cursor: Cursor) -> str:
    """Which extractors in which versions fed a follower."""
    return cursor.fed_by.partition("|")[0]


class Run:
    """Followers on their way from one place in a session's log to its end."""

    def __init__(
        self,
        store: EventLog,
        extractors: Extractors,
        *,
        resolver: Resolver | None,
        session: str,
        head: Cursor,
        cursor: Cursor | None,
        scrubber: Scrubber,
        sizes: BatchSizes | None = None,
    ) -> None:
        """`sizes`: of batches, where they are not the usual ones."""
        self._store = store
        self._extractors = extractors
        self._resolver = resolver
        self._session = session
        self._head = head
        self._cursor = cursor
        self._scrubber = scrubber
        self._sizes = sizes or usual_sizes()
        self._began = began_at(cursor) if cursor else head.seq
        self._ended: dict[int, tuple[Closing, ...]] | None = None

    def follow(
        self,
        followers: dict[str, Follower],
        deadline: float,
        *,
        progress: Progress | None,
        allows: Callable[[int, float], bool],
        pace: Pace,
    ) -> Iterator[tuple[str, FollowerState]]:
        """The state of each follower where it stopped: at the end, at the deadline, where it is not allowed to go on,
        or at a problem of its own."""
        followers = dict(followers)
        count = self._sizes.min
        while followers and self._seq < self._head.seq and (began := time.monotonic()) <= deadline:
            try:
                page = self._store.read(self._session, self._cursor, count)
                things = things_cited(self._store, self._extractors, page.events)
                ended = self._ended_by(page.events, things)
            except ZaxyError as error:
                cut_back = error.code == "conflict"
                if not cut_back and count > 1:
                    count //= 2  # what stands before the damage is intact
                    continue
                problem = CUT_BACK if cut_back else error.message
                for name in followers:
                    yield name, self._state(name)._replace(problem=problem, frozen=cut_back)
                return
            if not page.events or page.cursor is None:
                break
            if any(event.type == ERASED and event.seq > self._began for event in page.events):
                # They may have taken what was erased since: they forget everything and begin again.
                for name, kept in self._wipe(followers).items():
                    yield name, self._state(name).kept_by(kept)
                    del followers[name]
                self._cursor, self._began = None, (self._store.head(self._session) or self._head).seq
                self._ended = None
                continue
            after = Cursor(*_fields(page.cursor), fed_by=f"{self._extractors.fed_by}|{self._began}")
            extracted = self._extractors.extract(page.events, ended, things=things)
            batch = Batch(self._session, self._named(extracted, after))
            for name, follower in list(followers.items()):
                try:
                    follower.apply(batch, after)
                except ZaxyError as error:
                    del followers[name]
                    yield name, self._state(name).kept_by(error)
            self._cursor = after
            took = time.monotonic() - began
            pace.measured(len(page.events), took)
            count = next_batch(len(page.events), took, deadline - time.monotonic(), sizes=self._sizes)
            if progress:
                progress(after.seq, self._head.seq)
            if not allows(self._head.seq - self._seq, deadline - time.monotonic()):
                break
        for name in followers:
            yield name, self._state(name)

    def _named(self, events: tuple[ExtractedEvent, ...], after: Cursor) -> tuple[ExtractedEvent, ...]:
        """The events with the names that things are known by."""
        if self._resolver is None:
            return events
        self.learn_names(events[0].event.seq - 1)
        return self._resolver.resolve(self._session, events, after)

    def learn_names(self, last: int) -> None:
        """Let the resolver know all events up to one: usually it does, unless its file was deleted."""
        if self._resolver is None:
            return
        known = self._resolver.cursor(self._session)
        if known is not None and (extractors_of(known) != self._extractors.fed_by or not self._is_in_log(known)):
            self._wipe(())
            known = None
        while (seq := known.seq if known else 0) < last:
            page = self._store.read(self._session, known, min(last - seq, MAX_BATCH))
            if page.cursor is None or not page.events:
                break
            known = replace(page.cursor, fed_by=f"{self._extractors.fed_by}|{self._began}")
            self._resolver.resolve(self._session, self._extractors.extract(page.events), known)

    def _wipe(self, followers: Collection[str]) -> dict[str, ZaxyError]:
        """Let followers forget the session, and what its things are called; the followers that could not."""
        names = (*followers, *((NAMES,) if self._resolver else ()))
        problems = self._scrubber.wipe(self._session, names, self._head.seq)
        problem = problems.pop(NAMES, None)
        if problem and self._resolver and self._resolver.cursor(self._session):
            raise problem  # nothing may be named by what was erased
        return problems

    def _is_in_log(self, cursor: Cursor) -> bool:
        event = self._store.get(self._session, cursor.seq)
        return event is not None and event.hash == cursor.hash

    def _ended_by(self, events: Sequence[Event], things: Mapping[int, EntityRef]) -> dict[int, tuple[Closing, ...]]:
        """What erased events had closed, and those that refer to them. The log tells it behind them, and is looked
        through only if there are any."""
        ended = ended_elsewhere(self._store, self._extractors, events)
        if all(event.payload is not None and not refers_to_erased(event, things) for event in events):
            return ended
        if self._ended is None:
            self._ended = ended_by_erased(self._store, self._extractors, self._session, after=self._cursor)
        for seq, closings in self._ended.items():
            ended[seq] = (*ended.get(seq, ()), *closings)
        return ended

    @property
    def _seq(self) -> int:
        return self._cursor.seq if self._cursor else 0

    def _state(self, name: str) -> FollowerState:
        behind = max(self._head.seq - self._seq, 0)
        return FollowerState(name, self._session, self._seq, behind, cursor=self._cursor)


def next_batch(events: int, took: float, left: float, *, sizes: BatchSizes | None = None) -> int:
    """How many events to take next, if the last batch took so long and `left` seconds are left."""
    sizes = sizes or usual_sizes()
    fitting = int(events * min(sizes.seconds, left) / max(took, 1e-6))
    return max(min(fitting, GROWTH * events, sizes.max), sizes.min)


def _fields(cursor: Cursor) -> tuple[int, str, int]:
    return (cursor.seq, cursor.hash, cursor.offset)
