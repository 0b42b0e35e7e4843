"""Recall, reciprocal rank, and how sure a difference is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple

CUTS = (5, 10, 20)
RESAMPLES = 2000


def recall(found: Sequence[int], gold: Collection[int], cut: int) -> float:
    """The share of the gold events among the first `cut` found."""
    return len(set(found[:cut]) & set(gold)) / len(set(gold))


def reciprocal_rank(found: Sequence[int], gold: Collection[int]) -> float:
    """One over the place of the first gold event; 0 if none was found."""
    return next((1 / place for place, seq in enumerate(found, 1) if seq in gold), 0.0)


def mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures) if figures else 0.0


class Outcome(NamedTuple):
    """What one searcher found for one question."""

    kind: str
    recalls: tuple[float, ...]
    """One for each of CUTS."""
    reciprocal_rank: float


def outcome(kind: str, found: Sequence[int], gold: Collection[int]) -> Outcome:
    return Outcome(kind, tuple(recall(found, gold, cut) for cut in CUTS), reciprocal_rank(found, gold))


class Summary(NamedTuple):
    questions: int
    recalls: tuple[float, ...]
    reciprocal_rank: float


def summary(outcomes: Sequence[Outcome]) -> Summary:
    recalls = tuple(mean([one.recalls[cut] for one in outcomes]) for cut in range(len(CUTS)))
    return Summary(len(outcomes), recalls, mean([one.reciprocal_rank for one in outcomes]))


class Difference(NamedTuple):
    mean: float
    low: float
    high: float


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """The mean difference question by question, with its 95 % interval by bootstrap over the questions."""
    gaps = [our - their for our, their in zip(ours, theirs, strict=True)]
    random = Random(1)
    size = len(gaps)
    means = sorted(sum(gaps[int(random.random() * size)] for _ in range(size)) / size for _ in range(RESAMPLES))
    return Difference(mean(gaps), means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975) - 1])
