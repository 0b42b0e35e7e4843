"""`zaxy followers status | rebuild | verify | digest`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from zaxy.commands import command, new_app
from zaxy.commands.events import existing_session, open_memory
from zaxy.commands.typer_options import AsJson, EventloomPath, SessionId, WorkspaceFolder
from zaxy.errors import InvalidRequest
from zaxy.follow.loop import FollowerState
from zaxy.memory import Memory
from zaxy.printing import say

app = new_app("followers")

All = Annotated[bool, typer.Option("--all", help="All sessions of the workspace.")]
Names = Annotated[list[str] | None, typer.Argument(help="Which followers, such as text or graph. Default: all.")]


@command(app, "followers status")
def status(
    session_id: SessionId = None,
    every: All = False,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        _tell(map(memory.followers_status, _sessions(memory, session_id, every)), as_json)


@command(app, "followers rebuild")
def rebuild(
    names: Names = None,
    session_id: SessionId = None,
    *,
    every: All = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        sessions = _sessions(memory, session_id, every)
        _tell((memory.rebuild_followers(session, names or ()) for session in sessions), as_json)


@command(app, "followers verify")
def verify(
    session_id: SessionId = None,
    every: All = False,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        sessions = _sessions(memory, session_id, every)
        found = [finding for session in sessions for finding in memory.verify_followers(session)]
    if as_json:
        rows = [
            {"session_id": of.session, "follower": of.follower, "problems": of.problems, "note": of.note}
            for of in found
        ]
        say(json.dumps({"followers": rows}, indent=2))
    else:
        for of in found:
            for said in of.problems or [of.note or "every row is as it was written"]:
                say(f"{of.session}  {of.follower}  {said}")
    wrong = sorted({of.session for of in found if of.problems})
    for session in wrong:
        say(f"zaxy: run 'zaxy followers rebuild --session-id {session}'", err=True)
    raise typer.Exit(1 if wrong else 0)


@command(app, "followers digest")
def digest(
    session_id: SessionId = None,
    every: All = False,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        digests = {session: memory.follower_digests(session) for session in _sessions(memory, session_id, every)}
        if as_json:
            say(json.dumps(digests, indent=2))
            return
        for session, of in digests.items():
            for name, digest_ in of.items():
                say(f"{digest_}  {session}  {name}")


def _sessions(memory: Memory, named: str | None, every: bool) -> Sequence[str]:
    if every and named is not None:
        raise InvalidRequest("--all and --session-id were both given", "Leave one of them out.")
    return memory.sessions() if every else [existing_session(named, memory.workspace, memory.sessions())]


def _tell(of_sessions: Iterable[Sequence[FollowerState]], as_json: bool) -> None:
    """Print how far the followers are; exit with 1 if one of them does not go on."""
    states = [state for of_one in of_sessions for state in of_one]
    if as_json:
        say(json.dumps({"followers": [_row(state) for state in states]}, indent=2))
    else:
        for state in states:
            said = state.problem or (f"{state.behind} events behind" if state.behind else "up to date")
            say(f"{state.session}  {state.follower}  event {state.seq}  {said}")
    raise typer.Exit(1 if any(state.problem for state in states) else 0)


def _row(state: FollowerState) -> dict[str, Any]:
    kind = "frozen" if state.frozen else "failed" if state.problem else "behind" if state.behind else "current"
    return {
        "session_id": state.session,
        "follower": state.follower,
        "state": kind,
        "seq": state.seq,
        "behind": state.behind,
        "problem": state.problem,
    }
