"""Whether all rows of a text index hold their seals, and whether its parts fit together."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from operator import eq

from zaxy.eventloom.database_errors import Unsealed
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.text import asides
from zaxy.text.blocks import SPAN, BlockSizes, common_words, is_joined, joined_bits, seconds_of, words_between
from zaxy.text.schema import COLUMNS, CONTENT_COLUMNS, MAX_LENGTH, WORD_LISTS, Text
from zaxy.text.tokens import identifiers

SEALED = {
    "cursor": ("about", "cursor, feedback, asides", "seal"),
    "passage": ("passages", ", ".join(Text._fields), "seal"),
    "content": ("passages", CONTENT_COLUMNS.rpartition(", ")[0], "content_seal"),
    "episode": ("episodes", COLUMNS["episodes"], "seal"),
    "feedback": ("reinforced", COLUMNS["reinforced"], "seal"),
    "aside": ("asides", COLUMNS["asides"], "seal"),
    "mark": ("marks", "term, block, by_now", "seal"),
}
"""By what a row is called: its table, the columns that its seal is over, and that of the seal."""


def problems(db: SealedConnection, sizes: BlockSizes) -> Iterator[str]:
    """What is not as the follower wrote it, a sentence each; nothing where all is well."""
    for what, (table, columns, seal) in SEALED.items():
        for row in db.execute(f"SELECT {columns}, {seal} FROM {table}"):
            try:
                db.check(row[:-1], row[-1])
            except Unsealed:
                name = f" {row[0]}" if what != "cursor" else ""
                yield f"the {what}{name} does not hold its seal"
    yield from _missing(db)
    yield from _misfits(db)
    yield from _wrong_marks(db, sizes)
    yield from _wrong_times(db, sizes)
    yield from _wrong_lists(db)
    yield from asides.problems(db)


def _missing(db: SealedConnection) -> Iterator[str]:
    """What passages name, or must be there beside them, and is not; and gaps in their numbers."""
    passages, last, words, of_words = db.execute(
        "SELECT count(*), ifnull(max(id), 0), ifnull(max(words_by_now), 0), ifnull(sum(length), 0) FROM passages"
    ).fetchone()
    if passages != last or words != of_words:
        yield f"there should be {last} passages of {words} words, and there are {passages} of {of_words}"
    if passages and not db.execute("SELECT 1 FROM about").fetchone():
        yield "it does not say how far it has followed the log"
    in_episodes = "SELECT episode, count(*), sum(length) FROM passages GROUP BY episode ORDER BY episode"
    kept = "SELECT id, passages, words FROM episodes WHERE passages ORDER BY id"
    if list(db.execute(in_episodes)) != list(db.execute(kept)):
        yield "the episodes are not those of the passages"
    (feedback,) = db.execute("SELECT count(*) FROM asides WHERE part = 0 AND kind = 'memory.reinforced'").fetchone()
    (counted,) = db.execute("SELECT count(*) FROM reinforced").fetchone()
    feedback = max(feedback, *[count for (count,) in db.execute("SELECT feedback FROM about")], 0)
    if feedback != counted:
        yield f"there should be {feedback} rows of feedback, and {counted} are there"


def _misfits(db: SealedConnection) -> Iterator[str]:
    """Where the lists of words do not name the passages that are there."""
    (passages,) = db.execute("SELECT count(*) FROM passages").fetchone()
    listed = [row for (row,) in db.execute("SELECT rowid FROM fts ORDER BY rowid")]
    lengths = db.execute("SELECT id, length FROM passages ORDER BY id")
    if listed != [passage << 8 | min(length, MAX_LENGTH) for passage, length in lengths]:
        yield f"the lists of words name {len(listed)} passages, not the {passages} that are there"


def _wrong_marks(db: SealedConnection, sizes: BlockSizes) -> Iterator[str]:
    """Where the marks are not those of the passages."""
    (passages,) = db.execute("SELECT count(*) FROM passages").fetchone()
    by_now: Counter[str] = Counter()
    full, size = passages // sizes.block, sizes.block
    for first in range(0, full, SPAN):
        bits: dict[str, dict[int, bytes]] = {}
        span = range(first, min(first + SPAN, full))
        for block in span:
            texts = list(words_between(db, block * size, (block + 1) * size))
            by_now.update(chain.from_iterable(map(set, texts)))
            common = common_words(texts, sizes)
            expected = {(term, by_now[term]) for term in common}
            if expected != set(db.execute("SELECT term, by_now FROM marks WHERE block = ?", (block,))):
                yield f"the marks of block {block} are not those of its passages"
            for term, own in common.items():
                bits.setdefault(term, {})[block] = own
        kept = db.execute("SELECT term, block, bits FROM bits WHERE block >= ? AND block <= ?", (span[0], span[-1]))
        if _rows_of_bits(bits, span, sizes.bytes) != set(kept):
            yield f"the bits of the blocks from {first} on are not those of their passages"


def _wrong_times(db: SealedConnection, sizes: BlockSizes) -> Iterator[str]:
    """Where the times of blocks are not those of the passages."""
    blocks: dict[int, list[str]] = {}
    for passage, time in db.execute("SELECT id, time FROM passages ORDER BY id"):
        blocks.setdefault((passage - 1) // sizes.block, []).append(time)
    expected = [
        (block, min(times), max(times), seconds_of(times) if len(times) == sizes.block else "")
        for block, times in blocks.items()
    ]
    if expected != list(db.execute("SELECT block, earliest, latest, seconds FROM times ORDER BY block")):
        yield "the times of the blocks are not those of their passages"


def _rows_of_bits(bits: dict[str, dict[int, bytes]], span: range, size: int) -> set[tuple[str, int, bytes]]:
    """As the follower keeps them: joined where the span is full."""
    rows = set()
    for term, blocks in bits.items():
        if len(span) == SPAN and is_joined(blocks):
            rows.add((term, span[0], joined_bits(blocks, span[0], size)))
        else:
            rows |= {(term, block, own) for block, own in blocks.items()}
    return rows


def _wrong_lists(db: SealedConnection) -> Iterator[str]:
    """Where the lists of words differ from lists that are made of the passages now, or do not find what is in them."""
    (parts,) = db.execute("SELECT count(*) FROM fts_data WHERE id IN (1, 10)").fetchone()
    (listed,) = db.execute("SELECT count(*) FROM fts_docsize").fetchone()
    (passages,) = db.execute("SELECT count(*) FROM passages").fetchone()
    if listed != passages or parts != 2:
        yield "what the lists of words keep about themselves is not whole"
    with closing(sqlite3.connect(":memory:")) as again:
        again.execute(WORD_LISTS)
        rows = db.execute("SELECT id, length, words, text FROM passages")
        again.executemany(
            "INSERT INTO fts (rowid, words, names) VALUES (?, ?, ?)",
            (
                (id_ << 8 | min(length, MAX_LENGTH), words, " ".join(identifiers(text)))
                for id_, length, words, text in rows
            ),
        )
        for kind in ("instance", "row"):
            for lists in (db, again):
                lists.execute(f"CREATE VIRTUAL TABLE temp.{kind}s USING fts5vocab(main, fts, {kind})")
        same = "SELECT term, doc, col, offset FROM temp.instances"
        if not _is_same(db.execute(same), again.execute(same)):
            yield "the lists of words are not those of the passages"
        for term, count in again.execute("SELECT term, doc FROM temp.rows"):
            if db.execute("SELECT count(*) FROM fts WHERE fts MATCH ?", (f'"{term}"',)).fetchone() != (count,):
                yield "a word is not found in all passages that have it"
                return


def _is_same(rows: Iterable[object], others: Iterable[object]) -> bool:
    """Whether they are equal, one by one: a million events have more than thirty million words."""
    return all(map(eq, chain(rows, (None,)), chain(others, (None,))))
