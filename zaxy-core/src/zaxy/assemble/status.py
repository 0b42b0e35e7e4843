"""Questions about where things stand: what was decided, blocks, is open, comes next, failed, and where we were.

The words of such a question name states, and what is left of it is its topic. The rows of those states answer it: of
the topic those whose words fit, without one the newest.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from zaxy.api.models import Entity, EntityRow
from zaxy.assemble.features import Weighed, coverages, weighed
from zaxy.assemble.standing import closed_by, has_state, is_closed, last_of_each
from zaxy.assemble.working_set import open_rows
from zaxy.retrieve.question import NUMBER, REASON, TIME, Asked, AskedWord
from zaxy.retrieve.results import Result
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text.status_words import (
    BLOCKED,
    DECIDED,
    DONE,
    FAILED,
    GOALS,
    LEFT_OFF,
    NEXT,
    OPEN,
    PROBLEMS,
    TASKS,
    StatusWords,
    status_words,
)  # fmt: skip
from zaxy.text.tokens import UNSPACED, WORDS, folded, stems_of_each

MAX_ROWS = 6
"""Rows that answer such a question without a topic."""
MAX_TOPIC_ROWS = 3
LOOKBACK = 100
"""The newest rows of a kind among which a topic is looked for; older ones are found by their words."""
TELLING = 0.45
"""The weight from which on a word that is left names a topic."""
FITS, NEAR_BEST = 0.5, 0.75
"""The share of the topic that a row must have, and how near it must come to the best one."""

NEVER_A_STATE = (TIME, NUMBER, REASON)
"""Kinds of answers; `where` and the `wie` of `wie weit` may ask how far something is."""
_TASK, _ISSUE, _EVENT = ("task", "assignment"), ("issue", "conflict"), ("event",)
_WORDS_OF_AGENTS = ("handoff", "hook_checkpoint", *_EVENT)
GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    DECIDED: (("decision", *_EVENT),),
    BLOCKED: ((*_ISSUE, *_TASK, "verification", *_EVENT),),
    OPEN: ((*_TASK, *_ISSUE, "verification", "decision", *_EVENT),),
    NEXT: (("handoff",), (*_TASK, *_EVENT), ("goal",)),
    LEFT_OFF: (_WORDS_OF_AGENTS, _TASK, _ISSUE, ("decision",), ("goal",)),
    FAILED: (("verification", "command_run", *_ISSUE, *_EVENT),),
    DONE: ((*_TASK, *_ISSUE, "goal"),),
    GOALS: (("goal",),),
    TASKS: (_TASK,),
    PROBLEMS: ((*_ISSUE, "verification", *_EVENT),),
}
"""The types of rows that each state is asked of, in the order in which they are shown."""
NAMED_KINDS = frozenset((DECIDED, GOALS, TASKS, PROBLEMS))
"""States that say which kind of thing is meant: beside another one, they only say of what it is asked."""
OF_TOPIC = {OPEN: ("handoff",), LEFT_OFF: ("verification",), DONE: ("verification",)}
"""More types where a topic is named."""


class StatusQuestion(NamedTuple):
    states: frozenset[str]
    topic: Asked
    """The words that are left when those of the states are taken away."""

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The types to look among. A kind that is named, such as decisions, leaves out what else may be open."""
        named = [group for kind in NAMED_KINDS if kind in self.states for group in GROUPS[kind]]
        found = [group for state in GROUPS if state in self._states for group in GROUPS[state]]
        if self.topic.words:
            found += [OF_TOPIC[state] for state in OF_TOPIC if state in self._states]
        only = frozenset(chain.from_iterable(named)) - {*_EVENT}
        both = [tuple([kind for kind in group if kind in only]) for group in found]
        return list(dict.fromkeys(filter(None, both))) or list(dict.fromkeys([*found, *named]))

    @property
    def _states(self) -> frozenset[str]:
        """The states that are named beside a kind; those of the kind if there are none."""
        return self.states - NAMED_KINDS or self.states

    def keeps(self, entity: Entity) -> bool:
        """Whether a row is in one of the states."""
        of_topic = bool(self.topic.words)
        return any(has_state(entity, state, of_topic=of_topic) for state in self._states)


class StandingRows(NamedTuple):
    answering: Sequence[Weighed]
    beside: Sequence[Weighed] = ()
    """The last handoff, where no row fits the topic: it may call the thing by other words."""

    @property
    def results(self) -> list[Result]:
        return [row.result for row in (*self.answering, *self.beside)]

    def without(self, citations: Container[str]) -> StandingRows:
        return StandingRows(
            *[[row for row in rows if row.result.citation not in citations] for rows in (self.answering, self.beside)]
        )


def status_question(query: str, asked: Asked) -> StatusQuestion | None:
    """What a question asks of where things stand; None for any other question."""
    said = status_words(query)
    topic = tuple(_topic(asked, said)) if said.states else ()
    if not said.states or (topic and asked.kind and (LEFT_OFF not in said.states or asked.kind in NEVER_A_STATE)):
        return None  # who, when, where, why and how many ask for something else about the topic
    return StatusQuestion(said.states, Asked(topic, ""))


def _topic(asked: Asked, said: StatusWords) -> Iterator[AskedWord]:
    left = frozenset(WORDS.findall(said.rest))
    for word in asked.words:
        text = folded(word.text)
        stands_alone = WORDS.fullmatch(text) is not None and UNSPACED.search(text) is None
        if word.weight >= TELLING and (text in left or (not stands_alone and text in said.rest)):
            yield word


def status_rows(snapshot: Snapshot, asking: StatusQuestion, *, asked: Asked, found: Sequence[Weighed]) -> StandingRows:
    """The rows that answer, newest first. `found` is what recall has found on the question."""
    invented = snapshot.current(_EVENT, LOOKBACK)
    closed = closed_by(invented)

    def choose(rows: Sequence[EntityRow]) -> list[EntityRow]:
        return [row for row in last_of_each(rows) if asking.keeps(row.entity) and not is_closed(row, closed)]

    groups = [[kind for kind in group if kind not in _EVENT] for group in asking.groups]
    if asking.topic.words:
        rows = [choose(of_group) for of_group in snapshot.current_of_each(groups, LOOKBACK)]
    else:
        rows = open_rows(snapshot.current_of_each, groups, MAX_ROWS, choose=choose)
    for group, of_group in zip(asking.groups, rows, strict=True):
        of_group += choose(invented) if _EVENT[0] in group else []
        of_group.sort(key=_newest_first)
    if not asking.topic.words:
        return StandingRows(weighed(asked, _results(snapshot, _in_turn(rows))))
    every = list(chain.from_iterable(rows))
    fitting = _on_topic(snapshot, asking, asked=asked, rows=every, found=found)
    goes_on = not fitting and not asking.states.isdisjoint((NEXT, LEFT_OFF))
    handoffs = [row for row in every if row.entity.entity_type == "handoff"][:goes_on]
    return StandingRows(fitting, weighed(asked, _results(snapshot, handoffs)))


def _newest_first(row: EntityRow) -> int:
    return -row.opened_seq


def _in_turn(groups: Sequence[Sequence[EntityRow]]) -> list[EntityRow]:
    """The newest of every group before the second of any, as many as are shown; each group together."""
    ranked = [(rank, number, row) for number, group in enumerate(groups) for rank, row in enumerate(group)]
    chosen = sorted(ranked, key=lambda one: one[:2])[:MAX_ROWS]
    return [row for _, _, row in sorted(chosen, key=lambda one: (one[1], one[0]))]


def _on_topic(
    snapshot: Snapshot,
    asking: StatusQuestion,
    *,
    asked: Asked,
    rows: Sequence[EntityRow],
    found: Sequence[Weighed],
) -> list[Weighed]:
    """The rows whose words fit the topic, of the graph and of what recall has found, newest first."""
    newest = {row.opened_seq for row in rows}
    recalled = {
        one.result.seq: one for one in found if one.result.seq not in newest and _is_asked_for(asking, one.result)
    }
    words = stems_of_each([_words(row.entity) for row in rows])
    said = [frozenset().union(*one.statements.stems, one.statements.label) for one in recalled.values()]
    shares = coverages(asking.topic, [*words, *said])
    by_seq = dict(zip([*[row.opened_seq for row in rows], *recalled], shares, strict=True))
    least = max(FITS, NEAR_BEST * max(shares, default=0.0))
    chosen = sorted([seq for seq, share in by_seq.items() if share >= least], reverse=True)[:MAX_TOPIC_ROWS]
    worded = weighed(asked, _results(snapshot, [row for row in rows if row.opened_seq in chosen]))
    known = recalled | {one.result.seq: one for one in worded}
    return [known[seq] for seq in chosen if seq in known]


def _is_asked_for(asking: StatusQuestion, result: Result) -> bool:
    entity = Entity(result.entity_name, result.entity_type, result.summary, result.properties)
    kinds = chain.from_iterable(asking.groups)
    return entity.entity_type not in _EVENT and entity.entity_type in kinds and asking.keeps(entity)


def _words(entity: Entity) -> str:
    """What the graph has of a row: enough to see whether it fits. What is shown is made from the log."""
    values = [str(value) for value in entity.properties.values() if isinstance(value, str | list)]
    return " ".join((entity.name, entity.summary, *values))


def _results(snapshot: Snapshot, rows: Sequence[EntityRow]) -> list[Result]:
    found = snapshot.cited_rows(rows)
    events = {event.seq: event for event in snapshot.events([one.row.opened_seq for one in found])}
    return [
        Result(
            content=passage.text,
            citation=citation,
            seq=row.opened_seq,
            lane="exact",
            score=1.0,
            steps=(),
            profile="status",
            event_type=events[row.opened_seq].type,
            actor=events[row.opened_seq].actor,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            entity_name=entity.name,
            entity_type=entity.entity_type,
            metadata={"kind": "event", **passage.metadata},
            summary=entity.summary,
            properties=entity.properties,
            foreign=snapshot.foreign,
        )
        for row, entity, passage, citation in found
    ]
