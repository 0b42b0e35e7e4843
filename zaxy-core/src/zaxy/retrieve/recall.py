"""A workspace's log with everything that follows it, opened when first needed, and asked in one state at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from zaxy.api.models import AsOf, Cursor, EntityRef, EntityRow, Event, Query
from zaxy.api.points import Follower
from zaxy.errors import Unavailable
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.log import utc_now
from zaxy.eventloom.opening import open_event_log
from zaxy.follow.bound import BoundBackend, BoundFollower
from zaxy.follow.extraction import Extractors
from zaxy.follow.loop import FollowerState, Loop, Progress
from zaxy.graph.dated import DatedGraph
from zaxy.graph.identities import Identities
from zaxy.plugins.host import BoundProvider, PluginHost
from zaxy.plugins.roster import chosen_graph
from zaxy.retrieve.results import Answer, Result
from zaxy.retrieve.retriever import Question, Retriever
from zaxy.settings import Settings
from zaxy.text.index import TextIndex
from zaxy.workspace import Workspace

T = TypeVar("T")
TEXT, GRAPH = "text", "graph"
ATTEMPTS = 3


class Recall:
    """`patience`: seconds that a read waits for the followers before it answers with what they have, and warns."""

    def __init__(self, workspace: Workspace, patience: float, progress: Progress | None) -> None:
        self.workspace = workspace
        self.patience = patience
        self.progress = progress
        self._settings = Settings(stored=workspace.stored_settings())

    def query(self, question: Question) -> Answer:
        answer, states = self.ask(
            question.session,
            lambda head, states: self.retriever.query(question, head, reached(states, GRAPH)),
        )
        return self._with_doubts(answer, question.session, states)

    def verbatim(self, question: Question) -> Answer:
        """By words alone: no graph takes part, and none need work."""
        words = Retriever(self.texts, None)
        answer, states = self._ask(question.session, self._text_loop, lambda head, _: words.verbatim(question, head))
        return self._with_doubts(answer, question.session, states)

    def fitting(self, session: str, text: str, limit: int) -> list[int]:
        """The events of the best passages that have some of the words; those that only stand beside them do not count.

        A text index that lags is an error: some would miss.
        """
        hits, states = self._ask(
            session,
            self._text_loop,
            lambda head, _: self.texts.hits(Query(text, session, limit, AsOf(known_at=head))),
        )
        if behind := warnings(states):
            raise Unavailable(f"not all of {session} can be searched yet: {behind[0]}", "Try again.")
        return list(dict.fromkeys(hit.text.seq for hit in hits if hit.words or hit.named))[:limit]

    def ask(self, session: str, ask: Callable[[int, list[FollowerState]], T]) -> tuple[T, list[FollowerState]]:
        """Ask when the followers have caught up; the states are those that the answer rests on."""
        return self._ask(session, self.loop, ask)

    def _ask(
        self, session: str, loop: Loop, ask: Callable[[int, list[FollowerState]], T]
    ) -> tuple[T, list[FollowerState]]:
        """Ask again if a follower was rebuilt meanwhile, as after an erasure."""
        for _ in range(ATTEMPTS):
            states = loop.catch_up(session, self.patience, self.progress)
            answer = ask(min(reached(states, TEXT), self.store.end(session)), states)
            after = loop.cursors(session)
            if all(_goes_on(state, state.cursor, after[state.follower]) for state in states):
                break
        return answer, states

    def _with_doubts(self, answer: Answer, session: str, states: Sequence[FollowerState]) -> Answer:
        results = answer.results
        if any(state.frozen for state in states):
            results = tuple(result for result in results if self._still_says(session, result))
        notices = dict.fromkeys((*answer.notices, *self.notices))
        return replace(answer, results=results, warnings=tuple(self.doubts(session, states)), notices=tuple(notices))

    def doubts(self, session: str, states: Iterable[FollowerState]) -> list[str]:
        """Why an answer may not be trusted: followers that are not up to the log, and a log that is damaged."""
        damaged = self.store.state(session) == "damaged"
        damage = f"the log of {session} is damaged: 'zaxy verify {session}' tells where"
        return warnings(states) + ([damage] if damaged else [])

    @property
    def notices(self) -> list[str]:
        """What plugins could not do."""
        return [*self.extractors.notices, *self.host.notices]

    def _still_says(self, session: str, result: Result) -> bool:
        """Whether the log holds the event that a result cites: a frozen follower may know one of another history."""
        event = self.store.get(session, result.seq)
        return event is not None and result.citation.endswith(f"#{event.hash}")

    def events(self, session: str, first: int, last: int) -> Iterator[Event]:
        return self.store.events(session, first, last)

    def versions(self, session: str, entity: EntityRef, as_of: AsOf) -> list[EntityRow]:
        """The rows of an entity that hold at a moment."""
        return self.backend.versions(session, entity, as_of)

    # The parts, each made when first needed

    @cached_property
    def host(self) -> PluginHost:
        return PluginHost.of(self.workspace)

    @cached_property
    def store(self) -> EventLog:
        """The log, in the store that the workspace chose."""
        return open_event_log(self.workspace, lambda: self.host)

    @cached_property
    def texts(self) -> TextIndex:
        texts = self.host.get("retrieval_lanes", "verbatim").instance
        assert isinstance(texts, TextIndex)
        return texts

    @cached_property
    def graph(self) -> BoundProvider:
        """The graph that the workspace chose. If it does not work this says so: no other takes its place."""
        return self.host.get("projection_backends", chosen_graph(self._settings))

    @cached_property
    def identities(self) -> Identities:
        """By which names things are known."""
        return Identities(Path(self.workspace.eventloom) / "followers" / "identities", self.host.notices.append)

    @cached_property
    def backend(self) -> DatedGraph:
        return DatedGraph(BoundBackend(self.graph), self.identities, self.store, utc_now)

    @cached_property
    def _lanes(self) -> list[BoundProvider]:
        return [lane for lane in self.host.all("retrieval_lanes") if lane.name != "verbatim"]

    @cached_property
    def extractors(self) -> Extractors:
        return Extractors(self.host.all("extractors"))

    @cached_property
    def followers(self) -> dict[str, Follower]:
        followers: dict[str, Follower] = {TEXT: self.texts, GRAPH: self.backend}
        for lane in self._lanes:
            if "follower" in lane.provider.capabilities:
                followers[f"lane {lane.name}"] = BoundFollower(lane)
        return followers

    @cached_property
    def loop(self) -> Loop:
        return self._loop_of(self.followers)

    @cached_property
    def _text_loop(self) -> Loop:
        """For reads that need no graph, and so work without one."""
        return self._loop_of({TEXT: self.texts})

    def _loop_of(self, followers: dict[str, Follower]) -> Loop:
        folder = Path(self.workspace.eventloom) / "followers" / "locks"
        return Loop(self.store, followers, self.extractors, folder=folder, resolver=self.identities)

    @cached_property
    def retriever(self) -> Retriever:
        return Retriever(self.texts, self.backend, self._lanes)

    def close(self) -> None:
        for loop in ("loop", "_text_loop"):
            if loop in self.__dict__:
                self.__dict__.pop(loop).close()
        if "store" in self.__dict__:
            self.__dict__.pop("store").close()


def reached(states: Iterable[FollowerState], follower: str) -> int:
    """The event that a follower has come to."""
    return next(state.seq for state in states if state.follower == follower)


def warnings(states: Iterable[FollowerState]) -> list[str]:
    """What keeps followers from being up to the log."""
    return [state.warning for state in states if state.warning]


def _goes_on(state: FollowerState, *cursors: Cursor | None) -> bool:
    """Whether a follower has not gone back behind where it was, nor begun again, by what its cursors say."""
    fed_by = {cursor.fed_by for cursor in cursors if cursor}
    return bool(state.problem) or (
        len(fed_by) < 2 and all((cursor.seq if cursor else 0) >= state.seq for cursor in cursors)
    )
