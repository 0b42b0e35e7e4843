"""One question, all lanes, one list: what holds at the moment asked for, each row with its citation and its sum."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from zaxy.api.models import AsOf, Entity, EntityRef, EntityRow, Query
from zaxy.errors import InvalidRequest, TooLarge, ZaxyError
from zaxy.extract.names import entity_keys
from zaxy.retrieve import lanes
from zaxy.retrieve.closeness import uncovered, weigh_closeness
from zaxy.retrieve.derived_rows import derived_rows
from zaxy.retrieve.endings import ends_of
from zaxy.retrieve.fusion import (
    USUAL_WEIGHT,
    Proposal,
    add,
    add_outside,
    copies_last,
    lane_of,
    of_words,
    ordered,
    weigh,
)
from zaxy.retrieve.log_words import Said
from zaxy.retrieve.outside_lanes import PROPOSED_BY_OTHERS, LaneAnswer, ask_lanes
from zaxy.retrieve.page_rows import PageRows, short_rows, whole_rows
from zaxy.retrieve.present import present_of
from zaxy.retrieve.profiles import Profile, profile_named
from zaxy.retrieve.results import Answer, Position, Result, cursor_text, position_of
from zaxy.retrieve.router import asks_for_relations, route
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text import tokens
from zaxy.text.ranking import Hit
from zaxy.text.schema import Text
from zaxy.text.verbatim import Passages

NOW = AsOf()
VERBATIM, BM25 = "verbatim", "bm25"
"""The lane of passages that are found by their words alone, and how they are scored."""
NOTHING_ASKED = "the query has nothing but common words and punctuation: name what you look for"
UNBOUNDED = 1 << 40
"""Tokens: a budget that is not even counted."""
MAX_QUESTION_CHARS = 4096
MAX_RESULTS = 100
CHECKED_TOGETHER = 12
MAX_NOTICE_CHARS = 160
STARTS = 3
"""How many of the best results the graph is walked from."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    session: str
    limit: int = 10
    as_of: AsOf = NOW
    profile: str = "balanced"
    max_tokens: int = 3000
    cursor: str = ""

    def checked(self) -> Question:
        if not isinstance(self.text, str) or not self.text.strip():
            raise _invalid("the query is empty", "Ask with a few words.")
        if len(self.text) > MAX_QUESTION_CHARS:
            raise TooLarge(f"the query has more than {MAX_QUESTION_CHARS:,} characters", "Shorten it.")
        try:
            self.text.encode()
        except UnicodeEncodeError:
            raise _invalid("the query is not valid Unicode: it has half a character", "Send it as UTF-8.") from None
        known = self.as_of.known_at
        if known is not None and (type(known) is not int or known < 0):
            raise _invalid("known_at is not the number of an event", "Give a seq, such as 42.")
        if type(self.limit) is not int or not 1 <= self.limit <= MAX_RESULTS:
            raise _invalid("the limit is not within 1 and 100", "Ask for 1 to 100 results, and page with the cursor.")
        if type(self.max_tokens) is not int or self.max_tokens < 1:
            raise _invalid("max_tokens is not a positive number", "Give a budget such as 3000.")
        profile_named(self.profile)
        return self

    @property
    def asked(self) -> str:
        """All that a cursor depends on."""
        return json.dumps([self.text, self.session, self.as_of.valid_at, self.as_of.known_at, self.profile])


class Found(NamedTuple):
    """What answers a question, before any of it is put into words."""

    held: Iterator[tuple[Proposal, EntityRow | None]]
    ended: list[Proposal]
    """Filled as `held` is asked for: what would have come before, but no longer holds."""
    replaced: dict[int, Text]
    """Filled likewise, by the seq of what came in its place."""
    profile: Profile
    position: Position
    held_at: AsOf
    notices: list[str]


Fit = Callable[[Sequence[Result]], PageRows]
"""What of the rows a page has room for."""
Fits = Callable[[Sequence[Text]], Sequence[bool]]
"""Whether each of the passages may be shown, by what the index has of it."""


def any_text(texts: Sequence[Text]) -> list[bool]:
    return [True] * len(texts)


class Retriever:
    """Asks the lanes of one state of memory. Without a graph words alone answer."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._session = snapshot.session
        self._graph = snapshot.graph

    def query(self, question: Question) -> Answer:
        """What answers the question, of what holds at the moment that it means."""
        found = self._found(question)
        best = islice(copies_last(found.held, found.profile), found.position.offset, None)
        known_at = found.position.known_at
        fit = partial(self._short, question=question, known_at=known_at)
        answer = self._page(question, best, found.position, found.notices, fit=fit, held_at=found.held_at)
        last = min((result.score for result in answer.results), default=0.0) if answer.truncated else 0.0
        before = [proposal.text for proposal in found.ended if proposal.score >= last]
        return replace(answer, superseded=tuple(before[:MAX_RESULTS]), replaced=found.replaced)

    def said(self, question: Question, texts: Sequence[Text]) -> list[Result]:
        """What the passages say, whether or not it still holds."""
        unscored = [Proposal(text, None, (lane_of(text), 0.0, 0.0, 0.0)) for text in texts]
        return list(self._results(question, [(proposal, None) for proposal in unscored]))

    def _short(self, rows: Sequence[Result], question: Question, known_at: int) -> PageRows:
        return short_rows(rows, question.max_tokens, lambda: self._snapshot.asked(question.text, known_at))

    def _found(self, question: Question) -> Found:
        """What the lanes propose and the graph says still holds, best first; looked up as far as it is asked for."""
        snapshot, head = self._snapshot, self._snapshot.head
        position = position_of(question.cursor, question.asked) if question.cursor else Position(0, head)
        known_at = min(position.known_at, head, head if question.as_of.known_at is None else question.as_of.known_at)
        as_of = AsOf(question.as_of.valid_at, known_at)
        held_at = AsOf(snapshot.moment(question.as_of), known_at) if self._graph else as_of
        wanted = tokens.wanted(question.text)
        profile = route(question.text, wanted, profile_named(question.profile))
        notices: list[str] = []
        hits = snapshot.hits(Query(question.text, self._session, as_of=as_of))
        proposals = of_words(hits, profile)
        own = self._of_graph(question, held_at, hits, notices)
        outside: list[LaneAnswer] = []
        if snapshot.lanes:
            query = Query(question.text, self._session, PROPOSED_BY_OTHERS, as_of)
            outside = ask_lanes(snapshot, query, notices)
        asked = snapshot.asked(question.text, known_at)
        missed = uncovered(asked, ordered(proposals.values())) if outside else 0.0
        seqs = {found.seq for of in own.values() for found in of}
        seqs |= {hit.seq for answer in outside for hit in answer.hits}
        self._propose(proposals, seqs, as_of)
        for lane, found in own.items():
            add(proposals, found, lane=lane, weight=getattr(profile, lane), best=1.0)
        for answer in outside:
            add_outside(proposals, answer, profile.outside / USUAL_WEIGHT, uncovered=missed)
        self._weigh(proposals, profile, as_of)
        if not (wanted.words or wanted.identifiers or wanted.phrases):
            notices.append(NOTHING_ASKED)
        ended: list[Proposal] = []
        weigh_closeness(asked, ordered(proposals.values()), profile.closeness)
        best = ordered(proposals.values())
        replaced: dict[int, Text] = {}
        doubts = (notices, ended, replaced)
        held = self._holding(best, as_of=held_at, page=question.limit, doubts=doubts)
        return Found(held, ended, replaced, profile, Position(position.offset, known_at), held_at, notices)

    def _weigh(self, proposals: dict[int, Proposal], profile: Profile, as_of: AsOf) -> None:
        known_at = self._snapshot.head if as_of.known_at is None else as_of.known_at
        texts = [proposal.text for proposal in proposals.values()]
        feedback = self._snapshot.reinforcement(texts, known_at)
        newest = as_of.valid_at or self._snapshot.newest_by(known_at)
        weigh(proposals.values(), profile, newest, feedback)

    def verbatim(self, question: Question) -> Answer:
        """The passages that have what is asked for, as they stand in the log. Words find them and nothing else.

        What only asks is found by a quoted phrase. What no longer holds has its end.
        """
        question = replace(question, profile=BM25)
        position = position_of(question.cursor, question.asked) if question.cursor else Position(0, self._snapshot.head)
        known_at = min(position.known_at, self._snapshot.head)
        found = self._snapshot.passages(Query(question.text, self._session, as_of=AsOf(known_at=known_at)))
        proposals: dict[int, Proposal] = {}
        for text, score in found.found:  # best first, so that an event keeps its best passage
            proposals.setdefault(text.seq, Proposal(text, None, (VERBATIM, score, score, 1.0)))
        best = ((proposal, None) for proposal in islice(proposals.values(), position.offset, None))
        notices = _about_literals(found, question.text)
        answer = self._page(question, best, position, notices, fit=lambda rows: whole_rows(rows, question.max_tokens))
        ends = ends_of(self._snapshot, [proposals[result.seq].text for result in answer.results], notices)
        results = [replace(result, valid_to=ends.get(result.seq, "")) for result in answer.results]
        return replace(answer, results=tuple(results), notices=tuple(notices))

    def verbatim_besides(self, question: Question, known: Container[int], *, among: int, fits: Fits) -> list[Result]:
        """The first passages of events that the caller does not know yet; `among` is a count of the best."""
        query = Query(question.text, self._session, as_of=AsOf(known_at=self._snapshot.head))
        weights = profile_named(question.profile)._replace(keyword=1.0, verbatim=1.0)
        found = of_words(self._snapshot.hits(query), weights, among).values()
        fresh = [one for one in found if one.seq not in known]
        fitting = fits([proposal.text for proposal in fresh])
        chosen = [(one, None) for one, is_fit in zip(fresh, fitting, strict=True) if is_fit][: question.limit]
        return list(self._results(question, chosen))

    def _page(
        self,
        question: Question,
        best: Iterable[tuple[Proposal, EntityRow | None]],
        position: Position,
        notices: Sequence[str],
        *,
        fit: Fit,
        held_at: AsOf | None = None,
    ) -> Answer:
        """As many rows as were asked for and fit into the budget; the first one always does.

        `held_at`: the moment at which what extractors see in events must hold, where that is shown.
        """
        chosen = list(islice(best, question.limit + 1))
        results = list(self._results(question, chosen[: question.limit]))
        if held_at is not None and self._snapshot.derives:
            derived = derived_rows(self._snapshot, [one.seq for one in results], question.text, as_of=held_at)
            results = [replace(one, derived=derived.get(one.seq, ())) for one in results]
        page = PageRows(results, 0) if question.max_tokens == UNBOUNDED else fit(results)
        more = len(chosen) > question.limit or len(page.rows) < len(results)
        cursor = ""
        if more:
            cursor = cursor_text(Position(position.offset + len(page.rows), position.known_at), question.asked)
        said = tuple(dict.fromkeys(notices))
        return Answer(tuple(page.rows), page.tokens, more, cursor, notices=said, has_room=page.has_room)

    def _results(self, question: Question, chosen: Sequence[tuple[Proposal, EntityRow | None]]) -> Iterator[Result]:
        """The rows with what the log says; what was erased in this very moment says nothing."""
        said = self._snapshot.words.said([proposal.text for proposal, _ in chosen])
        rows = [row for _, row in chosen if row is not None]
        worded = {id(row): entity for row, entity in self._snapshot.worded(rows)}
        for proposal, row in chosen:
            entity = worded.get(id(row)) if row is not None else None
            if proposal.text.id in said and (row is None or entity is not None):
                found = _result(question.profile, proposal, said[proposal.text.id], row=row, entity=entity)
                yield replace(found, foreign=True) if self._snapshot.foreign else found

    def _of_graph(
        self, question: Question, as_of: AsOf, hits: Sequence[Hit], notices: list[str]
    ) -> dict[str, list[lanes.LaneHit]]:
        if self._graph is None:
            return {}
        try:
            named = lanes.entities_named(self._graph, self._session, question.text, as_of)
            starts = [
                (EntityRef(named.row.entity.entity_type, named.row.entity.name), 1.0)
                for named in named
                if named.row.entity.entity_type not in lanes.BACKGROUND
            ]
            # From what words alone have found it is a long way: it is gone only where relations are asked for.
            for hit in hits[:STARTS] if starts or asks_for_relations(question.text) else ():
                if hit.text.entity:
                    starts.append((EntityRef(*json.loads(hit.text.entity)), hit.score / hits[0].score))
            walked = lanes.traversal(self._graph, self._session, starts, as_of)
        except ZaxyError as error:
            notices.append(f"the graph does not take part: {error.message}")
            return {}
        return {"exact": lanes.exact(named), "traversal": walked}

    def _propose(self, proposals: dict[int, Proposal], seqs: Iterable[int], as_of: AsOf) -> None:
        """Take up events that words did not find."""
        missing = set(seqs) - proposals.keys()
        for text in self._snapshot.first_texts(missing) if missing else ():
            if not as_of.valid_at or text.time <= as_of.valid_at:
                proposals[text.seq] = Proposal(text)

    def _holding(
        self,
        best: Sequence[Proposal],
        *,
        as_of: AsOf,
        page: int,
        doubts: tuple[list[str], list[Proposal], dict[int, Text]],
    ) -> Iterator[tuple[Proposal, EntityRow | None]]:
        """The proposals that are so at the moment asked for: an event whose own row was closed is not, and is `ended`.
        In its place comes the event that says what is so of the same thing now, by which it is `replaced`.

        Of events that the graph has not come to nobody knows, and they are let through.
        """
        notices, ended, replaced = doubts
        size = min(page + 2, CHECKED_TOGETHER)
        given: set[int] = set()
        for start in range(0, len(best), size):
            chunk = [proposal for proposal in best[start : start + size] if proposal.score > 0]
            rows = self._rows(chunk, as_of, notices)
            held = {one: rows.get((one.seq, one.text.entity)) if rows is not None else None for one in chunk}
            over = {
                one: None
                for one, row in held.items()
                if rows is not None and row is None and one.seq <= self._snapshot.followed
            }
            ended += over
            now = self._said_now(list(over), as_of, notices) if over else {}
            for one, row in held.items():
                if one in over and one not in now:
                    continue
                proposal, row = now.get(one, (one, row))
                if one in now:
                    replaced.setdefault(proposal.seq, one.text)
                if proposal.seq not in given:
                    given.add(proposal.seq)
                    yield proposal, row

    def _said_now(
        self, ended: Sequence[Proposal], as_of: AsOf, notices: list[str]
    ) -> dict[Proposal, tuple[Proposal, EntityRow]]:
        """Of what no longer holds: what is so of the same thing at that moment, with its score."""
        about = [one for one in ended if one.text.entity]
        if self._graph is None or not about:
            return {}
        things = [EntityRef(*json.loads(one.text.entity)) for one in about]
        try:
            rows = present_of(self._graph, self._session, things, as_of=as_of)
        except ZaxyError as error:
            notices.append(f"the graph does not take part, and what is so now may be missing: {error.message}")
            return {}
        now = {one: row for one, row in zip(about, rows, strict=True) if row is not None}
        texts = {text.seq: text for text in self._snapshot.first_texts({row.opened_seq for row in now.values()})}
        return {one: (one.said_by(texts[row.opened_seq]), row) for one, row in now.items() if row.opened_seq in texts}

    def _rows(
        self, proposals: Sequence[Proposal], as_of: AsOf, notices: list[str]
    ) -> dict[tuple[int, str], EntityRow] | None:
        if self._graph is None:
            return None
        try:
            rows = self._graph.rows_of_events(self._session, [proposal.seq for proposal in proposals], as_of)
        except ZaxyError as error:
            notices.append(f"the graph does not take part, and what was superseded is not left out: {error.message}")
            return None
        keys = entity_keys([EntityRef(row.entity.entity_type, row.entity.name) for row in rows])
        return {(row.opened_seq, key): row for row, key in zip(rows, keys, strict=True)}


def _about_literals(found: Passages, question: str) -> list[str]:
    """What there is to say about phrases and identifiers that were asked for."""
    asked = ", ".join(found.literals.shown)[:MAX_NOTICE_CHARS]
    if found.partly:
        return [f"no passage has all of {asked}: these have some of it"]
    if asked and not found.found:
        return [f"no passage has {asked} as it stands: look for its words without quotation marks, or ask memory_query"]
    wanted = tokens.wanted(question)
    return [] if wanted.words or wanted.identifiers or wanted.phrases else [NOTHING_ASKED]


def _result(profile: str, proposal: Proposal, said: Said, *, row: EntityRow | None, entity: Entity | None) -> Result:
    hit, (event, passage, about, citation) = proposal.hit, said
    parts = {}
    if hit is not None:
        parts = {"words": hit.words, "nearby": hit.nearby, "episode": hit.episode, "speaker": hit.speaker}
        parts = {
            name: round(value, 4) for name, value in {**parts, "month": hit.month, "named": hit.named}.items() if value
        }
    return Result(
        content=passage.text,
        citation=citation,
        seq=event.seq,
        lane=proposal.lane,
        score=proposal.score,
        steps=proposal.steps,
        profile=profile,
        event_type=event.type,
        actor=passage.speaker or event.actor,
        valid_from=row.valid_from if row else passage.time,
        valid_to=row.valid_to if row else "",
        entity_name=entity.name if entity else about.name if about else "",
        entity_type=about.entity_type if about else "",
        metadata={"kind": passage.kind, **passage.metadata},
        parts=parts,
        summary=entity.summary if entity else "",
        properties=entity.properties if entity else {},
        meaning=proposal.meaning,
    )


def _invalid(message: str, remediation: str) -> ZaxyError:
    return InvalidRequest(message, remediation)
