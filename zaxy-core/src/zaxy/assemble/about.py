"""What feedback and invalidations write of the memory that they are about: where it is said, and not what it says.

A name may be the whole text of a fact. Written down again it would leave with an export from which that fact is held
back, and stay when the fact is erased.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from zaxy.api.models import AsOf, EntityRef
from zaxy.api.names import folded_name
from zaxy.assemble.quoting import is_plain_name
from zaxy.errors import NotFound, ZaxyError
from zaxy.eventloom.admission import SENSITIVITIES
from zaxy.eventloom.citation import SCHEME, parse_citation
from zaxy.extract.names import entity_key
from zaxy.extract.references import INDEX
from zaxy.extract.texts import entity_name, text_of

if TYPE_CHECKING:
    from zaxy.api.models import Draft, Entity, EntityRow, Event
    from zaxy.retrieve.recall import Recall

DEFAULT_TIER = "internal"


class MemoryFields(NamedTuple):
    """The fields that name a memory in an event about it, and the sensitivity that the event takes over."""

    fields: dict[str, object]
    sensitivity: str

    def in_draft(self, draft: Draft) -> Draft:
        own = {name: value for name, value in draft.payload.items() if name not in ("entity_name", "entity_type")}
        return replace(draft, payload={**self.fields, **own}, sensitivity=self.sensitivity)


class About:
    """The memories of a session, as events about them name them."""

    def __init__(self, recall: Recall, session: str) -> None:
        self._recall = recall
        self._session = session

    def thing(self, name: str, entity_type: str) -> EntityRef:
        """The thing that a caller means, by its name or by the citation of an event that tells of it. Without a type,
        a citation means what its event is about."""
        if not name.startswith(SCHEME):
            return EntityRef(entity_type, name)
        return self._first_of(self._cited(name), entity_type)

    def named(self, name: str, entity_type: str, cited: Event | None) -> MemoryFields:
        """The memory of that name, or of that citation. `cited`: the event that is said to tell of it."""
        if name.startswith(SCHEME):
            event = self._cited(name)
            return self._written(self._first_of(event, entity_type), [event], cited)
        thing = EntityRef(entity_type, entity_name(name))
        return self._written(thing, self._tellers(thing, cited), cited)

    def in_rows(self, thing: EntityRef, rows: Sequence[EntityRow]) -> MemoryFields:
        """The memory of rows that hold now."""
        events = [event for row in rows if (event := self._recall.store.get(self._session, row.opened_seq))]
        written = self._written(thing, events, None)
        return written._replace(sensitivity=strictest([written.sensitivity, *(event.sensitivity for event in events)]))

    def _written(self, thing: EntityRef, tellers: Iterable[Event], cited: Event | None) -> MemoryFields:
        tiers = [DEFAULT_TIER, *([cited.sensitivity] if cited else [])]
        for event in tellers:
            tiers.append(event.sensitivity)
            index = self._place(thing, event)
            if index is not None:
                fields = _fields(thing, event, cited)
                return MemoryFields({**fields, **({INDEX: index} if index else {})}, strictest(tiers))
        # Nobody knows it. A caller who cites an event may have its words for a name.
        named = {"entity_name": thing.name} if cited is None or is_plain_name(thing.name) else {}
        return MemoryFields({**named, "entity_type": thing.entity_type}, strictest(tiers))

    def _tellers(self, thing: EntityRef, cited: Event | None) -> Iterator[Event]:
        """The events that may tell of a thing: the one that is cited, and those of its rows that hold now."""
        if cited is not None:
            yield cited
        with suppress(ZaxyError):  # feedback is recorded without a graph too
            self._recall.loop.catch_up(self._session, self._recall.patience, self._recall.progress)
            for row in self._recall.versions(self._session, thing, AsOf()):
                if event := self._recall.store.get(self._session, row.opened_seq):
                    yield event

    def _place(self, thing: EntityRef, event: Event) -> int | None:
        """Which of an event's things of that type it is, by a name that will mean it when it is followed."""
        own = [EntityRef(entity.entity_type, entity.name) for entity in self._entities(event, thing.entity_type)]
        if not own:
            return None
        meant, *others = map(entity_key, self._recall.meant(event.session, [thing, *own]))
        return others.index(meant) if meant in others else None

    def _entities(self, event: Event, entity_type: str) -> list[Entity]:
        (extracted,) = self._recall.extractors.extract([event])
        return [entity for entity in extracted.rows.entities if entity_type in ("", entity.entity_type)]

    def _cited(self, citation: str) -> Event:
        return self._recall.store.resolve(parse_citation(citation))

    def _first_of(self, event: Event, entity_type: str) -> EntityRef:
        entities = self._entities(event, entity_type)
        if not entities:
            raise NotFound(
                f"{event.citation} tells of no {entity_type!r:.80}",
                "Give the type that a query shows beside the citation.",
            )
        return EntityRef(entities[0].entity_type, entities[0].name)


def strictest(tiers: Iterable[str]) -> str:
    """The tier that holds back the most."""
    known = [SENSITIVITIES.index(tier) if tier in SENSITIVITIES else len(SENSITIVITIES) - 1 for tier in tiers]
    return SENSITIVITIES[max(known)]


def _fields(thing: EntityRef, event: Event, cited: Event | None) -> dict[str, object]:
    """A plain key as it is; else the citation, beside that of the caller where it is another."""
    named: dict[str, object] = {"entity_type": thing.entity_type}
    if _is_key(thing.name, event):
        return {"entity_name": thing.name, **named}
    if cited is not None and cited.citation == event.citation:
        return named  # the caller's own citation is the reference
    return {**named, "citation" if cited is None else "entity_citation": event.citation}


def _is_key(name: str, event: Event) -> bool:
    """Whether the event gives it as a key or an id, and it is one plain word."""
    payload = event.payload or {}
    keys = [text_of(payload[field]) for field in payload if field in ("key", "id") or field.endswith("_id")]
    return is_plain_name(name) and folded_name(name) in map(folded_name, keys)
