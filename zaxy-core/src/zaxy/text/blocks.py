"""Blocks of passages: of each that is full the follower marks which passages have the words that are common there, and
how many passages have had each of those words by then.

A mark never changes. So how common a word is need not be counted again, and passages that share common words with a
question are found by putting bits together, where reading lists takes longer the longer the log is. The bits of several
blocks are joined in one row: a long log is then read in few rows.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.text.schema import MAX_LENGTH

BLOCK = 4096
"""Passages of a block."""
MARKED = 16
"""A word that fewer passages of a block have is not marked there: its list is short."""
SPAN = 16
"""Blocks whose bits are joined."""
JOINED = 4
"""The bits of a word that fewer blocks of a span have are left as they are: joined, most of them would be empty."""
MAX_MIXED = 8
"""Blocks with passages from before a moment and from after it that are looked into; of others all are taken."""
LISTED = 1000
"""Passages that the words' lists may name. Words are listed from the rarest on, as long as all of a list fits."""


_DIGITS = bytes.maketrans(b"\0\1", b"01")


class BlockSizes(NamedTuple):
    """The sizes by which an index is made and read. Tests and the recall bench make small ones."""

    block: int = BLOCK
    """A multiple of eight."""
    marked: int = MARKED
    listed: int = LISTED

    @property
    def bytes(self) -> int:
        """Of the bits of a block."""
        return self.block // 8

    @property
    def span(self) -> int:
        """Passages of the blocks whose bits are joined."""
        return self.block * SPAN


class Mark(NamedTuple):
    """How common a word was when a block was full."""

    passages: int
    """How many had the word by then."""
    end: int
    """The last passage of the block."""


class Before(NamedTuple):
    """What happened by a moment."""

    last: int
    """No passage behind this one did."""
    bits: bytes
    """Which passages did. Of those within the moment's own second some may not have."""

    def has(self, passage: int) -> bool:
        return bool(self.bits[(passage - 1) >> 3] >> ((passage - 1) & 7) & 1)


class Blocks:
    """The marks of one session's index."""

    def __init__(self, db: SealedConnection, sizes: BlockSizes) -> None:
        self._db, self._sizes = db, sizes
        self._counts: dict[tuple[str, int], int] = {}
        """What was counted before, by term and last passage: one question asks for it twice."""

    # Following

    def mark(self, block: int, texts: Iterable[Sequence[str]]) -> None:
        """Mark the common words of a block that is full. `texts`: the words of its passages."""
        db, size = self._db, self._sizes.block
        query = "SELECT time FROM passages WHERE id > ? AND id <= ? ORDER BY id"
        times = [time for (time,) in db.execute(query, (block * size, (block + 1) * size))]
        db.execute("UPDATE times SET seconds = ? WHERE block = ?", (seconds_of(times), block))
        common = common_words(texts, self._sizes)
        before = self.counts(list(common), block * size)
        marks = [(term, block, before.get(term, 0) + count_of(bits)) for term, bits in common.items()]
        db.executemany("INSERT INTO marks VALUES (?, ?, ?, ?)", [(*mark, db.seal(mark)) for mark in marks])
        db.executemany("INSERT INTO bits VALUES (?, ?, ?)", [(term, block, bits) for term, bits in common.items()])
        if (block + 1) % SPAN == 0:
            self._join(block + 1 - SPAN)

    def take_times(self, block: int, times: Sequence[str]) -> None:
        """Take note of when more passages of a block happened."""
        found = self._db.execute("SELECT earliest, latest FROM times WHERE block = ?", (block,)).fetchone()
        known = [*times, *(found or ())]
        self._db.execute("REPLACE INTO times VALUES (?, ?, ?, '')", (block, min(known), max(known)))

    def _join(self, first: int) -> None:
        """Put the bits of a span of blocks together."""
        last = first + SPAN - 1
        rows = self._db.execute("SELECT term, block, bits FROM bits WHERE block >= ? AND block <= ?", (first, last))
        found: dict[str, dict[int, bytes]] = defaultdict(dict)
        for term, block, bits in rows:
            found[term][block] = bits
        size = self._sizes.bytes
        joined = {term: joined_bits(found[term], first, size) for term in sorted(found) if is_joined(found[term])}
        terms = json.dumps(list(joined))
        within = "term IN (SELECT value FROM json_each(?)) AND block >= ? AND block <= ?"
        self._db.execute(f"DELETE FROM bits WHERE {within}", (terms, first, last))
        self._db.executemany(
            "INSERT INTO bits VALUES (?, ?, ?)", [(term, first, bits) for term, bits in joined.items()]
        )

    # Reading

    def last_marks(self, terms: Sequence[str], last: int) -> dict[str, Mark]:
        """Of each term its last mark among the blocks that end by the passage `last`, where it has one."""
        size = self._sizes.block
        if not terms or last < size:
            return {}
        query = (
            "SELECT term, block, by_now, seal FROM json_each(?) AS asked CROSS JOIN marks"
            " ON term = asked.value AND block = (SELECT max(block) FROM marks WHERE term = asked.value AND block < ?)"
        )
        rows = self._db.unsealed(self._db.execute(query, (json.dumps(terms), last // size)))
        return {term: Mark(passages, (block + 1) * size) for term, block, passages in rows}

    def counts(self, terms: Sequence[str], last: int) -> dict[str, int]:
        """How many of the passages up to `last` have each of the terms, where any has. Behind a mark only newer
        passages are looked at."""
        fresh = [term for term in terms if (term, last) not in self._counts]
        marks = self.last_marks(fresh, last)
        found = {term: marks[term].passages if term in marks else 0 for term in fresh}
        ends = {term: marks[term].end if term in marks else 0 for term in fresh}
        for term, more in self._counted([(term, end) for term, end in ends.items() if end < last], last):
            found[term] += more
        self.keep_counts(found, last)
        return {term: count for term in terms if (count := self._counts[term, last])}

    def keep_counts(self, counts: Mapping[str, int], last: int) -> None:
        """Take note of how many of the passages up to `last` have each term, as somebody has counted them."""
        self._counts.update([((term, last), count) for term, count in counts.items()])

    def _counted(self, asked: Sequence[tuple[str, int]], last: int) -> Iterator[tuple[str, int]]:
        """How many passages have each term, of those behind the one that stands with it and up to `last`."""
        if not asked:
            return
        query = (
            "SELECT count(*) FROM fts WHERE fts MATCH 'words:\"' || json_extract(value, '$[0]') || '\"'"
            " AND rowid > json_extract(value, '$[1]') AND rowid <= ?"
        )
        behind = json.dumps([(term, end << 8 | MAX_LENGTH) for term, end in asked])
        counted = self._db.execute(f"SELECT ({query}) FROM json_each(?)", (last << 8 | MAX_LENGTH, behind))
        yield from ((term, count) for (term, _), (count,) in zip(asked, counted, strict=True))

    def bits(self, terms: Sequence[str], last: int) -> dict[str, list[bytes]]:
        """Of common words the passages of full blocks that have them, each a bit, span by span; from the lowest on."""
        size, full = self._sizes.bytes, last // self._sizes.block
        found: dict[str, list[bytes]] = {}
        single: dict[tuple[str, int], dict[int, bytes]] = defaultdict(dict)
        query = "SELECT term, block, bits FROM bits WHERE term IN (SELECT value FROM json_each(?)) AND block < ?"
        for term, block, bits in self._db.execute(query, (json.dumps(terms), full)):
            spans = found.setdefault(term, [b""] * -(-full // SPAN))
            if len(bits) > size:
                spans[block // SPAN] = bits[: (full - block) * size]
            else:
                single[term, block // SPAN][block] = bits
        for (term, span), parts in single.items():
            found[term][span] = joined_bits(parts, span * SPAN, size)
        return found

    def said_by(self, moment: str, last: int) -> Before:
        """Which of the passages up to `last` happened by a moment, each a bit."""
        size = self._sizes.block
        newest = "SELECT ifnull(max(block), -1) FROM times WHERE block <= ? AND earliest <= ?"
        (end,) = self._db.execute(newest, (last // size, moment)).fetchone()
        bits, mixed = bytearray(b"\xff" * (end + 1) * self._sizes.bytes), 0
        query = "SELECT block, earliest FROM times WHERE block <= ? AND latest > ? ORDER BY block DESC"
        for block, earliest in self._db.execute(query, (end, moment)).fetchall():
            is_mixed = earliest <= moment
            mixed += is_mixed
            if not is_mixed or mixed <= MAX_MIXED:
                own = self._said_by(moment, block) if is_mixed else bytes(self._sizes.bytes)
                bits[block * len(own) : (block + 1) * len(own)] = own
        return Before(min((end + 1) * size, last), bytes(bits))

    def _said_by(self, moment: str, block: int) -> bytes:
        """The same within a block."""
        (kept,) = self._db.execute("SELECT seconds FROM times WHERE block = ?", (block,)).fetchone()
        size = self._sizes.block
        if not kept:  # it is not full yet
            query = "SELECT id - 1 - ? FROM passages WHERE id > ? AND id <= ? AND time <= ?"
            found = self._db.execute(query, (block * size, block * size, (block + 1) * size, moment))
            return bits_of((place for (place,) in found), self._sizes.bytes)
        limit, seconds = second_of(moment), array("q", kept)
        said = bytes([second <= limit for second in seconds]).translate(_DIGITS)
        return int(said[::-1], 2).to_bytes(self._sizes.bytes, "little")


def seconds_of(times: Sequence[str]) -> bytes:
    return array("q", map(second_of, times)).tobytes()


def second_of(time: str) -> int:
    """The digits of a moment, without those of less than a second: of two the later has the higher, or the same."""
    return int(time[:19].encode().translate(None, b"-:T").ljust(14, b"0"))


def words_between(db: SealedConnection, after: int, last: int) -> Iterator[list[str]]:
    """The words of the passages behind one and up to another."""
    query = "SELECT words FROM passages WHERE id > ? AND id <= ? ORDER BY id"
    return (words.split() for (words,) in db.execute(query, (after, last)))


def common_words(texts: Iterable[Sequence[str]], sizes: BlockSizes) -> dict[str, bytes]:
    """Of each word that enough texts of a block have, a bit for each of the texts, which is set if it has the word."""
    every = list(texts)
    counts = Counter(chain.from_iterable(every))
    # A text may have a word twice, so that some of these are too rare after all.
    found = {word: bytearray(sizes.bytes) for word, count in counts.items() if count >= sizes.marked}
    bits_of_word = found.get
    for place, words in enumerate(every):
        byte, bit = place >> 3, 1 << (place & 7)
        for bits in map(bits_of_word, words):
            if bits is not None:
                bits[byte] |= bit
    return {word: bytes(bits) for word, bits in sorted(found.items()) if count_of(bits) >= sizes.marked}


def count_of(bits: bytes | bytearray) -> int:
    """How many are set."""
    return int.from_bytes(bits, "little").bit_count()


def bits_of(places: Iterable[int], size: int) -> bytes:
    bits = bytearray(size)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


def is_joined(blocks: Mapping[int, bytes]) -> bool:
    """Whether the bits that a word has in a span's blocks are put together."""
    return len(blocks) >= JOINED


def joined_bits(blocks: Mapping[int, bytes], first: int, size: int) -> bytes:
    """The bits of a word in a span that begins with the block `first`."""
    empty = bytes(size)
    return b"".join([blocks.get(block, empty) for block in range(first, first + SPAN)])
