"""`zaxy query | verbatim | invalidate`."""

from __future__ import annotations

import json

from zaxy.api import (
    JSON,
    PLACE,
    PROFILES,
    SESSION_ID,
    Argument,
    Option,
    current_call,
    event_meant,
    event_reply,
    hot_command,
    moment,
    say,
    say_wrapped,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEXT = Argument('The question, or words, names and "quoted phrases" to look for.')
LIMIT = Option("--limit", "N", "How many results at most.", minimum=1, maximum=100)
MAX_TOKENS = Option("--max-tokens", "N", "How much text at most, in tokens of a model.", minimum=1)
CURSOR = Option("--cursor", "TEXT", "The next_cursor of the page before.")


@hot_command(
    TEXT,
    SESSION_ID,
    LIMIT,
    Option("--as-of", "TIME", "What held then: yesterday, monday, '3 days ago', a date."),
    Option("--known-at", "N", "A seq: as far as was known after that event.", minimum=1),
    Option("--profile", "NAME", f"Scoring: {', '.join(PROFILES)}."),
    MAX_TOKENS,
    CURSOR,
    *PLACE,
    JSON,
)
def query(
    text: str,
    *,
    session_id: str | None = None,
    limit: int = 10,
    as_of: str = "",
    known_at: int | None = None,
    profile: str = "balanced",
    max_tokens: int = 3000,
    cursor: str = "",
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    then = moment(as_of)
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id, recorded=True) as memory:
        answer = memory.query(
            text,
            limit=limit,
            temporal_filter=then,
            known_at=known_at,
            profile=profile,
            max_tokens=max_tokens,
            cursor=cursor,
        )
        _print({**answer.as_dict(), **({"as_of": then} if then else {})}, as_json, "query_page")


@hot_command(TEXT, SESSION_ID, LIMIT, MAX_TOKENS, CURSOR, *PLACE, JSON)
def verbatim(
    text: str,
    *,
    session_id: str | None = None,
    limit: int = 10,
    max_tokens: int = 3000,
    cursor: str = "",
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id, recorded=True) as memory:
        answer = memory.verbatim(text, limit=limit, max_tokens=max_tokens, cursor=cursor)
        _print(answer.as_dict(), as_json, "verbatim_page")


@hot_command(
    Argument("What no longer holds: the number or citation of an event, or with --type a name."),
    Option("--type", "TYPE", "The type of what is named, such as decision."),
    Option("--at", "TIME", "From when on: yesterday, '3 days ago', a date. Default: now."),
    Option("--reason", "TEXT", "Why, for the record."),
    Option("--actor", "NAME", "Who says so."),
    SESSION_ID,
    *PLACE,
    JSON,
)
def invalidate(
    entity_name: str,
    *,
    entity_type: str = "",
    invalid_at: str = "",
    reason: str = "",
    actor: str = "user",
    session_id: str | None = None,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    meant, session_id = event_meant(
        entity_name, entity_type, workspace=workspace, eventloom_path=eventloom_path, session_id=session_id
    )
    at = moment(invalid_at)
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id, recorded=True) as memory:
        event = memory.invalidate(meant, entity_type, invalid_at=at, reason=reason, actor=actor)
        say(json.dumps(event_reply(event)) if as_json else event.citation)


def _print(reply: dict[str, Any], as_json: bool, page: str) -> None:
    if as_json:
        say(json.dumps(reply, indent=2, ensure_ascii=False))
        return
    import zaxy.api as api

    if reply["results"]:
        api.print_page(getattr(api, page), reply)
    for note in _notes(reply):
        say_wrapped(note, err=True)


def _notes(reply: dict[str, Any]) -> list[str]:
    """What there is to say about the rows."""
    found = [] if reply["results"] else ["nothing found"]
    more = [f"more with --cursor {reply['next_cursor']}"] if reply["next_cursor"] else []
    warnings = [f"warning: {warning}" for warning in reply["warnings"]]
    taken = [f"as of {reply['as_of'][:19].replace('T', ' ')} UTC"] if "as_of" in reply else []
    return [*found, *taken, *more, *warnings, *(f"notice: {notice}" for notice in reply["notices"])]
