"""One state of a session's memory, for all the questions of one reply.

One end of the log, and each of its lines proven once; one transaction of the text index, and one of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

from zaxy.api.models import AsOf, Entity, EntityRef, EntityRow, Event, ExtractedEvent, Query
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import FULL, SHORT, citations, parse_citation
from zaxy.eventloom.log import utc_now
from zaxy.eventloom.view import LogView
from zaxy.extract.housekeeping import without_housekeeping
from zaxy.follow.loop import FollowerState
from zaxy.graph.dated import DatedGraph
from zaxy.plugins.families import Families
from zaxy.retrieve.citations_in_text import only_real_citations
from zaxy.retrieve.log_words import GRAPH, TEXT, IntactEvents, LogWords
from zaxy.retrieve.matches import MIN_ALIKE
from zaxy.retrieve.outside_lanes import OutsideLane
from zaxy.retrieve.question import Asked, AskedWord, what_is_asked
from zaxy.retrieve.results import Result
from zaxy.text.index import TextIndex
from zaxy.text.passages import Passage
from zaxy.text.ranking import Hit
from zaxy.text.schema import Text
from zaxy.text.tokens import BEGINNING, match_any
from zaxy.text.verbatim import Passages

ERASURES = ("event.erased", "imported.erased")
"""The types of the records that stand for what is gone."""
MAX_EVENTS_SEARCHED = 400
"""How many events are searched, from a given place, for those that are not bookkeeping."""


class Recent(NamedTuple):
    events: list[Event]
    """Oldest first."""
    bounded: bool
    """Whether there were more."""


class CitedRow(NamedTuple):
    row: EntityRow
    entity: Entity
    """In the words of the log."""
    passage: Passage
    citation: str


class Snapshot:
    """What the first `head` events of a session say."""

    def __init__(
        self,
        log: LogView,
        states: Sequence[FollowerState],
        *,
        texts: TextIndex,
        graph: DatedGraph | None,
        lanes: Sequence[OutsideLane],
        extract: Callable[[Sequence[Event]], Sequence[ExtractedEvent]],
        families: Families,
        warnings: Iterable[str],
        notices: Iterable[str],
        target: int | None = None,
        foreign: Sequence[str] = (),
        derives: bool = False,
    ) -> None:
        """`graph` is None where words alone are asked. `target`: the event that a ref names, if one was given.
        `derives`: whether extractors of plugins add rows.

        `foreign`: why this user's own log is another one; empty for a log that this user wrote or trusts.
        """
        self.log = log
        self.foreign = bool(foreign)
        self._foreign = tuple(foreign)
        self.session = log.session
        self.texts = texts
        self.graph = graph
        self.lanes = lanes
        self.failed_lanes: set[str] = set()
        """Those that this reply goes on without."""
        self.derives = derives
        self._warnings = tuple(warnings)
        self.notices = list(notices)
        end = min(reached(states, TEXT), log.end)
        self.head = end if target is None else min(end, target)
        self.followed = reached(states, GRAPH) if graph else 0
        """How many events the graph knows."""
        frozen = [state.follower for state in states if state.frozen]
        self.families = families
        self._intact = IntactEvents(log)
        self.words = LogWords(self._intact, extract, renamed=self._renamed, families=families, frozen=frozen)
        self._target = target
        self._hits: dict[Query, list[Hit]] = {}
        self._asked: dict[tuple[str, int], Asked] = {}
        self._newest: dict[int, str] = {}
        self._resolved: dict[str, bool] = {}

    @property
    def is_sealed(self) -> bool:
        """Whether rows of the graph are checked as they are read: those of the core's own graph are."""
        return self.graph is not None and self.graph.is_own

    @property
    def warnings(self) -> list[str]:
        """Reasons to doubt what it says."""
        return [*self._foreign, *self.gaps]

    @property
    def gaps(self) -> list[str]:
        """Why it may not say all that the log does."""
        return [*self._warnings, *self._intact.problems]

    @cached_property
    def erased(self) -> int:
        """How many events were erased, here or where they were imported from."""
        return self.log.count_of(ERASURES, self.head)

    # When

    def moment(self, as_of: AsOf) -> str:
        """The moment that a read means.

        Now is the clock's, or the time of the newest event where the clock is behind it: what was just written is never
        hidden. What was known after an event is read at that event's time, and so stays the same for ever.
        """
        if as_of.valid_at:
            return as_of.valid_at
        known = self._target if as_of.known_at is None else as_of.known_at
        return self._time(known) or self._now if known is not None else self._now

    @cached_property
    def _now(self) -> str:
        return max(self.graph.now() if self.graph else utc_now(), self._time(self.log.end))

    def _time(self, seq: int) -> str:
        event = self.log.get(seq)
        return self.graph.time(event) if event and self.graph else event.time if event else ""

    def _renamed(self, ref: EntityRef, seq: int) -> EntityRef:
        return self.graph.ref(self.session, ref, seq) if self.graph else ref

    @cached_property
    def _current(self) -> AsOf:
        """What holds now, or held when the target was the last event."""
        return AsOf(self.moment(AsOf()), self.head)

    # Words

    def hits(self, query: Query) -> list[Hit]:
        """The passages that words find, looked for once for all lanes."""
        if query not in self._hits:
            self._hits[query] = self.texts.hits(query)
        return self._hits[query]

    def passages(self, query: Query) -> Passages:
        """The passages that have what is asked for themselves."""
        return self.texts.passages(query)

    def having(self, groups: Sequence[Sequence[AskedWord]], limit: int) -> list[list[int]]:
        """Of each group the passages that have all its words, or what begins alike; all of them, up to a limit."""
        expressions = [" AND ".join([f"({_having(word)})" for word in words]) for words in groups]
        return self.texts.having(self.session, expressions, known=self.head, limit=limit)

    def numbered(self, ids: Collection[int]) -> list[Text]:
        """The passages of these numbers."""
        return self.texts.numbered(self.session, ids)

    def first_texts(self, seqs: Iterable[int]) -> list[Text]:
        """The first passage of each of the events."""
        return self.texts.texts(self.session, seqs)

    def reinforcement(self, texts: Iterable[Text], known: int) -> dict[int, float]:
        """How much good was said of events, or of what they tell of."""
        return self.texts.reinforcement(self.session, texts, known)

    def newest_by(self, known: int) -> str:
        """The time of the last event that says anything, of those up to `known`."""
        if known not in self._newest:
            self._newest[known] = self.texts.newest(self.session, known)
        return self._newest[known]

    def count_said(self, max_count: int, known: int) -> int:
        """How many of the first `known` events say anything, counted up to `max_count`."""
        return len(self.texts.latest(self.session, max_count, known))

    @property
    def newest(self) -> str:
        """The time of the last event that says anything."""
        return self.newest_by(self.head)

    def asked(self, question: str, known_at: int | None = None) -> Asked:
        """What a question asks for, by how much its words say among the first `known_at` events."""
        known = self.head if known_at is None else known_at
        if (question, known) not in self._asked:
            weigh = partial(self.texts.weights, self.session, known=known)
            self._asked[question, known] = what_is_asked(question, weigh)
        return self._asked[question, known]

    # Rows

    def current(self, entity_types: Sequence[str], limit: int) -> list[EntityRow]:
        """The rows of these types that hold, newest first; none where the graph cannot say."""
        return self.current_of_each([entity_types], limit)[0]

    def current_of_each(self, kinds: Sequence[Sequence[str]], limit: int) -> list[list[EntityRow]]:
        """The same for several kinds, each given by its types."""
        if self.graph is not None:
            try:
                return self.graph.current_of_each(self.session, kinds, self._current, limit)
            except ZaxyError as error:
                self.notices.append(f"the graph does not take part: {error.message}")
        return [[] for _ in kinds]

    def worded(self, rows: Sequence[EntityRow]) -> list[tuple[EntityRow, Entity]]:
        """The rows with what the log says of them; a row whose event the log does not hold is left out."""
        said = self.words.entities(rows)
        return [(row, entity) for row, entity in zip(rows, said, strict=True) if entity is not None]

    def cited_rows(self, rows: Sequence[EntityRow]) -> list[CitedRow]:
        """The same with the beginning of all that the events of each row say, and its citation."""
        worded = self.worded(rows)
        passages = self._shown_passages(self.words.row_beginnings(worded))
        cited = self.cite([row for row, _ in worded])
        parts = zip(worded, passages, cited, strict=True)
        return [CitedRow(*row, passage, citation) for row, passage, citation in parts if passage is not None]

    def cited_beginnings(self, events: Sequence[Event]) -> tuple[list[Passage | None], list[str]]:
        """How each event that was read here begins, None for one that says nothing; and their citations."""
        return self._shown_passages(self.words.beginnings(events)), self.cite_events(events)

    def _shown_passages(self, passages: Sequence[Passage | None]) -> list[Passage | None]:
        texts = self.shown([passage.text if passage else "" for passage in passages])
        return [one and one._replace(text=text) for one, text in zip(passages, texts, strict=True)]

    def cite(self, rows: Iterable[EntityRow]) -> list[str]:
        """The short citations of rows' events, which were proven when the rows were worded."""
        return self._cited([(row.opened_seq, row.event_hash) for row in rows])

    def cite_events(self, events: Iterable[Event]) -> list[str]:
        """The short citations of events that were read here, and so proven."""
        return self._cited([(event.seq, event.hash) for event in events])

    def _cited(self, events: Iterable[tuple[int, str]]) -> list[str]:
        cited = citations(self.session, events, digits=SHORT)
        self._resolved |= dict.fromkeys(cited, True)
        return cited

    def presentable(self, results: Sequence[Result]) -> list[Result]:
        """Results as a reply shows them: with short citations, and without citations that name no event."""
        cited = [result.citation[: SHORT - FULL] for result in results]
        self._resolved |= dict.fromkeys(cited, True)  # their events were proven for their words
        contents = self.shown([result.content for result in results])
        summaries = self.shown([result.summary for result in results])
        shown = zip(results, contents, summaries, cited, strict=True)
        return [replace(one, content=text, summary=said, citation=place) for one, text, said, place in shown]

    # The log

    def recent(self, count: int, from_seq: int | None) -> Recent:
        """The last events, or the first ones from a place on, without bookkeeping."""
        if not count or not self.head:
            return Recent([], False)
        if from_seq is not None:
            events = self._content_events(range(from_seq, min(self.head, from_seq + MAX_EVENTS_SEARCHED) + 1))
            return Recent(events[:count], len(events) > count or from_seq + MAX_EVENTS_SEARCHED < self.head)
        latest = self.texts.latest(self.session, count + 1, self.head)
        return Recent(self._content_events(latest[count - 1 :: -1]), len(latest) > count)

    def _content_events(self, seqs: Iterable[int]) -> list[Event]:
        events = [event for event in self.events(seqs) if event.payload is not None]
        return without_housekeeping(events, self.families.housekeeping)

    def events(self, seqs: Iterable[int]) -> list[Event]:
        """Events from the log, in the order given. If it is damaged: those that are intact, and a warning."""
        return list(self._intact(seqs).values())

    # Citations

    def shown(self, texts: Iterable[str]) -> list[str]:
        """The texts without citations that name no event."""
        return [only_real_citations(text, self.resolves) if "://" in text else text for text in texts]

    def resolves(self, citation: str) -> bool:
        """Whether the log holds the cited event intact, at or before `head`."""
        if citation not in self._resolved:
            self._resolved[citation] = self._holds(citation)
        return self._resolved[citation]

    def _holds(self, citation: str) -> bool:
        try:
            cited = parse_citation(citation)
        except ZaxyError:
            return False
        if cited.session != self.session or not 0 < cited.seq <= self.head:
            return False
        return any(cited.names(event.hash) for event in self.events((cited.seq,)))


def _having(word: AskedWord) -> str:
    """What finds a word in the index: all its stems, or a word with the same beginning, or an identifier as it is."""
    if len(word.stems) == 1 and (stem := word.stems[0]).isalpha() and len(stem) > MIN_ALIKE and not word.is_name:
        return match_any([stem, f"{stem[: max(MIN_ALIKE, -(-len(stem) * 4 // 5))]}{BEGINNING}"], "words")
    if any(not stem.isalnum() for stem in word.stems):
        return match_any(word.stems, "names")
    return " AND ".join(match_any([stem], "words") for stem in word.stems)


def reached(states: Iterable[FollowerState], follower: str) -> int:
    """The event that a follower has come to."""
    return next(state.seq for state in states if state.follower == follower)
