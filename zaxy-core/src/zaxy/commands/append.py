"""`zaxy append`."""

from __future__ import annotations

import json
import sys

from zaxy.commands.events import open_loom, reply_of, session_of
from zaxy.commands.hot import Argument, hot_command
from zaxy.commands.options import JSON, PLACE, SESSION_ID, Option
from zaxy.errors import InvalidRequest
from zaxy.eventloom.admission import admit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@hot_command(
    "append",
    Argument("The event's type, such as decision.made."),
    Option("--payload", "JSON", "A JSON object, or - to read one from standard input."),
    Option("--actor", "NAME", "Who says it."),
    SESSION_ID,
    Option("--sensitivity", "TIER", "public, internal, confidential, restricted."),
    Option("--caused-by", "EVENT", "The citation or id of the event that led to it."),
    Option("--idempotency-key", "KEY", "The same key again writes nothing."),
    *PLACE,
    JSON,
)
def append(
    event_type: str,
    *,
    payload: str,
    actor: str = "user",
    session_id: str | None = None,
    sensitivity: str = "",
    caused_by: str = "",
    idempotency_key: str = "",
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    loom, found = open_loom(workspace, eventloom_path)
    session = session_of(session_id, found)
    entry = admit(
        event_type,
        actor,
        _json_object(payload),
        sensitivity=sensitivity,
        caused_by=caused_by,
        idempotency_key=idempotency_key,
    )
    before = loom.end(session).seq if idempotency_key else 0
    line = loom.append(session, [entry])[0]
    reply = reply_of(line, replayed=bool(idempotency_key) and line.seq <= before)
    print(json.dumps(reply) if as_json else reply["citation"])


def _json_object(text: str) -> Any:
    try:
        return json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(
            f"the payload is not JSON: {error}", 'Pass an object, such as \'{"text": "..."}\'.'
        ) from None
