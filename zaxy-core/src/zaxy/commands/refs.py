"""`zaxy refs list | update | resolve`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.commands.events import event_reply, event_row, event_view, open_log, session_of
from zaxy.commands.typer_options import AsJson, EventloomPath, SessionId, WorkspaceFolder
from zaxy.eventloom.citation import Citation, parse_citation
from zaxy.eventloom.event_log import ref_target
from zaxy.plugins.families import Families
from zaxy.printing import say

app = new_app("refs")

Name = Annotated[str, typer.Argument(help="HEAD, or a name such as refs/heads/main.")]


@command(app, "refs list")
def list_refs(
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log, found = open_log(workspace, eventloom_path)
    session = session_of(session_id, found)
    refs = {}
    for name, event in sorted(log.refs(session).items()):
        refs[name] = ref_target(event)
    if as_json:
        say(json.dumps({"session_id": session, "refs": {name: str(cited) for name, cited in refs.items()}}, indent=2))
        return
    for name, cited in refs.items():
        say(f"{name}  {cited.short}")


@command(app, "refs update")
def update(
    name: Name,
    citation: Annotated[str | None, typer.Argument(help="The event. Default: the session's last one.")] = None,
    *,
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log, found = open_log(workspace, eventloom_path)
    if citation is not None:
        target = log.resolve(parse_citation(citation))
    else:
        target = log.last_event(session_of(session_id, found))
    event = log.set_ref(name, target)
    cited = Citation(target.session, target.seq, target.hash)
    say(json.dumps({"name": name, "target": str(cited), **event_reply(event)}) if as_json else f"{name}  {cited.short}")


@command(app, "refs resolve")
def resolve(
    name: Name,
    session_id: SessionId = None,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log, found = open_log(workspace, eventloom_path)
    event = log.resolve_ref(session_of(session_id, found), name)
    record = log.record(Citation(event.session, event.seq, event.hash))
    say(json.dumps(event_view(record), ensure_ascii=False) if as_json else event_row(record, Families.of(found)))
