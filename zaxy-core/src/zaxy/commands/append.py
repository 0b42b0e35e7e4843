"""`zaxy append`."""

from __future__ import annotations

import json
import sys

from zaxy.api.event_types import CORE_FAMILIES, family_of
from zaxy.commands.events import session_of
from zaxy.commands.hot import Argument, hot_command
from zaxy.commands.options import JSON, PLACE, SESSION_ID, Option
from zaxy.errors import InvalidRequest
from zaxy.eventloom.admission import admit
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.quick import is_in_files, quick_files
from zaxy.plugins.kept_manifests import kept_of_plugins
from zaxy.plugins.secret_rows import redact_rows_of_plugins
from zaxy.printing import say
from zaxy.workspace import find_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zaxy.eventloom.record import Entry
    from zaxy.plugins.families import Families
    from zaxy.workspace import Workspace


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
    found = find_workspace(workspace, eventloom_path)
    session = session_of(session_id, found)
    redact_rows_of_plugins(found.stored_settings)
    entry = admit(
        event_type,
        actor,
        _json_object(payload),
        families=_families_for(event_type, found),
        sensitivity=sensitivity,
        caused_by=caused_by,
        idempotency_key=idempotency_key,
    )
    append_there = _append_to_files if is_in_files(found) else _append_elsewhere
    reply = append_there(found, session, entry)
    say(json.dumps(reply) if as_json else reply["citation"])


def _families_for(event_type: str, workspace: Workspace) -> Families | None:
    """What packages own; None for a type that none of them does: reading manifests takes time."""
    family = family_of(event_type)
    if family in CORE_FAMILIES or family not in kept_of_plugins(workspace.stored_settings)["families"]:
        return None
    from zaxy.plugins.families import Families

    return Families.of(workspace)


def _append_to_files(workspace: Workspace, session: str, entry: Entry) -> dict[str, Any]:
    """Without what other stores need: it would take three times as long to start."""
    line = quick_files(workspace).append(session, [entry])[0]
    place = {"seq": line.seq, "id": line.record["id"], "hash": line.hash}
    reply = {**place, "citation": str(Citation(session, line.seq, line.hash)), "session_id": session}
    return reply if line.record["salt"] == entry.salt.hex() else {**reply, "replayed": True}


def _append_elsewhere(workspace: Workspace, session: str, entry: Entry) -> dict[str, Any]:
    from zaxy.commands.events import event_reply
    from zaxy.eventloom.drafts import draft_of
    from zaxy.eventloom.opening import open_event_log

    event, new = open_event_log(workspace).append_each(session, [draft_of(entry)])[0]
    return event_reply(event, replayed=not new)


def _json_object(text: str) -> Any:
    try:
        return json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(
            f"the payload is not JSON: {error}", 'Pass an object, such as \'{"text": "..."}\'.'
        ) from None
