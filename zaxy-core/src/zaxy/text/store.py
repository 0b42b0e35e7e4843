"""One session's texts in an SQLite file: passages, an FTS5 index of their tokens, and how common each token is."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from zaxy.api.models import Cursor, EntityRef, ExtractedEvent
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import parse_citation
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.extract.names import entity_key
from zaxy.text import tokens
from zaxy.text.passages import passages

FORMAT = f"2, tokens {tokens.FORMAT}"
EPISODE_GAP = timedelta(hours=1)
"""What is of one source and no further apart is one episode."""
SCHEMA = """
CREATE TABLE about (cursor TEXT);
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
CREATE VIRTUAL TABLE fts USING fts5 (words, names, content = '', tokenize = 'ascii');
INSERT INTO about VALUES ('')
"""
TABLES = ("passages", "episodes", "reinforced")


class Text(NamedTuple):
    """What ranking needs of a passage: hundreds are looked at for the few that are shown."""

    id: int
    seq: int
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
    part: int
    """Which of the event's passages it is, from 0."""
    hash: str
    """The event's."""


class Content(NamedTuple):
    """The rest of it, for those that are shown."""

    hash: str
    type: str
    metadata: str
    text: str


FIELDS = ", ".join(Text._fields)
FIELDS_OF_PASSAGES = ", ".join(f"passages.{field}" for field in Text._fields)


class Totals(NamedTuple):
    passages: int
    words: int


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
        new = _Rows(self._db)
        for extracted in events:
            if extracted.event.seq > taken and not is_housekeeping(extracted.event):
                new.take(extracted)
        new.write()
        kept = json.dumps([cursor.seq, cursor.hash, cursor.offset, cursor.fed_by])
        self._db.execute("UPDATE about SET cursor = ?", (kept,))

    def digest(self) -> str:
        digest = sha256()
        for table, order in (("passages", "id"), ("episodes", "id"), ("reinforced", "seq")):
            for row in self._db.execute(f"SELECT * FROM {table} ORDER BY {order}"):
                digest.update(json.dumps(row).encode() + b"\n")
        return digest.hexdigest()

    def wipe(self) -> None:
        for table in TABLES:
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("INSERT INTO fts (fts) VALUES ('delete-all')")
        self._db.execute("UPDATE about SET cursor = ''")

    # Reading. Whatever came after the passage `last` is not there: an answer of then can be given again at any time.

    def last(self, seq: int) -> int:
        """The last passage of the first `seq` events; 0 where there is none."""
        query = "SELECT id FROM passages WHERE seq <= ? ORDER BY seq DESC, part DESC LIMIT 1"
        found = self._db.execute(query, (seq,)).fetchone()
        return int(found[0]) if found else 0

    def totals(self, last: int) -> Totals:
        found = self._db.execute("SELECT id, words_by_now FROM passages WHERE id = ?", (last,)).fetchone()
        return Totals(*found) if found else Totals(0, 0)

    def counts(self, terms: Sequence[str], last: int) -> dict[str, int]:
        """In how many passages each term occurs."""
        query = "SELECT count(*) FROM fts WHERE fts MATCH ? AND rowid <= ?"
        found = {term: self._db.execute(query, (tokens.match_any([term], "words"), last)) for term in terms}
        return {term: count for term, rows in found.items() for (count,) in rows if count}

    def together(self, words: tuple[str, str], last: int) -> bool:
        """Whether two words stand side by side in a passage."""
        query = "SELECT 1 FROM fts WHERE fts MATCH ? AND rowid <= ? LIMIT 1"
        return self._db.execute(query, (f'words:"{words[0]} {words[1]}"', last)).fetchone() is not None

    def _is_newest(self, last: int) -> bool:
        return bool(last == self._db.execute("SELECT max(id) FROM passages").fetchone()[0])

    def best(self, expression: str, limit: int, last: int, by: str = "") -> list[Text]:
        """The passages that FTS5 ranks highest for an expression; of those from before a moment, if one is given."""
        before = " AND (SELECT time FROM passages WHERE id = fts.rowid) <= ?" if by else ""
        query = (
            f"SELECT {FIELDS} FROM passages WHERE id IN"
            f" (SELECT rowid FROM fts WHERE fts MATCH ? AND rowid <= ?{before} ORDER BY rank LIMIT ?)"
        )
        values = (expression, last, by, limit) if by else (expression, last, limit)
        return list(map(Text._make, self._db.execute(query, values)))

    def at(self, places: Iterable[tuple[int, int]], last: int) -> list[Text]:
        """The passages at the given places of episodes."""
        query = (
            f"SELECT {FIELDS_OF_PASSAGES} FROM json_each(?) AS wanted CROSS JOIN passages "
            "ON episode = json_extract(wanted.value, '$[0]') AND place = json_extract(wanted.value, '$[1]') "
            "WHERE passages.id <= ?"
        )
        return list(map(Text._make, self._db.execute(query, (json.dumps(sorted(places)), last))))

    def contents(self, ids: Iterable[int]) -> dict[int, Content]:
        which = "id IN (SELECT value FROM json_each(?))"
        query = f"SELECT id, {', '.join(Content._fields)} FROM passages WHERE {which}"
        return {row[0]: Content(*row[1:]) for row in self._db.execute(query, (json.dumps(list(ids)),))}

    def episodes(self, ids: Iterable[int], last: int) -> dict[int, Totals]:
        if self._is_newest(last):
            query = "SELECT id, passages, words FROM episodes WHERE id IN (SELECT value FROM json_each(?))"
            return {row[0]: Totals(*row[1:]) for row in self._db.execute(query, (json.dumps(list(ids)),))}
        query = "SELECT place, words_of_episode FROM passages WHERE episode = ? AND id <= ? ORDER BY place DESC LIMIT 1"
        return {episode: Totals(*self._db.execute(query, (episode, last)).fetchone()) for episode in ids}

    def of_events(self, seqs: Iterable[int]) -> list[Text]:
        """The first passage of each event."""
        which = "part = 0 AND seq IN (SELECT value FROM json_each(?))"
        query = f"SELECT {FIELDS} FROM passages WHERE {which}"
        return [Text(*row) for row in self._db.execute(query, (json.dumps(sorted(seqs)),))]

    def latest(self, count: int, last_seq: int) -> list[int]:
        """The last events that say anything, by their seqs, newest first."""
        query = "SELECT seq FROM passages WHERE part = 0 AND seq <= ? ORDER BY seq DESC LIMIT ?"
        return [seq for (seq,) in self._db.execute(query, (last_seq, count))]

    def newest(self, last: int) -> str:
        """The time of the passage that came last; empty where there is none."""
        found = self._db.execute("SELECT time FROM passages WHERE id = ?", (last,)).fetchone()
        return str(found[0]) if found else ""

    def reinforcement(self, texts: Iterable[Text], known: int) -> dict[int, float]:
        """How much good the events up to `known` say of the given passages' events or entities, by event."""
        (any_,) = self._db.execute("SELECT EXISTS (SELECT 1 FROM reinforced)").fetchone()
        if not any_:
            return {}
        query = "SELECT ifnull(sum(weight), 0) FROM reinforced WHERE (target = ? OR entity = ?) AND seq <= ?"
        found = {text.seq: self._db.execute(query, (text.seq, text.entity, known)).fetchone()[0] for text in texts}
        return {seq: weight for seq, weight in found.items() if weight}


class _Rows:
    """The rows of one transaction, gathered and then written together."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.passages: list[tuple[Any, ...]] = []
        self._fts: list[tuple[int, str, str]] = []
        self._episodes: dict[str, list[Any]] = {}
        """By source: id, source, passages, words and last time of the episode that goes on."""
        self._ended: list[list[Any]] = []
        self._reinforced: list[tuple[Any, ...]] = []
        last = db.execute("SELECT id, words_by_now FROM passages ORDER BY id DESC LIMIT 1").fetchone()
        self._id: int = last[0] if last else 0
        self._words: int = last[1] if last else 0
        (self._episode,) = db.execute("SELECT ifnull(max(id), 0) FROM episodes").fetchone()

    def take(self, extracted: ExtractedEvent) -> None:
        event, rows = extracted.event, extracted.rows
        entity = entity_key(EntityRef(rows.entities[0].entity_type, rows.entities[0].name)) if rows.entities else ""
        for part, passage in enumerate(passages(event, rows)):
            folded = tokens.folded(passage.text)
            stems = [*header(passage.time[:10], passage.speaker, passage.heading), *tokens.words_of_folded(folded)]
            words = f" {'  '.join(stems)} "
            episode = self._episode_of(passage.source, passage.time)
            episode[2] += 1
            episode[3] += len(stems)
            episode[4] = passage.time
            self._id += 1
            self._words += len(stems)
            self.passages.append(
                (
                    self._id,
                    event.seq,
                    event.hash,
                    part,
                    episode[0],
                    episode[2],
                    len(stems),
                    self._words,
                    episode[3],
                    passage.kind,
                    event.type,
                    event.actor,
                    passage.speaker,
                    passage.time,
                    entity,
                    _json(passage.metadata),
                    words,
                    passage.text,
                )
            )
            self._fts.append((self._id, words, " ".join(tokens.identifiers(passage.text))))
        if event.type == "memory.reinforced" and event.payload:
            self._reinforce(event.seq, event.session, event.payload)

    def _episode_of(self, source: str, time: str) -> list[Any]:
        if source not in self._episodes:
            query = "SELECT id, source, passages, words, last FROM episodes WHERE source = ? ORDER BY id DESC LIMIT 1"
            found = self._db.execute(query, (source,)).fetchone()
            self._episodes[source] = list(found) if found else self._new_episode(source, time)
        episode = self._episodes[source]
        if episode[4][:13] != time[:13] and abs(_moment(time) - _moment(episode[4])) > EPISODE_GAP:
            self._ended.append(episode)
            episode = self._episodes[source] = self._new_episode(source, time)
        return episode

    def _new_episode(self, source: str, time: str) -> list[Any]:
        self._episode += 1
        return [self._episode, source, 0, 0, time]

    def _reinforce(self, seq: int, session: str, payload: Any) -> None:
        target = None
        with contextlib.suppress(ZaxyError):
            citation = parse_citation(str(payload.get("citation", "")))
            target = citation.seq if citation.session == session else None
        named = (payload.get("entity_type"), payload.get("entity_name"))
        entity = entity_key(EntityRef(*named)) if all(isinstance(part, str) for part in named) else ""
        importance = payload.get("importance")
        weight = float(importance) if type(importance) in (int, float) and 0 < importance <= 1 else 1.0
        self._reinforced.append((seq, target, entity, weight))

    def write(self) -> None:
        db = self._db
        db.executemany(f"INSERT INTO passages VALUES ({', '.join('?' * 18)})", self.passages)
        db.executemany("INSERT INTO fts (rowid, words, names) VALUES (?, ?, ?)", self._fts)
        db.executemany("REPLACE INTO episodes VALUES (?, ?, ?, ?, ?)", [*self._ended, *self._episodes.values()])
        db.executemany("INSERT INTO reinforced VALUES (?, ?, ?, ?)", self._reinforced)


@lru_cache(4096)
def header(day: str, speaker: str, heading: str) -> tuple[str, ...]:
    """The words for when something was said, by whom and where: a question may name the month, person or place."""
    year, month, number = day.split("-")
    return (
        *tokens.words(tokens.MONTHS[int(month) - 1]),
        year,
        number.lstrip("0"),
        *tokens.words(f"{speaker} {heading}"),
    )


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time)
