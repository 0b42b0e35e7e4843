"""Which passages are looked at closely: a bounded number, however many have some of the words.

All passages of the rare words are taken, and of the common words those that have the most of them. A coarse score
orders them: the weights of the words that each has, by its length. Ranking then counts exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zaxy.text import bm25
from zaxy.text.blocks import BLOCK, MAX_TOGETHER, together, weights_of
from zaxy.text.bm25 import Term
from zaxy.text.schema import MAX_LENGTH
from zaxy.text.store import Lookup, Reach, TextStore
from zaxy.text.tokens import Wanted, match_any, match_phrase

CANDIDATES = 150
LISTED = 1000
"""Passages that the words' lists may name. Words are listed from the rarest on, as long as all of a list fits."""
LOOKED_AT = 250
"""Listed passages, the best so far, that are asked for the common words too."""
SURE = 20
"""Common words find nothing where this many passages score higher than one that has all of them and no other."""
MAX_LOOKUPS = 64
"""Words, and identifiers, and phrases of a question that are looked up; of the words the rarest."""
MAX_NAMED = 1000
"""Passages that an identifier or a phrase finds, the newest."""


class Candidates(NamedTuple):
    passages: dict[int, Sequence[int]]
    """Each with the numbers of the terms that it may have; it has no others."""
    terms: list[Term]
    """The words of the question that occur, in its order."""
    named: Mapping[int, int]
    """By passage: how many of the identifiers it has."""
    unsure: list[str]
    """Identifiers that were not looked for in all passages: too many passages have them, or too many were asked for."""


def candidates(store: TextStore, wanted: Wanted, reach: Reach, *, by: str = "") -> Candidates:
    """What may answer; with `by` only what happened by that moment."""
    words = _Words(store, wanted.words, reach, by)
    names = wanted.identifiers[:MAX_LOOKUPS]
    phrases = [phrase for phrase in map(match_phrase, wanted.phrases[:MAX_LOOKUPS]) if phrase]
    lookups = [
        *words.lookups,
        *[Lookup(match_any([name], "names"), limit=MAX_NAMED) for name in names],
        *[Lookup(phrase, limit=MAX_NAMED) for phrase in phrases],
    ]
    found = store.look_up(lookups, reach.last, by)
    first, last = len(words.lookups), len(words.lookups) + len(names)
    words.take(found[:first])
    named = Counter([row >> 8 for rows in found[first:last] for row in rows])
    chosen = words.best()
    for others in (_highest(named, CANDIDATES), *[[row >> 8 for row in rows[:CANDIDATES]] for rows in found[last:]]):
        for passage in others:
            chosen.setdefault(passage, range(len(words.terms)))
    unsure = [name for name, rows in zip(names, found[first:last], strict=True) if len(rows) == MAX_NAMED]
    return Candidates(chosen, words.terms, named, [*unsure, *wanted.identifiers[MAX_LOOKUPS:]])


class _Words:
    """The words of a question: how they are looked up, and what that finds."""

    def __init__(self, store: TextStore, asked: Sequence[str], reach: Reach, by: str) -> None:
        self._store, self._asked, self._reach, self._by = store, asked, reach, by
        self._marks = marks = store.last_marks(asked, reach.last)
        self._rarest = sorted(asked, key=lambda word: marks[word].passages if word in marks else 0)[:MAX_LOOKUPS]
        self._listed = len(self._rarest) if by else self._fitting()
        self.lookups = [self._lookup(word) for word in self._rarest[: self._listed]]
        # Of what is common the blocks know who has it, up to its last mark.
        self.lookups += [Lookup(match_any([word], "words"), marks[word].end) for word in self._rarest[self._listed :]]
        self.terms: list[Term] = []
        self._has: dict[int, int] = {}
        """By row of the index: the words by which it was found, each a bit."""
        self._whole: set[str] = set()
        """The words of which every passage was found that has them."""
        self._scores: dict[int, float] = {}

    def _fitting(self) -> int:
        """How many of the words, from the rarest on, can be listed whole."""
        room = LISTED
        for number, word in enumerate(self._rarest):
            room -= self._marks[word].passages if word in self._marks else 0
            if room < 0:
                return number
        return len(self._rarest)

    def _lookup(self, word: str) -> Lookup:
        """The whole list; of a word that is common nowhere, and yet in very many passages of a long log, the newest."""
        return Lookup(match_any([word], "words"), limit=0 if self._by or word in self._marks else BLOCK)

    def take(self, found: Sequence[Sequence[int]]) -> None:
        listed = zip(self._rarest[: self._listed], self.lookups, found, strict=False)
        self._whole = {word for word, lookup, rows in listed if not lookup.limit or len(rows) < lookup.limit}
        counts = {} if self._by else self._counted(found)
        counts |= self._store.counts([word for word in self._asked if word not in counts], self._reach.last)
        self.terms = bm25.terms_of(self._asked, counts, self._reach.last)
        weights = {term.term: term.weight for term in self.terms}
        self._has = _words_by_row(found)
        sums = _Sums([weights.get(word, 0.0) for word in self._rarest])
        factors = bm25.factors(MAX_LENGTH, self._reach.words / self._reach.last)
        self._scores = {row: sums[has] * factors[row & MAX_LENGTH] for row, has in self._has.items()}
        self._add_common([(weights[word], word) for word in self._rarest[self._listed :]])

    def _counted(self, found: Sequence[Sequence[int]]) -> dict[str, int]:
        """How many passages have each word, where what was found tells it."""
        counts = {word: len(rows) for word, rows in zip(self._rarest, found, strict=True) if word in self._whole}
        for word, rows in zip(self._rarest[self._listed :], found[self._listed :], strict=True):
            counts[word] = len(rows) + self._marks[word].passages
        return counts

    def _add_common(self, common: Sequence[tuple[float, str]]) -> None:
        """Let the common words of full blocks count: for the best so far, and for passages that have the most."""
        scores, common = self._scores, common[:MAX_TOGETHER]
        total = sum([weight for weight, _ in common])
        if not common or (len(scores) > SURE and sorted(scores.values())[-SURE] >= total):
            return
        marks = self._store.marks([word for _, word in common], self._reach.last)
        marked = [(weight, marks[word]) for weight, word in common if word in marks]
        rows = {row >> 8: row for row in scores}
        looked_at = dict.fromkeys(_highest(scores, LOOKED_AT))
        for row, weight in zip(looked_at, weights_of([row >> 8 for row in looked_at], marked), strict=True):
            scores[row] += weight
        for passage, weight in together(marked, CANDIDATES):
            row = rows.get(passage, passage << 8)
            if row not in looked_at:
                scores[row] = scores.get(row, 0.0) + weight

    def best(self) -> dict[int, Sequence[int]]:
        """The passages of the highest scores, each with the numbers of the terms that it may have."""
        numbers = {term.term: number for number, term in enumerate(self.terms)}
        listed = [(1 << bit, numbers.get(word)) for bit, word in enumerate(self._rarest) if word in self._whole]
        others = [number for word, number in numbers.items() if word not in self._whole]
        found_by: dict[int, Sequence[int]] = {}
        best = {}
        for row in _highest(self._scores, CANDIDATES):
            words = self._has.get(row, 0)
            if words not in found_by:
                found_by[words] = [number for bit, number in listed if words & bit and number is not None] + others
            best[row >> 8] = found_by[words]
        return best


def _words_by_row(found: Sequence[Sequence[int]]) -> dict[int, int]:
    has: dict[int, int] = {}
    for number, rows in enumerate(found):
        bit = 1 << number
        for row in rows:
            has[row] = has.get(row, 0) | bit
    return has


class _Sums(dict[int, float]):
    """The sums of weights, by the bits of those that are summed."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = weights

    def __missing__(self, bits: int) -> float:
        total = self[bits] = sum([weight for number, weight in enumerate(self._weights) if bits >> number & 1])
        return total


def _highest(scores: Mapping[int, float], count: int) -> list[int]:
    """The keys of the highest scores; of equals, the highest keys. They are in no order."""
    if len(scores) <= count:
        return list(scores)
    least = sorted(scores.values())[-count]
    higher = [key for key, score in scores.items() if score > least]
    equal = sorted([key for key, score in scores.items() if score == least], reverse=True)
    return higher + equal[: count - len(higher)]
