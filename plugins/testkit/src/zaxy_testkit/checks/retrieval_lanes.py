"""Checks of `retrieval_lanes`; with the capability `follower`, those of everything that follows the log too."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from zaxy.api import ZaxyError
from zaxy.api.models import AsOf, Candidate, ExtractedEvent, Query
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, followers, lane_abilities
from zaxy_testkit.checks.followers import follow, history, with_content
from zaxy_testkit.checks.shape import check_shape, expect_ability

POINT = "retrieval_lanes"

EVENTS = 12
BOUNDS = {"cosine": (-1.0, 1.0), "probability": (0.0, 1.0)}
"""Of scores, by the scales that have any."""
MANY_EVENTS = 1400
MAX_PASSES = 25
"""What a question may cost, in passes over the words of all events; the built-in lane takes less than one."""
FERRY = "The ferry to Bornholm leaves at nine."
FERRY_SEQ = 5
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

    A follower that finds only some things brings a history and a question of its own. Any other lane is filled by
    `ready`, and the author says which question it then finds several events for.
    """

    question: str = "What was remark 7 on the lighthouse?"
    session: str = "asked"
    ready: Callable[[Any], None] = nothing_to_do
    scale: str = ""
    """As the manifest has it."""
    history: Callable[[str, int], Sequence[ExtractedEvent]] = history
    """Called with a session and a count of at least 12: that many events, several of which the question finds."""
    best: int = 0
    """The seq that the question must find first in a history of the case's own."""

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
            follow(lane, case.history(case.session, EVENTS))
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
    expect_ability("follower", bench.make(case))


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
def its_scores_are_on_its_scale(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Give what the manifest says: cosines are from -1 to 1, probabilities from 0 to 1. The core takes no others."""
    with answering(case, bench) as lane:
        scores = [candidate.score for candidate in found(lane, case.asking(EVENTS * 2))]
    low, high = BOUNDS.get(case.scale, (-math.inf, math.inf))
    fits = all(low <= score <= high for score in scores)
    expect(fits, f"on the scale {case.scale} scores are from {low:g} to {high:g}, and they are {scores!r}")


@check(POINT, needs="follower")
def what_fits_best_comes_first(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Let a word count the more, the fewer events have it: words such as "when does" are in all of them."""
    is_own = case.history is not history
    events = case.history(case.session, EVENTS) if is_own else ferry_among_keepers(case.session)
    questions = (case.question,) if is_own else ("When does the ferry leave?", "ferry to Bornholm")
    wanted = case.best if is_own else FERRY_SEQ
    with closing(bench.make(case)) as lane:
        follow(lane, events)
        for question in questions:
            best = found(lane, Query(question, case.session, 10))[:1]
            right = [candidate.seq for candidate in best] == [wanted]
            expect(right, f"{question!r} should find event {wanted} first, and found {best!r}")


def ferry_among_keepers(session: str) -> list[ExtractedEvent]:
    """Twelve events that ask like the question, and one, the fifth, that answers it."""
    events = history(session, EVENTS)
    keepers = [with_content(event, "When does the keeper of the tower leave?") for event in events]
    keepers[FERRY_SEQ - 1] = with_content(events[FERRY_SEQ - 1], FERRY)
    return keepers


@check(POINT)
def its_candidates_are_events_of_the_session(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Give the seqs of events that you were fed, each once: others cannot be cited, and the core drops them."""
    with answering(case, bench) as lane:
        seqs = [candidate.seq for candidate in found(lane, case.asking(EVENTS * 2))]
    last = EVENTS if case.follows else math.inf
    there = all(type(seq) is int and 0 < seq <= last for seq in seqs)
    expect(there and len(set(seqs)) == len(seqs), f"each must be an event of the session, once, and they are {seqs!r}")


@check(POINT)
def it_proposes_nothing_that_was_not_known_then(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Search among events up to `query.as_of.known_at`, where it is set, before you cut the list at the limit."""
    with answering(case, bench) as lane:
        known_at = min((candidate.seq for candidate in found(lane, case.asking(EVENTS * 2))), default=1)
        then = found(lane, Query(case.question, case.session, 1, AsOf(known_at=known_at)))
    seqs = [candidate.seq for candidate in then]
    expect(seqs == [known_at], f"as of event {known_at} it should find that event and no later one, and found {seqs}")


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
            follow(lane, case.history("another", EVENTS + 3))
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
def a_question_costs_no_more_than_some_passes_over_the_events(case: RetrievalLaneCase, bench: Workbench) -> None:
    """Look up in an index what you can: a read waits half a second for a lane, and its events are many."""
    events = case.history(case.session, MANY_EVENTS)
    with closing(bench.make(case)) as lane:
        follow(lane, events, batch_size=MANY_EVENTS)
        asked = _cheapest(lambda: lane.search(case.asking()))
    one_pass = _cheapest(lambda: [re.findall(r"\w+", str(one.event.payload).casefold()) for one in events])
    expect(
        asked <= MAX_PASSES * one_pass,
        f"a question may cost {MAX_PASSES} passes over the words of all events, and costs {asked / one_pass:.0f}",
    )


def _cheapest(action: Callable[[], object]) -> float:
    """The processor time of the best of three runs, the first of which may have to open files."""
    costs = []
    for _ in range(3):
        begun = time.process_time()
        action()
        costs.append(time.process_time() - begun)
    return min(costs)


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
lane_abilities.register()
