"""Asks a real memory, with some of its lanes, and notes at which place the record came."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

from bench.meaning.histories import History, Question
from zaxy.api import Draft
from zaxy.memory import Memory

SESSION = "history"
LIMIT = 20
ROOM = 100_000
"""Tokens: no result is left out for its length."""
WARM_UPS = 20
"""Questions after which a lane must take part: it may load a model first, which takes longer than one reply has."""
DISABLE, WEIGHTS = "ZAXY_PLUGINS_DISABLE", "ZAXY_LANE_WEIGHTS"


class Lanes(NamedTuple):
    """Which lanes are asked, and how much they should and must find."""

    name: str
    plugin: str
    """Of the lane that is asked beside words, and its own name; empty: words are asked alone."""
    goal: float
    """Percent of the records among the first ten."""
    limit: float
    at_least: bool = True

    @property
    def package(self) -> str:
        return f"zaxy-{self.plugin}" if self.plugin else ""

    @property
    def installed(self) -> bool:
        return not self.plugin or is_installed(self.package)

    def is_within_limit(self, share: float) -> bool:
        return share >= self.limit if self.at_least else share <= self.limit


WORDS = Lanes("words", "", 10, 15, at_least=False)
STATIC = Lanes("static", "vectors", 60, 35)
SENTENCE = Lanes("sentence", "sentence-transformers", 80, 70)
ALL = (WORDS, STATIC, SENTENCE)


class NoLane(Exception):
    """What was to be asked cannot be asked."""


class Outcome(NamedTuple):
    history: str
    question: Question
    place: int
    """Of the record among the events that were found, from 1; 0 if it is not there."""


class Answers(NamedTuple):
    outcomes: list[Outcome]
    without: int
    """Questions that were answered without the lane: it failed or took too long."""


def is_installed(package: str) -> bool:
    return any(True for _ in distributions(name=package))


def ask(folder: Path, written: Sequence[History], lanes: Lanes) -> Answers:
    """All questions of all histories, each history in a memory of its own."""
    answers = Answers([], 0)
    with _only(lanes):
        for history in written:
            found = _ask_history(folder / f"{history.name} {lanes.name}", history, lanes.plugin)
            answers = Answers(answers.outcomes + found.outcomes, answers.without + found.without)
    return answers


@contextmanager
def _only(lanes: Lanes) -> Iterator[None]:
    """An environment in which no other lane of meaning is asked, and the lane counts as much as it wants to."""
    others = [one.plugin for one in ALL if one.plugin and one != lanes and one.installed]
    before = {name: os.environ.pop(name, None) for name in (DISABLE, WEIGHTS)}
    os.environ[DISABLE] = ",".join(others)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _ask_history(folder: Path, history: History, lane: str) -> Answers:
    outcomes = []
    without = 0
    folder.mkdir(parents=True)
    with Memory.open(folder) as memory:
        drafts = [Draft(one.type, one.actor, one.payload) for one in history.events]
        recorded = memory.append_many(drafts, SESSION)
        seqs = {one.label: event.seq for one, event in zip(history.events, recorded, strict=True)}
        memory.catch_up_followers(SESSION)
        if lane:
            _warm_up(memory, lane)
        for question in history.questions:
            answer = memory.query(question.ask, SESSION, limit=LIMIT, max_tokens=ROOM)
            if answer.warnings:
                raise RuntimeError(f"memory warns: {answer.warnings}")
            without += bool(lane and _dropped_out(answer.notices, lane))
            found = list(dict.fromkeys(row.seq for row in answer.results))
            seq = seqs[question.record]
            outcomes.append(Outcome(history.name, question, found.index(seq) + 1 if seq in found else 0))
    return Answers(outcomes, without)


def _warm_up(memory: Memory, lane: str) -> None:
    """Ask until the lane takes part."""
    if lane not in [bound.name for bound in memory.recall.host.all("retrieval_lanes")]:
        raise NoLane(f"the lane {lane} is installed and cannot be used: see 'zaxy plugins list'")
    notices: Sequence[str] = ()
    for _ in range(WARM_UPS):
        notices = _dropped_out(memory.query("Is everything ready?", SESSION, limit=1).notices, lane)
        if not notices:
            return
    raise NoLane(notices[0])


def _dropped_out(notices: Sequence[str], lane: str) -> list[str]:
    """What a reply says of a lane that it did not ask, or not about everything."""
    return [notice for notice in notices if f"lane {lane}" in notice]


def found_at(outcomes: Sequence[Outcome], cut: int) -> float:
    """Percent of the records that are among the first `cut`."""
    return 100 * sum(0 < one.place <= cut for one in outcomes) / len(outcomes)
