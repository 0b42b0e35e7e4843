"""What commands ask of the process that owns the graph, and no client may: followers, and erasure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.serve.served_tool import TEXT, Call, one_of, schema, tool


@tool(
    "memory_followers",
    "How far the followers are; let them catch up, rebuild them, check their rows, or hash them.",
    takes=schema(
        "action session_id",
        action=one_of("status", "follow", "rebuild", "digest", "verify"),
        session_id=TEXT,
        followers={"type": "array", "items": TEXT},
    ),
)
def followers(call: Call) -> Mapping[str, Any]:
    memory, session, action = call.memory, call.session, call.arguments["action"]
    if action == "digest":
        return {"digests": memory.follower_digests(session)}
    if action == "verify":
        return {"findings": [found._asdict() for found in memory.verify_followers(session)]}
    if action == "rebuild":
        states = memory.rebuild_followers(session, call.arguments.get("followers", ()))
    elif action == "status":
        states = memory.followers_status(session)
    else:  # a command waits as long as it takes
        states = memory.recall.loop.catch_up(session, progress=memory.recall.progress)
    return {"states": [{**state._asdict(), "cursor": None} for state in states]}


@tool(
    "memory_erase",
    "Erase what a cited event says, from the log and from all that followed it.",
    takes=schema("citation reason", citation=TEXT, reason=TEXT, actor=TEXT, with_copies={"type": "boolean"}),
    destructive=True,
)
def erase(call: Call) -> Mapping[str, Any]:
    return call.memory.forget(**call.own).as_dict()


TOOLS = (followers, erase)
