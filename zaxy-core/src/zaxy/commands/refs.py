"""`zaxy refs list | update | resolve`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from zaxy.api import (
    EVENT,
    AsJson,
    Citation,
    EventloomPath,
    SessionId,
    TyperCommand,
    WorkspaceFolder,
    current_call,
    event_reply,
    say,
    say_wrapped,
    short_citation,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
Name = Annotated[str, typer.Argument(help="HEAD, or a name such as main, for refs/heads/main.")]


class RefsCommands(TyperCommand):
    app = app


@app.command("list")
def list_refs(
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log = current_call().open_log(workspace, eventloom_path, session_id=session_id)
    refs = log.refs()
    if as_json:
        say(json.dumps({"session_id": log.session, "refs": refs}, indent=2))
        return
    for name, citation in refs.items():
        say_wrapped(f"{name}  {short_citation(citation)}")


@app.command("update")
def update(
    name: Name,
    event: Annotated[str | None, typer.Argument(help=f"{EVENT} Default: the session's last one.")] = None,
    *,
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    record = current_call().open_log(workspace, eventloom_path, session_id=session_id).set_ref(name, event)
    said: Any = record.payload
    cited = Citation(record.session, said["target_seq"], said["target_hash"])
    reply = {"name": said["name"], "target": str(cited), **event_reply(record)}
    say(json.dumps(reply) if as_json else f"{said['name']}  {cited.short}")


@app.command("resolve")
def resolve(
    name: Name,
    session_id: SessionId = None,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log = current_call().open_log(workspace, eventloom_path, session_id=session_id)
    record = log.record(log.resolve_ref(name).citation)
    say(json.dumps(record, ensure_ascii=False) if as_json else log.row(record))
