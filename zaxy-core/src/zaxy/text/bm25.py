"""BM25: what a word that was asked for weighs, and what the words of a text are worth together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from zaxy.text.tokens import BEGINNING

NO_SHARES: Mapping[str, float] = MappingProxyType({})
K1, B = 0.9, 0.4
PICK_K1, PICK_B = 1.2, 0.75
"""What candidates are picked by: a long text, which has a little of everything, must not push out the short ones."""


class Term(NamedTuple):
    """A word that was asked for."""

    term: str
    spaced: str
    """As it stands in a passage."""
    weight: float
    """Its inverse document frequency."""


def terms_of(
    asked: Sequence[str], counts: Mapping[str, int], passages: int, shares: Mapping[str, float] = NO_SHARES
) -> list[Term]:
    """The words that occur, in the order in which they were asked for; with the share of its weight that one counts."""
    return [
        Term(term, spaced(term), weight(counts[term], passages) * shares.get(term, 1.0))
        for term in asked
        if counts.get(term)
    ]


def spaced(term: str) -> str:
    """A term as it stands among the words of a passage; one that is a beginning ends in a star."""
    return f" {term[:-1]}" if term.endswith(BEGINNING) else f" {term} "


def weight(count: int, passages: int) -> float:
    return math.log(1 + (passages - count + 0.5) / (count + 0.5))


def scores(texts: Iterable[tuple[Iterable[tuple[int, int]], float]], weights: Sequence[float]) -> list[float]:
    """Of texts, each given by the words that occur in it and its length relative to the average one. A word is given
    by its number and how often it occurs.

    One loop for all of them: there are hundreds, and a call for each would take as long as the sums.
    """
    found = []
    for times, length in texts:
        fullness = K1 * (1 - B + B * length)
        total = 0.0
        for number, count in times:
            total += weights[number] * count / (count + fullness)
        found.append((K1 + 1) * total)
    return found


def pick_scores(texts: Iterable[tuple[str, float, Iterable[int]]], terms: Sequence[Term]) -> list[float]:
    """What texts are worth as candidates. Each is given by its words, its length relative to the average one, and the
    numbers of the terms that it may have. One loop for all of them, as above."""
    found = []
    for text, length, among in texts:
        fullness = PICK_K1 * (1 - PICK_B + PICK_B * length)
        total = 0.0
        for number in among:
            _, as_it_stands, weight = terms[number]
            if count := text.count(as_it_stands):
                total += weight * count / (count + fullness)
        found.append(total)
    return found


@lru_cache(64)
def pick_factors(max_length: int, average: float) -> list[float]:
    """By length: what a word that occurs once adds to the worth of a candidate, as a factor of its weight.

    No length stands for one that is not known, which is taken for the average one.
    """
    lengths = [average, *range(1, max_length + 1)]
    return [1 / (1 + PICK_K1 * (1 - PICK_B + PICK_B * length / average)) for length in lengths]
