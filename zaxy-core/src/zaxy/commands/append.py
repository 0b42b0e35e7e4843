"""`zaxy append`."""

from __future__ import annotations

import json
import sys

from zaxy.api import JSON, PLACE, SESSION_ID, Argument, InvalidRequest, Option, current_call, hot_command, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@hot_command(
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
    reply = current_call().append(
        event_type,
        _json_object(payload),
        actor=actor,
        session_id=session_id,
        sensitivity=sensitivity,
        caused_by=caused_by,
        idempotency_key=idempotency_key,
        workspace=workspace,
        eventloom_path=eventloom_path,
    )
    say(json.dumps(reply) if as_json else reply["citation"])


def _json_object(text: str) -> Any:
    try:
        return json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(
            f"the payload is not JSON: {error}", 'Pass an object, such as \'{"text": "..."}\'.'
        ) from None
