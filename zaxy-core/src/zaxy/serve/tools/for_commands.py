"""What commands ask of the process that owns the graph, and no client may: followers, erasure, and its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from zaxy.api.models import EntityRef
from zaxy.api.tools import TEXT, Call, one_of, schema, tool
from zaxy.serve.whole_memory import whole_memory


@tool(
    "memory_followers",
    "How far the followers are; let them catch up (`catch_up`: also those that reads do not wait for), rebuild them, "
    "check their rows, or hash them.",
    takes=schema(
        "action session_id",
        action=one_of("status", "follow", "catch_up", "rebuild", "digest", "verify"),
        session_id=TEXT,
        followers={"type": "array", "items": TEXT},
    ),
)
def followers(call: Call) -> Mapping[str, Any]:
    memory, session, action = whole_memory(call), call.session, call.arguments["action"]
    if action == "digest":
        return {"digests": memory.follower_digests(session)}
    if action == "verify":
        return {"findings": [found._asdict() for found in memory.verify_followers(session)]}
    if action == "rebuild":
        states = memory.rebuild_followers(session, call.arguments.get("followers", ()))
    elif action == "catch_up":
        states = memory.catch_up_followers(session)
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


@tool(
    "memory_graph",
    "Read rows of the graph: what is current, what has a name, what is related.",
    takes=schema(
        "read session_id given",
        read=one_of("current", "entities", "neighbours"),
        session_id=TEXT,
        given={"type": "object"},
    ),
    read_only=True,
)
def graph(call: Call) -> Mapping[str, Any]:
    given = dict(call.arguments["given"])
    if "start" in given:
        given["start"] = [EntityRef(*ref) for ref in given["start"]]
    return {
        "rows": [asdict(row) for row in getattr(call.memory, call.arguments["read"])(**given, session=call.session)]
    }


TOOLS = (followers, erase, graph)
