"""The one loop that brings followers up to the log: in batches, exactly once, never past what the log still holds."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from zaxy.api.models import Batch, Closing, Cursor, Event, ExtractedEvent
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.lock import SessionLock
from zaxy.eventloom.view import LogView
from zaxy.extract.housekeeping import INERT
from zaxy.follow.extraction import Extractors, ended_by_erased
from zaxy.security.paths import own_folder, unusable_folder
from zaxy.security.session_ids import check_session_id

if TYPE_CHECKING:
    from zaxy.api.points import Follower

BATCH, MAX_BATCH = 500, 2000
MAX_MARKS = 32
"""Events of bookkeeping that may wait until something else comes."""
QUICK = 0.5
"""Seconds. After a batch that took no longer the next one may be larger, which costs less for each event."""
FOREVER = 3600.0
ERASED = "event.erased"

Progress = Callable[[int, int], None]
"""Called with the number of events that were followed, and of all events."""


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
        return f"{self.follower} of {self.session} is {self.behind} events behind the log" if self.behind else ""

    def kept_by(self, error: ZaxyError) -> FollowerState:
        """The same, with what keeps it from going on."""
        return self._replace(problem=error.message, remediation=error.remediation)


class Resolver(Protocol):
    """Gives things their names between extraction and the followers, by what the events before have taught."""

    def cursor(self, session: str) -> Cursor | None: ...

    def resolve(self, session: str, events: Sequence[ExtractedEvent], cursor: Cursor) -> tuple[ExtractedEvent, ...]: ...

    def wipe(self, session: str) -> None: ...

    def close(self) -> None: ...


class Loop:
    """Followers are given by name. Among processes one at a time follows a session: no work is done twice, and nothing
    that was read before an erasure is written after it."""

    def __init__(
        self,
        store: EventLog,
        followers: dict[str, Follower],
        extractors: Extractors,
        *,
        folder: Path,
        resolver: Resolver | None = None,
    ) -> None:
        self._store = store
        self._followers = followers
        self._extractors = extractors
        self._resolver = resolver
        self._folder = str(folder)
        self._locks: dict[str, SessionLock] = {}

    @property
    def names(self) -> Collection[str]:
        """The followers that it brings up to the log."""
        return self._followers.keys()

    def catch_up(
        self,
        session: str,
        budget: float = FOREVER,
        progress: Progress | None = None,
        *,
        log: LogView | None = None,
    ) -> list[FollowerState]:
        """Bring every follower to the durable end as it is now, or as far as the budget of seconds allows.

        `log`: the state of the log whose end is meant, where the caller has it open.
        """
        deadline = time.monotonic() + budget
        head = log.head if log else self._store.head(session)
        states = {name: self._state(name, session, head, log) for name in self._followers}
        if log is not None and self._only_marks_are_new(session, log, states.values()):
            return [state._replace(seq=log.end, behind=0) for state in states.values()]
        if head is not None and (any(state.behind for state in states.values()) or self._misses_names(session, head)):
            try:
                with self._alone(session, max(budget, 0.001)):
                    states = self._follow(session, head, deadline, progress)
            except ZaxyError as error:
                behind = {name: state for name, state in states.items() if state.behind}
                states |= {name: state.kept_by(error) for name, state in behind.items()}
        return list(states.values())

    def _only_marks_are_new(self, session: str, log: LogView, states: Iterable[FollowerState]) -> bool:
        """Whether nothing but a little bookkeeping has come since: it adds nothing to any follower.

        Each checkout leaves a mark in the log, and the next one need not take it in first.
        """
        if any(state.problem or state.cursor is None or state.cursor.seq != state.seq for state in states):
            return False
        known = self._resolver.cursor(session) if self._resolver else None
        first = min([state.seq for state in states] + ([known.seq if known else 0] if self._resolver else []))
        if not 0 < log.end - first <= MAX_MARKS:
            return False
        return log.are_all(range(first + 1, log.end + 1), OWN_ACTOR, INERT)

    def rebuild(self, session: str, names: Sequence[str] = (), progress: Progress | None = None) -> list[FollowerState]:
        """Forget what the followers hold of a session and follow its log, as it is now, from the start."""
        head = self._store.head(session)
        problems = {}
        with self._alone(session, FOREVER):
            for name in names or self._followers:
                try:
                    self._followers[name].wipe(session)
                except ZaxyError as error:
                    problems[name] = error.message
            if self._resolver:
                self._resolver.wipe(session)
            if head is not None:
                states = list(self._follow(session, head, time.monotonic() + FOREVER, progress).values())
            else:
                states = self.status(session)
        return [state._replace(problem=problems.get(state.follower, state.problem)) for state in states]

    def forget(self, session: str) -> list[FollowerState]:
        """After an erasure: every follower that has begun with the session is built again from what is left."""
        begun = [name for name in self._followers if self._has_begun(name, session)]
        return self.rebuild(session, begun) if begun else []

    def _has_begun(self, name: str, session: str) -> bool:
        """Whether a follower may hold something of a session, fed by whatever extractors."""
        try:
            return self._followers[name].cursor(session) is not None
        except ZaxyError:
            return True

    def status(self, session: str) -> list[FollowerState]:
        """How far each follower is, without moving any."""
        head = self._store.head(session)
        return [self._state(name, session, head) for name in self._followers]

    def cursors(self, session: str) -> dict[str, Cursor | None]:
        """How far each follower says it is; None also where it does not say."""
        found: dict[str, Cursor | None] = dict.fromkeys(self._followers)
        for name, follower in self._followers.items():
            with suppress(ZaxyError):
                found[name] = follower.cursor(session)
        return found

    def digests(self, session: str) -> dict[str, str]:
        return {name: follower.digest(session) for name, follower in self._followers.items()}

    def close(self) -> None:
        for lock in self._locks.values():
            lock.close()
        for follower in self._followers.values():
            with suppress(ZaxyError):  # one that cannot let go must not keep the others from it
                follower.close()
        if self._resolver:
            self._resolver.close()

    def forget_one(self, session: str, name: str) -> None:
        """Let a follower forget a session: it follows the log from the start when it is next needed."""
        with self._alone(session, FOREVER):
            self._followers[name].wipe(session)

    def _state(self, name: str, session: str, head: Cursor | None, log: LogView | None = None) -> FollowerState:
        end = head.seq if head else 0
        try:
            cursor = self._followers[name].cursor(session)
        except ZaxyError as error:
            return FollowerState(name, session, 0, end).kept_by(error)
        if cursor is None:
            return FollowerState(name, session, 0, end)
        behind = max(end - cursor.seq, 0)
        try:
            known = self._is_known(session, cursor, head, log)
        except ZaxyError as error:
            return FollowerState(name, session, cursor.seq, behind, cursor=cursor).kept_by(error)
        if not known:
            return FollowerState(name, session, cursor.seq, 0, CUT_BACK, frozen=True, cursor=cursor)
        if _fed_by(cursor) != self._extractors.fed_by:  # other rules made its rows, so all of them are made again
            return FollowerState(name, session, 0, end, cursor=cursor)
        return FollowerState(name, session, cursor.seq, behind, cursor=cursor)

    def _is_known(self, session: str, cursor: Cursor, head: Cursor | None, log: LogView | None) -> bool:
        """Whether the event up to which a follower has come is still in the log, in its place."""
        if head is not None and (cursor.seq, cursor.hash) == (head.seq, head.hash):
            return True
        if log is not None and cursor.seq <= log.end:
            return log.seems_to_hold(cursor)
        event = self._store.get(session, cursor.seq)
        return event is not None and event.hash == cursor.hash

    def _follow(
        self, session: str, head: Cursor, deadline: float, progress: Progress | None
    ) -> dict[str, FollowerState]:
        """Under the lock: follow to the head. Those that stand at the same place share the reading."""
        states = {name: self._state(name, session, head) for name in self._followers}
        places: dict[Cursor | None, list[str]] = defaultdict(list)
        for name, state in list(states.items()):
            if state.behind and not state.problem:
                try:
                    places[self._place(name, session, state)].append(name)
                except ZaxyError as error:
                    states[name] = state.kept_by(error)
        for cursor, names in places.items():
            run = _Run(
                self._store, self._extractors, resolver=self._resolver, session=session, head=head, cursor=cursor
            )
            for name, state in run.follow({name: self._followers[name] for name in names}, deadline, progress):
                states[name] = state
        if self._misses_names(session, head):
            run = _Run(self._store, self._extractors, resolver=self._resolver, session=session, head=head, cursor=None)
            run.learn_names(head.seq)
        return states

    def _misses_names(self, session: str, head: Cursor) -> bool:
        """Whether followers that have come to the end know more than the resolver, as when its file was deleted."""
        known = self._resolver.cursor(session) if self._resolver else head
        return (known.seq if known else 0) < head.seq

    def _place(self, name: str, session: str, state: FollowerState) -> Cursor | None:
        """Where a follower goes on; one that begins again forgets what it had."""
        follower = self._followers[name]
        cursor = follower.cursor(session)
        if cursor is not None and not state.seq:
            follower.wipe(session)
            return None
        return cursor

    @contextmanager
    def _alone(self, session: str, timeout: float) -> Iterator[None]:
        with ExitStack() as held:
            try:
                lock = self._lock(session)
                held.callback(lock.close_if_idle)  # it is seldom needed, and descriptors are few
                held.enter_context(lock.exclusive(timeout))
            except OSError as error:
                raise unusable_folder(self._folder, error) from None
            yield

    def _lock(self, session: str) -> SessionLock:
        own_folder(self._folder, create=True)  # it may have been deleted, with all that followers hold
        if session not in self._locks:
            path = os.path.join(self._folder, f"{check_session_id(session)}.lock")
            self._locks.setdefault(session, SessionLock(path, DISK))  # another thread may have been faster
        return self._locks[session]


CUT_BACK = "the log was cut back or replaced since, and 'zaxy followers rebuild' accepts it as it is"


def _fed_by(cursor: Cursor) -> str:
    return cursor.fed_by.partition("|")[0]


def _began(cursor: Cursor) -> int:
    """How far the log reached when the follower began: what was erased before that, it has never seen."""
    began = cursor.fed_by.rpartition("|")[2]
    return int(began) if began.isdigit() else 0


class _Run:
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
    ) -> None:
        self._store = store
        self._extractors = extractors
        self._resolver = resolver
        self._session = session
        self._head = head
        self._cursor = cursor
        self._began = _began(cursor) if cursor else head.seq
        self._ended: dict[int, tuple[Closing, ...]] | None = None

    def follow(
        self, followers: dict[str, Follower], deadline: float, progress: Progress | None
    ) -> Iterator[tuple[str, FollowerState]]:
        """The state of each follower where it stopped: at the end, at the deadline, or at a problem of its own."""
        followers = dict(followers)
        count = BATCH
        while followers and self._seq < self._head.seq and (began := time.monotonic()) <= deadline:
            try:
                page = self._store.read(self._session, self._cursor, count)
                ended = self._ended_by(page.events)
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
                for name, follower in list(followers.items()):
                    try:
                        follower.wipe(self._session)
                    except ZaxyError as error:
                        del followers[name]
                        yield name, self._state(name).kept_by(error)
                if self._resolver:
                    self._resolver.wipe(self._session)
                self._cursor, self._began = None, (self._store.head(self._session) or self._head).seq
                self._ended = None
                continue
            after = Cursor(*_fields(page.cursor), fed_by=f"{self._extractors.fed_by}|{self._began}")
            batch = Batch(self._session, self._named(self._extractors.extract(page.events, ended), after))
            for name, follower in list(followers.items()):
                try:
                    follower.apply(batch, after)
                except ZaxyError as error:
                    del followers[name]
                    yield name, self._state(name).kept_by(error)
            self._cursor = after
            count = min(2 * count, MAX_BATCH) if time.monotonic() - began < QUICK else BATCH
            if progress:
                progress(after.seq, self._head.seq)
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
        if known is not None and (_fed_by(known) != self._extractors.fed_by or not self._is_in_log(known)):
            self._resolver.wipe(self._session)
            known = None
        while (seq := known.seq if known else 0) < last:
            page = self._store.read(self._session, known, min(last - seq, MAX_BATCH))
            if page.cursor is None or not page.events:
                break
            known = replace(page.cursor, fed_by=f"{self._extractors.fed_by}|{self._began}")
            self._resolver.resolve(self._session, self._extractors.extract(page.events), known)

    def _is_in_log(self, cursor: Cursor) -> bool:
        event = self._store.get(self._session, cursor.seq)
        return event is not None and event.hash == cursor.hash

    def _ended_by(self, events: Sequence[Event]) -> dict[int, tuple[Closing, ...]]:
        """What erased events had closed. The log tells it behind them, and is looked through only if there are any."""
        if all(event.payload is not None for event in events):
            return {}
        if self._ended is None:
            self._ended = ended_by_erased(self._store, self._session, self._cursor)
        return self._ended

    @property
    def _seq(self) -> int:
        return self._cursor.seq if self._cursor else 0

    def _state(self, name: str) -> FollowerState:
        behind = max(self._head.seq - self._seq, 0)
        return FollowerState(name, self._session, self._seq, behind, cursor=self._cursor)


def _fields(cursor: Cursor) -> tuple[int, str, int]:
    return (cursor.seq, cursor.hash, cursor.offset)
