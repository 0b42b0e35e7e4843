"""`zaxy query | verbatim | invalidate`."""

from __future__ import annotations

import json
from typing import Annotated

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
from zaxy.retrieve.results import Answer

app = new_app("query")

Text = Annotated[str, typer.Argument(help='The question, or words, names and "quoted phrases" to look for.')]
Limit = Annotated[int, typer.Option("--limit", min=1, max=100, help="How many results at most.")]
Tokens = Annotated[int, typer.Option("--max-tokens", min=1, help="How much text at most, in tokens of a model.")]
Next = Annotated[str, typer.Option("--cursor", help="The next_cursor of the page before.")]


@command(app, "query")
def query(
    text: Text,
    session_id: SessionId = None,
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
        _print(answer, as_json)


@command(app, "verbatim")
def verbatim(
    text: Text,
    session_id: SessionId = None,
    limit: Limit = 10,
    max_tokens: Tokens = 3000,
    cursor: Next = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with open_memory(workspace, eventloom_path) as memory:
        session = existing_session(session_id, memory.workspace, memory.sessions())
        _print(memory.verbatim(text, session, limit=limit, max_tokens=max_tokens, cursor=cursor), as_json)


@command(app, "invalidate")
def invalidate(
    entity_name: Annotated[str, typer.Argument(help="The entity, by the name that a query shows.")],
    entity_type: Annotated[str, typer.Option("--type", help="Its type, such as decision.")],
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


def _print(answer: Answer, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(answer.as_dict(), indent=2, ensure_ascii=False))
        return
    for result in answer.results:
        until = f" to {result.valid_to[:10]}" if result.valid_to else ""
        cited = parse_citation(result.citation).short
        typer.echo(f"{cited}  {result.valid_from[:10]}{until}  {one_line(result.actor, 40)}  ({result.score:.2f})")
        typer.echo("    " + one_line(result.content.replace("\n", " · "), 200))
    if not answer.results:
        typer.echo("nothing found", err=True)
    if answer.next_cursor:
        typer.echo(f"more with --cursor {answer.next_cursor}", err=True)
    for said in answer.warnings:
        typer.echo(f"warning: {said}", err=True)
    for said in answer.notices:
        typer.echo(f"notice: {said}", err=True)
