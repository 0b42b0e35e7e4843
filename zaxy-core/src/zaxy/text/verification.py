"""Whether all rows of a text index hold their seals, and whether its parts fit together."""

from __future__ import annotations

from collections.abc import Iterator

from zaxy.eventloom.disposable_database import SealedConnection, Unsealed
from zaxy.text.blocks import BLOCK, MARKED, bits_of, places_of
from zaxy.text.schema import COLUMNS, CONTENT_COLUMNS, MAX_LENGTH, Text

SEALED = {
    "cursor": ("about", "cursor", "seal"),
    "passage": ("passages", ", ".join(Text._fields), "seal"),
    "content": ("passages", CONTENT_COLUMNS.rpartition(", ")[0], "content_seal"),
    "episode": ("episodes", COLUMNS["episodes"], "seal"),
    "feedback": ("reinforced", COLUMNS["reinforced"], "seal"),
    "mark": ("marks", "term, block, by_now", "seal"),
}
"""By what a row is called: its table, the columns that its seal is over, and that of the seal."""


def problems(db: SealedConnection) -> Iterator[str]:
    """What is not as the follower wrote it, a sentence each; nothing where all is well."""
    for what, (table, columns, seal) in SEALED.items():
        for row in db.execute(f"SELECT {columns}, {seal} FROM {table}"):
            try:
                db.check(row[:-1], row[-1])
            except Unsealed:
                name = f" {row[0]}" if what != "cursor" else ""
                yield f"the {what}{name} does not hold its seal"
    yield from _misfits(db)


def _misfits(db: SealedConnection) -> Iterator[str]:
    """Where the lists of words and the marks are not those of the passages."""
    (passages,) = db.execute("SELECT count(*) FROM passages").fetchone()
    listed = [row for (row,) in db.execute("SELECT rowid FROM fts ORDER BY rowid")]
    lengths = db.execute("SELECT id, length FROM passages ORDER BY id")
    if listed != [passage << 8 | min(length, MAX_LENGTH) for passage, length in lengths]:
        yield f"the lists of words name {len(listed)} passages, not the {passages} that are there"
    by_now: dict[str, int] = {}
    query = "SELECT words FROM passages WHERE id > ? AND id <= ? ORDER BY id"
    for block in range(passages // BLOCK):
        places = places_of(words for (words,) in db.execute(query, (block * BLOCK, (block + 1) * BLOCK)))
        for term, found in places.items():
            by_now[term] = by_now.get(term, 0) + len(found)
        expected = {(term, by_now[term], bits_of(found)) for term, found in places.items() if len(found) >= MARKED}
        if expected != set(db.execute("SELECT term, by_now, bits FROM marks WHERE block = ?", (block,))):
            yield f"the marks of block {block} are not those of its passages"
