"""Reads one state of a session's memory, for all the questions of one reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zaxy.api.models import AsOf, EntityRow, Event, Query
from zaxy.assemble.citations_in_text import only_real_citations
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import Citation, parse_citation
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.follow.loop import FollowerState
from zaxy.retrieve.recall import GRAPH, Recall, reached
from zaxy.retrieve.results import Answer
from zaxy.retrieve.retriever import UNBOUNDED, Question
from zaxy.text.ranking import Hit, Weights

MAX_EVENTS_SEARCHED = 400
"""How many events are searched, from a given place, for those that are not bookkeeping."""


class Recent(NamedTuple):
    events: list[Event]
    """Oldest first."""
    bounded: bool
    """Whether there were more."""


class MemoryReader:
    """What the first `head` events of a session say."""

    def __init__(
        self, recall: Recall, session: str, *, head: int, states: Sequence[FollowerState], target: int | None = None
    ) -> None:
        """`states`: how far the followers have come. `target`: the event that a ref names, if one was given."""
        self.session = session
        self.head = head if target is None else min(head, target)
        self.warnings = recall.doubts(session, states)
        """Reasons to doubt what it reads."""
        self.notices = recall.notices
        self._recall = recall
        self._hits_by_text: dict[str, list[Hit]] = {}
        self._resolved: dict[str, bool] = {}
        self._citations_given: set[str] = set()
        self._graph = reached(states, GRAPH)
        self._as_of = AsOf() if target is None else AsOf(known_at=self.head)

    def ask(self, text: str, limit: int, profile: str) -> Answer:
        question = Question(text, self.session, limit, self._as_of, profile, UNBOUNDED).checked()
        return self._noticed(self._recall.retriever.query(question, self.head, self._graph, self._hits(text)))

    def passages(self, text: str, limit: int) -> Answer:
        question = Question(text, self.session, limit, max_tokens=UNBOUNDED).checked()
        return self._noticed(self._recall.retriever.verbatim(question, self.head, self._hits(text)))

    def _hits(self, text: str) -> list[Hit]:
        """The passages that match, searched once for all lanes."""
        if text not in self._hits_by_text:
            self._hits_by_text[text] = self._recall.texts.hits(
                Query(text, self.session, as_of=AsOf(known_at=self.head))
            )
        return self._hits_by_text[text]

    def _noticed(self, answer: Answer) -> Answer:
        self.notices += answer.notices
        return answer

    def current(self, entity_types: Sequence[str], limit: int) -> Sequence[EntityRow]:
        """The rows of these types that hold, newest first; none where the graph cannot say."""
        try:
            rows = self._recall.backend.current(self.session, entity_types, self._as_of, limit)
        except ZaxyError as error:
            self.notices.append(f"the graph does not take part: {error.message}")
            return ()
        # Only a graph that followed another history than the log's can hold rows without an event.
        return [row for row in rows if self.resolves(self._citation(row))] if self.warnings else rows

    def recent(self, count: int, from_seq: int | None) -> Recent:
        """The last events, or the first ones from a place on, without bookkeeping."""
        if not count or not self.head:
            return Recent([], False)
        if from_seq is not None:
            events = self._content_events(from_seq, min(self.head, from_seq + MAX_EVENTS_SEARCHED))
            return Recent(events[:count], len(events) > count or from_seq + MAX_EVENTS_SEARCHED < self.head)
        latest = self._recall.texts.latest(self.session, count + 1, self.head)
        events = [event for seq in reversed(latest[:count]) for event in self._content_events(seq, seq)]
        return Recent(events, len(latest) > count)

    def _content_events(self, first: int, last: int) -> list[Event]:
        found = self.events(first, last)
        events = [event for event in found if event.payload is not None and not is_housekeeping(event)]
        self._citations_given.update(Citation(event.session, event.seq, event.hash).short for event in events)
        return events

    def events(self, first: int, last: int) -> list[Event]:
        """Events from the log. If it is damaged: those before the damage, and a warning."""
        found: list[Event] = []
        try:
            found.extend(self._recall.events(self.session, max(first, 1), last))
        except ZaxyError as error:
            if error.message not in self.warnings:
                self.warnings.append(error.message)
        return found

    def weights(self, words: Sequence[str]) -> Weights:
        return self._recall.texts.weights(self.session, words, self.head)

    def terms(self, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        return self._recall.texts.terms(self.session, pairs, self.head)

    @property
    def newest(self) -> str:
        return self._recall.texts.newest(self.session, self.head)

    def cite(self, row: EntityRow) -> str:
        citation = self._citation(row)
        self._citations_given.add(citation)
        return citation

    def _citation(self, row: EntityRow) -> str:
        return Citation(self.session, row.opened_seq, row.event_hash).short

    def shown(self, text: str) -> str:
        """The text without citations that name no event."""
        return only_real_citations(text, self.resolves)

    def may_show(self, citation: str) -> bool:
        """Whether a reply may show a citation: the graph or the log gave it, or it resolves."""
        return citation in self._citations_given or self.resolves(citation)

    def resolves(self, citation: str) -> bool:
        """Whether the log holds the cited event intact, at or before `head`."""
        if citation not in self._resolved:
            self._resolved[citation] = self._holds(parse_citation(citation))
        return self._resolved[citation]

    def _holds(self, cited: Citation) -> bool:
        if cited.session != self.session or not 0 < cited.seq <= self.head:
            return False
        return any(cited.names(event.hash) for event in self.events(cited.seq, cited.seq))
