"""What is shown, made from the proven events of one state of the log.

A follower says where to look and what holds; it never says what was said. So an edited index or graph can't put words
into memory's mouth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from zaxy.api.models import Entity, EntityRef, EntityRow, Event, ExtractedEvent, Extraction
from zaxy.api.names import folded_name
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import citations
from zaxy.eventloom.view import LogView
from zaxy.extract.derived import derived_of
from zaxy.extract.rules import ENTITY_TYPES, NOTHING
from zaxy.extract.sentences import sentence_of
from zaxy.plugins.families import Families
from zaxy.text.passages import OBSERVED, Passage, passages_of_each
from zaxy.text.schema import Text

TEXT, GRAPH = "text", "graph"
SUMMARY_SEQ = "summary_seq"
"""The property of a row whose words an earlier event gave: which one that was."""

Renamed = Callable[[EntityRef, int], EntityRef]
"""The thing that a type and a name meant after an event."""


class FollowerDisagrees(Exception):
    """A follower holds a row of an event that the log does not hold, or that says nothing of the kind."""

    def __init__(self, follower: str) -> None:
        super().__init__(follower)
        self.follower = follower


class IntactEvents:
    """The events of a log that are intact. What is wrong with the others is kept in `problems`."""

    def __init__(self, log: LogView) -> None:
        self.session = log.session
        self._log = log
        self._read: dict[int, Event] = {}
        self.damaged: set[int] = set()
        self.problems: list[str] = []

    def __call__(self, seqs: Iterable[int]) -> dict[int, Event]:
        """Those of the events that the log holds and that are intact, in the order given."""
        wanted = list(seqs)
        if missing := [seq for seq in wanted if seq not in self._read and seq not in self.damaged]:
            self._read |= self._intact(missing)
        return {seq: self._read[seq] for seq in wanted if seq in self._read}

    def _intact(self, seqs: Sequence[int]) -> dict[int, Event]:
        try:
            return self._log.events(seqs)
        except ZaxyError as error:
            if len(seqs) > 1:
                return {seq: event for one in seqs for seq, event in self._intact((one,)).items()}
            self.damaged.update(seqs)
            if error.message not in self.problems:
                self.problems.append(error.message)
            return {}


class Said(NamedTuple):
    """A passage of an event, the entity that the event is about, and its citation."""

    event: Event
    passage: Passage
    entity: Entity | None
    citation: str


class LogWords:
    def __init__(
        self,
        events: IntactEvents,
        extract: Callable[[Sequence[Event]], Sequence[ExtractedEvent]],
        *,
        renamed: Renamed,
        families: Families,
        frozen: Collection[str] = (),
    ) -> None:
        """`frozen`: followers of another history than the log's. What they hold of it is left out."""
        self._events = events
        self._extract = extract
        self._renamed = renamed
        self._families = families
        self._frozen = frozen
        self._rows: dict[int, Extraction] = {}

    def said(self, texts: Sequence[Text]) -> dict[int, Said]:
        """What the passages say, by their ids in the text index. One that was erased a moment ago says nothing."""
        events = self._events([text.seq for text in texts])
        self._take_rows(events)
        same = [(text, self._same(TEXT, text.seq, text.hash, events)) for text in texts]
        read = [(text, event) for text, event in same if event is not None and event.payload is not None]
        parts = self._passages([event for _, event in read])
        cited = citations(self._events.session, [(event.seq, event.hash) for _, event in read])
        found: dict[int, Said] = {}
        for (text, event), of_event, citation in zip(read, parts, cited, strict=True):
            if text.part >= len(of_event):
                raise FollowerDisagrees(TEXT)
            entities = self._rows[event.seq].entities
            found[text.id] = Said(event, of_event[text.part], entities[0] if entities else None, citation)
        return found

    def derived(self, seq: int) -> list[Entity]:
        """What extractors of plugins made of an event whose words were asked for: made again from the event itself."""
        return derived_of(self._rows[seq]) if seq in self._rows else []

    def entities(self, rows: Sequence[EntityRow]) -> list[Entity | None]:
        """What each row says, in the words of the events that it came from; None for what is gone or damaged."""
        seqs = [seqs_of(row) for row in rows]
        events = self._events(dict.fromkeys(chain.from_iterable(seqs)))
        self._take_rows(events)
        return [self._entity(row, of_row[-1], events) for row, of_row in zip(rows, seqs, strict=True)]

    def beginnings(self, events: Sequence[Event]) -> list[Passage | None]:
        """The first passage of each event; None for one that says nothing."""
        self._take_rows({event.seq: event for event in events if event.type in OBSERVED})  # others need none
        return [next(iter(parts), None) for parts in self._passages(events)]

    def row_beginnings(self, rows: Sequence[tuple[EntityRow, Entity]]) -> list[Passage]:
        """The same of each row, which is given with its entity: of all that its events say together.

        Of what an event only names, or says beside its own subject, it is the entity's summary.
        """
        events = self._events([seq for row, _ in rows for seq in seqs_of(row)])
        lives = [_life(row, entity, events, self._rows[row.opened_seq]) for row, entity in rows]
        said = iter(self.beginnings([event for event in lives if event is not None]))
        found = [next(said) if event is not None else None for event in lives]
        return [
            one or Passage(entity.summary, "", "", "", "", "", {}) for one, (_, entity) in zip(found, rows, strict=True)
        ]

    def _passages(self, events: Iterable[Event]) -> list[list[Passage]]:
        sentences = self._families.sentences
        return passages_of_each(
            [
                (
                    event,
                    self._rows.get(event.seq, NOTHING),
                    sentence_of(sentences[event.type], event.payload or {}) if event.type in sentences else "",
                )
                for event in events
            ]
        )

    def _entity(self, row: EntityRow, worded_seq: int, events: Mapping[int, Event]) -> Entity | None:
        opened = self._same(GRAPH, row.opened_seq, row.event_hash, events)
        worded = events.get(worded_seq)
        if opened is None or worded is None or opened.payload is None or worded.payload is None:
            return None
        own = self._of_event(opened, row.entity)
        words = own if worded is opened else self._of_event(worded, row.entity)
        if own is None or words is None:
            return None
        return Entity(
            self._name(own, row), own.entity_type, words.summary, row.entity.properties, row.entity.observed_at
        )

    def _of_event(self, event: Event, entity: Entity) -> Entity | None:
        """The entity of an event that a row is a version of: of the same name, or else of the same living kind.

        The core's rules give it again whenever they are asked. A plugin's code may fail to: the row is left out.
        """
        found = [one for one in self._rows[event.seq].entities if one.entity_type == entity.entity_type]
        for one in found:
            if one.name == entity.name or folded_name(one.name) == folded_name(entity.name):
                return one
        for one in found:
            if one.merges and (one.ids or one.titles):
                return one
        if entity.entity_type in ENTITY_TYPES and not self._families.owner(event.type):
            raise FollowerDisagrees(GRAPH)
        return None

    def _name(self, own: Entity, row: EntityRow) -> str:
        """The name of a row: as its event spells it, or the one by which a living thing was known then."""
        name = row.entity.name
        if own.name == name or folded_name(own.name) == folded_name(name):
            return name
        return self._renamed(EntityRef(own.entity_type, own.name), row.opened_seq).name

    def _same(self, follower: str, seq: int, hash_: str, events: Mapping[int, Event]) -> Event | None:
        """The event that a row came from, if it can be read; the log must hold it."""
        event = events.get(seq)
        if event is not None and event.hash == hash_:
            return event
        if follower in self._frozen or seq in self._events.damaged:
            return None
        raise FollowerDisagrees(follower)

    def _take_rows(self, events: Mapping[int, Event]) -> None:
        """Extract what was not extracted before; an erased event says nothing."""
        fresh = [event for seq, event in events.items() if seq not in self._rows and event.payload is not None]
        if fresh:
            self._rows |= {extracted.event.seq: extracted.rows for extracted in self._extract(fresh)}


def _life(row: EntityRow, entity: Entity, events: Mapping[int, Event], said: Extraction) -> Event | None:
    """The event of a row with its status, and with what the event that gave its words says besides.

    None if it tells of something else.
    """
    opened, worded = (events[seq].payload or {} for seq in (row.opened_seq, seqs_of(row)[-1]))
    if not said.entities or said.entities[0].entity_type != entity.entity_type:
        return None
    status = said.entities[0].properties.get("status")
    return replace(events[row.opened_seq], payload={**worded, **opened, **({"status": status} if status else {})})


def seqs_of(row: EntityRow) -> tuple[int, ...]:
    """The events of a row: the one that opened it, and the one that gave its words, where that is another."""
    worded = row.entity.properties.get(SUMMARY_SEQ)
    return (row.opened_seq, worded) if type(worded) is int and worded > 0 else (row.opened_seq,)
