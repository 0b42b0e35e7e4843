"""What was said without telling anything: questions, and the records of memory's own use.

No word finds them and no figure counts them: they are kept beside the passages, with lists of their own. A quoted
phrase finds a question as it was written. And a question points to what was said next to it, because an answer seldom
repeats it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from typing import Any

import orjson

from zaxy.eventloom.database_errors import MISSING, Unsealed
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.text.schema import ASIDE_LISTS, PLACE_BITS, Aside, Text
from zaxy.text.tokens import match_any_part, words

LISTED = 200
"""Questions, the newest, that each word is looked up in."""
MAX_QUESTIONS = 20
"""How many of them point to what was said next to them."""
MIN_SHARE = 0.2
"""The share of what is asked now that a question must have asked for, of the most that any passage has."""
MAX_WORDS = 64
MAX_QUOTED = 100
"""Questions, the newest, that may have a phrase and are looked at."""
WITH, BEHIND, NEXT_BEHIND = 0.8, 0.8, 0.32
"""What a passage gains that asks such a question itself, or stands right behind it, or behind the one that does. These
gains and the share were chosen on the odd seeds of the recall bench."""
COLUMNS = ", ".join((*Aside._fields, "seal"))
LAST_AND_NEXT = f"""
WITH last AS (SELECT {COLUMNS} FROM asides WHERE seq <= ? ORDER BY seq DESC, part DESC LIMIT 1)
SELECT * FROM last UNION ALL
SELECT * FROM (SELECT {COLUMNS} FROM asides WHERE id > ifnull((SELECT id FROM last), 0) ORDER BY id LIMIT 1)"""
"""The last of the first events, and the one with the next number."""


class NewAsides:
    """Those of one transaction."""

    def __init__(self, db: SealedConnection, last: int) -> None:
        """`last`: how many there were before, which is the number of the last."""
        self._db = db
        self._rows: list[tuple[Any, ...]] = []
        self._fts: list[tuple[int, str]] = []
        self._id = last

    def add(self, text: Text, asked: str, whole: str) -> None:
        """`text`: as the index has the passage, without a number if it tells nothing. `asked`: what in it asks."""
        self._id += 1
        stems = " ".join(words(asked))
        place = (text.episode, text.place, text.id)
        about = (text.kind, text.actor, text.speaker, text.time, text.entity)
        fields = (
            self._id,
            text.seq,
            text.part,
            text.hash,
            *place,
            *about,
            stems,
            whole if stems and not text.id else "",
        )
        self._rows.append((*fields, self._db.seal(fields)))
        if stems:
            self._fts.append((self._id, stems))

    def write(self) -> int:
        """Write all; how many there are now."""
        self._db.executemany(f"INSERT INTO asides VALUES ({', '.join('?' * 15)})", self._rows)
        self._db.executemany("INSERT INTO fts_asked (rowid, words) VALUES (?, ?)", self._fts)
        return self._id


class Asides:
    """The questions that a read asks of them; of events up to `last_seq`, and said by a moment if one is given."""

    def __init__(self, db: SealedConnection, last_seq: int, by: str = "") -> None:
        self._db = db
        self._by = by
        self._last = self._last_by(last_seq)

    def _last_by(self, seq: int) -> int:
        """The number of the last aside of the first `seq` events. They are numbered in the order of their events, so
        the one after it must be of a later event: otherwise one between was edited to be passed by."""
        found = self._checked(self._db.execute(LAST_AND_NEXT, (seq,)))
        numbers = [aside.id for aside in found if aside.seq <= seq]
        last = numbers[0] if numbers else 0
        if len(numbers) > 1 or any(aside.id != last + 1 for aside in found if aside.seq > seq):
            raise Unsealed(MISSING)
        return last

    def latest(self, count: int, oldest: int) -> list[int]:
        """The seqs of the last events that begin with an aside, from the event `oldest` on."""
        found: list[int] = []
        end = self._last
        while end > 0 and len(found) < count:
            asides = sorted(self._rows(range(max(end - count, 0) + 1, end + 1)), reverse=True)
            found += [aside.seq for aside in asides if aside.part == 0 and aside.seq >= oldest]
            end = asides[-1].id - 1 if asides[-1].seq >= oldest else 0
        return found[:count]

    def answers(self, weights: Mapping[str, float], best: float) -> dict[int, float]:
        """Where the answers may stand to questions that were asked before: what each place of an episode gains.

        `weights`: the words that are asked for now, each with its weight. `best`: the most of it that any passage has.
        """
        gains: dict[int, float] = {}
        for aside, weight in self._fitting(weights):
            share = min(weight / best, 1.0) if best else 1.0
            for step, gain in ((0, WITH if aside.passage else 0.0), (1, BEHIND), (2, NEXT_BEHIND)):
                place = aside.episode << PLACE_BITS | aside.place + step
                if gain and share >= MIN_SHARE:
                    gains[place] = max(gain * share, gains.get(place, 0.0))
        return gains

    def _fitting(self, weights: Mapping[str, float]) -> list[tuple[Aside, float]]:
        """The questions that asked for the most of it, each with the weight of what it asked for."""
        have: dict[int, float] = {}
        words = sorted(weights, key=weights.__getitem__, reverse=True)[:MAX_WORDS]
        for word, numbers in zip(words, self._having([f'"{word}"' for word in words], LISTED), strict=False):
            weight = weights[word]
            for number in numbers:
                have[number] = have.get(number, 0.0) + weight
        best = sorted([(weight, number) for number, weight in have.items()], reverse=True)[:MAX_QUESTIONS]
        return [(aside, have[aside.id]) for aside in self._rows([number for _, number in best])]

    def quoted(self, phrases: Sequence[str]) -> list[Aside]:
        """Those that may have one of the phrases, or the part of it behind a comma."""
        expressions = [expression for phrase in phrases[:MAX_WORDS] if (expression := match_any_part(phrase))]
        return self._rows({number for found in self._having(expressions, MAX_QUOTED) for number in found})

    def _having(self, expressions: Sequence[str], limit: int) -> list[list[int]]:
        """The newest that each expression finds; nothing where there are none at all."""
        if not self._last or not expressions:
            return []
        values = [value for expression in expressions for value in (expression, self._last, limit)]
        return [orjson.loads(found) for (found,) in self._db.execute(_union(len(expressions)), values)]

    def _rows(self, numbers: Iterable[int]) -> list[Aside]:
        wanted = list(numbers)
        if not wanted:
            return []
        query = f"SELECT {COLUMNS} FROM asides WHERE id IN (SELECT value FROM json_each(?))"
        found = self._checked(self._db.execute(query, (json.dumps(wanted),)))
        if len(found) != len(wanted):
            raise Unsealed(MISSING)
        return [aside for aside in found if not self._by or aside.time <= self._by]

    def _checked(self, rows: Iterable[tuple[Any, ...]]) -> list[Aside]:
        """The asides of rows that end in their seals."""
        return list(map(Aside._make, self._db.unsealed(rows)))


@lru_cache(MAX_WORDS)
def _union(lookups: int) -> str:
    """A statement for as many lookups, as that of the passages is."""
    where = "FROM fts_asked WHERE fts_asked MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?"
    return " UNION ALL ".join([f"SELECT json_group_array(rowid) FROM (SELECT rowid {where})"] * lookups)


def text_of(aside: Aside) -> Text:
    """As a passage without words, of a number that no passage has."""
    return Text(
        id=-aside.id,
        seq=aside.seq,
        part=aside.part,
        hash=aside.hash,
        episode=aside.episode,
        place=aside.place,
        length=0,
        words_by_now=0,
        words_of_episode=0,
        kind=aside.kind,
        actor=aside.actor,
        speaker=aside.speaker,
        time=aside.time,
        entity=aside.entity,
        words="",
    )


def problems(db: SealedConnection) -> Iterator[str]:
    """Where their lists are not those of their rows."""
    (rows, last) = db.execute("SELECT count(*), ifnull(max(id), 0) FROM asides").fetchone()
    last = max(last, *[count for (count,) in db.execute("SELECT asides FROM about")], 0)
    if rows != last:
        yield f"there should be {last} asides, and there are {rows}"
    with closing(sqlite3.connect(":memory:")) as again:
        again.execute(ASIDE_LISTS)
        listed = db.execute("SELECT id, words FROM asides WHERE words <> ''")
        again.executemany("INSERT INTO fts_asked (rowid, words) VALUES (?, ?)", listed)
        for lists in (db, again):
            lists.execute("CREATE VIRTUAL TABLE temp.asked_words USING fts5vocab(main, fts_asked, instance)")
        same = "SELECT term, doc, col, offset FROM temp.asked_words"
        if list(db.execute(same)) != list(again.execute(same)):
            yield "the lists of questions are not those of the asides"
