"""Blocks of passages: of each that is full the follower marks which passages have the words that are common there, and
how many passages have had each of those words by then.

A mark never changes. So how common a word is need not be counted again, and passages that share common words with a
question are found by putting bits together, where reading lists takes longer the longer the log is.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

from zaxy.eventloom.database_errors import CHANGED
from zaxy.eventloom.disposable_database import SealedConnection, Unsealed
from zaxy.text.schema import MAX_LENGTH

BLOCK = 4096
"""Passages of a block."""
MARKED = 16
"""A word that fewer passages of a block have is not marked there: its list is short."""
MAX_TOGETHER = 5
"""Common words that are looked for together: each doubles the ways to combine them."""
BYTES = BLOCK // 8
_BIT = tuple(1 << number for number in range(8))

Word = tuple[float, bytes]
"""The weight of a word and, as bits from the lowest on, which passages have it."""


class Mark(NamedTuple):
    """How common a word was when a block was full."""

    passages: int
    """How many had the word by then."""
    end: int
    """The last passage of the block."""


def mark_block(db: SealedConnection, block: int) -> None:
    """Mark the common words of a block that is full."""
    query = "SELECT words FROM passages WHERE id > ? AND id <= ? ORDER BY id"
    places = places_of(words for (words,) in db.execute(query, (block * BLOCK, (block + 1) * BLOCK)))
    common = dict(sorted([(term, found) for term, found in places.items() if len(found) >= MARKED]))
    before = counts(db, list(common), block * BLOCK)
    rows = [(term, block, before.get(term, 0) + len(found), bits_of(found)) for term, found in common.items()]
    seal = db.seal
    db.executemany("INSERT INTO marks VALUES (?, ?, ?, ?, ?)", [(*row, seal(row[:3], row[3])) for row in rows])


def last_marks(db: SealedConnection, terms: Sequence[str], last: int) -> dict[str, Mark]:
    """Of each term its last mark among the blocks that end by the passage `last`, where it has one."""
    query = (
        "SELECT term, max(block), by_now, bits, seal FROM marks"
        " WHERE term IN (SELECT value FROM json_each(?)) AND block < ? GROUP BY term"
    )
    rows = sealed_marks(db, db.execute(query, (json.dumps(terms), last // BLOCK)))
    return {term: Mark(by_now, (block + 1) * BLOCK) for term, block, by_now, _, _ in rows}


def marked_passages(db: SealedConnection, terms: Iterable[str], last: int) -> dict[str, bytes]:
    """Of common words the passages of full blocks that have them, each a bit, from the lowest on."""
    full = last // BLOCK
    empty = bytes(BYTES)
    parts: dict[str, list[bytes]] = {}
    query = (
        "SELECT term, block, by_now, bits, seal FROM marks WHERE term IN (SELECT value FROM json_each(?)) AND block < ?"
    )
    for term, block, _, bits, _ in sealed_marks(db, db.execute(query, (json.dumps(list(terms)), full))):
        parts.setdefault(term, [empty] * full)[block] = bits
    return {term: b"".join(of_term) for term, of_term in parts.items()}


def sealed_marks(db: SealedConnection, rows: Iterable[Any]) -> list[Any]:
    """The marks, if they are as they were written."""
    found = list(rows)
    seal = db.seal
    if [row for row in found if seal(row[:3], row[3]) != row[4]]:
        raise Unsealed(CHANGED)
    return found


def counts(db: SealedConnection, terms: Sequence[str], last: int) -> dict[str, int]:
    """How many of the passages up to `last` have each of the terms. Behind a mark only newer passages are looked at."""
    marks = last_marks(db, terms, last) if terms and last >= BLOCK else {}
    found = {term: marks[term].passages if term in marks else 0 for term in terms}
    ends = {term: marks[term].end if term in marks else 0 for term in terms}
    for term, more in _counted(db, [(term, end) for term, end in ends.items() if end < last], last):
        found[term] += more
    return {term: count for term, count in found.items() if count}


def _counted(db: SealedConnection, asked: Sequence[tuple[str, int]], last: int) -> Iterator[tuple[str, int]]:
    """How many passages have each term, of those behind the one that stands with it and up to `last`."""
    if not asked:
        return
    query = (
        "SELECT count(*) FROM fts WHERE fts MATCH 'words:\"' || json_extract(value, '$[0]') || '\"'"
        " AND rowid > json_extract(value, '$[1]') AND rowid <= ?"
    )
    behind = json.dumps([(term, end << 8 | MAX_LENGTH) for term, end in asked])
    counted = db.execute(f"SELECT ({query}) FROM json_each(?)", (last << 8 | MAX_LENGTH, behind))
    yield from ((term, count) for (term, _), (count,) in zip(asked, counted, strict=True))


def places_of(texts: Iterable[str]) -> dict[str, list[int]]:
    """Of each word the texts that have it, by their numbers."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, words in enumerate(texts):
        for word in set(words.split()):
            places[word].append(place)
    return places


def bits_of(places: Iterable[int]) -> bytes:
    bits = bytearray(BYTES)
    for place in places:
        bits[place >> 3] |= _BIT[place & 7]
    return bytes(bits)


def weights_of(passages: Iterable[int], words: Sequence[Word]) -> Iterator[float]:
    """What the words weigh that each passage has; nothing behind the last full block."""
    marked = 8 * len(words[0][1]) if words else 0
    for passage in passages:
        if passage > marked:
            yield 0.0
            continue
        byte, bit = (passage - 1) >> 3, _BIT[(passage - 1) & 7]
        yield sum([weight for weight, bits in words if bits[byte] & bit])


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
