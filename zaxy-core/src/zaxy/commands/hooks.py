"""`zaxy hooks`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from zaxy.clients.hook_files import GENERIC, HookOptions, hooks_of
from zaxy.commands import command, new_app
from zaxy.commands.typer_options import AsJson, EventloomPath, WorkspaceFolder
from zaxy.printing import say
from zaxy.workspace import find_workspace

app = new_app("hooks")


@command(app, "hooks")
def hooks(
    client: Annotated[str, typer.Argument(help=f"A client that has hooks, or {GENERIC} for any other.")],
    output: Annotated[
        Path | None, typer.Option("--out", "--output", help="Write to this file instead of printing.")
    ] = None,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Take Zaxy's hooks out again, and nothing else.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace hooks of Zaxy's that are there.")] = False,
    domain: Annotated[str, typer.Option("--domain", help="Record in the session DOMAIN-default.")] = "",
    recorder: Annotated[
        str, typer.Option("--recorder", help="Who records what the client does: hooks or capture.")
    ] = "",
    shared: Annotated[
        bool, typer.Option("--shared", help="For every machine: the command by name, no path of this one.")
    ] = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    options = HookOptions(output, remove, force, domain, recorder, shared)
    done = hooks_of(client, find_workspace(workspace, eventloom_path), options)
    if as_json:
        say(json.dumps(done.as_dict(), indent=2, ensure_ascii=False))
        return
    say(done.text, end="") if done.text else None
    for said in done.notes:
        say(said, err=True)
