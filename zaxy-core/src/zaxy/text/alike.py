"""What is nearly a word that was asked for: its beginning, which has other endings too, and the parts of a long one.

The stemmer knows the endings of English. In other languages, and for words that are put together of others, this finds
what it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from zaxy.text.tokens import BEGINNING

SAME_BEGINNING, SAME_PART, SAME_CHARACTER = 0.7, 0.6, 0.5
"""How much of a word's weight each counts."""
MIN_LETTERS = 5
"""Of a beginning and of a part: shorter ones are shared by chance."""
MIN_REST = 3
"""Letters that a word must have besides a part of it."""
SHARED = 0.7
"""The share of a word that is its beginning."""

Count = Callable[[Sequence[str]], Mapping[str, int]]
"""How many passages have each of the given words, where any has."""


def alike(words: Sequence[str], count: Count) -> dict[str, float]:
    """What to look for in the place of words that nothing has, with how much each counts."""
    found = {beginning: share for word in words for beginning, share in _beginnings(word)}
    parts = {part for word in words for part in parts_of(word)}
    return found | dict.fromkeys(count(sorted(parts)) if parts else (), SAME_PART)


def _beginnings(word: str) -> Iterator[tuple[str, float]]:
    if is_ideograph(word[0]):
        yield word[0] + BEGINNING, SAME_CHARACTER
    elif _has_letters(word):
        yield word[: max(MIN_LETTERS, round(SHARED * len(word)))] + BEGINNING, SAME_BEGINNING


def parts_of(word: str) -> Iterator[str]:
    """What a long word may be put together of: its beginnings and its ends."""
    if _has_letters(word):
        yield from (word[:end] for end in range(MIN_LETTERS, len(word) - MIN_REST + 1))
        yield from (word[start:] for start in range(MIN_REST, len(word) - MIN_LETTERS + 1))


def _has_letters(word: str) -> bool:
    """Whether it has enough of them, and nothing else: a digit makes it another thing."""
    return len(word) >= MIN_LETTERS and word.isalpha()


def is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"
