"""Which words of a question stand in a row or a sentence: exactly, or as another word with the same beginning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul

from zaxy.retrieve.question import AskedWord

ALIKE, MIN_ALIKE = 0.8, 5
"""What a word with the same beginning counts, and how many letters that has at least; it is three fifths of the longer
word."""


class WordMatches:
    """Which words of a question stand among the stems of its rows, and how well."""

    def __init__(self, words: Sequence[AskedWord], vocabulary: Iterable[str]) -> None:
        self.found: dict[str, list[tuple[int, float]]] = {}
        """By stem: the places of words, each with what the stem adds to it."""
        exact: dict[str, list[tuple[int, float]]] = {}
        alike: dict[str, list[tuple[str, int, float]]] = {}
        single: list[tuple[str, int, float]] = []
        for place, word in enumerate(words):
            share = 1.0 / len(word.stems)
            for stem in word.stems:
                exact.setdefault(stem, []).append((place, share))
                if len(stem) == 1 and not stem.isascii():
                    single.append((stem, place, share))
                elif len(stem) >= MIN_ALIKE and stem.isalpha():  # one digit makes another thing
                    alike.setdefault(stem[:MIN_ALIKE], []).append((stem, place, ALIKE * share))
        for own in vocabulary:
            hits = exact.get(own) or []
            if single and not hits:
                hits = [(place, share) for stem, place, share in single if stem in own]
            for stem, place, share in alike.get(own[:MIN_ALIKE], ()) if not hits else ():
                needed = max(MIN_ALIKE, -(-max(len(stem), len(own)) * 3 // 5))
                if stem[:needed] == own[:needed] and min(len(stem), len(own)) >= needed:
                    hits = [*hits, (place, share)]
            if hits:
                self.found[own] = hits
        self._known = frozenset(self.found)
        self._count = len(words)

    def of_each(self, texts: Iterable[frozenset[str]]) -> list[list[float]]:
        """How far each word of the question stands among the stems of each row or sentence. One call for all: there are
        a hundred, and most have none of the words."""
        found = []
        for own in texts:
            matches = [0.0] * self._count
            for stem in own & self._known:
                for place, share in self.found[stem]:
                    matches[place] = min(matches[place] + share, 1.0)
            found.append(matches)
        return found

    def worth_of_each(self, weights: Sequence[float], texts: Iterable[frozenset[str]]) -> list[float]:
        """The weight of the question that each sentence has."""
        return [sum(map(mul, weights, matches)) for matches in self.of_each(texts)]
