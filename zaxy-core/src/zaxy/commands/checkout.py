"""`zaxy checkout`, and `zaxy memory checkout`, which is the same."""

from __future__ import annotations

import json

from zaxy.api import JSON, PLACE, PURPOSE, SESSION_ID, Argument, Option, current_call, hot_command, purpose_of, say


@hot_command(
    Argument("The question, or the task that is ahead."),
    SESSION_ID,
    Option("--ref", "NAME", "A ref: what was known when it was set."),
    PURPOSE,
    Option("--limit", "N", "How many facts at most.", minimum=1, maximum=100),
    Option("--max-recent-events", "N", "How many of the last events.", minimum=0, maximum=100),
    Option("--replay-from-seq", "N", "Show events from this one on instead.", minimum=1),
    Option("--max-tokens", "N", "How large the reply may be, in tokens.", minimum=1),
    Option("--why", "", "Show the figures that decided."),
    *PLACE,
    JSON,
)
def checkout(
    question: str,
    *,
    session_id: str | None = None,
    ref: str = "",
    purpose: str = "",
    limit: int | None = None,
    max_recent_events: int = 3,
    replay_from_seq: int | None = None,
    max_tokens: int = 3000,
    why: bool = False,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    as_json: bool = False,
) -> None:
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id, recorded=True) as memory:
        reply = memory.checkout(
            question,
            ref=ref,
            replay_from_seq=replay_from_seq,
            limit=limit,
            max_recent_events=max_recent_events,
            purpose=purpose_of(purpose),
            max_tokens=max_tokens,
        ).as_dict()
    if as_json:
        say(json.dumps(reply, indent=2, ensure_ascii=False))
        return
    from zaxy.api import checkout_page, judgement_page, print_page

    print_page(checkout_page, reply)
    if why:
        say(f"\n{judgement_page(reply)}")
