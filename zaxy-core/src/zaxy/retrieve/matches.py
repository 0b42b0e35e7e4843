"""Which words of a question a text has: as they are, with another ending, or in part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from zaxy.retrieve.question import AskedWord
from zaxy.text.alike import SAME_CHARACTER, SAME_PART, is_ideograph, parts_of

ALIKE, MIN_ALIKE = 0.8, 5
"""What a word with the same beginning counts, and how many letters that has at least; it is three fifths of the longer
word."""

LAST_LETTER = "\u2fff"
"""Letters come before it, and ideographs behind it."""
Match = tuple[int, float]
"""The place of a word in the question, and how much of it is found."""


class Matches:
    """Which words of a question stand among the stems of its rows, and how well."""

    def __init__(self, words: Sequence[AskedWord], vocabulary: Iterable[str]) -> None:
        self._words = words
        self._exact: dict[str, list[Match]] = {}
        self._beginnings: dict[str, list[tuple[str, int, float]]] = {}
        self._parts: dict[str, list[Match]] = {}
        self._characters: list[tuple[str, int, float]] = []
        for place, word in enumerate(words):
            for stem in word.stems:
                self._take(stem, place, word)
        self.found: dict[str, list[Match]] = {}
        """By stem of a row: what it matches."""
        beginnings, parts, may_be = self._beginnings, self._parts, bool(self._characters)
        for stem in vocabulary:  # of hundreds a few match, so no call is made for the others
            matches = self._exact.get(stem)
            if matches is None and (may_be or stem[:MIN_ALIKE] in beginnings or stem in parts):
                matches = list(self._alike(stem))
            if matches:
                self.found[stem] = matches
        self._known = frozenset(self.found)

    def _take(self, stem: str, place: int, word: AskedWord) -> None:
        share = 1.0 / len(word.stems)
        self._exact.setdefault(stem, []).append((place, share))
        if len(stem) == 1 and not stem.isascii():
            self._characters.append((stem, place, share))
        elif not word.is_known and stem[0] > LAST_LETTER and is_ideograph(stem[0]):
            self._characters.append((stem[0], place, SAME_CHARACTER * share))
        elif len(stem) >= MIN_ALIKE and stem.isalpha():  # one digit makes another thing
            self._beginnings.setdefault(stem[:MIN_ALIKE], []).append((stem, place, ALIKE * share))
            for part in parts_of(stem) if not word.is_known else ():
                self._parts.setdefault(part, []).append((place, SAME_PART * share))

    def _alike(self, own: str) -> Iterator[Match]:
        for stem, place, share in self._beginnings.get(own[:MIN_ALIKE], ()):
            needed = max(MIN_ALIKE, -(-max(len(stem), len(own)) * 3 // 5))
            if stem[:needed] == own[:needed] and min(len(stem), len(own)) >= needed:
                yield place, share
        yield from self._parts.get(own, ())
        for character, place, share in self._characters:
            if character in own:
                yield place, share

    def of_each(self, texts: Iterable[frozenset[str]]) -> list[list[float]]:
        """How far each word of the question stands among the stems of each row or sentence."""
        return [self.together(own & self._known) for own in texts]

    def together(self, stems: Iterable[str]) -> list[float]:
        """The same for stems of which each matches a word."""
        matches = [0.0] * len(self._words)
        for stem in stems:
            for place, share in self.found[stem]:
                matches[place] = min(matches[place] + share, 1.0)
        return matches
