"""One session's texts in an SQLite file: passages, an FTS5 index of their tokens, and how common each word is."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import orjson

from zaxy.api.models import Cursor, ExtractedEvent
from zaxy.eventloom.database_errors import MISSING, Unsealed
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.text import asides
from zaxy.text.blocks import Blocks, BlockSizes
from zaxy.text.rows import NewRows
from zaxy.text.schema import COLUMNS, CONTENT_COLUMNS, MAX_LENGTH, PLACE_BITS, TEXT_COLUMNS, Content, Text

T = TypeVar("T")
MAX_FEEDBACK = 64
"""Rows of feedback that are all read, whatever they are about: one that was edited to be passed by is so noticed."""
EpisodeSize = tuple[int, int]
"""How many passages an episode has, and how many words."""
OF_TEXT = "target = ? OR entity = ?"


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
    after: int
    """Only behind this passage."""
    limit: int
    """The newest as many."""


ABOUT = """
SELECT cursor, feedback, asides, seal,
    iif(cursor IS NULL, EXISTS (SELECT 1 FROM passages) OR EXISTS (SELECT 1 FROM asides), 0)
FROM (SELECT 1) LEFT JOIN about
"""
"""One statement, for a read without a transaction: between two, another thread may bring the first rows."""
AT_ITS_PLACE = "ON passages.episode = search.episode AND passages.place = search.low"
LAST_PLACES = """
WITH RECURSIVE search (episode, low, high) AS (
    SELECT episode, iif(passages.id <= :last, place, 1), place FROM json_each(:asked) CROSS JOIN passages
    ON episode = value AND place = (SELECT max(place) FROM passages WHERE episode = value)
    UNION ALL
    SELECT search.episode, iif(id <= :last, place, low), iif(id <= :last, high, place - 1)
    FROM search CROSS JOIN passages
    ON passages.episode = search.episode AND place = (low + high + 1) / 2 WHERE low < high
)"""
"""Of each episode the last place that is not behind a passage. It is halved again and again: an episode may be endless,
and its places are in the order of its passages."""
_as_text = partial(tuple.__new__, Text)
"""What `Text._make` does, without a call for each."""


class TextStore:
    """The questions and changes of one transaction."""

    def __init__(self, db: SealedConnection, sizes: BlockSizes) -> None:
        self._db = db
        self.sizes = sizes
        self.blocks = Blocks(db, sizes)
        self._texts: dict[int, Text] = {}
        """What was fetched before, by its number."""

    def asks(self, db: SealedConnection) -> bool:
        """Whether this is the connection that it asks."""
        return self._db is db

    # Following

    def cursor(self) -> Cursor | None:
        found = self._about()
        return Cursor(*json.loads(found[0])) if found else None

    def _about(self) -> tuple[str, int, int] | None:
        """How far the log was followed, and how many rows of feedback and how many asides that has brought."""
        found = self._db.execute(ABOUT).fetchone()
        if found[0] is None:
            if found[4]:
                raise Unsealed(MISSING)
            return None
        self._db.check(found[:3], found[3])
        return found[0], found[1], found[2]

    def apply(self, events: Sequence[ExtractedEvent], cursor: Cursor) -> None:
        kept, feedback, asides = self._about() or ("", 0, 0)
        taken = Cursor(*json.loads(kept)).seq if kept else 0
        if cursor.seq <= taken:
            return
        new = NewRows(self._db, self.sizes, asides=asides)
        new.take([one for one in events if one.event.seq > taken and not one.housekeeping])
        more_feedback, asides = new.write()
        place = json.dumps([cursor.seq, cursor.hash, cursor.offset, cursor.fed_by])
        about = (place, feedback + more_feedback, asides)
        self._db.execute("DELETE FROM about")
        self._db.execute("INSERT INTO about VALUES (?, ?, ?, ?)", (*about, self._db.seal(about)))

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
        last, is_newest = self._last_by(seq)
        return Reach(last.id, last.words_by_now, is_newest) if last else Reach()

    def _last_by(self, seq: int) -> tuple[Text | None, bool]:
        """The last passage of the first `seq` events, and whether none comes after it. The one after it must be of a
        later event: otherwise a passage between was edited to be passed by."""
        query = (
            f"SELECT (SELECT max(id) FROM passages), {TEXT_COLUMNS}"
            " FROM passages WHERE seq <= ? ORDER BY seq DESC, part DESC LIMIT 1"
        )
        found = self._db.execute(query, (seq,)).fetchone()
        last = self._checked([found[1:]])[0] if found else None
        if last and last.id == found[0]:
            return last, True
        following = self._numbered(last.id + 1 if last else 1)
        if following is None and last is None:
            return None, True
        if following is None or following.seq <= seq:
            raise Unsealed(MISSING)
        return last, False

    def _numbered(self, number: int) -> Text | None:
        found = self._checked(self._db.execute(f"SELECT {TEXT_COLUMNS} FROM passages WHERE id = ?", (number,)))
        return found[0] if found else None

    def _checked(self, rows: Iterable[tuple[Any, ...]]) -> list[Text]:
        """The texts of rows that end in their seals."""
        return list(map(_as_text, self._db.unsealed(rows)))

    def look_up(self, lookups: Sequence[Lookup], last: int) -> list[list[int]]:
        """The rows of the index that each lookup finds, the newest first.

        A row is 256 times a passage, plus its length or `MAX_LENGTH`.
        """
        values: list[int | str] = []
        for expression, after, limit in lookups:
            values += (expression, after << 8 | MAX_LENGTH, last << 8 | MAX_LENGTH, limit)
        found = self._db.execute(_union(len(lookups)), values) if lookups else ()
        return [orjson.loads(rows) for (rows,) in found]

    def texts(self, ids: Collection[int]) -> list[Text]:
        """The passages of the given numbers. Most that are looked at for picking are picked, and so fetched once."""
        query = f"SELECT {TEXT_COLUMNS} FROM json_each(?) AS asked CROSS JOIN passages ON passages.id = asked.value"
        if fresh := [number for number in ids if number not in self._texts]:
            found = _all_of(fresh, self._checked(self._db.execute(query, (_json(fresh),))))
            self._texts.update([(text.id, text) for text in found])
        return [self._texts[number] for number in ids]

    def at(self, places: Collection[int]) -> list[Text]:
        """The passages at the given places of episodes, each as one number: the episode, then `PLACE_BITS` of the
        place. The episodes have those places, so none may be missing."""
        query = (
            f"SELECT {TEXT_COLUMNS} FROM json_each(?) AS asked CROSS JOIN passages "
            f"ON episode = asked.value >> {PLACE_BITS} AND place = asked.value & {(1 << PLACE_BITS) - 1}"
        )
        return _all_of(places, self._checked(self._db.execute(query, (_json(places),))))

    def at_if_there(self, places: Collection[int], last: int) -> list[Text]:
        """The same for places that may not be there, of passages up to `last`."""
        query = (
            f"SELECT {TEXT_COLUMNS} FROM json_each(?) AS asked CROSS JOIN passages "
            f"ON episode = asked.value >> {PLACE_BITS} AND place = asked.value & {(1 << PLACE_BITS) - 1} "
            "WHERE passages.id <= ?"
        )
        return self._checked(self._db.execute(query, (_json(places), last)))

    def contents(self, ids: Iterable[int]) -> dict[int, Content]:
        query = f"SELECT {CONTENT_COLUMNS} FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        rows = self._db.unsealed(self._db.execute(query, (_json(ids),)))
        return {row[0]: Content._make(row[1:]) for row in rows}

    def episodes(self, ids: Collection[int], reach: Reach) -> dict[int, EpisodeSize]:
        """How much each episode has."""
        if not reach.is_newest:
            return self._episodes_then(ids, reach.last)
        query = f"SELECT {COLUMNS['episodes']}, seal FROM episodes WHERE id IN (SELECT value FROM json_each(?))"
        rows = self._db.unsealed(self._db.execute(query, (_json(ids),)))
        return {row[0]: (row[2], row[3]) for row in _all_of(ids, rows)}

    def _episodes_then(self, ids: Collection[int], last: int) -> dict[int, EpisodeSize]:
        query = f"{LAST_PLACES} SELECT {TEXT_COLUMNS} FROM search CROSS JOIN passages {AT_ITS_PLACE} WHERE low = high"
        texts = self._checked(self._db.execute(query, {"asked": _json(ids), "last": last}))
        return {text.episode: (text.place, text.words_of_episode) for text in _all_of(ids, texts)}

    def of_events(self, seqs: Iterable[int]) -> list[Text]:
        """The first passage of each event that has any."""
        wanted = set(seqs)
        query = f"SELECT {TEXT_COLUMNS} FROM passages WHERE part = 0 AND seq IN (SELECT value FROM json_each(?))"
        found = self._checked(self._db.execute(query, (_json(sorted(wanted)),)))
        for seq in wanted.difference([text.seq for text in found]):
            last, _ = self._last_by(seq)
            if last and last.seq == seq:
                raise Unsealed(MISSING)
        return found

    def latest(self, count: int, last_seq: int) -> list[int]:
        """The last events that say anything, by their seqs, newest first."""
        query = f"SELECT {TEXT_COLUMNS} FROM passages WHERE part = 0 AND seq <= ? ORDER BY seq DESC LIMIT ?"
        firsts = self._checked(self._db.execute(query, (last_seq, count)))
        seqs = [text.seq for text in firsts]
        last, _ = self._last_by(last_seq)
        known = {text.id: text.seq for text in firsts}
        unknown = {text.id - 1 for text in firsts[:-1]} - known.keys()
        known.update([(text.id, text.seq) for text in self.texts(unknown)] if unknown else ())
        is_all = len(firsts) < count
        # The passage before an event's first one is of the event before it, and the first of all has the number 1.
        if [*([last.seq] if last else []), *[known[text.id - 1] for text in firsts[:-1]]] != seqs or (
            is_all and firsts and firsts[-1].id != 1
        ):
            raise Unsealed(MISSING)
        oldest = 0 if is_all else seqs[-1]
        return sorted({*seqs, *self.asides(last_seq).latest(count, oldest)}, reverse=True)[:count]

    def newest(self, last_seq: int) -> str:
        """The time of the passage that came last; empty where there is none."""
        last, _ = self._last_by(last_seq)
        return last.time if last else ""

    def reinforcement(self, texts: Iterable[Text], known: int) -> dict[int, float]:
        """How much good the events up to `known` say of the given passages' events or entities, by event."""
        _, count, _ = self._about() or ("", 0, 0)
        if not count:
            return {}
        every = self._feedback("seq > ?", (0,)) if count <= MAX_FEEDBACK else None
        if every is not None and len(every) != count:
            raise Unsealed(MISSING)
        found = {}
        for text in texts:
            rows = every if every is not None else self._feedback(OF_TEXT, (text.seq, text.entity))
            about = [row for row in rows if text.seq == row[1] or text.entity == row[2]]
            found[text.seq] = sum([row[3] for row in about if row[0] <= known])
        return {seq: weight for seq, weight in found.items() if weight}

    def _feedback(self, which: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        query = f"SELECT {COLUMNS['reinforced']}, seal FROM reinforced WHERE {which} ORDER BY seq"
        return self._db.unsealed(self._db.execute(query, values))


def _all_of(asked: Collection[int], found: list[T]) -> list[T]:
    """What was found, if it is all that was asked for: another row has named each, so none may be missing."""
    if len(found) != len(asked):
        raise Unsealed(MISSING)
    return found


def _json(values: Iterable[object]) -> str:
    return orjson.dumps(list(values)).decode()


@lru_cache(256)
def _union(lookups: int) -> str:
    """A statement for as many lookups, with the rows of each as a list in JSON: one statement costs less than many, and
    a row of SQLite costs as much to fetch as it does to find."""
    where = "FROM fts WHERE fts MATCH ? AND rowid > ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?"
    return " UNION ALL ".join([f"SELECT json_group_array(rowid) FROM (SELECT rowid {where})"] * lookups)
