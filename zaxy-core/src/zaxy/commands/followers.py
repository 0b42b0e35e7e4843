"""`zaxy followers status | catch-up | rebuild | verify | digest`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from zaxy.api import (
    AsJson,
    EventloomPath,
    FollowerState,
    InvalidRequest,
    MemoryAccess,
    SessionId,
    TyperCommand,
    WorkspaceFolder,
    current_call,
    say,
    say_wrapped,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class FollowersCommands(TyperCommand):
    app = app


All = Annotated[bool, typer.Option("--all", help="All sessions of the workspace.")]
Names = Annotated[list[str] | None, typer.Argument(help="Which followers, such as text or graph. Default: all.")]


@app.command("status")
def status(
    session_id: SessionId = None,
    every: All = False,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _opened(session_id, every, workspace=workspace, eventloom_path=eventloom_path) as (memory, sessions):
        _tell(map(memory.followers_status, sessions), as_json)


@app.command("catch-up")
def catch_up(
    session_id: SessionId = None,
    every: All = False,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _opened(session_id, every, workspace=workspace, eventloom_path=eventloom_path) as (memory, sessions):
        _tell(map(memory.catch_up_followers, sessions), as_json)


@app.command("rebuild")
def rebuild(
    names: Names = None,
    session_id: SessionId = None,
    *,
    every: All = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _opened(session_id, every, workspace=workspace, eventloom_path=eventloom_path) as (memory, sessions):
        _tell((memory.rebuild_followers(session, names or ()) for session in sessions), as_json)


@app.command("verify")
def verify(
    session_id: SessionId = None,
    every: All = False,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _opened(session_id, every, workspace=workspace, eventloom_path=eventloom_path) as (memory, sessions):
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
                say_wrapped(f"{of.session}  {of.follower}  {said}")
    wrong = sorted({of.session for of in found if of.problems})
    for session in wrong:
        say(f"zaxy: run 'zaxy followers rebuild --session-id {session}'", err=True)
    raise typer.Exit(1 if wrong else 0)


@app.command("digest")
def digest(
    session_id: SessionId = None,
    every: All = False,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _opened(session_id, every, workspace=workspace, eventloom_path=eventloom_path) as (memory, sessions):
        digests = {session: memory.follower_digests(session) for session in sessions}
        if as_json:
            say(json.dumps(digests, indent=2))
            return
        for session, of in digests.items():
            for name, digest_ in of.items():
                say_wrapped(f"{digest_}  {session}  {name}")


@contextmanager
def _opened(
    session_id: str | None, every: bool, *, workspace: str | None, eventloom_path: str | None
) -> Iterator[tuple[MemoryAccess, Sequence[str]]]:
    """Memory, and the sessions that are meant."""
    if every and session_id is not None:
        raise InvalidRequest("--all and --session-id were both given", "Leave one of them out.")
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id, recorded=not every) as memory:
        yield memory, memory.sessions() if every else [memory.session]


def _tell(of_sessions: Iterable[Sequence[FollowerState]], as_json: bool) -> None:
    """Print how far the followers are; exit with 1 if one of them does not go on."""
    states = [state for of_one in of_sessions for state in of_one]
    if as_json:
        say(json.dumps({"followers": [_row(state) for state in states]}, indent=2))
    else:
        for state in states:
            events = "event" if state.behind == 1 else "events"
            said = state.problem or (f"{state.behind} {events} behind" if state.behind else "up to date")
            say_wrapped(f"{state.session}  {state.follower}  event {state.seq}  {said}")
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
