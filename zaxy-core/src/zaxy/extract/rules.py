"""The built-in rules: a pure function of one event, the same on every machine and in every year."""

from __future__ import annotations

from collections.abc import Iterable

from zaxy.api.models import Closing, Edge, Entity, EntityRef, Event, Extraction, JsonObject
from zaxy.eventloom.admission import IMPORTED_FROM
from zaxy.extract import feedback, knowledge, observations, skills, synthesis, transcripts, work, workspaces
from zaxy.extract.closings import closings_from_json, has_row, invalidated, superseded
from zaxy.extract.housekeeping import IMPORTED_ERASED, is_housekeeping
from zaxy.extract.properties import kept
from zaxy.extract.references import INVALIDATED as INVALIDATED, reference_of
from zaxy.extract.rule import TELLERS, Own, Rule, bare, entity_types, named, once, ref_to, relation_types
from zaxy.extract.texts import MAX_NAME_CHARS, MAX_SUMMARY_CHARS, cut, entity_name, first_text, readable_text
from zaxy.extract.times import utc_text

VERSION = "7"
"""Changes whenever an event would give other rows: followers are then rebuilt."""

MODULES = (work, knowledge, transcripts, observations, skills, feedback, synthesis, workspaces)
RULES: dict[str, Rule] = {name: rule for module in MODULES for name, rule in module.RULES.items()}
UNKNOWN = Rule("event", named_by=(), texts=(), keeps=("id", "name", "title", "subject", "status", "result"))
ENTITY_TYPES = frozenset(name for rule in (*RULES.values(), UNKNOWN) for name in entity_types(rule))
LIVING_TYPES = frozenset(rule.entity_type for rule in RULES.values() if rule.merges)
"""What lives through several events, and may be known by an id and a title."""
TYPES_WITH_IDS = frozenset(rule.entity_type for rule in RULES.values() if rule.ids)
"""Those, and the types of things that an id names besides their own name."""
RELATION_TYPES = frozenset(name for rule in RULES.values() for name in relation_types(rule)) | {"supersedes"}
"""All that the built-in rules write, and so no plugin may."""
HEADINGS = {
    heading: tuple(dict.fromkeys([rule.entity_type for rule in RULES.values() if rule.heading == heading]))
    for heading in ("goals", "decisions", "tasks", "blockers", "artifacts")
}
"""The headings of the working set, in their order, with the types of entities under each."""
ERASED = "event.erased"
NOTHING = Extraction()


def extract(event: Event) -> Extraction:
    """The rows of one event: what it is about first, then who said it and what else it names."""
    payload = event.payload
    if payload is None:
        return NOTHING
    if event.type == ERASED:
        return Extraction(closings=_whole(payload.get("closings")))
    if is_housekeeping(event):
        ended = payload.get("closings") if event.type == IMPORTED_ERASED else None
        return Extraction(closings=_whole(ended)) if ended else NOTHING
    if IMPORTED_FROM in payload:  # where it came from is no part of what it says
        payload = {key: value for key, value in payload.items() if key != IMPORTED_FROM}
    if event.type == INVALIDATED:
        ends = invalidated(event, payload)
        if ends or reference_of(event):  # what a reference means, only the log can say
            return Extraction(closings=tuple(ends))
    return _rows(event, payload, RULES.get(event.type, UNKNOWN))


def _whole(recorded: object) -> tuple[Closing, ...]:
    """The closings of whole events and things; what the row of an event is called, only the log can say."""
    items = recorded if isinstance(recorded, list) else []
    return closings_from_json([item for item in items if not has_row(item)])


def extract_each(events: Iterable[Event]) -> list[Extraction]:
    """The rows of each event."""
    return list(map(extract, events))


def _rows(event: Event, payload: JsonObject, rule: Rule) -> Extraction:
    since = utc_text(payload["occurred_at"]) if "occurred_at" in payload else ""
    own = Own(event, payload, EntityRef(rule.entity_type, _name(event, payload, rule)), since)
    entities = [_entity(own, rule)]
    edges: list[Edge] = []
    if rule.teller:
        _teller(own, rule, entities, edges)
    for mention in rule.mentions:
        for name in _mentioned(payload, mention.fields):
            other = EntityRef(mention.entity_type, name)
            ends = (other, own.ref) if mention.inward else (own.ref, other)
            edges.append(Edge(*ends, mention.relation, valid_from=since))
            if mention.becomes_entity:
                entities.append(bare(*other))
    if rule.more is None and "supersedes" not in payload:
        return Extraction(tuple(entities), tuple(edges))
    more = rule.more(own) if rule.more else NOTHING
    closings = dict.fromkeys((*more.closings, *superseded(event, rule.entity_type, since or event.time)))
    older = [closing.entity for closing in closings if closing.entity and not _same(closing.entity, own.ref)]
    edges += [*more.edges, *(Edge(own.ref, ref, "supersedes", valid_from=since) for ref in older)]
    return Extraction(once([*entities, *more.entities]), tuple(dict.fromkeys(edges)), tuple(closings))


def _name(event: Event, payload: JsonObject, rule: Rule) -> str:
    text = rule.name(event, payload) if rule.name else first_text(payload, rule.named_by)
    if text and (name := entity_name(text)):
        return name
    place = f":{event.seq}"
    return event.type[: MAX_NAME_CHARS - len(place)] + place


def _entity(own: Own, rule: Rule) -> Entity:
    payload = own.payload
    properties = kept(payload, rule.keeps, nulls=rule.merges)
    if rule.properties:
        properties.update(rule.properties(payload))
    if rule.status and not (rule.says_status and properties.get("status")):
        properties["status"] = rule.status
    if rule is UNKNOWN:
        properties["event_type"] = own.event.type
    summary = first_text(payload, rule.texts)
    if not summary and rule.describe:
        summary = rule.describe(payload)
    if not rule.merges:
        summary = summary or readable_text(payload) or own.ref.name
        ids = tuple([name for name in _names(payload, rule, rule.ids) if name != own.ref.name]) if rule.ids else ()
        return Entity(own.ref.name, rule.entity_type, cut(summary, MAX_SUMMARY_CHARS), properties, own.since, ids=ids)
    default = first_text(payload, rule.titles) or readable_text(payload) or own.ref.name
    ids, titles = (_names(payload, rule, fields) for fields in (rule.ids, rule.titles))
    if not ids and not titles and first_text(payload, rule.named_by):
        titles = (own.ref.name,)
    return Entity(
        own.ref.name,
        rule.entity_type,
        cut(summary or default, MAX_SUMMARY_CHARS),
        properties,
        own.since,
        merges=True,
        default_summary=not summary,
        ids=ids,
        titles=titles,
    )


def _names(payload: JsonObject, rule: Rule, fields: tuple[str, ...]) -> tuple[str, ...]:
    """The names in some fields of a payload, each once."""
    texts = [text for field in fields if (text := first_text(payload, (field,)))]
    if rule.qualified:
        texts = [rule.qualified(payload, text) for text in texts]
    return tuple(dict.fromkeys(name for text in texts if (name := entity_name(text))))


def _teller(own: Own, rule: Rule, entities: list[Entity], edges: list[Edge]) -> None:
    teller = TELLERS[rule.teller]
    ref = ref_to(teller.entity_type, teller.name(own.event, own.payload))
    if not ref.name:
        return
    entities.append(bare(teller.entity_type, ref.name))
    edges.append(Edge(ref, own.ref, rule.relation, valid_from=own.since))


def _same(one: EntityRef, other: EntityRef) -> bool:
    return one.entity_type == other.entity_type and one.name.casefold() == other.name.casefold()


def _mentioned(payload: JsonObject, fields: tuple[str, ...]) -> list[str]:
    for field in fields:
        if field in payload and (names := named(payload[field])):
            return names
    return []
