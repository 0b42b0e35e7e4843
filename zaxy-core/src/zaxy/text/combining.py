"""Which passages have the most of some words, by bits: the lowest is that of passage 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

MAX_TOGETHER = 5
"""Common words that are looked for together: each doubles the ways to combine them."""
WINDOW = 1024
"""Bits that are looked at one by one; what is longer is halved first."""
_BIT = tuple(1 << number for number in range(8))

Word = tuple[float, bytes]
"""The weight of a word and, as bits, which passages have it."""


def words_of(passage: int, words: Sequence[tuple[int, bytes]]) -> int:
    """Which of the words a passage has, each by the bit that stands before its own bits; none behind the last full
    block."""
    byte, bit = (passage - 1) >> 3, _BIT[(passage - 1) & 7]
    found = 0
    for word, bits in words:
        if byte < len(bits) and bits[byte] & bit:
            found |= word
    return found


def together(words: Sequence[Word], count: int, among: bytes | None = None) -> list[int]:
    """The passages whose words weigh most, no more than `count`, of those whose bits are set in `among`; of equals, the
    newest."""
    taken, left = 0, count
    within = int.from_bytes(among, "little") if among is not None else -1
    for passages in _combined([(weight, int.from_bytes(bits, "little") & within) for weight, bits in words]):
        fresh = passages ^ (passages & taken)
        if not fresh:
            continue
        found = fresh.bit_count()
        if found >= left:
            return [*newest(taken, count), *newest(fresh, left)]
        taken |= fresh
        left -= found
    return list(newest(taken, count))


def _combined(words: Sequence[tuple[float, int]]) -> Iterator[int]:
    """The passages that have all of some of the words, for each choice of words, the heaviest choice first."""
    choices = chain.from_iterable(combinations(words, size) for size in range(1, len(words) + 1))
    for choice in sorted(choices, key=lambda choice: sum([weight for weight, _ in choice]), reverse=True):
        passages = choice[0][1]
        for _, bits in choice[1:]:
            passages &= bits
        yield passages


def newest(passages: int, count: int) -> Iterator[int]:
    """The highest bits that are set, no more than `count`."""
    parts = [(passages, 0)]
    while parts and count:
        part, low = parts.pop()
        length = part.bit_length()
        if length > WINDOW:
            half = length // 2
            parts += ((part & ((1 << half) - 1), low), (part >> half, low + half))
            continue
        while part and count:
            place = part.bit_length()
            yield low + place
            count -= 1
            part ^= 1 << (place - 1)
