"""What an event ends: things that it supersedes or invalidates, and what an erased event had ended."""

from __future__ import annotations

from collections.abc import Iterable

from zaxy.api.models import Closing, EntityRef, Event, JsonObject
from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import IMPORTED_FROM
from zaxy.eventloom.citation import SCHEME, parse_citation
from zaxy.extract.housekeeping import IMPORTED_ERASED
from zaxy.extract.texts import entity_name, text_of
from zaxy.extract.times import utc_text

INVALIDATED = "memory.invalidated"
MAX_SUPERSEDED = 500
"""These fit into the record of an erasure, whatever they are called."""


def superseded(event: Event, entity_type: str, at: str) -> list[Closing]:
    """What the payload's `supersedes` ends: citations of earlier events of this session, names of the same type."""
    given = event.payload.get("supersedes") if event.payload else None
    closings = []
    for item in (given if isinstance(given, list) else [given])[:MAX_SUPERSEDED]:
        text = text_of(item)
        if text.startswith(SCHEME):
            seq = _cited_before(event, text)
            closings += [Closing(at, seq=seq)] if seq else []
        elif name := entity_name(text):
            closings.append(Closing(at, entity=EntityRef(entity_type, name)))
    return list(dict.fromkeys(closings))


def invalidated(event: Event, payload: JsonObject) -> list[Closing]:
    """The entity that a `memory.invalidated` names, ended at `invalid_at`; nothing if it names none."""
    entity_type, name = (entity_name(text_of(payload.get(field))) for field in ("entity_type", "entity_name"))
    if not entity_type or not name:
        return []
    return [Closing(ends_at(event, payload), entity=EntityRef(entity_type, name))]


def ends_at(event: Event, payload: JsonObject) -> str:
    """From when on a `memory.invalidated` ends a thing."""
    return utc_text(payload.get("invalid_at")) or utc_text(payload.get("occurred_at")) or event.time


def closings_as_json(closings: Iterable[Closing]) -> list[dict[str, object]]:
    """Closings in the form in which `event.erased` records them."""
    return [
        {"at": closing.at, "entity": list(closing.entity) if closing.entity else None, "seq": closing.seq}
        for closing in closings
    ]


def row_closings(event: Event) -> list[JsonObject]:
    """The closings of single rows that an import has written into an event, which only the log can tell more of: what
    an erased event had closed, or an invalidation that refers to one."""
    payload = event.payload or {}
    if event.type == INVALIDATED:
        origin = payload.get(IMPORTED_FROM)
        recorded = origin.get("closings") if isinstance(origin, dict) else None
    else:
        recorded = payload.get("closings") if event.type == IMPORTED_ERASED else None
    return [item for item in recorded if has_row(item)] if isinstance(recorded, list) else []


def has_row(item: object) -> bool:
    """Whether a recorded closing is of one row of the event that it names."""
    return isinstance(item, dict) and item.get("row") is not None


def closings_from_json(recorded: object) -> tuple[Closing, ...]:
    """The closings in an `event.erased`; what is malformed is passed over."""
    found = (_closing(item) for item in recorded) if isinstance(recorded, list) else ()
    return tuple(closing for closing in found if closing)


def _closing(item: object) -> Closing | None:
    if not isinstance(item, dict):
        return None
    at, entity, seq = utc_text(item.get("at")), item.get("entity"), item.get("seq")
    if at and type(seq) is int and seq > 0 and entity is None:
        return Closing(at, seq=seq)
    if not at or seq is not None or not isinstance(entity, list) or len(entity) != 2:
        return None
    entity_type, name = (entity_name(text_of(part)) for part in entity)
    return Closing(at, entity=EntityRef(entity_type, name)) if entity_type and name else None


def _cited_before(event: Event, text: str) -> int | None:
    try:
        cited = parse_citation(text)
    except ZaxyError:
        return None
    return cited.seq if cited.session == event.session and cited.seq < event.seq else None
