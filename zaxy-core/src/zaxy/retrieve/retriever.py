"""One question, all lanes, one list: what holds at the moment asked for, each row with its citation and its sum."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from zaxy.api.models import AsOf, Candidate, EntityRef, EntityRow, Query
from zaxy.errors import InvalidRequest, TooLarge, ZaxyError
from zaxy.extract.names import entity_key
from zaxy.graph.dated import DatedGraph
from zaxy.plugins.host import BoundProvider
from zaxy.retrieve import lanes
from zaxy.retrieve.fusion import Proposal, add, copies_last, of_words, ordered, weigh
from zaxy.retrieve.profiles import profile_named
from zaxy.retrieve.results import Answer, Position, Result, cursor_text, position_of
from zaxy.retrieve.router import asks_for_relations, route
from zaxy.text import tokens
from zaxy.text.index import TextIndex
from zaxy.text.ranking import Hit
from zaxy.text.schema import Content
from zaxy.token_count import count_tokens

NOW = AsOf()
UNBOUNDED = 1 << 40
"""Tokens: a budget that is not even counted."""
MAX_QUESTION_CHARS = 4096
MAX_RESULTS = 100
SECONDS_FOR_A_LANE = 0.5
PROPOSED_BY_OTHERS = 50
CHECKED_TOGETHER = 12
FOR_THE_REPLY = 40
ROW_TOKENS, STEP_TOKENS, PART_TOKENS = 160, 34, 11
"""Tokens of a row besides what it says: its fields, and the parts of its score."""
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
        if any("\ud800" <= character <= "\udfff" for character in self.text):
            raise _invalid("the query is not valid Unicode: it has half a character", "Send it as UTF-8.")
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


class Retriever:
    """`backend` is None where there is no graph: words alone answer then."""

    def __init__(self, texts: TextIndex, backend: DatedGraph | None, outside: Sequence[BoundProvider] = ()) -> None:
        self._texts = texts
        self._backend = backend
        self._outside = outside

    def query(
        self, question: Question, head: int, graph: int | None = None, hits: Sequence[Hit] | None = None
    ) -> Answer:
        """What answers the question among the first `head` events; the graph has followed the first `graph` of them.

        `hits`: what the words find, if the caller knows it already.
        """
        position = position_of(question.cursor, question.asked) if question.cursor else Position(0, head)
        known_at = min(position.known_at, head, head if question.as_of.known_at is None else question.as_of.known_at)
        as_of = AsOf(question.as_of.valid_at, known_at)
        held_at = AsOf(self._backend.moment(question.session, question.as_of) if self._backend else "", known_at)
        wanted = tokens.wanted(question.text)
        profile = route(question.text, wanted, profile_named(question.profile))
        notices: list[str] = []
        if hits is None:
            hits = self._texts.hits(Query(question.text, question.session, question.limit, as_of))
        proposals = of_words(hits, profile)
        own = self._of_graph(question, held_at, hits, notices)
        outside = list(self._of_plugins(question, as_of, notices))
        others = [*own.items(), *outside]
        self._propose(question.session, proposals, {found.seq for _, of in others for found in of}, as_of)
        for lane, found in own.items():
            add(proposals, found, lane=lane, weight=getattr(profile, lane), best=1.0)
        for lane, found in outside:
            # Our own lanes' scores are shares already; a plugin's have a scale of their own.
            top = max((item.score for item in found), default=1.0)
            add(proposals, found, lane=lane, weight=profile.outside, best=top)
        texts = [proposal.text for proposal in proposals.values()]
        feedback = self._texts.reinforcement(question.session, texts, known_at)
        newest = as_of.valid_at or self._texts.newest(question.session, known_at)
        newest = newest or max((text.time for text in texts), default="")  # it was wiped a moment ago
        weigh(proposals.values(), profile, newest, feedback)
        if not (wanted.words or wanted.identifiers or wanted.phrases):
            notices.append("the query has nothing but common words and punctuation: name what you look for")
        ended: list[Proposal] = []
        graph = head if graph is None else graph
        best = ordered(proposals.values())
        held = self._holding(question, best, as_of=held_at, notices=notices, graph=graph, ended=ended)
        rows = self._results(question, copies_last(held, profile))
        answer = _page(question, islice(rows, position.offset, None), Position(position.offset, known_at), notices)
        last = min((result.score for result in answer.results), default=0.0) if answer.truncated else 0.0
        before = [(proposal, None) for proposal in ended if proposal.score >= last][:MAX_RESULTS]
        return replace(answer, superseded=tuple(self._results(question, before)))

    def verbatim(self, question: Question, head: int, hits: Sequence[Hit] | None = None) -> Answer:
        """The passages whose words fit, as they stand in the log: no graph, no lane but the words."""
        position = position_of(question.cursor, question.asked) if question.cursor else Position(0, head)
        as_of = AsOf(question.as_of.valid_at, min(position.known_at, head))
        if hits is None:
            hits = self._texts.hits(Query(question.text, question.session, question.limit, as_of))
        profile = profile_named(question.profile)
        found = of_words(hits, profile._replace(keyword=1.0, verbatim=1.0)).values()
        rows = self._results(question, ((proposal, None) for proposal in found))
        return _page(question, islice(rows, position.offset, None), position, [])

    def _results(self, question: Question, found: Iterable[tuple[Proposal, EntityRow | None]]) -> Iterator[Result]:
        """The rows with their content; what was erased in this very moment has none."""
        for proposal, row in found:
            contents = self._texts.contents(question.session, [proposal.text.id])
            if proposal.text.id in contents:
                yield _result(question, proposal, row, contents[proposal.text.id])

    def _of_graph(
        self, question: Question, as_of: AsOf, hits: Sequence[Hit], notices: list[str]
    ) -> dict[str, list[lanes.LaneHit]]:
        if self._backend is None:
            return {}
        try:
            named = lanes.entities_named(self._backend, question.session, question.text, as_of)
            starts = [
                (EntityRef(named.row.entity.entity_type, named.row.entity.name), 1.0)
                for named in named
                if named.row.entity.entity_type not in lanes.BACKGROUND
            ]
            # From what words alone have found it is a long way: it is gone only where relations are asked for.
            for hit in hits[:STARTS] if starts or asks_for_relations(question.text) else ():
                if hit.text.entity:
                    starts.append((EntityRef(*json.loads(hit.text.entity)), hit.score / hits[0].score))
            walked = lanes.traversal(self._backend, question.session, starts, as_of)
        except ZaxyError as error:
            notices.append(f"the graph does not take part: {error.message}")
            return {}
        return {"exact": lanes.exact(named), "traversal": walked}

    def _of_plugins(
        self, question: Question, as_of: AsOf, notices: list[str]
    ) -> Iterator[tuple[str, list[lanes.LaneHit]]]:
        query = Query(question.text, question.session, PROPOSED_BY_OTHERS, as_of)
        for lane in self._outside:
            try:
                found = lane.call("search", query, budget=SECONDS_FOR_A_LANE)
            except ZaxyError as error:
                notices.append(f"the lane {lane.name} does not take part: {error.message}")
                continue
            if not isinstance(found, list | tuple):
                notices.append(f"the lane {lane.name} does not take part: it returned no list of candidates")
                continue
            fitting = [item for item in found[:PROPOSED_BY_OTHERS] if _fits(item, as_of)]
            if len(fitting) < len(found):
                notices.append(f"the lane {lane.name} proposed {len(found) - len(fitting)} events that it cannot mean")
            best: dict[int, float] = {}
            for item in fitting:
                best[item.seq] = max(float(item.score), best.get(item.seq, 0.0))
            yield lane.name, [lanes.LaneHit(seq, score) for seq, score in best.items()]

    def _propose(self, session: str, proposals: dict[int, Proposal], seqs: Iterable[int], as_of: AsOf) -> None:
        """Take up events that words did not find."""
        for text in self._texts.texts(session, set(seqs) - proposals.keys()):
            if not as_of.valid_at or text.time <= as_of.valid_at:
                proposals[text.seq] = Proposal(text.seq, text)

    def _holding(
        self,
        question: Question,
        best: Sequence[Proposal],
        *,
        as_of: AsOf,
        notices: list[str],
        graph: int,
        ended: list[Proposal],
    ) -> Iterator[tuple[Proposal, EntityRow | None]]:
        """The proposals that are so at the moment asked for: an event whose own row was closed is not, and is `ended`.

        Of events that the graph has not come to nobody knows, and they are let through.
        """
        for start in range(0, len(best), CHECKED_TOGETHER):
            chunk = [proposal for proposal in best[start : start + CHECKED_TOGETHER] if proposal.score > 0]
            rows = self._rows(question.session, chunk, as_of, notices)
            for proposal in chunk:
                row = rows.get((proposal.seq, proposal.text.entity)) if rows is not None else None
                if rows is None or row is not None or proposal.seq > graph:
                    yield proposal, row
                else:
                    ended.append(proposal)

    def _rows(
        self, session: str, proposals: Sequence[Proposal], as_of: AsOf, notices: list[str]
    ) -> dict[tuple[int, str], EntityRow] | None:
        if self._backend is None:
            return None
        try:
            rows = self._backend.rows_of_events(session, [proposal.seq for proposal in proposals], as_of)
        except ZaxyError as error:
            notices.append(f"the graph does not take part, and what was superseded is not left out: {error.message}")
            return None
        return {(row.opened_seq, entity_key(EntityRef(row.entity.entity_type, row.entity.name))): row for row in rows}


def _fits(item: object, as_of: AsOf) -> bool:
    if not isinstance(item, Candidate) or type(item.seq) is not int or type(item.score) not in (int, float):
        return False
    return 0 < item.seq <= (as_of.known_at or 0) and 0 < item.score < math.inf


def _result(question: Question, proposal: Proposal, row: EntityRow | None, content: Content) -> Result:
    text, hit = proposal.text, proposal.hit
    parts = {}
    if hit is not None:
        parts = {"words": hit.words, "nearby": hit.nearby, "episode": hit.episode, "speaker": hit.speaker}
        parts = {
            name: round(value, 4) for name, value in {**parts, "month": hit.month, "named": hit.named}.items() if value
        }
    entity_type, entity_name = json.loads(text.entity) if text.entity else ("", "")
    return Result(
        content=content.text,
        citation=f"eventloom://{question.session}/events/{text.seq}#{content.hash}",
        seq=text.seq,
        lane=proposal.lane,
        score=proposal.score,
        steps=tuple(proposal.steps),
        profile=question.profile,
        event_type=content.type,
        actor=text.speaker or text.actor,
        valid_from=row.valid_from if row else text.time,
        valid_to=row.valid_to if row else "",
        entity_name=row.entity.name if row else entity_name,
        entity_type=entity_type,
        metadata={"kind": text.kind, **json.loads(content.metadata)},
        parts=parts,
        summary=row.entity.summary if row else "",
        properties=row.entity.properties if row else {},
    )


def _page(question: Question, rows: Iterator[Result], position: Position, notices: Sequence[str]) -> Answer:
    """As many rows as were asked for and fit into the budget; the first one always does."""
    results: list[Result] = []
    used = FOR_THE_REPLY
    more = False
    for row in rows:
        cost = _cost(row) if question.max_tokens != UNBOUNDED else 0
        if len(results) == question.limit or (results and used + cost > question.max_tokens):
            more = True
            break
        results.append(row)
        used += cost
    cursor = ""
    if more:
        cursor = cursor_text(Position(position.offset + len(results), position.known_at), question.asked)
    return Answer(tuple(results), used, more, cursor, notices=tuple(dict.fromkeys(notices)))


def _cost(row: Result) -> int:
    """The tokens of a row as JSON, near enough: counting all its figures would take longer than finding it."""
    text = count_tokens(f"{row.content} {row.entity_name} {row.citation}")
    return text + ROW_TOKENS + STEP_TOKENS * len(row.steps) + PART_TOKENS * len(row.parts)


def _invalid(message: str, remediation: str) -> ZaxyError:
    return InvalidRequest(message, remediation)
