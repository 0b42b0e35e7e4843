"""Memory as a bundle that others can check."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import orjson

from zaxy.api.models import JsonObject
from zaxy.errors import TooLarge
from zaxy.export.selector import ENTRY_AXES, GRAINS, MAX_QUERY_LIMIT, Selector
from zaxy.export.signing import configured, signer_of
from zaxy.serve.served_tool import COUNT, FULL, MAX_NUMBER, QUERY, TEXT, Call, one_of, schema, tool, whole
from zaxy.settings import Settings

MAX_REPLY = 4 << 20
"""Bytes of a bundle in a reply. A larger one belongs into a file."""
TEXTS: JsonObject = {"type": "array", "items": TEXT, "minItems": 1}
OF_ENTRIES: dict[str, JsonObject] = {
    "grains": {"type": "array", "items": one_of(*GRAINS), "minItems": 1},
    "kinds": TEXTS,
    "since_seq": whole(0, MAX_NUMBER),
    "max_seq": COUNT,
    "since_time": TEXT,
    "until_time": TEXT,
}
OF_EVENTS: dict[str, JsonObject] = {
    "query": QUERY,
    "query_limit": whole(1, MAX_QUERY_LIMIT),
    "exclude_sensitivities": TEXTS,
    "limit": COUNT,
}


class BoundedReply(BytesIO):
    """Holds a bundle as long as it is small enough for a reply."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > MAX_REPLY:
            raise TooLarge(
                f"the bundle has more than {MAX_REPLY:,} bytes",
                "Narrow the selector, page with since_seq and limit, or write a file: zaxy export --out FILE.",
            )
        return super().write(data)


@tool(
    "memory_export",
    "Export memory as a bundle that others can verify: cited entries, signed if the server has a key.",
    takes=schema(
        "",
        session_id=TEXT,
        **OF_ENTRIES,
        **OF_EVENTS,
        sign={"type": "boolean"},
        disclose=schema("", **{name: OF_ENTRIES[name] for name in ENTRY_AXES}),
        admin_token=TEXT,
    ),
    read_only=True,
    profiles=(FULL,),
    needs_admin=True,
)
def export(call: Call) -> Mapping[str, Any]:
    selector = Selector.of(call.given(*OF_ENTRIES, *OF_EVENTS))
    given = call.arguments.get("disclose")
    disclosed = Selector.of(given) if given is not None else None
    reply = BoundedReply()
    if disclosed is None and not call.arguments.get("sign", False):
        call.memory.export(reply, selector, session=call.session, progress=call.progress)
    else:
        settings = Settings(stored=call.memory.workspace.stored_settings())
        with signer_of(configured(settings)) as signer:
            call.memory.export(
                reply, selector, session=call.session, signer=signer, disclosed=disclosed, progress=call.progress
            )
    bundle: dict[str, Any] = orjson.loads(reply.getvalue())
    return bundle


TOOLS = (export,)
