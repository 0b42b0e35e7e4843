"""Writing to the log and reading it in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from zaxy.api import (
    Citation,
    Draft,
    Event,
    Position,
    ZaxyError,
    appended,
    count_tokens,
    cursor_text,
    near_type,
    position_of,
    short_citation,
)
from zaxy.api.tools import (
    COMPACT,
    COORDINATE,
    CORE,
    COUNT,
    FULL,
    NAME,
    TEXT,
    Call,
    schema,
    text,
    texts,
    tool,
    whole,
)

MAX_EVENTS = 1000
READ_TOGETHER = 50
DEFAULT_PAGE = 100
DEFAULT_TOKENS = 3000

EVENT = {
    "event_type": text("like decision.made", 256),
    "actor": NAME,
    "payload": {"type": "object", "description": "same key or supersedes replaces older"},
    "sensitivity": TEXT,
    "caused_by": TEXT,
    "idempotency_key": TEXT,
}


@tool(
    "memory_append",
    "Record what a later session must know: a decision, fact or result.",
    takes=schema("event_type actor payload", **EVENT, session_id=TEXT, thread=TEXT),
    profiles=(CORE, COORDINATE, FULL, COMPACT),
)
def append(call: Call) -> Mapping[str, Any]:
    before = call.memory.head(call.session) if "idempotency_key" in call.own else 0
    event = call.memory.append(**call.own, session=call.session)
    reply = appended(event, replayed=event.seq <= before)
    near = near_type(event.type)
    # A model goes on with what it has recorded, and may record it again under the type that it meant.
    return {**reply, "warnings": [f"{event.type} is not a known type; did you mean {near}?"]} if near else reply


@tool(
    "memory_ingest",
    "Record many events at once: all of them or none.",
    takes=schema(
        "events",
        events={
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_EVENTS,
            "items": schema("event_type actor payload", **EVENT),
        },
        session_id=TEXT,
        thread=TEXT,
    ),
)
def ingest(call: Call) -> Mapping[str, Any]:
    events = call.memory.append_many(_drafts(call), call.session)
    return {"results": [appended(event) for event in events]}


def _drafts(call: Call) -> Iterator[Draft]:
    given = call.arguments["events"]
    for number, item in enumerate(given, 1):
        fields = {"type" if key == "event_type" else key: value for key, value in item.items()}
        yield Draft(**{"sensitivity": "", **fields})
        call.progress(number, len(given))


@tool(
    "memory_invalidate",
    "End what no longer holds; history keeps it.",
    takes=schema(
        "entity_name entity_type",
        **texts("entity_name entity_type invalid_at reason session_id actor admin_token"),
    ),
    destructive=True,
    profiles=(CORE, FULL),
    admin=True,
)
def invalidate(call: Call) -> Mapping[str, Any]:
    return appended(call.memory.invalidate(**call.own, session=call.session))


@tool(
    "memory_replay",
    "Read a session's events in order.",
    takes=schema(
        "",
        session_id=TEXT,
        from_seq=COUNT,
        limit=whole(1, MAX_EVENTS),
        max_tokens=COUNT,
        cursor=TEXT,
        include_housekeeping={"type": "boolean"},
        admin_token=TEXT,
    ),
    read_only=True,
    idempotent=True,
    profiles=(CORE, FULL),
    admin=True,
)
def replay(call: Call) -> Mapping[str, Any]:
    """Events in order, as many as fit into the budget; one that alone does not is shown without its payload."""
    given = call.arguments
    session = call.session or call.memory.session
    housekeeping = bool(given.get("include_housekeeping", False))
    asked = orjson.dumps(["replay", session, housekeeping]).decode()
    cursor = given.get("cursor")
    start = position_of(cursor, asked).offset if cursor else given.get("from_seq", 1)
    budget = given.get("max_tokens", DEFAULT_TOKENS)
    rows: list[dict[str, Any]] = []
    used = 0
    more = 0
    for event in _events(call, session, start, housekeeping):
        row, cost = _counted(event_row(event))
        if cost > budget and not rows:
            row, cost = _counted({**row, "payload": None, "payload_tokens": cost})
        if len(rows) == given.get("limit", DEFAULT_PAGE) or (rows and used + cost > budget):
            more = event.seq
            break
        rows.append(row)
        used += cost
    next_cursor = cursor_text(Position(more, 0), asked) if more else None
    foreign = {"foreign": True} if call.memory.is_foreign else {}
    return {"results": rows, "tokens_used": used, "truncated": bool(more), "next_cursor": next_cursor, **foreign}


def _events(call: Call, session: str, start: int, housekeeping: bool) -> Iterator[Event]:
    """A few at a time: a page ends by its budget, and payloads may be large."""
    first = start
    while found := _read(call, session, start, first=first, include_housekeeping=housekeeping):
        yield from found
        start = found[-1].seq + 1


def _read(call: Call, session: str, start: int, *, first: int, include_housekeeping: bool) -> Sequence[Event]:
    """The next events. Damage behind the first ones ends the page; it is an error for those who go on from there."""
    try:
        return call.memory.replay(session, start, limit=READ_TOGETHER, include_housekeeping=include_housekeeping)
    except ZaxyError:
        if start == first:
            raise
        return []


@tool(
    "memory_ref",
    "Let a ref such as refs/heads/main name an event: the cited one, or the last.",
    takes=schema("name", name=text("HEAD or refs/...", 256), citation=TEXT, session_id=TEXT),
)
def set_ref(call: Call) -> Mapping[str, Any]:
    event = call.memory.set_ref(**call.own, session=call.session)
    said: Any = event.payload
    target = Citation(event.session, said["target_seq"], said["target_hash"])
    return {**appended(event), "name": said["name"], "target": target.short}


def event_row(event: Event) -> dict[str, Any]:
    row = {
        "seq": event.seq,
        "id": event.id,
        "type": event.type,
        "actor": event.actor,
        "time": event.time,
        "sensitivity": event.sensitivity,
        "payload": None if event.payload is None else dict(event.payload),
        "citation": short_citation(event.citation),
    }
    return {**row, "caused_by": event.caused_by} if event.caused_by else row


def _counted(row: dict[str, Any]) -> tuple[dict[str, Any], int]:
    return row, count_tokens(orjson.dumps(row).decode())


TOOLS = (append, ingest, invalidate, replay, set_ref)
