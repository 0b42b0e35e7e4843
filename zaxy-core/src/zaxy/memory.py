"""Memory: the one object over log, followers and retrieval. Every surface is a thin skin on it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from zaxy.api.models import AsOf, Cursor, Draft, EntityRef, EntityRow, Event, JsonObject
from zaxy.api.points import Follower, ProjectionBackend
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import admit
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.store import JsonlStore, event_of
from zaxy.extract.closings import closings_as_json
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.extract.rules import extract
from zaxy.extract.times import utc_text
from zaxy.follow.background import Background
from zaxy.follow.bound import BoundBackend, BoundFollower
from zaxy.follow.extraction import Extractors
from zaxy.follow.loop import FOREVER, Loop, Progress, State
from zaxy.follow.text_index import TextIndex
from zaxy.follow.text_store import as_key
from zaxy.plugins.host import BoundProvider, PluginHost
from zaxy.retrieve.results import Answer, Result
from zaxy.retrieve.retriever import Question, Retriever
from zaxy.settings import Settings
from zaxy.workspace import Workspace, default_session, find_workspace

DEFAULT_ACTOR = "assistant"
REPLAYED_AT_ONCE = 1000
TEXT, GRAPH = "text", "graph"
ATTEMPTS = 3


class Memory:
    """What an agent did and learned, in a workspace. It may be used by several threads and several processes."""

    def __init__(self, workspace: Workspace, patience: float = FOREVER, progress: Progress | None = None) -> None:
        """`patience`: seconds that a read waits for the followers before it answers with what they have, and warns."""
        self.workspace = workspace
        self.patience = patience
        self._progress = progress
        self._loom = Eventloom(workspace.eventloom)
        self._settings = Settings(stored=workspace.stored_settings())
        self._background: Background | None = None

    @classmethod
    def open(cls, path: str | Path | None = None, patience: float = FOREVER) -> Memory:
        """The memory of a project's folder; without a path, that of the workspace the current folder belongs to."""
        return cls(find_workspace(str(path) if path is not None else None), patience)

    @cached_property
    def session(self) -> str:
        """The session that is meant where none is named."""
        return default_session(self.workspace)

    # Writing

    def append(
        self,
        event_type: str,
        payload: JsonObject,
        actor: str = DEFAULT_ACTOR,
        session: str = "",
        sensitivity: str = "",
        caused_by: str = "",
        idempotency_key: str = "",
    ) -> Event:
        """Append one event; it is durable when this returns. Secrets are taken out of it first."""
        entry = admit(event_type, actor, dict(payload), sensitivity, caused_by, idempotency_key)
        return event_of(self._loom.append(session or self.session, [entry])[0])

    def append_many(self, drafts: Iterable[Draft], session: str = "") -> list[Event]:
        """Append all of them or none."""
        entries = [
            admit(d.type, d.actor, dict(d.payload), d.sensitivity, d.caused_by, d.idempotency_key) for d in drafts
        ]
        return [event_of(line) for line in self._loom.append(session or self.session, entries)]

    def invalidate(
        self,
        entity_name: str,
        entity_type: str,
        invalid_at: str = "",
        reason: str = "",
        session: str = "",
        actor: str = DEFAULT_ACTOR,
    ) -> Event:
        """End what is held to be true of an entity, from a moment on; history keeps it. `not_found` if none is open."""
        session = session or self.session
        at = _moment(invalid_at)
        self._loop.catch_up(session, self.patience, self._progress)
        rows = self._versions(session, EntityRef(entity_type, entity_name), AsOf())
        if not rows:
            raise ZaxyError(
                "not_found",
                f"{session} holds nothing open of the {entity_type} {entity_name!r:.80}",
                "Name the entity as a query shows it; its type counts too.",
            )
        if at and at < rows[0].valid_from:
            raise ZaxyError(
                "invalid_request", f"it holds only since {rows[0].valid_from}", "Give a later moment, or none."
            )
        payload = {"entity_name": entity_name, "entity_type": entity_type, "invalid_at": at, "reason": reason}
        return self.append(
            "memory.invalidated", {key: value for key, value in payload.items() if value}, actor, session
        )

    def forget(self, citation: str, reason: str, actor: str = "user") -> tuple[Event, list[str]]:
        """Erase what a cited event says, from the log and from everything that has followed it.

        The event that records it, and a warning for each follower that could not be made to forget.
        """
        cited = parse_citation(citation)
        event = event_of(self._loom.resolve(cited))
        recorded = event_of(self._loom.erase(cited.session, cited.seq, actor, reason, self._ended_by(event)))
        return recorded, [*_warnings(self._loop.forget(cited.session)), *self._drop_unused()]

    def _drop_unused(self) -> Iterator[str]:
        """Delete what followers hold that are not in use, such as a graph that was chosen before: nobody tells them."""
        used = {f"{bound.point}-{bound.name}" for bound in (*self._host.all("retrieval_lanes"), self._graph)}
        for folder in sorted(Path(self.workspace.eventloom, "followers").glob("*-*")):
            if folder.name not in used:
                try:
                    shutil.rmtree(folder)
                except OSError as error:
                    yield f"{folder.name} may still hold it and cannot be deleted: {error.strerror}"

    def _ended_by(self, event: Event) -> list[dict[str, object]]:
        """What an event has closed, by saying so or as the next version: it stays closed when the event is gone.

        Rows are told by their events and not by their names, which may say what is to be forgotten.
        """
        self._loop.catch_up(event.session, self.patience, self._progress)
        rows = extract(event)
        closings = [closing for closing in rows.closings if closing.seq is not None]
        at = {closing.entity: closing.at for closing in rows.closings if closing.entity is not None}
        for entity in rows.entities:
            at.setdefault(EntityRef(entity.entity_type, entity.name), entity.observed_at or event.time)
        ended = closings_as_json(closings)
        for ref, moment in at.items():
            held = {row.opened_seq for row in self._versions(event.session, ref, AsOf(known_at=event.seq))}
            for row in self._versions(event.session, ref, AsOf(known_at=event.seq - 1)):
                if row.opened_seq not in held:
                    place = {"seq": row.opened_seq, "row": self._place_of(event.session, row)}
                    ended.append({"at": moment, "entity": None, **place})
        return ended

    def _place_of(self, session: str, row: EntityRow) -> int:
        """Which of the rows of the event that opened it a row is; -1 if the built-in rules did not write it."""
        event = self._store.get(session, row.opened_seq)
        entities = extract(event).entities if event else ()
        refs = [as_key(EntityRef(entity.entity_type, entity.name)) for entity in entities]
        own = as_key(EntityRef(row.entity.entity_type, row.entity.name))
        return refs.index(own) if own in refs else -1

    def _versions(self, session: str, entity: EntityRef, as_of: AsOf) -> list[EntityRow]:
        rows = self._backend.entities(session, [entity.name], as_of, 100)
        return [row for row in rows if row.entity.entity_type == entity.entity_type]

    # Reading

    def query(
        self,
        text: str,
        session: str = "",
        limit: int = 10,
        temporal_filter: str = "",
        known_at: int | None = None,
        profile: str = "balanced",
        max_tokens: int = 3000,
        cursor: str = "",
    ) -> Answer:
        """What answers a question, of what holds now or held at the moment of `temporal_filter`."""
        as_of = AsOf(_moment(temporal_filter), known_at)
        question = Question(text, session or self.session, limit, as_of, profile, max_tokens, cursor).checked()
        return self._asked(
            question.session, self._loop, lambda head, reached: self._retriever.query(question, head, reached[GRAPH])
        )

    def verbatim(
        self, text: str, session: str = "", limit: int = 10, max_tokens: int = 3000, cursor: str = ""
    ) -> Answer:
        """Passages of the log whose words fit, as they were written. No graph takes part."""
        question = Question(text, session or self.session, limit, max_tokens=max_tokens, cursor=cursor).checked()
        words = Retriever(self._texts, None)
        return self._asked(question.session, self._text_loop, lambda head, _: words.verbatim(question, head))

    def replay(
        self,
        session: str = "",
        from_seq: int = 1,
        limit: int = REPLAYED_AT_ONCE,
        housekeeping: bool = False,
    ) -> list[Event]:
        """Events in order, straight from the log."""
        found = []
        for line in self._loom.read(session or self.session, from_seq):
            event = event_of(line)
            if housekeeping or not is_housekeeping(event):
                found.append(event)
            if len(found) >= limit:
                break
        return found

    def resolve(self, citation: str) -> Event:
        return event_of(self._loom.resolve(parse_citation(citation)))

    def sessions(self) -> list[str]:
        return self._loom.sessions()

    # Followers

    def followers_status(self, session: str = "") -> list[State]:
        return self._loop.status(session or self.session)

    def rebuild_followers(self, session: str = "", names: Sequence[str] = ()) -> list[State]:
        unknown = [name for name in names if name not in self._followers]
        if unknown:
            known = ", ".join(self._followers)
            raise ZaxyError("not_found", f"there is no follower {unknown[0]!r:.40}", f"There are {known}.")
        return self._loop.rebuild(session or self.session, names, self._progress)

    def follow_in_background(self) -> None:
        """From now on bring all sessions' followers up to the log as it grows, until `close`; for a server."""
        if self._background is None:
            self._background = Background(self._loop, self._loom.sessions)
            self._background.start()

    def follower_digests(self, session: str = "") -> dict[str, str]:
        self._loop.catch_up(session or self.session, progress=self._progress)
        return self._loop.digests(session or self.session)

    def _asked(self, session: str, loop: Loop, ask: Callable[[int, dict[str, int]], Answer]) -> Answer:
        """Ask when the followers have caught up, and again if one was built anew meanwhile, as after an erasure."""
        for _ in range(ATTEMPTS):
            states = loop.catch_up(session, self.patience, self._progress)
            before = loop.cursors(session)
            reached = {state.follower: state.seq for state in states}
            answer = ask(min(reached[TEXT], self._loom.end(session).seq), reached)
            after = loop.cursors(session)
            if all(_goes_on(state, before[state.follower], after[state.follower]) for state in states):
                break
        return self._with_word_of(answer, session, states)

    def _with_word_of(self, answer: Answer, session: str, states: Sequence[State]) -> Answer:
        warnings = _warnings(states)
        results = answer.results
        if any(state.frozen for state in states):
            results = tuple(result for result in results if self._still_says(session, result))
        if self._loom.state(session) == "damaged":
            warnings.append(f"the log of {session} is damaged: 'zaxy verify {session}' tells where")
        notices = (*answer.notices, *self._extractors.notices, *self._host.notices)
        return Answer(
            *(results, answer.tokens_used, answer.truncated, answer.next_cursor),
            warnings=tuple(warnings),
            notices=tuple(dict.fromkeys(notices)),
        )

    def _still_says(self, session: str, result: Result) -> bool:
        """Whether the log holds the event that a result cites: a frozen follower may know one of another history."""
        line = self._loom.get(session, result.seq)
        return line is not None and result.citation.endswith(f"#{line.hash}")

    # Its parts, each made when first needed

    @cached_property
    def _host(self) -> PluginHost:
        return PluginHost.of(self.workspace)

    @cached_property
    def _store(self) -> JsonlStore:
        return JsonlStore.over(self._loom)

    @cached_property
    def _texts(self) -> TextIndex:
        texts = self._host.get("retrieval_lanes", "verbatim").instance
        assert isinstance(texts, TextIndex)
        return texts

    @cached_property
    def _graph(self) -> BoundProvider:
        """The graph that the workspace chose. If it does not work this says so: no other takes its place."""
        name = str(self._settings["PROJECTION_BACKEND"])
        if name == "embedded":
            name = str(self._settings["ZAXY_EMBEDDED_ENGINE"])
        return self._host.get("projection_backends", name)

    @cached_property
    def _backend(self) -> ProjectionBackend:
        return BoundBackend(self._graph)

    @cached_property
    def _lanes(self) -> list[Any]:
        return [lane for lane in self._host.all("retrieval_lanes") if lane.name != "verbatim"]

    @cached_property
    def _extractors(self) -> Extractors:
        return Extractors(self._host.all("extractors"))

    @cached_property
    def _followers(self) -> dict[str, Follower]:
        followers: dict[str, Follower] = {TEXT: self._texts, GRAPH: self._backend}
        for lane in self._lanes:
            if "follower" in lane.provider.capabilities:
                followers[f"lane {lane.name}"] = BoundFollower(lane)
        return followers

    @cached_property
    def _loop(self) -> Loop:
        return self._loop_of(self._followers)

    @cached_property
    def _text_loop(self) -> Loop:
        """For reads that need no graph, and so work without one."""
        return self._loop_of({TEXT: self._texts})

    def _loop_of(self, followers: dict[str, Follower]) -> Loop:
        folder = Path(self.workspace.eventloom) / "followers" / "locks"
        return Loop(self._store, followers, self._extractors, folder)

    @cached_property
    def _retriever(self) -> Retriever:
        return Retriever(self._texts, self._backend, self._lanes)

    def close(self) -> None:
        if self._background is not None:
            self._background.stop()
            self._background = None
        for loop in ("_loop", "_text_loop"):
            if loop in self.__dict__:
                self.__dict__.pop(loop).close()
        self._loom.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _goes_on(state: State, *cursors: Cursor | None) -> bool:
    """Whether a follower has not gone back behind where it was, nor begun anew, by what its cursors tell."""
    fed_by = {cursor.fed_by for cursor in cursors if cursor}
    return bool(state.problem) or (
        len(fed_by) < 2 and all((cursor.seq if cursor else 0) >= state.seq for cursor in cursors)
    )


def _warnings(states: Iterable[State]) -> list[str]:
    """What keeps followers from being up to the log."""
    return [state.warning for state in states if state.warning]


def _moment(given: str) -> str:
    """A moment in the log's own form; empty where none is given."""
    moment = utc_text(given)
    if given and not moment:
        raise ZaxyError(
            "invalid_request",
            f"{given!r:.60} is not a date or time",
            "Write it as ISO-8601, such as 2026-06-15 or 2026-06-15T12:00:00Z.",
        )
    return moment
