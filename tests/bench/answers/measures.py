"""What the outcomes come to: shares, how far confidence can be believed, and the goals they are held against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from bench.answers.asking import Outcome, PairOutcome

ANSWER, ASK = "answer_from_memory", "ask_user"
OTHER_TOPIC = "other_topic"
BINS = 5
"""Of confidence, each with as many outcomes."""


def share(found: Iterable[bool]) -> float | None:
    """In percent; None of nothing."""
    counted = list(found)
    return 100 * sum(counted) / len(counted) if counted else None


class Measure(NamedTuple):
    name: str
    of: Callable[[Sequence[Outcome]], float | None]
    goal: float
    limit: float
    """Where the bench fails: what was reached when the histories were written, less a few questions."""
    at_least: bool = True

    def is_within_limit(self, figure: float | None) -> bool:
        return figure is None or (figure >= self.limit if self.at_least else figure <= self.limit)


def _answerable(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if one.question.answerable]


def _unanswerable(outcomes: Sequence[Outcome], kind: str = "") -> list[Outcome]:
    return [one for one in outcomes if not one.question.answerable and kind in ("", one.question.kind)]


def calibration_error(outcomes: Sequence[Outcome]) -> float | None:
    """How far confidence is from the share of questions that were answered, weighed over bins of equal size."""
    ranked = sorted(outcomes, key=lambda one: one.confidence)
    size = max(len(ranked) // BINS, 1)
    error = 0.0
    for start in range(0, len(ranked), size):
        part = ranked[start : start + size]
        answered = sum(one.shown for one in part) / len(part)
        error += abs(sum(one.confidence for one in part) / len(part) - answered) * len(part)
    return error / len(ranked) if ranked else None


MEASURES = (
    Measure("words shown", lambda all_: share(one.shown for one in _answerable(all_)), 92, 80),
    Measure("cited in 3", lambda all_: share(one.cited for one in _answerable(all_)), 88, 69),
    Measure("answered", lambda all_: share(one.verdict == ANSWER for one in _answerable(all_)), 30, 9),
    Measure("asked back", lambda all_: share(one.verdict == ASK for one in _answerable(all_)), 5, 15, at_least=False),
    Measure("invented", lambda all_: share(one.verdict == ANSWER for one in _unanswerable(all_)), 5, 6, at_least=False),
    Measure("other topic", lambda all_: share(one.verdict == ASK for one in _unanswerable(all_, OTHER_TOPIC)), 92, 85),
)
"""The shares of answerable questions whose words are shown, whose event is cited among the first three, which memory
answers by itself, which it gives back; of unanswerable ones which it answers; of those of another topic which it gives
back."""


class PairMeasure(NamedTuple):
    name: str
    of: Callable[[Sequence[PairOutcome]], float | None]
    goal: float
    at_least: bool = True


def _share_of(pairs: Sequence[PairOutcome], what: str, relation: str, *, typed: bool | None = None) -> float | None:
    """How often something is so of the pairs of one relation."""
    found = [one for one in pairs if one.pair.relation == relation and typed in (None, one.typed)]
    return share(getattr(one, what) for one in found)


PAIR_MEASURES = (
    PairMeasure("newest first, typed", lambda all_: _share_of(all_, "newest_first", "update", typed=True), 90),
    PairMeasure("newest first, talk", lambda all_: _share_of(all_, "newest_first", "update", typed=False), 50),
    PairMeasure("both sides shown", lambda all_: _share_of(all_, "both_shown", "update"), 75),
    PairMeasure("conflicts found, typed", lambda all_: _share_of(all_, "flagged", "conflict", typed=True), 75),
    PairMeasure("conflicts found, talk", lambda all_: _share_of(all_, "flagged", "conflict", typed=False), 0),
    PairMeasure("compatible, flagged", lambda all_: _share_of(all_, "flagged", "compatible"), 8, at_least=False),
)
