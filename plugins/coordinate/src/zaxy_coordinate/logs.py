"""Brings the states of missions up to their logs, and remembers how far that went."""

from __future__ import annotations

import gc
import marshal
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

from zaxy.api import Forbidden, MemoryAccess, ZaxyError, own_folder_within, read_sealed, write_sealed
from zaxy_coordinate.fold import (
    Assignment,
    MissionState,
    PartialState,
    Promotion,
    Proof,
    Ref,
    ReportedFinding,
    Review,
    Worker,
)
from zaxy_coordinate.standing import Standings

FORMAT = 2
SAVE_AFTER = 500
"""Events that are folded again rather than kept: keeping costs a sync of the disk."""


class MissionLogs:
    """The states of a workspace's missions. One that was changed from outside is folded from the beginning."""

    def __init__(self, folder: str = "", workspace_id: str = "") -> None:
        """Without a folder nothing is remembered beyond this object."""
        self._folder = folder
        self._workspace_id = workspace_id
        self._states: dict[str, MissionState] = {}
        self._unsaved: dict[str, int] = {}
        self._standings: dict[str, tuple[MissionState, int, Standings]] = {}
        self._mutex = RLock()

    def state(self, memory: MemoryAccess, mission_id: str) -> MissionState:
        """The state of a mission by all its logs that the one who asks may read, as they are now."""
        with self._mutex:
            memory.head(mission_id)  # refuses what is no name of a session, and so of no file
            known = self._states.get(mission_id) or self._kept(memory, mission_id) or MissionState(mission_id)
            try:
                state = self._fold(memory, known, allowed_only=False)
                if state.outdated:  # what was erased must not be left in the file either
                    self.forget(mission_id)
                    known = MissionState(mission_id)
                    state = self._fold(memory, known, allowed_only=False)
                    state.outdated = False
            except Forbidden:  # theirs is another state, which is nobody else's
                partial = self._fold(memory, PartialState(mission_id), allowed_only=True)
                assert isinstance(partial, PartialState)
                partial.fill_in()
                return partial
            news = _folded_events(state) - _folded_events(known)
            state = self._states[mission_id] = _same_if_unchanged(known, state)
            self._save(state, news)
            return state

    def standings(self, state: MissionState) -> Standings:
        """Where its findings stand; worked out again only once something was folded."""
        with self._mutex:
            known = self._standings.get(state.id)
            if known is not None and known[0] is state and known[1] == state.version:
                return known[2]
            standings = Standings(state)
            self._standings[state.id] = (state, state.version, standings)
            return standings

    def forget(self, mission_id: str) -> None:
        """Fold it from the beginning the next time."""
        with self._mutex:
            self._states.pop(mission_id, None)
            self._unsaved.pop(mission_id, None)
            if self._folder:
                with suppress(FileNotFoundError):
                    os.unlink(self._path(mission_id))

    def _fold(self, memory: MemoryAccess, known: MissionState, *, allowed_only: bool) -> MissionState:
        """Fold what is new in the parent's log, then in those of the workers. Where anything is, the result is another
        object: other threads may be looking at the one that was known."""
        state = _folded(memory, known, known.id, end=memory.head(known.id), known=known)
        for session in state.sessions[1:]:
            try:
                end = memory.head(session)
            except Forbidden:
                if not allowed_only:
                    raise
                continue
            state = _folded(memory, state, session, end=end, known=known)
        return state

    # What was folded before

    def _kept(self, memory: MemoryAccess, mission_id: str) -> MissionState | None:
        data = read_sealed(self._path(mission_id), self._about(mission_id)) if self._folder else None
        if data is None:
            return None
        try:
            with _without_collector():
                state = _state_of(marshal.loads(data))
        except (ValueError, TypeError, KeyError, EOFError):
            return None
        return state if _is_of_these_logs(memory, state) else None

    def _save(self, state: MissionState, news: int) -> None:
        unsaved = self._unsaved.get(state.id, 0) + news
        self._unsaved[state.id] = unsaved
        if unsaved < SAVE_AFTER or not self._folder:
            return
        try:
            own_folder_within(os.path.dirname(self._folder), os.path.basename(self._folder), True)
            write_sealed(self._path(state.id), marshal.dumps(_plain(vars(state))), self._about(state.id))
        except (OSError, ZaxyError):
            return  # it is folded again the next time
        self._unsaved[state.id] = 0

    def _path(self, mission_id: str) -> str:
        return os.path.join(self._folder, f"{mission_id}.state")

    def _about(self, mission_id: str) -> str:
        return f"mission {FORMAT} {sys.implementation.cache_tag} {self._workspace_id} {mission_id}"


def _folded(memory: MemoryAccess, state: MissionState, session: str, *, end: int, known: MissionState) -> MissionState:
    if end == state.cursors.get(session, (0, ""))[0]:
        return state
    state = known.copy() if state is known else state
    _fold_session(memory, state, session, end)
    return state


def _fold_session(memory: MemoryAccess, state: MissionState, session: str, end: int) -> None:
    seq, last = state.cursors.get(session, (0, ""))
    if end < seq:
        state.outdated = True
        return
    for event, _ in memory.lines(session, first=seq + 1, last=end):
        if event.seq == seq + 1 and (event.prev or "") != last:
            state.outdated = True
            return
        state.apply(event)


def _folded_events(state: MissionState) -> int:
    return sum(seq for seq, _ in state.cursors.values())


def _same_if_unchanged(known: MissionState, state: MissionState) -> MissionState:
    """What was worked out of a state is kept with it: it stays the same one while the logs say nothing new to it."""
    if known.version != state.version:
        return state
    known.cursors = state.cursors
    return known


def _is_of_these_logs(memory: MemoryAccess, state: MissionState) -> bool:
    """Whether the last events that were folded still stand where they stood. A log that was put back and has grown
    again may have the same length."""
    for session, (seq, last) in state.cursors.items():
        with suppress(Forbidden):
            if memory.head(session) < seq:
                return False
            if any(event.hash != last for event, _ in memory.lines(session, first=seq, last=seq)):
                return False
    return True


# As plain data. `marshal` reads it in a fifth of the time of JSON, and a sealed file is the user's own


def _plain(value: Any) -> Any:
    """Named tuples as tuples, which is all that `marshal` knows."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return tuple([_plain(one) for one in value])
    return [_plain(one) for one in value] if isinstance(value, list) else value


@contextmanager
def _without_collector() -> Iterator[None]:
    """Meanwhile thousands of objects are made of which none is in a cycle; the collector would look for some."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _state_of(kept: dict[str, Any]) -> MissionState:
    state = MissionState(kept["id"])
    state.cursors = {session: (seq, last) for session, (seq, last) in kept["cursors"].items()}
    state.created = Ref(*kept["created"]) if kept["created"] else None
    state.workers = {name: Worker(Ref(*ref), session) for name, (ref, session) in kept["workers"].items()}
    state.assignments = {name: Assignment(Ref(*ref), worker) for name, (ref, worker) in kept["assignments"].items()}
    state.findings = {name: _finding_of(row) for name, row in kept["findings"].items()}
    state.reviews = {
        name: tuple(Review(Ref(*ref), status) for ref, status in reviews) for name, reviews in kept["reviews"].items()
    }
    state.promotions = {name: Promotion(Ref(*ref), claim) for name, (ref, claim) in kept["promotions"].items()}
    state.proofs = {name: Proof(Ref(*ref), *rest) for name, (ref, *rest) in kept["proofs"].items()}
    for table in ("conflicts", "decisions", "handoffs", "artifacts", "requests"):
        setattr(state, table, {name: Ref(*ref) for name, ref in kept[table].items()})
    state.changed, state.keyed = dict(kept["changed"]), dict(kept["keyed"])
    state.conflict_marks = dict(kept["conflict_marks"])
    state.last_number, state.erased, state.version = dict(kept["last_number"]), dict(kept["erased"]), kept["version"]
    return state


def _finding_of(row: tuple[Any, ...]) -> ReportedFinding:
    ref, worker, claim, value, has_evidence, test_backed, sources = row
    return ReportedFinding(Ref(*ref), worker, claim, value, has_evidence, test_backed, tuple(sources))
