"""Which passages have the most of some words, by bits: the lowest is that of passage 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

MAX_TOGETHER = 5
"""Common words that are looked for together: each doubles the ways to combine them."""

Spans = Sequence[bytes]
"""Which passages have a word, span by span, the oldest first; one without any may be empty."""


Choice = tuple[int, ...]
"""Some of the words, by their numbers."""


def together(
    words: Sequence[tuple[float, Spans]], count: int, *, span: int, among: bytes | None = None
) -> dict[int, Choice]:
    """The passages whose words weigh most, no more than `count`, each with all of the words that it has; of equals, the
    newest. Before each word stands its weight. `span` is how many passages a span has; where `among` is given, only
    those whose bits are set there count.
    """
    numbers = [_numbers(spans) for _, spans in words]
    if among is not None:
        numbers = _only_among(numbers, among, span // 8)
    taken = [0] * max(map(len, numbers), default=0)
    found: dict[int, Choice] = {}
    for choice in _choices([weight for weight, _ in words]):
        first, *others = [numbers[number] for number in choice]
        for place in range(len(taken) - 1, -1, -1):
            passages = first[place]
            for more in others:
                passages &= more[place]
            if passages and (fresh := passages ^ (passages & taken[place])):
                taken[place] |= fresh
                found.update([(place * span + bit, choice) for bit in newest(fresh, count - len(found))])
                if len(found) == count:
                    return found
    return found


def _numbers(spans: Spans) -> list[int]:
    return [int.from_bytes(bits, "little") for bits in spans]


def _only_among(numbers: Sequence[Sequence[int]], among: bytes, size: int) -> list[list[int]]:
    """The same without the passages whose bits are not set; `size` is how many bytes a span has."""
    places = range(max(map(len, numbers), default=0))
    allowed = _numbers([among[place * size : (place + 1) * size] for place in places])
    return [[number & own for number, own in zip(spans, allowed, strict=False)] for spans in numbers]


def _choices(weights: Sequence[float]) -> list[tuple[int, ...]]:
    """Every choice of words, the heaviest first, and of equals that with the most words."""
    numbers = range(len(weights))
    choices = [choice for size in range(1, len(weights) + 1) for choice in combinations(numbers, size)]
    return sorted(choices, key=lambda choice: (sum([weights[number] for number in choice]), len(choice)), reverse=True)


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
