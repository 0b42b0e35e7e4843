"""`zaxy pause | resume`."""

from __future__ import annotations

import json
from typing import Any

from zaxy.commands import command, new_app
from zaxy.commands.typer_options import AsJson, EventloomPath, WorkspaceFolder
from zaxy.observe import recording
from zaxy.printing import say, say_wrapped
from zaxy.workspace import find_workspace

app = new_app("recording")


@command(app, "pause")
def pause(workspace: WorkspaceFolder = None, eventloom_path: EventloomPath = None, as_json: AsJson = False) -> None:
    found = find_workspace(workspace, eventloom_path)
    before = recording.read_recording(found.eventloom).paused_since
    found.claim()
    since = recording.pause(found.eventloom)
    said = f"recording was paused before in {found.root}" if before else f"recording is paused in {found.root}"
    _print(
        {"workspace": found.root, "paused_since": since, "was_paused": bool(before)},
        f"{said}, since {recording.to_the_second(since)}\n'zaxy resume' goes on with it",
        as_json,
    )


@command(app, "resume")
def resume(workspace: WorkspaceFolder = None, eventloom_path: EventloomPath = None, as_json: AsJson = False) -> None:
    found = find_workspace(workspace, eventloom_path)
    ended = recording.resume(found.eventloom)
    said = f"recording goes on in {found.root}\n"
    if ended:
        since, until = map(recording.to_the_second, ended)
        said += f"what happened from {since} to {until} stays out"
    else:
        said += "it was not paused"
    pause = {"paused_since": ended.since, "paused_until": ended.until} if ended else {}
    _print({"workspace": found.root, "was_paused": ended is not None, **pause}, said, as_json)


def _print(reply: dict[str, Any], said: str, as_json: bool) -> None:
    if as_json:
        say(json.dumps(reply, indent=2, ensure_ascii=False))
    else:
        say_wrapped(said)
