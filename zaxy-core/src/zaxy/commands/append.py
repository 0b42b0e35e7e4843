"""`zaxy append`."""

from __future__ import annotations

import json
import sys

from zaxy.api import (
    JSON,
    MAX_DEPTH,
    PLACE,
    SESSION_ID,
    Argument,
    InvalidRequest,
    Option,
    current_call,
    given_text,
    hot_command,
    near_type,
    say,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@hot_command(
    Argument("The event's type, such as decision.made."),
    Option("--payload", "JSON", "A JSON object; @FILE to read one, - for standard input."),
    Option("--actor", "NAME", "Who says it."),
    SESSION_ID,
    Option("--sensitivity", "TIER", "public, internal, confidential, restricted."),
    Option("--caused-by", "EVENT", "The event that led to it: citation, number or id."),
    Option("--idempotency-key", "KEY", "The same key again writes nothing."),
    Option("--new-type", "", "Record a type as it is, though it is like a known one."),
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
    new_type: bool = False,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    doubt = "" if new_type else _doubt(event_type)
    said = _json_object(payload)
    if caused_by.isdecimal():
        log = current_call().open_log(workspace, eventloom_path, session_id=session_id)
        caused_by = log.cite(caused_by)
    reply = current_call().append(
        event_type,
        said,
        actor=actor,
        session_id=session_id,
        sensitivity=sensitivity,
        caused_by=caused_by,
        idempotency_key=idempotency_key,
        workspace=workspace,
        eventloom_path=eventloom_path,
    )
    if doubt:
        say(f"warning: {doubt}", err=True)
    reply = {**reply, "warnings": [doubt]} if doubt else reply
    say(json.dumps(reply) if as_json else reply["citation"])


def _doubt(event_type: str) -> str:
    """What is to be said of a type that looks mistyped. Somebody at a terminal can type it again; a script goes on."""
    near = near_type(event_type)
    if not near:
        return ""
    doubt = f"{event_type} is not a known type; did you mean {near}?"
    if sys.stderr is not None and sys.stderr.isatty():
        raise InvalidRequest(doubt, "Pass --new-type to record it as it is. 'zaxy types' lists the known ones.")
    return doubt


def _json_object(text: str) -> Any:
    try:
        return json.loads(given_text(text))
    except RecursionError:
        raise InvalidRequest(
            f"the payload is nested more than {MAX_DEPTH} deep", "Nest it less, or send it as a text."
        ) from None
    except ValueError as error:
        raise InvalidRequest(
            f"the payload is not JSON: {error}", 'Pass an object, such as \'{"text": "..."}\'.'
        ) from None
