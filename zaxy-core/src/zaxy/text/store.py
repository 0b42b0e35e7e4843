"""One session's texts in an SQLite file: passages, an FTS5 index of their tokens, and how common each word is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from zaxy.api.models import Cursor, ExtractedEvent
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.text import tokens
from zaxy.text.blocks import BLOCK, BYTES
from zaxy.text.rows import NewRows

FORMAT = f"3, tokens {tokens.FORMAT}"
SCHEMA = """
CREATE TABLE about (cursor TEXT, blocks INTEGER);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, seq INTEGER, hash TEXT, part INTEGER, episode INTEGER, place INTEGER, length INTEGER,
    words_by_now INTEGER, words_of_episode INTEGER,
    kind TEXT, type TEXT, actor TEXT, speaker TEXT, time TEXT, entity TEXT, metadata TEXT, words TEXT, text TEXT
);
CREATE UNIQUE INDEX by_event ON passages (seq, part);
CREATE UNIQUE INDEX by_place ON passages (episode, place);
CREATE TABLE episodes (id INTEGER PRIMARY KEY, source TEXT, passages INTEGER, words INTEGER, last TEXT);
CREATE INDEX by_source ON episodes (source, id);
CREATE TABLE reinforced (seq INTEGER PRIMARY KEY, target INTEGER, entity TEXT, weight REAL);
CREATE INDEX by_target ON reinforced (target);
CREATE INDEX by_entity ON reinforced (entity);
CREATE TABLE terms (term TEXT PRIMARY KEY, passages INTEGER) WITHOUT ROWID;
CREATE TABLE marks (term TEXT, block INTEGER, bits BLOB, PRIMARY KEY (term, block)) WITHOUT ROWID;
CREATE VIRTUAL TABLE fts USING fts5 (words, names, content = '', tokenize = 'ascii');
INSERT INTO about VALUES ('', 0)
"""
ORDER = {"passages": "id", "episodes": "id", "reinforced": "seq", "terms": "term", "marks": "term, block"}
"""The tables, and the columns that their rows are ordered by."""


class Text(NamedTuple):
    """What ranking needs of a passage: hundreds are looked at for the few that are shown."""

    id: int
    seq: int
    part: int
    """Its number among the event's passages."""
    hash: str
    """The event's."""
    episode: int
    place: int
    """Its number within the episode."""
    length: int
    """How many words it has."""
    kind: str
    actor: str
    speaker: str
    time: str
    entity: str
    """The event's own entity, as JSON: its type and its folded name."""
    words: str
    """Its stems, each with a space before it and one after it, so that the same word twice is counted twice."""


class Content(NamedTuple):
    """The rest of it, for those that are shown."""

    hash: str
    type: str
    metadata: str
    text: str


PLACE_BITS = 31
"""Of a place of an episode as one number: the episode, then its place."""
LONGEST = 255
"""A row of the index ends in the length of its passage, which ranking so knows without looking at the passage."""
FIELDS = ", ".join(Text._fields)
FIELDS_OF_PASSAGES = ", ".join(f"passages.{field}" for field in Text._fields)


class Totals(NamedTuple):
    passages: int
    words: int


class Reach(NamedTuple):
    """How much of the index a read may use."""

    last: int = 0
    """Its last passage, which is also how many there are."""
    words: int = 0
    is_newest: bool = True
    """Nothing came after that passage."""
    noted: int = 0
    """The passages of full blocks, whether before or after the last one."""


class Lookup(NamedTuple):
    """What to look for in the index."""

    expression: str
    after: int = 0
    """Only behind this passage."""
    limit: int = 0
    """If it is not 0, the newest as many."""


class TextStore:
    """The questions and changes of one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    # Following

    def cursor(self) -> Cursor | None:
        (kept,) = self._db.execute("SELECT cursor FROM about").fetchone()
        return Cursor(*json.loads(kept)) if kept else None

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
        self._db.execute("UPDATE about SET cursor = ?", (kept,))

    def digest(self) -> str:
        digest = sha256()
        for table, order in ORDER.items():
            for row in self._db.execute(f"SELECT * FROM {table} ORDER BY {order}"):
                digest.update(json.dumps(row, default=bytes.hex).encode() + b"\n")
        return digest.hexdigest()

    def wipe(self) -> None:
        for table in ORDER:
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("INSERT INTO fts (fts) VALUES ('delete-all')")
        self._db.execute("UPDATE about SET cursor = '', blocks = 0")

    # Reading. Whatever came after the passage `last` is not there: an answer of then can be given again at any time.

    def reach(self, seq: int) -> Reach:
        """What the first `seq` events came to."""
        query = (
            "SELECT id, words_by_now, id = (SELECT max(id) FROM passages), (SELECT blocks FROM about)"
            " FROM passages WHERE seq <= ? ORDER BY seq DESC, part DESC LIMIT 1"
        )
        found = self._db.execute(query, (seq,)).fetchone()
        return Reach(found[0], found[1], bool(found[2]), found[3] * BLOCK) if found else Reach()

    def noted(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many passages of full blocks each term occurs, where it does in any."""
        query = "SELECT term, passages FROM terms WHERE term IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, (json.dumps(list(terms)),)))

    def counts(self, terms: Sequence[str], reach: Reach) -> dict[str, int]:
        """In how many passages each term occurs, where it does in any."""
        if not terms:
            return {}
        first, last, sign = reach.noted, reach.last, 1
        if last < first:  # full blocks hold passages that came later: those do not count
            first, last, sign = last, first, -1
        query = (
            "SELECT asked.value, ifnull((SELECT passages FROM terms WHERE term = asked.value), 0), (SELECT count(*)"
            " FROM fts WHERE fts MATCH 'words:\"' || asked.value || '\"' AND rowid > ? AND rowid <= ?)"
            " FROM json_each(?) AS asked"
        )
        found = self._db.execute(query, (first << 8 | LONGEST, last << 8 | LONGEST, json.dumps(terms)))
        return {term: count for term, noted, more in found if (count := noted + sign * more)}

    def look_up(self, lookups: Sequence[Lookup], last: int, by: str = "") -> list[list[int]]:
        """The rows of the index that each lookup finds, of passages from before a moment if one is given.

        A row is 256 times a passage, plus its length or `LONGEST`.
        """
        found: list[list[int]] = [[] for _ in lookups]
        values: list[int | str] = []
        for lookup in lookups:
            values += (lookup.expression, lookup.after << 8 | LONGEST, last << 8 | LONGEST, *([by] if by else ()))
            values += [lookup.limit] if lookup.limit else ()
        statement = _union(tuple([lookup.limit > 0 for lookup in lookups]), bool(by))
        for row, number in self._db.execute(statement, values) if lookups else ():
            found[number].append(row)
        return found

    def marks(self, terms: Iterable[str], reach: Reach) -> dict[str, bytes]:
        """Of common words the passages of full blocks that have them, each a bit, from the lowest on."""
        blocks = min(reach.noted, reach.last + BLOCK - 1) // BLOCK
        empty = bytes(BYTES)
        parts: dict[str, list[bytes]] = {}
        query = "SELECT term, block, bits FROM marks WHERE term IN (SELECT value FROM json_each(?)) AND block < ?"
        for term, block, bits in self._db.execute(query, (json.dumps(list(terms)), blocks)):
            parts.setdefault(term, [empty] * blocks)[block] = bits
        return {term: _cut(b"".join(of_term), reach.last) for term, of_term in parts.items()}

    def together(self, words: tuple[str, str], last: int) -> bool:
        """Whether two words stand side by side in a passage."""
        query = "SELECT 1 FROM fts WHERE fts MATCH ? AND rowid <= ? LIMIT 1"
        values = (f'words:"{words[0]} {words[1]}"', last << 8 | LONGEST)
        return self._db.execute(query, values).fetchone() is not None

    def texts(self, ids: Iterable[int]) -> list[Text]:
        query = (
            f"SELECT {FIELDS_OF_PASSAGES} FROM json_each(?) AS asked CROSS JOIN passages ON passages.id = asked.value"
        )
        return list(map(Text._make, self._db.execute(query, (json.dumps(list(ids)),))))

    def at(self, places: Iterable[int], last: int) -> list[Text]:
        """The passages at the given places of episodes, each as one number: the episode, then `PLACE_BITS` of the place."""
        query = (
            f"SELECT {FIELDS_OF_PASSAGES} FROM json_each(?) AS wanted CROSS JOIN passages "
            f"ON episode = wanted.value >> {PLACE_BITS} AND place = wanted.value & {(1 << PLACE_BITS) - 1} "
            "WHERE passages.id <= ?"
        )
        return list(map(Text._make, self._db.execute(query, (json.dumps(list(places)), last))))

    def contents(self, ids: Iterable[int]) -> dict[int, Content]:
        which = "id IN (SELECT value FROM json_each(?))"
        query = f"SELECT id, {', '.join(Content._fields)} FROM passages WHERE {which}"
        return {row[0]: Content(*row[1:]) for row in self._db.execute(query, (json.dumps(list(ids)),))}

    def episodes(self, ids: Iterable[int], reach: Reach) -> dict[int, Totals]:
        query = "SELECT id, passages, words FROM episodes WHERE id IN (SELECT value FROM json_each(?))"
        values: tuple[object, ...] = (json.dumps(list(ids)),)
        if not reach.is_newest:
            query = (
                "SELECT episode, place, words_of_episode FROM json_each(?) AS asked CROSS JOIN passages ON passages.id ="
                " (SELECT id FROM passages WHERE episode = asked.value AND id <= ? ORDER BY place DESC LIMIT 1)"
            )
            values = (*values, reach.last)
        return {row[0]: Totals(row[1], row[2]) for row in self._db.execute(query, values)}

    def of_events(self, seqs: Iterable[int]) -> list[Text]:
        """The first passage of each event."""
        which = "part = 0 AND seq IN (SELECT value FROM json_each(?))"
        query = f"SELECT {FIELDS} FROM passages WHERE {which}"
        return [Text(*row) for row in self._db.execute(query, (json.dumps(sorted(seqs)),))]

    def latest(self, count: int, last_seq: int) -> list[int]:
        """The last events that say anything, by their seqs, newest first."""
        query = "SELECT seq FROM passages WHERE part = 0 AND seq <= ? ORDER BY seq DESC LIMIT ?"
        return [seq for (seq,) in self._db.execute(query, (last_seq, count))]

    def newest(self, last_seq: int) -> str:
        """The time of the passage that came last; empty where there is none."""
        query = "SELECT time FROM passages WHERE seq <= ? ORDER BY seq DESC, part DESC LIMIT 1"
        found = self._db.execute(query, (last_seq,)).fetchone()
        return str(found[0]) if found else ""

    def reinforcement(self, texts: Iterable[Text], known: int) -> dict[int, float]:
        """How much good the events up to `known` say of the given passages' events or entities, by event."""
        (any_,) = self._db.execute("SELECT EXISTS (SELECT 1 FROM reinforced)").fetchone()
        if not any_:
            return {}
        query = "SELECT ifnull(sum(weight), 0) FROM reinforced WHERE (target = ? OR entity = ?) AND seq <= ?"
        found = {text.seq: self._db.execute(query, (text.seq, text.entity, known)).fetchone()[0] for text in texts}
        return {seq: weight for seq, weight in found.items() if weight}


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


def _cut(bits: bytes, last: int) -> bytes:
    """The bits of the passages up to the last one."""
    if last >= 8 * len(bits):
        return bits
    return bits[: last // 8] + bytes([bits[last // 8] & ((1 << last % 8) - 1)])
