"""Events as people name them: by a citation, by the number in the session, by the id, or by the hash's first digits."""

from __future__ import annotations

from contextlib import suppress

from zaxy.errors import InvalidRequest, NotFound, shown
from zaxy.eventloom.citation import SCHEME, Citation, parse_citation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zaxy.eventloom.event_log import EventLog

ID = "evt_"
MIN_DIGITS = 4
LOOKED_THROUGH = 10_000
"""The last events of a session whose hashes are compared with what was typed."""
MAX_SHOWN = 5
MAX_NUMBER_CHARS = 16
HOW = "Name it by its number, such as 8, by its citation, or by the first digits of its hash. 'zaxy log' shows numbers."


def cited_event(log: EventLog, text: str, session: Callable[[], str]) -> Citation:
    """The citation of the event that is meant. `session` is asked for where the name does not say it."""
    if text.startswith(SCHEME):
        return parse_citation(text)
    number, _, tail = text.removeprefix(ID).partition("_")
    if _is_number(number) and (text.startswith(ID) or not tail):
        if text == number and len(number) >= MIN_DIGITS and int(number) > log.end(session()):
            with suppress(NotFound):  # a hash may begin with nothing but decimal digits
                return _by_hash(log, session(), number)
        return _numbered(log, session(), int(number), ID + f"{number}_{tail}" if tail else "")
    digits = text.casefold()
    if len(digits) < MIN_DIGITS or digits.strip("0123456789abcdef"):
        raise InvalidRequest(f"{shown(text)} is not the name of an event", HOW)
    return _by_hash(log, session(), digits)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < MAX_NUMBER_CHARS


def _numbered(log: EventLog, session: str, seq: int, id_: str) -> Citation:
    record, _ = next(log.records(session, seq, seq), (None, b"")) if seq > 0 else (None, b"")
    if record is None:
        end = log.end(session)
        hint = f"Its last one is {end}. 'zaxy log' lists them." if end else "'zaxy sessions' lists those with events."
        raise NotFound(f"{session} has no event {seq}", hint)
    if id_ and not str(record["id"]).startswith(id_):
        raise NotFound(f"event {seq} of {session} has another id, {record['id']}", "Check the id.")
    return Citation(session, seq, record["hash"])


def _by_hash(log: EventLog, session: str, digits: str) -> Citation:
    end = log.end(session)
    records = log.records(session, max(1, end - LOOKED_THROUGH + 1), end)
    found = [_of_record(session, record) for record, _ in records if record["hash"].startswith(digits)]
    if not found:
        raise NotFound(f"no event of {session} has a hash that begins with {digits}", HOW)
    if len(found) > 1:
        candidates = ", ".join(f"{one.seq} ({one.hash[:12]})" for one in found[:MAX_SHOWN])
        raise InvalidRequest(
            f"{len(found)} events of {session} have a hash that begins with {digits}: {candidates}", "Add more digits."
        )
    return found[0]


def _of_record(session: str, record: dict[str, Any]) -> Citation:
    return Citation(session, record["seq"], record["hash"])


def event_meant(
    name: str,
    entity_type: str,
    *,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    session_id: str | None = None,
) -> tuple[str, str | None]:
    """What a command is about, and the session: a thing by name and type as it was given, else the cited event."""
    if entity_type:
        return name, session_id
    from zaxy.api.command_line import current_call

    try:
        cited = current_call().open_log(workspace, eventloom_path, session_id=session_id).cite(name)
    except InvalidRequest as error:
        raise InvalidRequest(error.message, f"{HOW} What has a name is named with its --type.") from None
    return cited, session_id or parse_citation(cited).session
