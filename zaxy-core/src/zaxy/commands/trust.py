"""`zaxy trust`."""

from __future__ import annotations

import json

from zaxy.commands import command, new_app
from zaxy.commands.typer_options import AsJson, EventloomPath, WorkspaceFolder
from zaxy.printing import say
from zaxy.setup.taking_in import TakenIn, take_in
from zaxy.workspace import find_workspace

app = new_app("trust")


@command(app, "trust")
def trust(
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    taken = take_in(find_workspace(workspace, eventloom_path))
    say(json.dumps(taken.as_dict(), indent=2, ensure_ascii=False) if as_json else _page(taken))


def _page(taken: TakenIn) -> str:
    counts = (f"{session} ({count} event{'s' * (count != 1)})" for session, count in taken.events.items())
    sessions = ", ".join(counts) or "none yet"
    lines = [f"{taken.eventloom} is trusted: what it holds is believed like your own.", f"Sessions: {sessions}."]
    if taken.settings:
        settings = ", ".join(f"{env}={value}" for env, value in taken.settings.items())
        lines.append(f"Settings that it brings: {settings}.")
    if taken.unread:
        lines.append(f"Not taken, set them yourself if you want them: {', '.join(taken.unread)}.")
    return "\n".join(lines)
