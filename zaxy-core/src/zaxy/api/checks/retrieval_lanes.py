"""Checks of `retrieval_lanes`; with the capability `follower`, those of everything that follows the log too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from zaxy.api.checks import Case, CheckFailed, Workbench, check, expect, followers
from zaxy.api.checks.followers import follow, history
from zaxy.api.checks.shape import check_shape, follower_misfits
from zaxy.api.models import Candidate, Query
from zaxy.errors import ZaxyError

POINT = "retrieval_lanes"

EVENTS = 12
ODD_QUESTIONS = (
    "",
    "   \t\n",
    "?!",
    "*",
    '"',
    "'",
    '"an unclosed phrase',
    '" OR 1=1 --',
    "'; DROP TABLE texts; --",
    "AND OR NOT NEAR(",
    "content: lighthouse*",
    "MATCH (n) DETACH DELETE n",
    "the light\0house",
    "\\",
    "%_[^a]",
    "🗼🏖️",
    "灯台 маяк منارة",
    "a" * 4096,
    "lighthouse " * 372,
)


def nothing_to_do(lane: Any) -> None:
    """The checks feed a follower themselves."""


@dataclass(frozen=True)
class RetrievalLaneCase(Case):
    """A lane with the capability `follower` is fed the history that the question below is about.

    Any other lane is filled by `ready`, and the author says which question it then finds several events for.
    """

    question: str = "What was remark 7 on the lighthouse?"
    session: str = "asked"
    ready: Callable[[Any], None] = nothing_to_do

    @property
    def follows(self) -> bool:
        return "follower" in self.capabilities

    def asking(self, limit: int = 10) -> Query:
        return Query(self.question, self.session, limit)


@contextmanager
def answering(case: RetrievalLaneCase, bench: Workbench) -> Iterator[Any]:
    """A lane that knows what the case's question is about."""
    lane = bench.make(case)
    try:
        if case.follows:
            follow(lane, history(case.session, EVENTS))
        case.ready(lane)
        yield lane
    finally:
        if case.follows:
            lane.close()


def found(lane: Any, query: Query) -> list[Candidate]:
    answer = lane.search(query)
    expect(isinstance(answer, Sequence), f"search() must return a finished sequence, and returned {answer!r}")
    return list(answer)


check_shape(POINT)


@check(POINT, needs="follower")
def it_has_the_methods_of_a_follower(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Compare your class with zaxy.api.Follower, or drop the capability `follower` if it has no index of its own."""
    misfits = follower_misfits(bench.make(case))
    expect(not misfits, "; ".join(misfits))


@check(POINT)
def it_finds_what_the_question_is_about(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Let `search` find what was applied as soon as `apply` has returned; other lanes: see what `ready` does."""
    with answering(case, bench) as lane:
        candidates = found(lane, case.asking())
    expect(len(candidates) > 0, f"something should be found for {case.question!r}, and nothing was")


@check(POINT)
def it_gives_no_more_than_was_asked_for(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Cut the list at `query.limit`, after ranking it."""
    with answering(case, bench) as lane:
        for limit in (1, 2):
            candidates = found(lane, case.asking(limit))
            expect(len(candidates) <= limit, f"at most {limit} were asked for, and there came {candidates!r}")


@check(POINT)
def its_candidates_come_best_first(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Give every candidate a finite number as its score, the higher the better, and sort by it."""
    with answering(case, bench) as lane:
        candidates = found(lane, case.asking())
    scores = [candidate.score for candidate in candidates]
    numbers = all(isinstance(score, int | float) and math.isfinite(score) for score in scores)
    expect(numbers and scores == sorted(scores, reverse=True), f"finite scores, falling, were expected: {scores!r}")


@check(POINT)
def the_same_question_gets_the_same_answer(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Break ties by seq, so that nothing depends on the order of a set, on chance or on what was asked before."""
    with answering(case, bench) as lane:
        first, second = (found(lane, case.asking()) for _ in range(2))
    expect(first == second, f"asked twice it gave {first!r} and then {second!r}")


@check(POINT)
def it_keeps_to_the_session_that_was_asked(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Search within `query.session` only, and give nothing for a session that you know nothing of."""
    with answering(case, bench) as lane:
        stray = found(lane, Query(case.question, "never-heard-of", 10))
        expect(not stray, f"a session without events must give no candidates, and gave {stray!r}")
        if case.follows:
            before = found(lane, case.asking(EVENTS * 2))
            follow(lane, history("another", EVENTS + 3))
            after = found(lane, case.asking(EVENTS * 2))
            expect(before == after, f"events of another session changed the answer from {before!r} to {after!r}")


@check(POINT)
def odd_questions_are_answered_or_refused(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Bind the text as a value and quote it for your engine; what you cannot search for, answer with nothing."""
    with answering(case, bench) as lane:
        before = found(lane, case.asking())
        for text in ODD_QUESTIONS:
            try:
                found(lane, Query(text, case.session, 10))
            except ZaxyError:
                continue
            except Exception as error:
                raise CheckFailed(f"{text[:40]!r} must be answered or refused, and raised {error!r}") from error
        after = found(lane, case.asking())
    expect(before == after, f"odd questions changed what is found from {before!r} to {after!r}")


@check(POINT, needs="follower")
def it_writes_nothing_when_it_is_asked(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Leave the index alone in `search`: what it holds must come from the log only, or a rebuild would lose it."""
    with answering(case, bench) as lane:
        before = lane.cursor(case.session), lane.digest(case.session)
        for text in (case.question, "something new"):
            found(lane, Query(text, case.session, 10))
        after = lane.cursor(case.session), lane.digest(case.session)
    expect(before == after, f"asking must leave cursor and digest at {before!r}, and left {after!r}")


@check(POINT, needs="follower")
def it_answers_as_before_when_it_is_reopened(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Store with the cursor all that `search` needs: after a restart the events up to it do not come again."""
    with answering(case, bench) as lane:
        before = found(lane, case.asking())
    with closing(bench.make(case)) as lane:
        after = found(lane, case.asking())
    expect(before == after, f"it gave {before!r}, and after reopening {after!r}")


@check(POINT, needs="follower")
def a_wiped_session_is_not_found(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Drop what you keep in memory too when a session is wiped: its texts may have been erased for good."""
    with answering(case, bench) as lane:
        found(lane, case.asking())
        lane.wipe(case.session)
        left = found(lane, case.asking())
    expect(not left, f"after the wipe nothing should be found, and there was {left!r}")


for each in followers.CHECKS:
    check(POINT, needs="follower")(each)
