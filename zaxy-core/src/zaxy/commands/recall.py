"""`zaxy query | verbatim | invalidate`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from zaxy.commands import command, new_app
from zaxy.commands.events import (
    AsJson,
    EventloomPath,
    SessionId,
    WorkspaceFolder,
    event_reply,
    existing_session,
    one_line,
    open_memory,
)
from zaxy.eventloom.citation import parse_citation
from zaxy.retrieve.profiles import DEFAULT, PROFILES

app = new_app("query")

Text = Annotated[str, typer.Argument(help='The question, or words, names and "quoted phrases" to look for.')]
Limit = Annotated[int, typer.Option("--limit", min=1, max=100, help="How many results at most.")]
Tokens = Annotated[int, typer.Option("--max-tokens", min=1, help="How much text at most, in tokens of a model.")]
Next = Annotated[str, typer.Option("--cursor", help="The next_cursor of the page before.")]


@command(app, "query")
def query(
    text: Text,
    session_id: SessionId = None,
    *,
    limit: Limit = 10,
    as_of: Annotated[str, typer.Option("--as-of", help="A date or time: what held then, instead of now.")] = "",
    known_at: Annotated[
        int | None, typer.Option("--known-at", min=1, help="A seq: as far as was known after that event.")
    ] = None,
    profile: Annotated[str, typer.Option("--profile", help=f"Scoring: {', '.join(PROFILES)}.")] = DEFAULT,
    max_tokens: Tokens = 3000,
    cursor: Next = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        session = existing_session(session_id, memory.workspace, memory.sessions())
        answer = memory.query(
            text,
            session,
            limit=limit,
            temporal_filter=as_of,
            known_at=known_at,
            profile=profile,
            max_tokens=max_tokens,
            cursor=cursor,
        )
        _print(answer.as_dict(), as_json)


@command(app, "verbatim")
def verbatim(
    text: Text,
    session_id: SessionId = None,
    *,
    limit: Limit = 10,
    max_tokens: Tokens = 3000,
    cursor: Next = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        session = existing_session(session_id, memory.workspace, memory.sessions())
        _print(memory.verbatim(text, session, limit=limit, max_tokens=max_tokens, cursor=cursor).as_dict(), as_json)


@command(app, "invalidate")
def invalidate(
    entity_name: Annotated[str, typer.Argument(help="The entity, by the name that a query shows.")],
    entity_type: Annotated[str, typer.Option("--type", help="Its type, such as decision.")],
    *,
    invalid_at: Annotated[str, typer.Option("--at", help="From when on it no longer holds. Default: now.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why, for the record.")] = "",
    actor: Annotated[str, typer.Option("--actor", help="Who says so.")] = "user",
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        session = existing_session(session_id, memory.workspace, memory.sessions())
        event = memory.invalidate(
            entity_name, entity_type, invalid_at=invalid_at, reason=reason, session=session, actor=actor
        )
        typer.echo(json.dumps(event_reply(event)) if as_json else event.citation)


def _print(reply: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(reply, indent=2, ensure_ascii=False))
        return
    for row in reply["results"]:
        until = f" to {row['valid_to'][:10]}" if row["valid_to"] else ""
        cited = parse_citation(row["citation"]).short
        typer.echo(f"{cited}  {row['valid_from'][:10]}{until}  {one_line(row['actor'], 40)}  ({row['score']:.2f})")
        typer.echo("    " + one_line(row["content"].replace("\n", " · "), 200))
    if not reply["results"]:
        typer.echo("nothing found", err=True)
    if reply["next_cursor"]:
        typer.echo(f"more with --cursor {reply['next_cursor']}", err=True)
    for warning in reply["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
    for notice in reply["notices"]:
        typer.echo(f"notice: {notice}", err=True)
