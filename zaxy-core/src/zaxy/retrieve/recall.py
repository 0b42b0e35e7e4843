"""A workspace's log with everything that follows it, opened when first needed, and asked in one state at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from zaxy.api.models import AsOf, Query
from zaxy.errors import Unavailable, ZaxyError
from zaxy.eventloom.citation import SCHEME
from zaxy.eventloom.disposable_database import BrokenFollower
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.log import utc_now
from zaxy.eventloom.opening import open_event_log
from zaxy.eventloom.seen_heads import SeenHeads
from zaxy.follow.all_loops import AllLoops
from zaxy.follow.bound import BoundBackend, BoundFollower, WithheldProvider
from zaxy.follow.collector import resting_collector
from zaxy.follow.extraction import Extractors
from zaxy.follow.loop import FollowerState, Loop
from zaxy.follow.pace import Pace
from zaxy.follow.run import SLOW_SIZES
from zaxy.graph.dated import DatedGraph
from zaxy.graph.identities import Identities
from zaxy.plugins.families import Families
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import Roster, chosen_graph, load_roster
from zaxy.retrieve.citations_in_text import real_citations_within
from zaxy.retrieve.log_words import GRAPH, TEXT, FollowerDisagrees
from zaxy.retrieve.outside_lanes import OWN_LANE, OutsideLane, chosen_lanes, outside_lanes
from zaxy.retrieve.retriever import Retriever
from zaxy.retrieve.snapshot import Snapshot
from zaxy.settings import Settings
from zaxy.text.index import TextIndex

if TYPE_CHECKING:
    from zaxy.api.models import Cursor, EntityRef, EntityRow
    from zaxy.api.points import Follower
    from zaxy.eventloom.view import LogView
    from zaxy.follow.loop import Progress
    from zaxy.plugins.host import BoundProvider
    from zaxy.retrieve.results import Answer, Result
    from zaxy.retrieve.retriever import Question
    from zaxy.workspace import Workspace

T = TypeVar("T")
ATTEMPTS = 3
ALL_LANES, PASSAGES, WORDS = "all lanes", "passages", "words"
"""What a reply reads: all that follows the log; passages and what of them no longer holds; or words alone."""
TO_TRUST = "It is not believed until 'zaxy trust' takes it in."
NOT_OWN = f"this memory came from elsewhere: this user did not write it. {TO_TRUST}"
OWN_FOLLOWERS = (TEXT, GRAPH)
SECONDS_FOR_LANES = 30.0
"""How long a read waits for a plugin's lane to take in one batch. It needs no such lane to answer."""
SECONDS_FOR_SLOW_LANES = 600.0
"""The same of a lane that no read waits for. A batch of it is small, and its first may have to load a model."""
SECONDS_FOR_MARKS = 2.0
"""How long passages wait for a plugin's graph to say which of them no longer hold."""


class Recall:
    """`patience`: seconds that a read waits for the followers before it answers with what they have, and warns.

    `withheld`: why the graph is not even tried, where it is another process's and nobody can ask that.
    """

    def __init__(
        self,
        workspace: Workspace,
        patience: float,
        *,
        progress: Progress | None = None,
        withheld: ZaxyError | None = None,
    ) -> None:
        self.workspace = workspace
        self.patience = patience
        self.progress = progress
        self._withheld = withheld
        self._settings = Settings(stored=workspace.stored_settings())
        self._owned = False

    def reply(
        self,
        session: str,
        make: Callable[[Snapshot], T],
        *,
        reads: str = ALL_LANES,
        target: int | None = None,
    ) -> T:
        """What `make` makes of one state of memory, with the followers that it reads up to the log.

        It is made again if a follower was rebuilt meanwhile, as after an erasure, or turned out not to be what the log
        says: such a follower is built again first, and the reply warns.
        """
        doubts: list[str] = []
        loop = self._loop_for(reads)
        for attempt in range(ATTEMPTS):
            try:
                with resting_collector(), self._snapshot(session, reads, doubts=doubts, target=target) as held:
                    snapshot, states = held
                    answer = make(snapshot)
                    after = loop.cursors(session)
                if attempt == ATTEMPTS - 1 or all(
                    _goes_on(state, state.cursor, after[state.follower]) for state in states
                ):
                    return answer
            except BrokenFollower as broken:
                broken.set_aside()
                doubts.append(f"{broken.what} was damaged or edited, and was built again from the log")
            except FollowerDisagrees as wrong:
                loop.forget_one(session, wrong.follower)
                doubts.append(f"{wrong.follower} of {session} did not agree with the log, and was built again from it")
        raise Unavailable(
            f"the followers of {session} cannot be brought to agree with the log: {doubts[-1]}",
            f"Run 'zaxy followers rebuild --session-id {session}'.",
        )

    @contextmanager
    def _snapshot(
        self, session: str, reads: str, *, doubts: Sequence[str], target: int | None
    ) -> Iterator[tuple[Snapshot, list[FollowerState]]]:
        loop = self._loop_for(reads)
        with self.store.view(session) as log:
            states = loop.catch_up(session, self.patience, self.progress, log=log)
            graph = self.backend if GRAPH in loop.names else None
            standing: list[FollowerState] = []
            if reads == PASSAGES and graph is None:
                graph, standing = self._as_it_stands(session)
            doubted = states if reads == ALL_LANES else [state for state in states if state.follower == TEXT]
            notices = self.notices
            if len(doubted) > len(OWN_FOLLOWERS):  # without a lane the answer is whole, and no less to be trusted
                notices = [*notices, *warnings([state for state in states if state.follower not in OWN_FOLLOWERS])]
                doubted = [state for state in states if state.follower in OWN_FOLLOWERS]
            if reads == ALL_LANES and self.slow_loop:
                notices = [*notices, *warnings(self.slow_loop.status(session))]
            foreign = self.foreign(log, states)
            with self.texts.hold(session), graph.hold() if graph else nullcontext():
                yield (
                    Snapshot(
                        log,
                        [*states, *standing],
                        texts=self.texts,
                        graph=graph,
                        lanes=self._asked_lanes if reads == ALL_LANES else (),
                        extract=self.extractors.extract,
                        families=self.families,
                        warnings=(*doubts, *self.doubts(session, doubted)),
                        notices=notices,
                        target=target,
                        foreign=foreign,
                        derives=self.extractors.adds_rows,
                    ),
                    states,
                )

    def _as_it_stands(self, session: str) -> tuple[DatedGraph | None, list[FollowerState]]:
        """The graph of a plugin, which may be far away or gone: nobody waits for it to follow, nor long for a reply."""
        try:
            backend = BoundBackend(self.graph, seconds_to_read=SECONDS_FOR_MARKS)
            cursor = backend.cursor(session)
        except ZaxyError:
            return None, []
        graph = DatedGraph(backend, self.identities, self.store, utc_now)
        return graph, [FollowerState(GRAPH, session, cursor.seq if cursor else 0, 0, cursor=cursor)]

    def query(self, question: Question) -> Answer:
        return self.reply(question.session, lambda snapshot: _answer(snapshot, Retriever(snapshot).query(question)))

    def verbatim(self, question: Question) -> Answer:
        """By words alone: no graph need work. One that does says what no longer holds."""
        return self.reply(
            question.session, lambda snapshot: _answer(snapshot, Retriever(snapshot).verbatim(question)), reads=PASSAGES
        )

    def fitting(self, session: str, text: str, limit: int) -> list[int]:
        """The events that `verbatim` finds, best first.

        A text index that lags is an error: some would miss.
        """

        def find(snapshot: Snapshot) -> list[int]:
            if lags := [warning for warning in snapshot.gaps if warning != _damage(session)]:
                raise Unavailable(f"not all of {session} can be searched yet: {lags[0]}", "Try again.")
            passages = snapshot.passages(Query(text, session, as_of=AsOf(known_at=snapshot.head)))
            return list(dict.fromkeys([found.seq for found, _ in passages.found]))[:limit]

        return self.reply(session, find, reads=WORDS)

    def foreign(self, log: LogView, states: Iterable[FollowerState] = ()) -> list[str]:
        """Why a log is not believed: this user neither wrote it nor trusts it, or another was seen here last.

        A follower that is frozen has said the latter.
        """
        if not self.is_own:
            return [NOT_OWN]
        frozen = any(state.frozen for state in states)
        difference = "" if frozen else self.seen.doubt(log)
        if difference:  # another process may have written since this view was opened, and noted what it saw
            with self.store.view(log.session) as newer:
                difference = self.seen.doubt(newer)
        return [f"this is not the log of {log.session} that was last read here: {difference}. {TO_TRUST}"] * bool(
            difference
        )

    @property
    def is_own(self) -> bool:
        """Whether the workspace is this user's own; one that is not may be trusted at any time."""
        self._owned = self._owned or self.workspace.is_own
        return self._owned

    @cached_property
    def seen(self) -> SeenHeads:
        return SeenHeads(self.workspace)

    def doubts(self, session: str, states: Iterable[FollowerState]) -> list[str]:
        """Why an answer may not be trusted: followers that are not up to the log, and a log that is damaged."""
        damaged = self.store.state(session) == "damaged"
        return warnings(states) + ([_damage(session)] if damaged else [])

    @property
    def notices(self) -> list[str]:
        """What plugins could not do, and which log nearer by was not taken."""
        passed = self.workspace.passed_over
        others = [f"{passed} belongs to another user, and was passed over; --workspace uses it"] if passed else []
        return [*others, *self.extractors.notices, *self.host.notices]

    def failing_lanes(self, session: str) -> dict[str, ZaxyError]:
        """The lanes of plugins that do not answer a question now, each with its reason."""
        query = Query("status", session, as_of=AsOf(known_at=self.store.end(session)))
        found: dict[str, ZaxyError] = {}
        for lane in self._asked_lanes:
            try:
                lane.bound.call("search", query, budget=lane.seconds)
            except ZaxyError as error:
                found[lane.bound.name] = error
        return found

    def versions(self, session: str, entity: EntityRef, as_of: AsOf) -> list[EntityRow]:
        """The rows of an entity that hold at a moment."""
        return self.backend.versions(session, entity, as_of)

    def meant(self, session: str, things: Sequence[EntityRef]) -> list[EntityRef]:
        """The things that types and names mean by now. No graph need work for it."""
        self._text_loop.catch_up(session, self.patience, self.progress)
        return self.identities.refs(session, things)

    # The parts, each made when first needed

    @cached_property
    def _roster(self) -> Roster:
        return load_roster(self._settings)

    @cached_property
    def families(self) -> Families:
        """The event types that packages own. An append needs no more of plugins than this."""
        return Families(lambda: self._roster)

    @cached_property
    def host(self) -> PluginHost:
        return PluginHost(self._roster, self._settings, Path(self.workspace.eventloom), self.workspace.identity())

    @contextmanager
    def host_to_look_at(self) -> Iterator[PluginHost]:
        """The host; where there is no memory yet, one whose providers leave no folder here."""
        if os.path.isdir(self.workspace.eventloom):
            yield self.host
            return
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="zaxy-providers-") as scratch:
            yield PluginHost(self._roster, self._settings, Path(scratch), "providers")

    @cached_property
    def store(self) -> EventLog:
        """The log, in the store that the workspace chose."""
        return open_event_log(self.workspace, lambda: self.host)

    @cached_property
    def index(self) -> BoundProvider:
        """The lane of the core, which holds the words."""
        return self.host.get("retrieval_lanes", OWN_LANE)

    @cached_property
    def texts(self) -> TextIndex:
        texts = self.index.instance
        assert isinstance(texts, TextIndex)
        return texts

    @cached_property
    def graph(self) -> BoundProvider:
        """The graph that the workspace chose. If it does not work this says so: no other takes its place."""
        bound = self.host.get("projection_backends", chosen_graph(self._settings))
        return WithheldProvider(bound, self.host, why=self._withheld) if self._withheld else bound

    @cached_property
    def identities(self) -> Identities:
        """By which names things are known."""
        folder = Path(self.workspace.eventloom) / "followers" / "identities"
        return Identities(
            folder,
            self.host.notices.append,
            workspace_id=self.workspace.identity(),
            of_packages=lambda: self.families.living_types,
        )

    @cached_property
    def backend(self) -> DatedGraph:
        chosen = self.graph
        # The core's own needs no guard, and its reads are many.
        backend = chosen.instance if chosen.is_own else BoundBackend(chosen)
        return DatedGraph(backend, self.identities, self.store, utc_now, is_own=chosen.is_own)

    @cached_property
    def lanes(self) -> list[BoundProvider]:
        """The lanes of plugins that take part."""
        return chosen_lanes(self.host.all("retrieval_lanes"), self._settings.lanes, self.host.notices)

    @cached_property
    def _asked_lanes(self) -> list[OutsideLane]:
        return outside_lanes(self.lanes, self._settings.lane_weights, self.host.notices) if self.lanes else []

    @cached_property
    def extractors(self) -> Extractors:
        return Extractors(self.host.all("extractors"), owners=self.host.all("event_types"), families=self.families)

    @cached_property
    def followers(self) -> dict[str, Follower]:
        """Those that a read brings up to the log."""
        lanes = self._following_lanes(SECONDS_FOR_LANES, slow=False)
        return {TEXT: self.texts, GRAPH: self.backend, **lanes}

    def _following_lanes(self, seconds: float, *, slow: bool) -> dict[str, Follower]:
        return {
            f"lane {lane.name}": BoundFollower(lane, seconds_to_follow=seconds)
            for lane in self.lanes
            if "follower" in lane.provider.capabilities and ("background" in lane.provider.capabilities) == slow
        }

    @cached_property
    def loop(self) -> Loop:
        return self._loop_of(self.followers)

    @cached_property
    def slow_loop(self) -> Loop | None:
        """For lanes that no read waits for. It has locks of its own, so that the others need not wait for it either."""
        followers = self._following_lanes(SECONDS_FOR_SLOW_LANES, slow=True)
        folder = Path(self.workspace.eventloom) / "followers" / "slow" / "locks"
        return Loop(self.store, followers, self.extractors, folder=folder, sizes=SLOW_SIZES) if followers else None

    @property
    def all_loops(self) -> AllLoops:
        return AllLoops([self.loop, *([self.slow_loop] if self.slow_loop else [])])

    @cached_property
    def _text_loop(self) -> Loop:
        """For reads that need no graph, and so work without one."""
        return self._loop_of({TEXT: self.texts})

    @cached_property
    def _passage_loop(self) -> Loop:
        """For passages, which are marked where they no longer hold: the core's own graph is at hand for that."""
        with suppress(ZaxyError):
            if self.graph.is_own:
                return self._loop_of({TEXT: self.texts, GRAPH: self.backend})
        return self._text_loop

    def _loop_for(self, reads: str) -> Loop:
        if reads == ALL_LANES:
            return self.loop
        return self._passage_loop if reads == PASSAGES else self._text_loop

    def _loop_of(self, followers: dict[str, Follower]) -> Loop:
        folder = Path(self.workspace.eventloom) / "followers" / "locks"
        return Loop(self.store, followers, self.extractors, folder=folder, resolver=self.identities, pace=self._pace)

    @cached_property
    def _pace(self) -> Pace:
        return Pace()

    def close(self) -> None:
        for name in ("loop", "slow_loop", "_text_loop", "_passage_loop"):
            if loop := self.__dict__.pop(name, None):
                loop.close()
        if "seen" in self.__dict__:
            self.seen.keep()
        if "store" in self.__dict__:
            self.__dict__.pop("store").close()


def _answer(snapshot: Snapshot, answer: Answer) -> Answer:
    """The answer with the snapshot's doubts, and without what looks like a citation and names no event."""
    notices = dict.fromkeys((*answer.notices, *snapshot.notices))
    results = tuple(_with_real_citations(snapshot, one) for one in answer.results)
    return replace(answer, results=results, warnings=tuple(snapshot.warnings), notices=tuple(notices))


def _with_real_citations(snapshot: Snapshot, result: Result) -> Result:
    shown = {name: getattr(result, name) for name in ("content", "actor", "entity_name", "metadata", "derived")}
    if SCHEME not in str(shown).lower():
        return result
    return replace(result, **{name: real_citations_within(of, snapshot.resolves) for name, of in shown.items()})


def _damage(session: str) -> str:
    return f"the log of {session} is damaged: 'zaxy verify {session}' tells where"


def warnings(states: Iterable[FollowerState]) -> list[str]:
    """What keeps followers from being up to the log."""
    return [state.warning for state in states if state.warning]


def _goes_on(state: FollowerState, *cursors: Cursor | None) -> bool:
    """Whether a follower has not gone back behind where it was, nor begun again, by what its cursors say."""
    fed_by = {cursor.fed_by for cursor in cursors if cursor}
    committed = state.cursor.seq if state.cursor else 0
    return bool(state.problem) or (
        len(fed_by) < 2 and all((cursor.seq if cursor else 0) >= committed for cursor in cursors)
    )
