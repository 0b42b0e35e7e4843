"""One state of a session's memory, for all the questions that one reply asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zaxy.api.models import AsOf, EntityRow, Event, Query
from zaxy.assemble.citations_in_text import only_real_citations
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import Citation, parse_citation
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.follow.loop import State
from zaxy.retrieve.recall import GRAPH, Recall, reached
from zaxy.retrieve.results import Answer
from zaxy.retrieve.retriever import UNBOUNDED, Question
from zaxy.text.ranking import Hit, Weights

FARTHEST = 400
"""Events from a given place that are looked through for some that are not bookkeeping."""


class Recent(NamedTuple):
    events: list[Event]
    """Oldest first."""
    bounded: bool
    """Whether there were more."""


class Reading:
    """What the first `head` events of a session say."""

    def __init__(
        self, recall: Recall, session: str, head: int, states: Sequence[State], target: int | None = None
    ) -> None:
        """`states`: how far the followers have come. `target`: the event at which a ref stands, if one was named."""
        self.session = session
        self.head = head if target is None else min(head, target)
        self.warnings = recall.doubts(session, states)
        """Why it may not be trusted."""
        self.notices = recall.notices
        self._recall = recall
        self._found: dict[str, list[Hit]] = {}
        self._resolved: dict[str, bool] = {}
        self._given: set[str] = set()
        self._graph = reached(states, GRAPH)
        self._as_of = AsOf() if target is None else AsOf(known_at=self.head)

    def ask(self, text: str, limit: int, profile: str) -> Answer:
        question = Question(text, self.session, limit, self._as_of, profile, UNBOUNDED).checked()
        return self._noticed(self._recall.retriever.query(question, self.head, self._graph, self._hits(text)))

    def passages(self, text: str, limit: int) -> Answer:
        question = Question(text, self.session, limit, max_tokens=UNBOUNDED).checked()
        return self._noticed(self._recall.retriever.verbatim(question, self.head, self._hits(text)))

    def _hits(self, text: str) -> list[Hit]:
        """The passages that fit, looked for once for all lanes."""
        if text not in self._found:
            self._found[text] = self._recall.texts.hits(Query(text, self.session, as_of=AsOf(known_at=self.head)))
        return self._found[text]

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
        # A graph that has followed another history than the log tells is the only one to hold rows of no event.
        return [row for row in rows if self.resolves(self._citation(row))] if self.warnings else rows

    def recent(self, count: int, from_seq: int | None) -> Recent:
        """The last events, or the first ones from a place on; bookkeeping is left out."""
        if not count or not self.head:
            return Recent([], False)
        if from_seq is not None:
            events = self._told(from_seq, min(self.head, from_seq + FARTHEST))
            return Recent(events[:count], len(events) > count or from_seq + FARTHEST < self.head)
        latest = self._recall.texts.latest(self.session, count + 1, self.head)
        events = [event for seq in reversed(latest[:count]) for event in self._told(seq, seq)]
        return Recent(events, len(latest) > count)

    def _told(self, first: int, last: int) -> list[Event]:
        found = self.events(first, last)
        told = [event for event in found if event.payload is not None and not is_housekeeping(event)]
        self._given.update(Citation(event.session, event.seq, event.hash).short for event in told)
        return told

    def events(self, first: int, last: int) -> list[Event]:
        """Events as they stand in the log; where that is damaged, those before the damage, and a warning."""
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
        self._given.add(citation)
        return citation

    def _citation(self, row: EntityRow) -> str:
        return Citation(self.session, row.opened_seq, row.event_hash).short

    def shown(self, text: str) -> str:
        """A text in which no citation stands that names no event."""
        return only_real_citations(text, self.resolves)

    def may_show(self, citation: str) -> bool:
        """Whether a reply may show it: it comes from the graph or the log itself, or it resolves."""
        return citation in self._given or self.resolves(citation)

    def resolves(self, citation: str) -> bool:
        """Whether the log holds the event that is cited, intact, among those that are read."""
        if citation not in self._resolved:
            self._resolved[citation] = self._holds(parse_citation(citation))
        return self._resolved[citation]

    def _holds(self, cited: Citation) -> bool:
        if cited.session != self.session or not 0 < cited.seq <= self.head:
            return False
        return any(cited.names(event.hash) for event in self.events(cited.seq, cited.seq))
