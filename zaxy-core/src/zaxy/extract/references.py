"""Feedback and invalidations name a memory by the event that says it: its words stay in that one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zaxy.api.models import Closing, Entity, EntityRef, Event, Extraction
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import Citation, parse_citation
from zaxy.extract.closings import INVALIDATED as INVALIDATED, ends_at
from zaxy.extract.feedback import feedback_edges
from zaxy.extract.own_use import FEEDBACK
from zaxy.extract.texts import entity_name, text_of
from zaxy.extract.times import utc_text

REFERRING = frozenset((*FEEDBACK, INVALIDATED))
"""The types of events that are about a memory."""
CITED_BY = ("entity_citation", "citation")
"""The fields that may hold the reference, the first present one counts."""
INDEX = "entity_index"
"""Which of the event's things of that type is meant; the first, where it is not there."""


class Reference(NamedTuple):
    """A thing that an earlier event of the same session tells of."""

    cited: Citation
    entity_type: str
    place: int = 0
    """Which of the things of that type in that event it is."""

    def thing(self, entities: Sequence[Entity]) -> EntityRef | None:
        """The thing among the entities of the cited event, if it is there."""
        own = [entity for entity in entities if entity.entity_type == self.entity_type]
        return EntityRef(self.entity_type, own[self.place].name) if self.place < len(own) else None


def reference_of(event: Event) -> Reference | None:
    """What an event is about, if it says that by a citation alone."""
    payload = event.payload
    if event.type not in REFERRING or payload is None or text_of(payload.get("entity_name")):
        return None
    entity_type = entity_name(text_of(payload.get("entity_type")))
    given = next((text for field in CITED_BY if (text := text_of(payload.get(field)))), "")
    try:
        cited = parse_citation(given)
    except ZaxyError:
        return None
    if not entity_type or cited.session != event.session or cited.seq >= event.seq:
        return None
    index = payload.get(INDEX)
    return Reference(cited, entity_type, index if type(index) is int and index > 0 else 0)


def with_thing(event: Event, rows: Extraction, thing: EntityRef) -> Extraction:
    """The rows of an event with those that lead to the thing that it refers to."""
    payload = event.payload or {}
    if event.type == INVALIDATED:
        return Extraction(closings=(Closing(ends_at(event, payload), entity=thing),))
    own = EntityRef(rows.entities[0].entity_type, rows.entities[0].name)
    edges = feedback_edges(event, own, thing, since=utc_text(payload.get("occurred_at")))
    return Extraction(rows.entities, (*rows.edges, *edges), rows.closings)
