"""Blocks of passages: of each the follower notes, once it is full, how many passages have each word, and which ones
have the words that are common there.

What is noted of a block never changes. So counting costs nothing for each event, and the passages that share common
words with a question are found by putting bits together, where reading lists takes longer the longer the log is.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations

from zaxy.eventloom.disposable_database import SealedConnection

BLOCK = 4096
"""Passages of a block."""
MARKED = 16
"""A word that fewer passages of a block have leaves no bits there: its list is short."""
MAX_TOGETHER = 5
"""Common words that are looked for together: each doubles the ways to combine them."""
BYTES = BLOCK // 8
_BIT = tuple(1 << number for number in range(8))

Word = tuple[float, bytes]
"""The weight of a word and, as bits from the lowest on, which passages have it."""


def note_block(db: SealedConnection, block: int) -> None:
    """Note the words of a block that is full."""
    query = "SELECT words FROM passages WHERE id > ? AND id <= ? ORDER BY id"
    places = places_of(words for (words,) in db.execute(query, (block * BLOCK, (block + 1) * BLOCK)))
    counts = noted(db, places)
    seal = db.seal
    terms = [(term, counts.get(term, 0) + len(found)) for term, found in sorted(places.items())]
    db.executemany("REPLACE INTO terms VALUES (?, ?, ?)", [(*row, seal(row)) for row in terms])
    db.executemany("INSERT INTO marks VALUES (?, ?, ?)", marks_of(places, block))


def noted(db: SealedConnection, terms: Iterable[str]) -> dict[str, int]:
    """In how many passages of full blocks each term occurs, where it does in any."""
    query = "SELECT term, passages, seal FROM terms WHERE term IN (SELECT value FROM json_each(?))"
    counts = {}
    for term, count, seal in db.execute(query, (json.dumps(list(terms)),)):
        db.check((term, count), seal)
        counts[term] = count
    return counts


def places_of(texts: Iterable[str]) -> dict[str, list[int]]:
    """Of each word the texts that have it, by their numbers."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, words in enumerate(texts):
        for word in set(words.split()):
            places[word].append(place)
    return places


def marks_of(places: Mapping[str, Sequence[int]], block: int) -> list[tuple[str, int, bytes]]:
    return [(term, block, _bits(found)) for term, found in sorted(places.items()) if len(found) >= MARKED]


def _bits(places: Iterable[int]) -> bytes:
    bits = bytearray(BYTES)
    for place in places:
        bits[place >> 3] |= _BIT[place & 7]
    return bytes(bits)


def has(bits: bytes, passage: int) -> int:
    """Whether a passage is marked; passages that came after the last full block are not."""
    place = passage - 1
    return place >> 3 < len(bits) and bits[place >> 3] & _BIT[place & 7]


def together(words: Sequence[Word], count: int) -> Iterator[tuple[int, float]]:
    """The passages that have the most of the words, no more than `count`, each with the weights that it has; of equals,
    the newest."""
    taken, left = 0, count
    for weight, passages in _combined([(weight, int.from_bytes(bits, "little")) for weight, bits in words]):
        fresh = passages & ~taken
        taken |= fresh
        for passage in newest(fresh, left):
            left -= 1
            yield passage, weight
        if not left:
            return


def _combined(words: Sequence[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """The passages that have all of some of the words, for each choice of words, the heaviest choice first."""
    choices = chain.from_iterable(combinations(words, size) for size in range(1, len(words) + 1))
    weighed = sorted([(sum([weight for weight, _ in choice]), choice) for choice in choices], reverse=True)
    for total, choice in weighed:
        passages = choice[0][1]
        for _, bits in choice[1:]:
            passages &= bits
        yield total, passages


def newest(passages: int, count: int) -> Iterator[int]:
    """The highest bits that are set, no more than `count`; the lowest bit is passage 1."""
    # A window that holds about as many as are wanted; where they are uneven the next one is wider.
    width = max(64, passages.bit_length() * count // max(passages.bit_count(), 1))
    while passages and count:
        low = max(passages.bit_length() - width, 0)
        digits = f"{passages >> low:b}"
        at = digits.find("1")
        while at >= 0 and count:
            yield low + len(digits) - at
            count -= 1
            at = digits.find("1", at + 1)
        passages &= (1 << low) - 1
        width *= 2
