"""`zaxy show`: the event behind a citation."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.commands.events import AsJson, EventloomPath, WorkspaceFolder, event_view, open_log
from zaxy.eventloom.citation import parse_citation
from zaxy.terminal.event_page import event_page
from zaxy.terminal.screen import terminal_of

app = new_app("show")


@command(app, "show")
def show(
    citation: Annotated[str, typer.Argument(help="The event, as eventloom://session/events/42#hash.")],
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    cited = parse_citation(citation)
    log, _ = open_log(workspace, eventloom_path)
    record = log.record(cited)
    if as_json:
        typer.echo(json.dumps(event_view(record), ensure_ascii=False))
    else:
        typer.echo(event_page(record, *terminal_of(sys.stdout)))
