"""Two tools for short notes: one writes a note into memory, the other lists the latest ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from zaxy.api import Draft, Event, JsonObject, MemoryAccess, ProviderContext, Tool, UnknownTool

ACTOR = "acme-notes"
SESSION = {"type": "string", "minLength": 1, "maxLength": 128, "description": "The session to use."}


class Pack:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def tools(self) -> Sequence[Tool]:
        text = {"type": "string", "minLength": 1, "maxLength": 4000}
        limit = {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}
        return (
            Tool("acme_note", "Remember a short note.", _schema(session_id=SESSION, text=text)),
            Tool(
                "acme_recent",
                "List the latest notes, the newest first.",
                _schema(session_id=SESSION, limit=limit),
                read_only=True,
                idempotent=True,
            ),
        )

    def call(
        self,
        tool: str,
        arguments: JsonObject,
        memory: MemoryAccess,
        progress: Callable[[float, str], None],
    ) -> JsonObject:
        session = str(arguments.get("session_id", ""))
        if tool == "acme_note":
            event = memory.append(session, Draft("fact.recorded", ACTOR, {"text": arguments["text"]}))
            return {"seq": event.seq, "citation": event.citation}
        if tool == "acme_recent":
            limit = arguments.get("limit", 10)
            return {"results": _recent(memory, session, limit if isinstance(limit, int) else 10)}
        raise UnknownTool(f"there is no tool {tool!r} here", "Call acme_note or acme_recent.")


def _recent(memory: MemoryAccess, session: str, limit: int) -> list[dict[str, object]]:
    notes: deque[Event] = deque(maxlen=limit)
    page = memory.read(session, None, 1000)
    while page.events:
        notes.extend(e for e in page.events if e.actor == ACTOR and e.payload is not None)
        page = memory.read(session, page.cursor, 1000)
    return [{"text": (e.payload or {}).get("text"), "citation": e.citation, "time": e.time} for e in reversed(notes)]


def _schema(**properties: JsonObject) -> JsonObject:
    """An input schema in which every argument without a default is required."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
