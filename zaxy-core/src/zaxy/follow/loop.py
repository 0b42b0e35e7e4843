"""The one loop that brings followers up to the log: in batches, exactly once, never past what the log still holds."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zaxy.api.models import Cursor
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.lock import SessionLock
from zaxy.eventloom.view import LogView
from zaxy.extract.housekeeping import INERT
from zaxy.follow.collector import resting_collector
from zaxy.follow.extraction import Extractors
from zaxy.follow.pace import Pace
from zaxy.follow.run import (
    CUT_BACK,
    FOREVER as FOREVER,
    BatchSizes,
    FollowerState as FollowerState,
    Progress as Progress,
    Resolver,
    Run,
    always,
    extractors_of,
)
from zaxy.follow.scrubbing import NAMES, Scrubber
from zaxy.follow.verification import FollowerFindings as FollowerFindings, findings
from zaxy.security.paths import own_folder_within, unusable_folder
from zaxy.security.session_ids import check_session_id

if TYPE_CHECKING:
    from zaxy.api.points import Follower

LOG_INDEX = "log index"
"""What is checked with the followers, as the names are: it is made of the log too, and rebuilt when it is needed."""
SECONDS_TO_SCRUB = 1.0
"""How long a read waits for the session's lock, to try what an erasure has left."""
MAX_MARKS = 32
"""Events of bookkeeping that may wait until something else comes."""


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
        pace: Pace | None = None,
        sizes: BatchSizes | None = None,
    ) -> None:
        self.pace = pace or Pace()
        self._store = store
        self._followers = followers
        self._extractors = extractors
        self._resolver = resolver
        self._folder = str(folder)
        self._sizes = sizes
        self._locks: dict[str, SessionLock] = {}
        self._scrubber = Scrubber(os.path.dirname(self._folder), followers, resolver)

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

        Where that is too little and a thread follows in the background, it does the rest, and nobody waits.

        `log`: the state of the log whose end is meant, where the caller has it open.
        """
        deadline = time.monotonic() + budget
        head = log.head if log else self._store.head(session)
        self._scrub(session, head, budget)
        states = {name: self._state(name, session, head, log) for name in self._followers}
        if log is not None and self._only_marks_are_new(session, log, states.values()):
            return [state._replace(seq=log.end, behind=0) for state in states.values()]
        if head is not None and (any(state.behind for state in states.values()) or self._misses_names(session, head)):
            if not self.pace.allows(max(state.behind for state in states.values()), budget):
                self.pace.want(session)
                return list(states.values())
            try:
                with self._alone(session, max(budget, 0.001)):
                    states = self._follow(session, head, deadline, progress=progress, allows=self.pace.allows)
            except ZaxyError as error:
                behind = {name: state for name, state in states.items() if state.behind}
                states |= {name: state.kept_by(error) for name, state in behind.items()}
        return list(states.values())

    def work_on(self, session: str, seconds: float) -> list[FollowerState]:
        """Follow for that long at most, however much is left."""
        head = self._store.head(session)
        self._scrub(session, head, seconds)
        states = [self._state(name, session, head) for name in self._followers]
        if head is not None and (any(state.behind for state in states) or self._misses_names(session, head)):
            with self._alone(session, seconds):
                followed = self._follow(session, head, time.monotonic() + seconds)
            states = list(followed.values())
        if all(state.problem or not state.behind for state in states):
            self.pace.done(session)
        return states

    def _only_marks_are_new(self, session: str, log: LogView, states: Iterable[FollowerState]) -> bool:
        """Whether nothing but a little bookkeeping has come since: it adds nothing to any follower.

        Each checkout leaves a mark in the log, and the next one need not take it in first.
        """
        if any(state.problem or state.cursor is None or state.cursor.seq != state.seq for state in states):
            return False
        if all(state.seq == log.end for state in states):
            return False  # nothing is new at all
        known = self._resolver.cursor(session) if self._resolver else None
        first = min([state.seq for state in states] + ([known.seq if known else 0] if self._resolver else []))
        if not 0 < log.end - first <= MAX_MARKS:
            return False
        return log.are_all(range(first + 1, log.end + 1), OWN_ACTOR, INERT)

    def rebuild(self, session: str, names: Sequence[str] = (), progress: Progress | None = None) -> list[FollowerState]:
        """Forget what the followers hold of a session and follow its log, as it is now, from the start."""
        head = self._store.head(session)
        with self._alone(session, FOREVER):
            wiped = (*(names or self._followers), *((NAMES,) if self._resolver else ()))
            problems = self._scrubber.wipe(session, wiped, head.seq if head else 0)
            if head is not None:
                states = list(self._follow(session, head, time.monotonic() + FOREVER, progress=progress).values())
            else:
                states = self.status(session)
        failed = {name: error.message for name, error in problems.items()}
        return [state._replace(problem=failed.get(state.follower, state.problem)) for state in states]

    def expect_erasure(self, session: str) -> None:
        """Before an erasure: note that all that follows must forget it, whatever becomes of the process that erases."""
        with self._alone(session, FOREVER):
            head = self._store.head(session)
            self._scrubber.expect(session, (head.seq if head else 0) + 1)

    def unscrubbed(self, session: str) -> list[str]:
        """The followers in whose files bytes of what was erased may still be."""
        return sorted(self._scrubber.noted(session))

    def _scrub(self, session: str, head: Cursor | None, budget: float) -> None:
        """Try again what an earlier erasure has left, unless somebody else is at work on the session."""
        if head is not None and self._scrubber.has_notes(session):
            with suppress(ZaxyError), self._alone(session, min(max(budget, 0.001), SECONDS_TO_SCRUB)):
                self._scrubber.retry(session, head.seq, lambda cursor: self._is_known(session, cursor, head, None))

    def forget(self, session: str) -> list[FollowerState]:
        """After an erasure: every follower that has begun with the session is built again from what is left."""
        begun = [name for name in self._followers if self._has_begun(name, session)]
        states = self.rebuild(session, begun) if begun else []
        self._scrub(session, self._store.head(session), FOREVER)  # those that had not begun have nothing to forget
        return states

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

    def verify(self, session: str) -> list[FollowerFindings]:
        """Go through all rows of the followers, of the names of things and of the log's index, and move nothing."""
        check_session_id(session)
        checks = {name: getattr(follower, "verify", None) for name, follower in self._followers.items()}
        if self._resolver:
            checks[NAMES] = self._resolver.verify
        if self._store.has_index:
            checks[LOG_INDEX] = self._store.verify_index
        return [findings(name, session, verify) for name, verify in checks.items()]

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
            self._wipe(session, name)

    def _wipe(self, session: str, name: str) -> None:
        head = self._store.head(session)
        for error in self._scrubber.wipe(session, (name,), head.seq if head else 0).values():
            raise error

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
        if extractors_of(cursor) != self._extractors.fed_by:  # other rules made its rows, so all of them are made again
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
        self,
        session: str,
        head: Cursor,
        deadline: float,
        *,
        progress: Progress | None = None,
        allows: Callable[[int, float], bool] = always,
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
            run = self._run(session, head, cursor)
            followers = {name: self._followers[name] for name in names}
            for name, state in run.follow(followers, deadline, progress=progress, allows=allows, pace=self.pace):
                states[name] = state
        if any(state.behind and not state.problem for state in states.values()) and self.pace.in_background:
            self.pace.want(session)
        if self._misses_names(session, head):
            try:
                self._run(session, head, None).learn_names(head.seq)
            except ZaxyError as error:  # how far the followers have come is known all the same
                states = {name: state if state.problem else state.kept_by(error) for name, state in states.items()}
        return states

    def _run(self, session: str, head: Cursor, cursor: Cursor | None) -> Run:
        return Run(
            self._store,
            self._extractors,
            resolver=self._resolver,
            session=session,
            head=head,
            cursor=cursor,
            scrubber=self._scrubber,
            sizes=self._sizes,
        )

    def _misses_names(self, session: str, head: Cursor) -> bool:
        """Whether followers that have come to the end know more than the resolver, as when its file was deleted."""
        known = self._resolver.cursor(session) if self._resolver else head
        return (known.seq if known else 0) < head.seq

    def _place(self, name: str, session: str, state: FollowerState) -> Cursor | None:
        """Where a follower goes on; one that begins again forgets what it had."""
        follower = self._followers[name]
        cursor = follower.cursor(session)
        if cursor is not None and not state.seq:
            self._wipe(session, name)
            return None
        return cursor

    @contextmanager
    def _alone(self, session: str, timeout: float) -> Iterator[None]:
        with ExitStack() as held:
            try:
                lock = self._lock(session)
                held.callback(lock.close)  # it is seldom needed, and descriptors are few
                held.enter_context(lock.exclusive(timeout))
            except OSError as error:
                raise unusable_folder(self._folder, error) from None
            with resting_collector():
                yield

    def _lock(self, session: str) -> SessionLock:
        # It may have been deleted, with all that followers hold.
        own_folder_within(os.path.dirname(self._folder), os.path.basename(self._folder), create=True)
        if session not in self._locks:
            path = os.path.join(self._folder, f"{check_session_id(session)}.lock")
            self._locks.setdefault(session, SessionLock(path, DISK))  # another thread may have been faster
        return self._locks[session]
