"""Which passages are looked at closely: a bounded number, however many have some of the words.

The lists of the rare words are read, and of the common words the passages that have the most of them are found by their
marks. A coarse score orders them: the weights of the words that each has, by its length. Of the best the words are
read, and those that repeat what was asked for in few words are picked. Ranking then counts exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from zaxy.text import bm25
from zaxy.text.alike import alike
from zaxy.text.blocks import Before
from zaxy.text.bm25 import Term
from zaxy.text.combining import MAX_TOGETHER, together, words_of
from zaxy.text.schema import MAX_LENGTH
from zaxy.text.store import Lookup, Reach, TextStore
from zaxy.text.tokens import Wanted, match_any, match_phrase

POOL = 250
"""Passages of the highest coarse scores, whose words are read."""
CANDIDATES = 150
"""Passages of the pool that are picked, and as many for the identifiers and for each phrase."""
MAX_ALIKE = 250
"""Passages that have the beginning of a word, or a part of it. If as many have it, it says too little."""
MAX_PAIRED = 3
"""Words that are neither listed whole nor marked everywhere, of which passages with two are looked for."""
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
    before = store.blocks.said_by(by, reach.last) if by else None
    words = _Words(store, wanted.words, reach, before)
    names = wanted.identifiers[:MAX_LOOKUPS]
    phrases = [phrase for phrase in map(match_phrase, wanted.phrases[:MAX_LOOKUPS]) if phrase]
    named_by = [*[match_any([name], "names") for name in names], *phrases]
    lookups = [*words.lookups, *[Lookup(expression, 0, MAX_NAMED) for expression in named_by]]
    found = store.look_up(lookups, words.last)
    listed, found = found[: len(words.lookups)], found[len(words.lookups) :]
    unsure = [name for name, rows in zip(names, found, strict=False) if len(rows) == MAX_NAMED]
    words.take([*words.alike(listed), *listed])
    found = _by_then(found, before)
    named = Counter([row >> 8 for rows in found[: len(names)] for row in rows])
    chosen = _picked(store, words, by)
    of_phrases = [[row >> 8 for row in rows[:CANDIDATES]] for rows in found[len(names) :]]
    for others in (_highest(named, CANDIDATES), *of_phrases):
        for passage in others:
            chosen.setdefault(passage, range(len(words.terms)))
    return Candidates(chosen, words.terms, named, [*unsure, *wanted.identifiers[MAX_LOOKUPS:]])


def _by_then(found: list[list[int]], before: Before | None) -> list[list[int]]:
    """The rows of what happened by a moment, if one is given."""
    return [[row for row in rows if before.has(row >> 8)] for rows in found] if before else found


def _picked(store: TextStore, words: _Words, by: str) -> dict[int, Sequence[int]]:
    """The passages of the pool that say most of what was asked for, each with the numbers of the terms that it may
    have."""
    pool, average = words.best(), words.average
    if len(pool) <= CANDIDATES and not by:
        return pool
    found = [text for text in store.texts(pool) if not by or text.time <= by]
    texts = [(text.words, text.length / average, pool[text.id]) for text in found]
    scores = dict(zip([text.id for text in found], bm25.pick_scores(texts, words.terms), strict=True))
    return {passage: pool[passage] for passage in _highest(scores, CANDIDATES)}


class _Words:
    """The words of a question: how they are looked up, and what that finds."""

    def __init__(self, store: TextStore, asked: Sequence[str], reach: Reach, before: Before | None) -> None:
        self._store, self._asked, self._reach, self._before = store, asked, reach, before
        self.last = before.last if before else reach.last
        """The last passage that may be found."""
        self._room = store.sizes.listed
        self._marks = marks = store.blocks.last_marks(asked, reach.last)
        self._rarest = sorted(asked, key=lambda word: marks[word].passages if word in marks else 0)[:MAX_LOOKUPS]
        self._listed = self._fitting()
        self.lookups = [
            # Of what is common the marks say who has it, up to the last of them.
            Lookup(match_any([word], "words"), 0 if number < self._listed else marks[word].end, self._room)
            for number, word in enumerate(self._rarest)
        ]
        self.average = reach.words / reach.last
        self._factors = bm25.pick_factors(MAX_LENGTH, self.average)
        self.terms: list[Term] = []
        self._weights: list[float] = []
        """Of the words, the rarest first."""
        self._has: dict[int, int] = {}
        """By row of the index: the words that it is known to have, each a bit. The length of a row may not be known."""
        self._scores: dict[int, float] = {}
        """By row: what the words weigh that it is known to have, by its length."""
        self._sums = _Sums(())
        self._whole: set[str] = set()
        """The words of which every passage was found that has them."""
        self._shares: dict[str, float] = {}
        """What those count that were not asked for, but are nearly what was."""

    def _fitting(self) -> int:
        """How many of the words, from the rarest on, can be listed whole."""
        room = self._room
        for number, word in enumerate(self._rarest):
            room -= self._marks[word].passages if word in self._marks else 0
            if room < 0:
                return number
        return len(self._rarest)

    def alike(self, found: Sequence[Sequence[int]]) -> list[list[int]]:
        """The rows that have what is nearly a word which no passage has: they belong before those of the words."""
        unseen = [word for word, rows in zip(self._rarest, found, strict=True) if not rows and word not in self._marks]
        shares = alike(unseen, lambda parts: self._store.blocks.counts(parts, self.last))
        lookups = [Lookup(match_any([word], "words"), 0, MAX_ALIKE) for word in shares]
        looked_up = zip(shares, self._store.look_up(lookups, self.last), strict=True)
        more = [(word, rows) for word, rows in looked_up if 0 < len(rows) < MAX_ALIKE]
        self._shares = {word: shares[word] for word, _ in more}
        self._asked, self._rarest = (*self._asked, *self._shares), [*self._shares, *self._rarest]
        self._listed += len(more)
        return [rows for _, rows in more]

    def take(self, found: list[list[int]]) -> None:
        uncut = [word for word, rows in zip(self._rarest, found, strict=True) if len(rows) < self._room]
        self._whole = set(uncut).intersection(self._rarest[: self._listed])
        counts = self._counted(found, uncut if self._before is None else list(self._shares))
        if self._before is None:
            self._store.blocks.keep_counts(counts, self._reach.last)
        counts |= self._store.blocks.counts([word for word in self._asked if word not in counts], self._reach.last)
        self.terms = bm25.terms_of(self._asked, counts, self._reach.last, self._shares)
        weights = {term.term: term.weight for term in self.terms}
        self._weights = [weights.get(word, 0.0) for word in self._rarest]
        self._has = _words_by_row(_by_then(found, self._before))
        sums, factors = _Sums(self._weights), self._factors
        self._scores = {row: sums[has] * factors[row & MAX_LENGTH] for row, has in self._has.items()}
        self._sums = sums
        others = [number for number, word in enumerate(self._rarest) if word not in self._whole]
        if others and not self._is_enough(others[:MAX_TOGETHER]):
            self._add_pairs([number for number in others if self._is_between(counts.get(self._rarest[number], 0))])
            self._add_common(others[:MAX_TOGETHER])

    def _counted(self, found: Sequence[Sequence[int]], uncut: Sequence[str]) -> dict[str, int]:
        """How many passages have each word, where what was found tells it."""
        rows = dict(zip(self._rarest, map(len, found), strict=True))
        return {word: rows[word] + (0 if word in self._whole else self._marks[word].passages) for word in uncut}

    def _is_enough(self, others: Sequence[int]) -> bool:
        """Whether a passage with all the other words, and no word of the lists, would not be picked."""
        with_all = sum([self._weights[number] for number in others]) * self._factors[0]
        return len(self._scores) > CANDIDATES and sorted(self._scores.values())[-CANDIDATES] >= with_all

    def _is_between(self, count: int) -> bool:
        """Whether a word is likely not marked in some blocks, by how many passages have it."""
        sizes = self._store.sizes
        return count < 2 * sizes.marked * (self._reach.last // sizes.block)

    def _add_pairs(self, between: Sequence[int]) -> None:
        """Find the passages that have two of the given words."""
        pairs = list(combinations(between[:MAX_PAIRED], 2))
        lookups = [
            Lookup(f'words:"{self._rarest[one]}" AND words:"{self._rarest[other]}"', 0, POOL) for one, other in pairs
        ]
        found = self._store.look_up(lookups, self.last)
        for (one, other), rows in zip(pairs, _by_then(found, self._before), strict=True):
            for row in rows:
                self._note(row, 1 << one | 1 << other)

    def _add_common(self, common: Sequence[int]) -> None:
        """Let the marks of full blocks count: for the best so far, and for passages that have the most of the words."""
        bits = self._store.blocks.bits([self._rarest[number] for number in common], self.last)
        by_bit = [(1 << number, bits[self._rarest[number]]) for number in common if self._rarest[number] in bits]
        weighed = [(self._sums[bit], spans) for bit, spans in by_bit]
        span, among = self._store.sizes.span, self._before.bits if self._before else None
        found = together(weighed, POOL, span=span, among=among)
        rows = {row >> 8: row for row in self._has}
        for row in _highest(self._scores, POOL):
            if row >> 8 not in found:
                self._note(row, words_of(row >> 8, by_bit, span))
        for passage, choice in found.items():
            self._note(rows.get(passage, passage << 8), sum([by_bit[number][0] for number in choice]))

    def _note(self, row: int, words: int) -> None:
        """Take note of more words that a row has."""
        self._has[row] = known = self._has.get(row, 0) | words
        self._scores[row] = self._sums[known] * self._factors[row & MAX_LENGTH]

    def best(self) -> dict[int, Sequence[int]]:
        """The passages of the highest scores, each with the numbers of the terms that it may have."""
        numbers = {term.term: number for number, term in enumerate(self.terms)}
        listed = [(1 << bit, numbers.get(word)) for bit, word in enumerate(self._rarest) if word in self._whole]
        others = [number for word, number in numbers.items() if word not in self._whole]
        found_by: dict[int, Sequence[int]] = {}
        best = {}
        for row in _highest(self._scores, POOL):
            words = self._has[row]
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
