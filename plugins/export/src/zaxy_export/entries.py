"""The entries of an event as canonical bytes: the event itself, then what was extracted from it.

Only the built-in rules count, so that a log gives the same entries on every machine, whatever is installed there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from orjson import dumps

from zaxy.api import MAX_DEPTH, Edge, Entity, Event, JsonObject, canonical_json, extract
from zaxy_export.selector import EVENT, SEMANTIC, Selector

SCHEMA = "zaxy.export.v1"
SOURCES = {EVENT: "eventloom", SEMANTIC: "extraction"}
DEFAULT_SENSITIVITY = "internal"
"""Entries leave out this sensitivity, which an event has unless another one was given."""
MAX_ENTRY_DEPTH = MAX_DEPTH + 2
"""A payload is nested in a content, and the content in an entry."""
_PAYLOAD, _AFTER_PAYLOAD = b'"payload":', b',"payload_digest":"'


def entries_of(event: Event, line: bytes, selector: Selector, *, closings: Sequence[JsonObject] = ()) -> list[bytes]:
    """The entries of an event that a selector takes, in order. `line`: the event as the log holds it.

    `closings`: what it had closed, if it does not say that any more.
    """
    citation, seq, time = event.citation.encode(), event.seq, event.time
    found = []
    if EVENT in selector.grains and selector.holds_at(time):
        content = _event(event, line, closings)
        found.append(_entry(EVENT, event.type, citation=citation, seq=seq, content=content, since=time))
    if SEMANTIC in selector.grains and event.payload is not None:
        rows = extract(event)
        for entity in rows.entities:
            since = entity.observed_at or time
            if selector.holds_at(since):
                kind = f"entity:{entity.entity_type}"
                content = _entity(entity)
                found.append(_entry(SEMANTIC, kind, citation=citation, seq=seq, content=content, since=since))
        for edge in rows.edges:
            since = edge.valid_from or time
            if selector.holds_at(since):
                kind = f"edge:{edge.relation_type}"
                content, until = _edge(edge), edge.valid_to
                found.append(
                    _entry(SEMANTIC, kind, citation=citation, seq=seq, content=content, since=since, until=until)
                )
    return found


# Canonical JSON is written here field by field, in the order of the names. Going through dictionaries took twice as
# long.


def _entry(grain: str, kind: str, *, citation: bytes, seq: int, content: bytes, since: str, until: str = "") -> bytes:
    return (
        b'{"citation":"%b","content":%b,"grain":"%b","kind":%b,"schema_version":"%b","seq":%d,"source":"%b",'
        b'"valid_from":%b,"valid_to":%b}'
    ) % (
        citation,
        content,
        grain.encode(),
        dumps(kind),
        SCHEMA.encode(),
        seq,
        SOURCES[grain].encode(),
        dumps(since),
        dumps(until or None),
    )


def _event(event: Event, line: bytes, closings: Sequence[JsonObject]) -> bytes:
    """The payload's bytes are taken from the line, where they are canonical already."""
    erased, tier = b"", b""
    ended = b'"closings":%b,' % canonical_json(list(closings)) if closings else b""
    if event.payload is not None:
        payload = line[line.index(_PAYLOAD) + len(_PAYLOAD) : line.rindex(_AFTER_PAYLOAD)]
    else:
        payload, erased = b"null", b'"erased":true,'
    if event.sensitivity != DEFAULT_SENSITIVITY:
        tier = b'"sensitivity":%b,' % dumps(event.sensitivity)
    return b'{"actor":%b,%b%b"payload":%b,%b"thread":%b,"type":%b}' % (
        dumps(event.actor),
        ended,
        erased,
        payload,
        tier,
        dumps(event.session),
        dumps(event.type),
    )


def _entity(entity: Entity) -> bytes:
    properties = canonical_json(dict(entity.properties)) if entity.properties else b"{}"
    return b'{"entity_type":%b,"name":%b,"properties":%b,"summary":%b}' % (
        dumps(entity.entity_type),
        dumps(entity.name),
        properties,
        dumps(entity.summary),
    )


def _edge(edge: Edge) -> bytes:
    source, target = (f"{ref.entity_type}:{ref.name}" for ref in (edge.source, edge.target))
    return (
        b'{"confidence":%b,"evidence":%b,"inference_method":%b,"inferred":%b,"relation_type":%b,"source":%b,'
        b'"target":%b}'
    ) % (
        _number(edge.confidence),
        dumps(edge.evidence),
        dumps(edge.inference_method),
        dumps(edge.inferred),
        dumps(edge.relation_type),
        dumps(source),
        dumps(target),
    )


@lru_cache(maxsize=256)
def _number(value: float) -> bytes:
    """Few numbers occur, each often."""
    return canonical_json(value)
