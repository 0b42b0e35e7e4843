"""What the text index writes for events: their passages, the tokens of those, and the episodes that they belong to."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, NamedTuple

import orjson

from zaxy.api.models import Event, ExtractedEvent, Extraction
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.extract.derived import derived_of, derived_texts
from zaxy.extract.feedback import ABOUT_MEMORY
from zaxy.extract.names import entity_key, new_entity_key
from zaxy.text import tokens
from zaxy.text.asides import NewAsides
from zaxy.text.blocks import Blocks, BlockSizes, words_between
from zaxy.text.passages import Parts, Passage, parts_of, passages
from zaxy.text.schema import MAX_LENGTH, TEXT_COLUMNS, Text

_COMMON_PARTS = re.compile(r"\b(?:hook|event|memory|recorded|completed|created|made|taken|applied|submitted)\b")
"""Parts of types that most events have: they say that something was recorded, and not what."""
EPISODE_GAP = timedelta(hours=1)
"""What is of one source and no further apart is one episode."""


class NewPassage(NamedTuple):
    """A passage of an event, before it has its place."""

    event: Event
    number: int
    """Among the event's passages."""
    entity: str
    """The key of what the event is about, and the type of that."""
    entity_type: str
    passage: Passage
    derived: Sequence[str]
    """What extractors of plugins say of the event, which finds it as the words of its type do."""


class NewRows:
    """The rows of one transaction, gathered and then written together."""

    def __init__(self, db: SealedConnection, sizes: BlockSizes, *, asides: int) -> None:
        """`asides`: how many there were before."""
        self._db = db
        self._sizes = sizes
        self._seal = db.seal
        self._passages: list[tuple[tuple[Any, ...], tuple[str, str, str]]] = []
        """The fields of each, and its content: type, metadata and text."""
        self._stems: list[list[str]] = []
        """The words of each of them."""
        self._fts: list[tuple[int, str, str]] = []
        self._episodes: dict[str, list[Any]] = {}
        """By source: id, source, passages, words and last time of the episode that goes on."""
        self._ended: list[list[Any]] = []
        self._reinforced: list[tuple[Any, ...]] = []
        self._times: list[str] = []
        """When each of them happened."""
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

    def take(self, events: Sequence[ExtractedEvent]) -> None:
        """Each step is taken for all events before the next one, so that the memory that it works with stays near.
        Event by event these steps took a sixth more time."""
        parts = [part for extracted in events for part in _parts(extracted)]
        said = [parts_of(part.event, part.passage.text, part.entity_type) for part in parts]
        tell = _tell(parts, said)
        stems = [tokens.words(what.stated) for what in said]
        texts = [part.passage.text if tells else "" for part, tells in zip(parts, tell, strict=True)]
        names = [tokens.identifiers(text) for text in texts]
        for part, what, tells, own, named in zip(parts, said, tell, stems, names, strict=True):
            if tells:
                self._add(part, what, own=own, named=named)
            else:
                self._add_aside(part, what)
        for extracted in events:
            if extracted.event.type == "memory.reinforced" and extracted.event.payload:
                self._reinforce(extracted.event, extracted.event.payload, about=_memory_meant(extracted.rows))

    def _add_aside(self, part: NewPassage, said: Parts) -> None:
        """What tells nothing stands behind the last passage of its episode, and counts for nothing there."""
        event, number, entity, _, passage, _ = part
        episode = self._episode_of(passage.source, passage.time)
        kind = passage.kind if said.asked else event.type
        place = (episode[0], episode[2], 0, 0, 0, kind, event.actor, passage.speaker, passage.time)
        self._asides.add(Text(0, event.seq, number, event.hash, *place, entity, ""), said.asked, passage.text)

    def _add(self, part: NewPassage, said: Parts, *, own: list[str], named: list[str]) -> None:
        """`own`: the stems of what it tells. `named`: its identifiers."""
        event, of_event, entity, _, passage, derived = part
        text, kind, speaker, source, time, heading, metadata = passage
        of_type = [stem for stem in type_words(event.type) if stem not in own] if kind == "event" else ()
        if derived:
            added = dict.fromkeys([stem for one in derived for stem in tokens.words(one)])
            of_type = [*of_type, *[stem for stem in added if stem not in own and stem not in of_type]]
        stems = [*header(time[:10], speaker), *tokens.stems_of(heading), *of_type, *own]
        # The words of its type find it, and make it no longer: with them in its length the bench finds less.
        words, length = f" {'  '.join(stems)} ", len(stems) - len(of_type)
        self._stems.append(stems)
        episode = self._episode_of(source, time)
        episode[2] += 1
        episode[3] += length
        episode[4] = time
        self._times.append(time)
        number = self._id = self._id + 1
        self._words += length
        place = (episode[0], episode[2], length, self._words, episode[3])
        fields = (number, event.seq, of_event, event.hash, *place, kind, event.actor, speaker, time, entity, words)
        self._passages.append((fields, (event.type, _json(metadata) if metadata else "{}", text)))
        self._fts.append((number << 8 | min(length, MAX_LENGTH), words, " ".join(named) if named else ""))
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

    def _reinforce(self, event: Event, payload: Any, *, about: str) -> None:
        target = None
        with contextlib.suppress(ZaxyError):
            citation = parse_citation(str(payload.get("citation", "")))
            target = citation.seq if citation.session == event.session else None
        importance = payload.get("importance")
        weight = float(importance) if type(importance) in (int, float) and 0 < importance <= 1 else 1.0
        row = (event.seq, target, about, weight)
        self._reinforced.append((*row, self._seal(row)))

    def write(self) -> tuple[int, int]:
        """Write all, and mark the blocks that are full now; how many rows of feedback came, and all asides by now."""
        db, seal = self._db, self._seal
        episodes = [(*row, seal(row)) for row in (*self._ended, *self._episodes.values())]
        passages = [
            (*fields, seal(fields), *content, seal((fields[0], fields[3], *content)))
            for fields, content in self._passages
        ]
        db.executemany(f"INSERT INTO passages VALUES ({', '.join('?' * 20)})", passages)
        db.executemany("INSERT INTO fts (rowid, words, names) VALUES (?, ?, ?)", self._fts)
        db.executemany("REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?)", episodes)
        db.executemany("INSERT INTO reinforced VALUES (?, ?, ?, ?, ?)", self._reinforced)
        asides = self._asides.write()
        before, size = self._id - len(self._passages), self._sizes.block
        blocks = Blocks(db, self._sizes)
        for block in range(before // size, -(-self._id // size)) if self._times else ():
            blocks.take_times(block, self._times[max(block * size - before, 0) : (block + 1) * size - before])
        for block in range(before // size, self._id // size):
            blocks.mark(block, self._texts_of(block, before))
        return len(self._reinforced), asides

    def _texts_of(self, block: int, before: int) -> Iterator[list[str]]:
        """The words of a block's passages: of those up to `before` from the file, of the new ones from here."""
        first, end = block * self._sizes.block, (block + 1) * self._sizes.block
        yield from words_between(self._db, first, before)
        yield from self._stems[max(first - before, 0) : end - before]


def _parts(extracted: ExtractedEvent) -> list[NewPassage]:
    """The passages of an event, in order. What is derived from it stands with the first."""
    event, rows = extracted.event, extracted.rows
    first = rows.entities[0] if rows.entities else None
    kind = first.entity_type if first else ""
    entity = new_entity_key(kind, first.name) if first else ""
    added = derived_of(rows)
    derived = derived_texts(added) if added else ()
    said = passages(event, rows, extracted.sentence)
    return [_as_new((event, at, entity, kind, said[at], () if at else derived)) for at in range(len(said))]


_as_new = partial(tuple.__new__, NewPassage)
"""What `NewPassage._make` does, without a call for each."""


def _tell(parts: Sequence[NewPassage], said: Sequence[Parts]) -> list[bool]:
    """Whether each part is one that words find. An event that tells anything is known by its first passage."""
    both = list(zip(parts, said, strict=True))
    telling = {part.event.seq for part, what in both if what.stated}
    return [bool(what.stated) or (not part.number and part.event.seq in telling) for part, what in both]


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
