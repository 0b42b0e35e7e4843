"""BM25: what a word that was asked for weighs, and what the words of a text are worth together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

K1, B = 0.9, 0.4


class Term(NamedTuple):
    """A word that was asked for."""

    term: str
    spaced: str
    """As it stands in a passage."""
    weight: float
    """Its inverse document frequency."""


def terms_of(asked: Sequence[str], counts: Mapping[str, int], passages: int) -> list[Term]:
    """The words that occur, in the order in which they were asked for."""
    return [Term(term, f" {term} ", weight(counts[term], passages)) for term in asked if counts.get(term)]


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


@lru_cache(64)
def factors(max_length: int, average: float) -> list[float]:
    """By length: what a word adds that occurs once, as a factor of its weight."""
    return [(K1 + 1) / (1 + K1 * (1 - B + B * length / average)) for length in range(max_length + 1)]
