"""What a model conditions on: the handoff at a session's start, checkouts, and context between turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from zaxy.api import cited_for, count_tokens, with_short_citations
from zaxy.api.tools import (
    COMPACT,
    COORDINATE,
    CORE,
    COUNT,
    FULL,
    LIMIT,
    MAX_NUMBER,
    PURPOSE,
    QUERY,
    TEXT,
    Call,
    schema,
    text,
    texts,
    tool,
    whole,
)

ASSEMBLED = {"limit": LIMIT, "max_recent_events": whole(0, MAX_NUMBER)}
"""How much a bundle may hold."""
TASK = text(max_chars=4096)
MAX_TOKENS_PER_CHARACTER = 3


@tool(
    "memory_capabilities",
    "What this memory can do, when to use which tool, and whether capture is healthy.",
    takes=schema("", session_id=TEXT, current_task=TASK),
    read_only=True,
    idempotent=True,
)
def capabilities(call: Call) -> Mapping[str, Any]:
    return call.memory.capabilities(call.session, **call.own, profile=call.profile).as_dict()


@tool(
    "memory_bootstrap",
    "Call first: what memory holds and how to use it.",
    takes=schema("", session_id=TEXT, current_task=TASK),
    read_only=True,
    profiles=(CORE, COORDINATE, FULL),
)
def bootstrap(call: Call) -> Mapping[str, Any]:
    return with_short_citations(call.memory.bootstrap(call.session, **call.own, profile=call.profile).as_dict())


@tool(
    "memory_checkout",
    "Call before substantial work and after compaction: cited facts. "
    "Answer on answer_from_memory or what a cited line states.",
    takes=schema(
        "query",
        query=QUERY,
        session_id=TEXT,
        ref=TEXT,
        replay_from_seq=COUNT,
        **ASSEMBLED,
        purpose={**PURPOSE, "description": "coding, review, release, security, research, coordinate"},
        max_tokens=COUNT,
    ),
    read_only=True,
    profiles=(CORE, COORDINATE, FULL, COMPACT),
)
def checkout(call: Call) -> Mapping[str, Any]:
    return cited_for(call, call.memory.checkout(**call.own, session=call.session).as_dict())


@tool(
    "context_assemble",
    "A prompt-ready bundle of recent events and ranked recall for a question.",
    takes=schema(
        "query",
        query=QUERY,
        session_id=TEXT,
        replay_from_seq=COUNT,
        **ASSEMBLED,
        max_tokens=COUNT,
    ),
    read_only=True,
    idempotent=True,
)
def assemble(call: Call) -> Mapping[str, Any]:
    return cited_for(call, call.memory.context(**call.own, session=call.session).as_dict())


@tool(
    "context_after_turn",
    "Record a turn and get context for the next.",
    takes=schema(
        "role content",
        **texts("role content session_id speaker source"),
        turn_index=whole(0, MAX_NUMBER),
        query=QUERY,
        **ASSEMBLED,
        max_tokens=COUNT,
        idempotency_key=TEXT,
    ),
    profiles=(CORE, FULL),
)
def after_turn(call: Call) -> Mapping[str, Any]:
    return with_short_citations(call.memory.after_turn(**call.own, session=call.session).as_dict())


@tool(
    "subagent_cleanup",
    "Close a subagent's session with a summary and hand its work over to the parent session.",
    takes=schema(
        "parent_session_id subagent_session_id summary",
        **texts("parent_session_id subagent_session_id summary outcome actor"),
        max_tokens=COUNT,
    ),
    profiles=(COORDINATE, FULL),
)
def cleanup(call: Call) -> Mapping[str, Any]:
    sessions = {"parent_session": "parent_session_id", "subagent_session": "subagent_session_id"}
    given = call.given("summary", "outcome", "actor", **sessions)
    reply = with_short_citations(call.memory.cleanup_subagent(**given).as_dict())
    return _within(reply, call.arguments.get("max_tokens", MAX_NUMBER))


def _within(reply: dict[str, Any], budget: int) -> dict[str, Any]:
    """The bundle, with as much of the summary as the budget leaves; the log has all of it."""
    used = count_tokens(orjson.dumps(reply).decode())
    if used <= budget:
        return {**reply, "tokens_used": used, "truncated": False}
    summary = str(reply["summary"])
    room = max(budget - (used - count_tokens(summary)), 0)
    cut = {**reply, "summary": summary[: room // MAX_TOKENS_PER_CHARACTER]}
    return {**cut, "tokens_used": count_tokens(orjson.dumps(cut).decode()), "truncated": True}


TOOLS = (bootstrap, checkout, after_turn, capabilities, assemble, cleanup)
