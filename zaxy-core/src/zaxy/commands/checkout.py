"""`zaxy checkout`, and `zaxy memory checkout`, which is the same."""

from __future__ import annotations

import json
import sys

from zaxy.commands.events import existing_session, open_memory, purpose_of
from zaxy.commands.hot import Argument, HotCommand
from zaxy.commands.options import JSON, PLACE, PURPOSE, SESSION_ID, Option
from zaxy.printing import say, show_page

DECLARED = (
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


def _checkout(
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
    with open_memory(workspace, eventloom_path) as memory:
        session = existing_session(session_id, memory.workspace, memory.sessions())
        reply = memory.checkout(
            question,
            session,
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
    from zaxy.terminal.checkout_page import checkout_page, judgement_page
    from zaxy.terminal.screen import terminal_of

    show_page(checkout_page(reply, *terminal_of(sys.stdout)))
    if why:
        say(f"\n{judgement_page(reply)}")


checkout = HotCommand("checkout", _checkout, DECLARED)
memory_checkout = HotCommand("memory checkout", _checkout, DECLARED)
