"""One session's texts in an SQLite file: passages, an FTS5 index of their tokens, and how common each word is."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from zaxy.api.models import Cursor, ExtractedEvent
from zaxy.eventloom.disposable_database import MISSING, SealedConnection, Unsealed
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.text import asides, blocks
from zaxy.text.blocks import BLOCK, BYTES, Mark
from zaxy.text.rows import NewRows
from zaxy.text.schema import COLUMNS, CONTENT_COLUMNS, MAX_LENGTH, PLACE_BITS, TEXT_COLUMNS, Content, Text

T = TypeVar("T")


class Reach(NamedTuple):
    """How much of the index a read may use."""

    last: int = 0
    """Its last passage, which is also how many there are."""
    words: int = 0
    is_newest: bool = True
    """Nothing came after that passage."""


class Lookup(NamedTuple):
    """What to look for in the index."""

    expression: str
    after: int = 0
    """Only behind this passage."""
    limit: int = 0
    """If it is not 0, the newest as many."""


_as_text = partial(tuple.__new__, Text)
"""What `Text._make` does, without a call for each."""


class TextStore:
    """The questions and changes of one transaction."""

    def __init__(self, db: SealedConnection) -> None:
        self._db = db

    # Following

    def cursor(self) -> Cursor | None:
        found = self._db.execute("SELECT cursor, seal FROM about").fetchone()
        if found is None:
            if self._db.execute("SELECT 1 FROM passages LIMIT 1").fetchone():
                raise Unsealed(MISSING)
            return None
        self._db.check(found[:1], found[1])
        return Cursor(*json.loads(found[0]))

    def apply(self, events: Sequence[ExtractedEvent], cursor: Cursor) -> None:
        before = self.cursor()
        taken = before.seq if before else 0
        if cursor.seq <= taken:
            return
        new = NewRows(self._db)
        for extracted in events:
            if extracted.event.seq > taken and not is_housekeeping(extracted.event):
                new.take(extracted)
        new.write()
        kept = json.dumps([cursor.seq, cursor.hash, cursor.offset, cursor.fed_by])
        self._db.execute("DELETE FROM about")
        self._db.execute("INSERT INTO about VALUES (?, ?)", (kept, self._db.seal((kept,))))

    def digest(self) -> str:
        digest = sha256()
        for table, columns in COLUMNS.items():
            for row in self._db.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2"):
                digest.update(json.dumps(row, default=bytes.hex).encode() + b"\n")
        return digest.hexdigest()

    def asides(self, last_seq: int, by: str = "") -> asides.Asides:
        """What asks, of the events up to `last_seq`."""
        return asides.Asides(self._db, last_seq, by)

    def wipe(self) -> None:
        for table in ("about", *COLUMNS):
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("INSERT INTO fts (fts) VALUES ('delete-all')")
        self._db.execute("INSERT INTO fts_asked (fts_asked) VALUES ('delete-all')")

    # Reading. Whatever came after the passage `last` is not there: an answer of then can be given again at any time.

    def reach(self, seq: int) -> Reach:
        """What the first `seq` events came to."""
        query = (
            f"SELECT (SELECT max(id) FROM passages), {TEXT_COLUMNS}"
            " FROM passages WHERE seq <= ? ORDER BY seq DESC, part DESC LIMIT 1"
        )
        found = self._db.execute(query, (seq,)).fetchone()
        if found is None:
            return Reach()
        (last,) = self._checked([found[1:]])
        return Reach(last.id, last.words_by_now, last.id == found[0])

    def _checked(self, rows: Iterable[tuple[Any, ...]]) -> list[Text]:
        """The texts of rows that end in their seals."""
        return list(map(_as_text, self._db.unsealed(rows)))

    def last_marks(self, terms: Sequence[str], last: int) -> dict[str, Mark]:
        return blocks.last_marks(self._db, terms, last)

    def counts(self, terms: Sequence[str], last: int) -> dict[str, int]:
        """In how many passages each term occurs, where it does in any."""
        return blocks.counts(self._db, terms, last)

    def look_up(self, lookups: Sequence[Lookup], last: int, by: str = "") -> list[list[int]]:
        """The rows of the index that each lookup finds, of passages from before a moment if one is given.

        A row is 256 times a passage, plus its length or `MAX_LENGTH`.
        """
        found: list[list[int]] = [[] for _ in lookups]
        values: list[int | str] = []
        for lookup in lookups:
            values += (lookup.expression, lookup.after << 8 | MAX_LENGTH, last << 8 | MAX_LENGTH, *([by] if by else ()))
            values += [lookup.limit] if lookup.limit else ()
        statement = _union(tuple([lookup.limit > 0 for lookup in lookups]), bool(by))
        for row, number in self._db.execute(statement, values) if lookups else ():
            found[number].append(row)
        return found

    def marks(self, terms: Iterable[str], last: int) -> dict[str, bytes]:
        """Of common words the passages of full blocks that have them, each a bit, from the lowest on."""
        full = last // BLOCK
        empty = bytes(BYTES)
        parts: dict[str, list[bytes]] = {}
        query = "SELECT term, block, bits FROM marks WHERE term IN (SELECT value FROM json_each(?)) AND block < ?"
        for term, block, bits in self._db.execute(query, (json.dumps(list(terms)), full)):
            parts.setdefault(term, [empty] * full)[block] = bits
        return {term: b"".join(of_term) for term, of_term in parts.items()}

    def together(self, words: tuple[str, str], last: int) -> bool:
        """Whether two words stand side by side in a passage."""
        query = "SELECT 1 FROM fts WHERE fts MATCH ? AND rowid <= ? LIMIT 1"
        values = (f'words:"{words[0]} {words[1]}"', last << 8 | MAX_LENGTH)
        return self._db.execute(query, values).fetchone() is not None

    def texts(self, ids: Collection[int]) -> list[Text]:
        query = f"SELECT {TEXT_COLUMNS} FROM json_each(?) AS asked CROSS JOIN passages ON passages.id = asked.value"
        return _all_of(ids, self._checked(self._db.execute(query, (json.dumps(list(ids)),))))

    def at(self, places: Iterable[int], last: int) -> list[Text]:
        """The passages at the given places of episodes, each as one number: the episode, then `PLACE_BITS` of the
        place."""
        query = (
            f"SELECT {TEXT_COLUMNS} FROM json_each(?) AS asked CROSS JOIN passages "
            f"ON episode = asked.value >> {PLACE_BITS} AND place = asked.value & {(1 << PLACE_BITS) - 1} "
            "WHERE passages.id <= ?"
        )
        return self._checked(self._db.execute(query, (json.dumps(list(places)), last)))

    def contents(self, ids: Iterable[int]) -> dict[int, Content]:
        query = f"SELECT {CONTENT_COLUMNS} FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        rows = self._db.unsealed(self._db.execute(query, (json.dumps(list(ids)),)))
        return {row[0]: Content._make(row[1:]) for row in rows}

    def episodes(self, ids: Collection[int], reach: Reach) -> dict[int, int]:
        """How many words each episode has."""
        if not reach.is_newest:
            return self._episodes_then(ids, reach.last)
        query = f"SELECT {COLUMNS['episodes']}, seal FROM episodes WHERE id IN (SELECT value FROM json_each(?))"
        rows = self._db.unsealed(self._db.execute(query, (json.dumps(list(ids)),)))
        return {row[0]: row[3] for row in _all_of(ids, rows)}

    def _episodes_then(self, ids: Collection[int], last: int) -> dict[int, int]:
        query = (
            f"SELECT {TEXT_COLUMNS} FROM json_each(?) AS asked CROSS JOIN passages ON passages.id ="
            " (SELECT id FROM passages WHERE episode = asked.value AND id <= ? ORDER BY place DESC LIMIT 1)"
        )
        texts = self._checked(self._db.execute(query, (json.dumps(list(ids)), last)))
        return {text.episode: text.words_of_episode for text in _all_of(ids, texts)}

    def of_events(self, seqs: Iterable[int]) -> list[Text]:
        """The first passage of each event that tells anything."""
        first = "SELECT min(part) FROM passages AS own WHERE own.seq = asked.value"
        query = (
            f"SELECT {TEXT_COLUMNS} FROM json_each(?) AS asked CROSS JOIN passages"
            f" ON passages.seq = asked.value AND passages.part = ({first})"
        )
        return self._checked(self._db.execute(query, (json.dumps(sorted(seqs)),)))

    def latest(self, count: int, last_seq: int) -> list[int]:
        """The last events that say anything, by their seqs, newest first."""
        query = f"SELECT {TEXT_COLUMNS} FROM passages WHERE part = 0 AND seq <= ? ORDER BY seq DESC LIMIT ?"
        tell = [text.seq for text in self._checked(self._db.execute(query, (last_seq, count)))]
        return sorted({*tell, *asides.latest(self._db, count, last_seq)}, reverse=True)[:count]

    def newest(self, last_seq: int) -> str:
        """The time of the passage that came last; empty where there is none."""
        query = f"SELECT {TEXT_COLUMNS} FROM passages WHERE seq <= ? ORDER BY seq DESC, part DESC LIMIT 1"
        found = self._checked(self._db.execute(query, (last_seq,)))
        return found[0].time if found else ""

    def reinforcement(self, texts: Iterable[Text], known: int) -> dict[int, float]:
        """How much good the events up to `known` say of the given passages' events or entities, by event."""
        (any_,) = self._db.execute("SELECT EXISTS (SELECT 1 FROM reinforced)").fetchone()
        if not any_:
            return {}
        found = {text.seq: sum(self._good_of(text, known)) for text in texts}
        return {seq: weight for seq, weight in found.items() if weight}

    def _good_of(self, text: Text, known: int) -> Iterator[float]:
        which = "(target = ? OR entity = ?) AND seq <= ?"
        query = f"SELECT {COLUMNS['reinforced']}, seal FROM reinforced WHERE {which} ORDER BY seq"
        return (row[3] for row in self._db.unsealed(self._db.execute(query, (text.seq, text.entity, known))))


def _all_of(asked: Collection[int], found: list[T]) -> list[T]:
    """What was found, if it is all that was asked for: another row has named each, so none may be missing."""
    if len(found) != len(asked):
        raise Unsealed(MISSING)
    return found


@lru_cache(256)
def _union(limited: tuple[bool, ...], by: bool) -> str:
    """A statement for as many lookups, each with its number: one statement costs less than many."""
    before = " AND (SELECT time FROM passages WHERE id = fts.rowid >> 8) <= ?" if by else ""
    where = f"FROM fts WHERE fts MATCH ? AND rowid > ? AND rowid <= ?{before}"
    return " UNION ALL ".join(
        f"SELECT * FROM (SELECT rowid, {number} {where} ORDER BY rowid DESC LIMIT ?)"
        if is_limited
        else f"SELECT rowid, {number} {where}"
        for number, is_limited in enumerate(limited)
    )
