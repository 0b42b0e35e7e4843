"""What the text index writes for events: their passages, the tokens of those, and the episodes that they belong to."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson

from zaxy.api.models import EntityRef, Event, ExtractedEvent, Extraction
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.extract.derived import derived_of, derived_texts
from zaxy.extract.feedback import ABOUT_MEMORY
from zaxy.extract.names import entity_key
from zaxy.text import tokens
from zaxy.text.asides import NewAsides
from zaxy.text.blocks import Blocks, BlockSizes, words_between
from zaxy.text.passages import Parts, Passage, parts_of, passages
from zaxy.text.schema import MAX_LENGTH, TEXT_COLUMNS, Text

_COMMON_PARTS = re.compile(r"\b(?:hook|event|memory|recorded|completed|created|made|taken|applied|submitted)\b")
"""Parts of types that most events have: they say that something was recorded, and not what."""
EPISODE_GAP = timedelta(hours=1)
"""What is of one source and no further apart is one episode."""


class NewRows:
    """The rows of one transaction, gathered and then written together."""

    def __init__(self, db: SealedConnection, sizes: BlockSizes, *, asides: int) -> None:
        """`asides`: how many there were before."""
        self._db = db
        self._sizes = sizes
        self._seal = db.seal
        self._passages: list[tuple[Any, ...]] = []
        self._stems: list[list[str]] = []
        """The words of each of them."""
        self._fts: list[tuple[int, str, str]] = []
        self._episodes: dict[str, list[Any]] = {}
        """By source: id, source, passages, words and last time of the episode that goes on."""
        self._ended: list[list[Any]] = []
        self._reinforced: list[tuple[Any, ...]] = []
        self._times: dict[int, list[str]] = {}
        """By block: when its new passages happened."""
        self._asides = NewAsides(db, asides)
        self._id, self._words = self._last_passage()
        (self._episode,) = db.execute("SELECT ifnull(max(id), 0) FROM episodes").fetchone()

    def _last_passage(self) -> tuple[int, int]:
        """Its number, and the words of all passages by then."""
        found = self._db.execute(f"SELECT {TEXT_COLUMNS} FROM passages ORDER BY id DESC LIMIT 1").fetchone()
        if found is None:
            return 0, 0
        self._db.check(found[:-1], found[-1])
        last = Text._make(found[:-1])
        return last.id, last.words_by_now

    def take(self, extracted: ExtractedEvent) -> None:
        event, rows = extracted.event, extracted.rows
        first = rows.entities[0] if rows.entities else None
        entity = entity_key(EntityRef(first.entity_type, first.name)) if first else ""
        kind = first.entity_type if first else ""
        said_by = passages(event, rows, extracted.sentence)
        own = [(passage, parts_of(event, passage.text, kind)) for passage in said_by]
        tells = any(said.stated for _, said in own)
        added = derived_of(rows)
        derived = derived_texts(added) if added else ()
        for part, (passage, said) in enumerate(own):
            if said.stated or (tells and not part):  # an event that tells anything is known by its first passage
                self._add(event, part, passage, entity=entity, said=said, derived=derived if not part else ())
            else:
                self._add_aside(event, part, passage, entity=entity, said=said)
        if event.type == "memory.reinforced" and event.payload:
            self._reinforce(event.seq, event.session, event.payload, about=_memory_meant(rows))

    def _add_aside(self, event: Event, part: int, passage: Passage, *, entity: str, said: Parts) -> None:
        """What tells nothing stands behind the last passage of its episode, and counts for nothing there."""
        episode = self._episode_of(passage.source, passage.time)
        kind = passage.kind if said.asked else event.type
        place = (episode[0], episode[2], 0, 0, 0, kind, event.actor, passage.speaker, passage.time)
        self._asides.add(Text(0, event.seq, part, event.hash, *place, entity, ""), said.asked, passage.text)

    def _add(
        self, event: Event, part: int, passage: Passage, *, entity: str, said: Parts, derived: Sequence[str]
    ) -> None:
        """`derived`: what extractors of plugins say of the event, which finds it as the words of its type do."""
        text, kind, speaker, source, time, heading, metadata = passage
        own = tokens.words(said.stated)
        named = [stem for stem in type_words(event.type) if stem not in own] if kind == "event" else ()
        if derived:
            added = dict.fromkeys([stem for one in derived for stem in tokens.words(one)])
            named = [*named, *[stem for stem in added if stem not in own and stem not in named]]
        stems = [*header(time[:10], speaker), *tokens.stems_of(heading), *named, *own]
        # The words of its type find it, and make it no longer: with them in its length the bench finds less.
        words, length = f" {'  '.join(stems)} ", len(stems) - len(named)
        self._stems.append(stems)
        episode = self._episode_of(source, time)
        episode[2] += 1
        episode[3] += length
        episode[4] = time
        self._times.setdefault(self._id // self._sizes.block, []).append(time)
        self._id += 1
        self._words += length
        place = (episode[0], episode[2], length, self._words, episode[3])
        fields = (self._id, event.seq, part, event.hash, *place, kind, event.actor, speaker, time, entity, words)
        content = (event.type, _json(metadata), text)
        seals = self._seal(fields), self._seal((self._id, event.hash, *content))
        self._passages.append((*fields, seals[0], *content, seals[1]))
        names = tokens.identifiers(text)
        self._fts.append((self._id << 8 | min(length, MAX_LENGTH), words, " ".join(names) if names else ""))
        if said.asked:
            self._asides.add(Text(*fields), said.asked, text)

    def _episode_of(self, source: str, time: str) -> list[Any]:
        if source not in self._episodes:
            self._episodes[source] = self._known_episode(source) or self._new_episode(source, time)
        episode = self._episodes[source]
        if episode[4][:13] != time[:13] and abs(_moment(time) - _moment(episode[4])) > EPISODE_GAP:
            self._ended.append(episode)
            episode = self._episodes[source] = self._new_episode(source, time)
        return episode

    def _known_episode(self, source: str) -> list[Any] | None:
        query = "SELECT id, source, passages, words, last, seal FROM episodes WHERE source = ? ORDER BY id DESC LIMIT 1"
        found = self._db.execute(query, (source,)).fetchone()
        if found is None:
            return None
        self._db.check(found[:-1], found[-1])
        return list(found[:-1])

    def _new_episode(self, source: str, time: str) -> list[Any]:
        self._episode += 1
        return [self._episode, source, 0, 0, time]

    def _reinforce(self, seq: int, session: str, payload: Any, *, about: str) -> None:
        target = None
        with contextlib.suppress(ZaxyError):
            citation = parse_citation(str(payload.get("citation", "")))
            target = citation.seq if citation.session == session else None
        importance = payload.get("importance")
        weight = float(importance) if type(importance) in (int, float) and 0 < importance <= 1 else 1.0
        row = (seq, target, about, weight)
        self._reinforced.append((*row, self._seal(row)))

    def write(self) -> tuple[int, int]:
        """Write all, and mark the blocks that are full now; how many rows of feedback came, and all asides by now."""
        db, seal = self._db, self._seal
        episodes = [(*row, seal(row)) for row in (*self._ended, *self._episodes.values())]
        db.executemany(f"INSERT INTO passages VALUES ({', '.join('?' * 20)})", self._passages)
        db.executemany("INSERT INTO fts (rowid, words, names) VALUES (?, ?, ?)", self._fts)
        db.executemany("REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?)", episodes)
        db.executemany("INSERT INTO reinforced VALUES (?, ?, ?, ?, ?)", self._reinforced)
        asides = self._asides.write()
        before, size = self._id - len(self._passages), self._sizes.block
        blocks = Blocks(db, self._sizes)
        for block, times in self._times.items():
            blocks.take_times(block, times)
        for block in range(before // size, self._id // size):
            blocks.mark(block, self._texts_of(block, before))
        return len(self._reinforced), asides

    def _texts_of(self, block: int, before: int) -> Iterator[list[str]]:
        """The words of a block's passages: of those up to `before` from the file, of the new ones from here."""
        first, end = block * self._sizes.block, (block + 1) * self._sizes.block
        yield from words_between(self._db, first, before)
        yield from self._stems[max(first - before, 0) : end - before]


@lru_cache(4096)
def header(day: str, speaker: str) -> tuple[str, ...]:
    """The words for when something was said and by whom: a question may name the month or the person."""
    year, month, number = day.split("-")
    return (*tokens.words(tokens.MONTHS[int(month) - 1]), year, number.lstrip("0"), *tokens.words(speaker))


@lru_cache(4096)
def type_words(event_type: str) -> tuple[str, ...]:
    """The words of a type, by which a question may name the kind: `incidents` finds `incident.opened`."""
    return tuple(dict.fromkeys(tokens.words(_COMMON_PARTS.sub(" ", event_type.replace("_", " ")))))


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _moment(time: str) -> datetime:
    return datetime.fromisoformat(time)


def _memory_meant(rows: Extraction) -> str:
    """The key of the memory that feedback is about, whether it names it or refers to it."""
    return next((entity_key(edge.target) for edge in rows.edges if edge.relation_type == ABOUT_MEMORY), "")
