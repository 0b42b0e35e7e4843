"""`zaxy remember`: a sentence becomes an event of the kind that it is."""

from __future__ import annotations

import json

from zaxy.api import (
    JSON,
    KINDS,
    PLACE,
    SESSION_ID,
    Argument,
    InvalidRequest,
    Option,
    current_call,
    given_text,
    hot_command,
    kind_of,
    one_line,
    payload_of_kind,
    say,
    say_wrapped,
    short_citation,
)


@hot_command(
    Argument("What to remember, or - to read it from standard input."),
    Option("--kind", "KIND", f"{', '.join(KINDS)}. Default: as it begins, else a fact."),
    Option("--key", "KEY", "What it is about: the same key replaces what was said before."),
    Option("--actor", "NAME", "Who says it."),
    SESSION_ID,
    *PLACE,
    JSON,
)
def remember(
    text: str,
    *,
    kind: str = "",
    key: str = "",
    actor: str = "user",
    session_id: str | None = None,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    said = given_text(text) if text == "-" else text
    if not said.strip():
        raise InvalidRequest("there is nothing to remember", 'Say it: zaxy remember "The demo is on the 14th"')
    chosen = kind or kind_of(said)
    if chosen not in KINDS:
        raise InvalidRequest(f"there is no kind {chosen!r:.40}", f"Choose one of {', '.join(KINDS)}.")
    event_type, payload = KINDS[chosen].event_type, payload_of_kind(chosen, said, key)
    reply = current_call().append(
        event_type, payload, actor=actor, session_id=session_id, workspace=workspace, eventloom_path=eventloom_path
    )
    if as_json:
        say(json.dumps({**reply, "kind": chosen, "event_type": event_type}))
        return
    place = f" --session-id {reply['session_id']}" if session_id else ""
    say_wrapped(f"{one_line(' '.join(said.split()), 160)}")
    say_wrapped(f"  remembered as {_article(chosen)} {chosen}  {short_citation(reply['citation'])}")
    say_wrapped(f"  see it again: zaxy show {reply['seq']}{place}")


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"
