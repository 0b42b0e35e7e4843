"""The MCP tool `memory_export`: memory as a bundle that others can check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import orjson

from zaxy.api import MAX_INTEGER, JsonObject, MemoryAccess, ProviderContext, Tool, TooLarge, UnknownTool
from zaxy_export.selector import ENTRY_AXES, GRAINS, MAX_QUERY_LIMIT, Selector

MAX_REPLY = 4 << 20
"""Bytes of a bundle in a reply. A larger one belongs into a file."""
SECONDS = 600.0
TEXT: JsonObject = {"type": "string"}
TEXTS: JsonObject = {"type": "array", "items": TEXT, "minItems": 1}
COUNT: JsonObject = {"type": "integer", "minimum": 1, "maximum": MAX_INTEGER}
OF_ENTRIES: dict[str, JsonObject] = {
    "grains": {"type": "array", "items": {"enum": list(GRAINS)}, "minItems": 1},
    "kinds": TEXTS,
    "since_seq": {**COUNT, "minimum": 0},
    "max_seq": COUNT,
    "since_time": TEXT,
    "until_time": TEXT,
}
OF_EVENTS: dict[str, JsonObject] = {
    "query": {**TEXT, "maxLength": 4096},
    "query_limit": {**COUNT, "maximum": MAX_QUERY_LIMIT},
    "exclude_sensitivities": TEXTS,
    "limit": COUNT,
}
DISCLOSE = {name: OF_ENTRIES[name] for name in ENTRY_AXES}
TAKES: dict[str, JsonObject] = {
    "session_id": TEXT,
    **OF_ENTRIES,
    **OF_EVENTS,
    "sign": {"type": "boolean"},
    "disclose": {"type": "object", "properties": DISCLOSE, "additionalProperties": False},
}
MEMORY_EXPORT = Tool(
    "memory_export",
    "Export memory as a bundle that others can verify: cited entries, signed if the server has a key.",
    {"type": "object", "properties": TAKES, "additionalProperties": False},
    read_only=True,
    admin=True,
    seconds=SECONDS,
)


class BoundedReply(BytesIO):
    """Holds a bundle as long as it is small enough for a reply. `parts`: which parts of it to ask for instead."""

    def __init__(self, parts: str) -> None:
        super().__init__()
        self._parts = parts

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > MAX_REPLY:
            raise TooLarge(
                f"the bundle has more than {MAX_REPLY:,} bytes",
                f"Narrow the selector, {self._parts}or write a file: zaxy export --out FILE.",
            )
        return super().write(data)


def _parts(selector: Selector, head: int) -> str:
    """Two calls that together give what one was to give; `limit` would keep the most recent events alone."""
    first, last = selector.since_seq or 0, min(selector.max_seq or head, head)
    middle = (first + last) // 2
    if not first < middle < last:
        return ""
    return f"ask for it in parts (since_seq {first} and max_seq {middle}, then since_seq {middle} and max_seq {last}), "


class ExportTools:
    def __init__(self, context: ProviderContext) -> None:
        self._settings = context.settings

    def tools(self) -> Sequence[Tool]:
        return (MEMORY_EXPORT,)

    def call(
        self, tool: str, arguments: JsonObject, memory: MemoryAccess, progress: Callable[[float, str], None]
    ) -> JsonObject:
        from zaxy_export.building import export_memory
        from zaxy_export.signing import configured, signer_of

        if tool != MEMORY_EXPORT.name:
            raise UnknownTool(f"there is no tool {tool!r:.80} here", f"There is {MEMORY_EXPORT.name}.")
        selector = Selector.of({name: arguments[name] for name in (*OF_ENTRIES, *OF_EVENTS) if name in arguments})
        given: Any = arguments.get("disclose")
        disclosed = Selector.of(given) if given is not None else None
        session = str(arguments.get("session_id") or "")
        reply = BoundedReply(_parts(selector, memory.head(session)))

        def report(done: int, total: int) -> None:
            progress(done / total if total else 1.0, "exporting")

        if disclosed is None and not arguments.get("sign", False):
            export_memory(memory, reply, selector, session=session, progress=report)
        else:
            with signer_of(configured(self._settings)) as signer:
                export_memory(
                    memory, reply, selector, session=session, signer=signer, disclosed=disclosed, progress=report
                )
        bundle: JsonObject = orjson.loads(reply.getvalue())
        return bundle
