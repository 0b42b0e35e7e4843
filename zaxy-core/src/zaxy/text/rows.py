"""What the text index writes for events: their passages, the tokens of those, and the episodes that they belong to."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson

from zaxy.api.models import EntityRef, ExtractedEvent
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import parse_citation
from zaxy.extract.names import entity_key
from zaxy.text import tokens
from zaxy.text.blocks import BLOCK, note_block
from zaxy.text.passages import passages

EPISODE_GAP = timedelta(hours=1)
"""What is of one source and no further apart is one episode."""


class NewRows:
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
            self._fts.append((self._id << 8 | min(len(stems), 255), words, " ".join(tokens.identifiers(passage.text))))
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
        (noted,) = db.execute("SELECT blocks FROM about").fetchone()
        for block in range(noted, self._id // BLOCK):
            note_block(db, block)
        db.execute("UPDATE about SET blocks = ?", (self._id // BLOCK,))


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
