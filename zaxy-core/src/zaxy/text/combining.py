"""Which passages have the most of some words, by bits: the lowest is that of passage 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

MAX_TOGETHER = 5
"""Common words that are looked for together: each doubles the ways to combine them."""

Spans = Sequence[bytes]
"""Which passages have a word, span by span, the oldest first; one without any may be empty."""


def together(words: Sequence[tuple[float, Spans]], count: int, *, span: int, among: bytes | None = None) -> list[int]:
    """The passages whose words weigh most, no more than `count`; of equals, the newest. Before each word stands its
    weight. `span` is how many passages a span has; where `among` is given, only those whose bits are set there count.
    """
    numbers = [_numbers(spans, span, among) for _, spans in words]
    taken = [0] * max(map(len, numbers), default=0)
    found: list[int] = []
    for choice in _choices([weight for weight, _ in words]):
        chosen = [numbers[number] for number in choice]
        for place in range(len(taken) - 1, -1, -1):
            passages = chosen[0][place]
            for others in chosen[1:]:
                passages &= others[place]
            fresh = passages ^ (passages & taken[place])
            if fresh:
                taken[place] |= fresh
                found += [place * span + bit for bit in newest(fresh, count - len(found))]
                if len(found) == count:
                    return found
    return found


def _numbers(spans: Spans, span: int, among: bytes | None) -> list[int]:
    numbers = [int.from_bytes(bits, "little") for bits in spans]
    if among is None:
        return numbers
    size = span // 8
    return [
        number & int.from_bytes(among[place * size : (place + 1) * size], "little")
        for place, number in enumerate(numbers)
    ]


def _choices(weights: Sequence[float]) -> list[tuple[int, ...]]:
    """Every choice of words, the heaviest first."""
    numbers = range(len(weights))
    choices = [choice for size in range(1, len(weights) + 1) for choice in combinations(numbers, size)]
    return sorted(choices, key=lambda choice: sum([weights[number] for number in choice]), reverse=True)


def newest(passages: int, count: int) -> Iterator[int]:
    """The highest bits that are set, no more than `count`."""
    while passages and count:
        place = passages.bit_length()
        yield place
        passages ^= 1 << (place - 1)
        count -= 1


def words_of(passage: int, words: Sequence[tuple[int, Spans]], span: int) -> int:
    """Which of the words a passage has, each by the bit that stands before it; none behind the last full block."""
    number, place = divmod(passage - 1, span)
    byte, bit = place >> 3, 1 << (place & 7)
    found = 0
    for word, spans in words:
        if number < len(spans) and byte < len(spans[number]) and spans[number][byte] & bit:
            found |= word
    return found
