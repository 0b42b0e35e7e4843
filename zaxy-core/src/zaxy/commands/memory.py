"""`zaxy memory bootstrap | capabilities | feedback | skill`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from zaxy.api import (
    PURPOSE,
    AsJson,
    Event,
    EventloomPath,
    SessionId,
    TyperCommand,
    WorkspaceFolder,
    bootstrap_page,
    capabilities_page,
    current_call,
    event_meant,
    event_reply,
    parse_citation,
    print_page,
    purpose_of,
    say,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class MemoryCommands(TyperCommand):
    app = app


CurrentTask = Annotated[str, typer.Option("--current-task", help="What the session is about to work on.")]
Actor = Annotated[str, typer.Option("--actor", help="Who says so.")]


@app.command("bootstrap")
def bootstrap(
    session_id: SessionId = None,
    current_task: CurrentTask = "",
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id) as memory:
        reply = memory.bootstrap(current_task=current_task).as_dict()
    _print(reply, bootstrap_page, as_json)


@app.command("capabilities")
def capabilities(
    session_id: SessionId = None,
    current_task: CurrentTask = "",
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id) as memory:
        reply = memory.capabilities(current_task=current_task).as_dict()
    _print(reply, capabilities_page, as_json)


@app.command("feedback")
def feedback(
    entity_name: Annotated[str, typer.Argument(help="The number or citation of its event, or with --type a name.")],
    entity_type: Annotated[str, typer.Option("--type", help="The type of what is named, such as decision.")] = "",
    *,
    said: Annotated[str, typer.Option("--feedback", help="used, helpful or irrelevant.")],
    citation: Annotated[str, typer.Option("--citation", help="The event that says it.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    importance: Annotated[float | None, typer.Option("--importance", help="How much it counts, 0 to 1.")] = None,
    query: Annotated[str, typer.Option("--query", help="The question that it answered.")] = "",
    purpose: Annotated[str, typer.Option(PURPOSE.name, help=PURPOSE.help)] = "",
    outcome: Annotated[str, typer.Option("--outcome", help="What came of it.")] = "",
    actor: Actor = "user",
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    given = {"citation": citation, "reason": reason, "query": query, "outcome": outcome, "importance": importance}
    details = _given({**given, "purpose": purpose_of(purpose)})
    # What is said of a memory belongs beside it, unless another session is named.
    beside = parse_citation(citation).session if citation else None
    entity_name, session_id = event_meant(
        entity_name,
        entity_type,
        workspace=workspace,
        eventloom_path=eventloom_path,
        session_id=session_id or beside,
    )
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id) as memory:
        said_of = {"session": memory.session, **details}
        _print_event(memory.feedback(entity_name, entity_type, feedback=said, actor=actor, **said_of), as_json)


@app.command("skill")
def skill(
    action: Annotated[
        str, typer.Argument(help="propose, validate, revise, deprecate, contradict, apply or record_outcome.")
    ],
    skill_id: Annotated[str, typer.Argument(help="The skill, such as deploy-to-staging.")],
    *,
    version: Annotated[str, typer.Option("--version", help="Its version. Default: 1.")] = "",
    name: Annotated[str, typer.Option("--name", help="What people call it.")] = "",
    summary: Annotated[str, typer.Option("--summary", help="What it does, in a sentence.")] = "",
    step: Annotated[list[str] | None, typer.Option("--step", help="A step of the procedure; once for each.")] = None,
    applicability: Annotated[str, typer.Option("--applicability", help="When it applies.")] = "",
    citation: Annotated[list[str] | None, typer.Option("--citation", help="What it rests on; once for each.")] = None,
    task: Annotated[str, typer.Option("--task", help="What it was applied to.")] = "",
    success_score: Annotated[float | None, typer.Option("--success-score", help="How well it went, 0 to 1.")] = None,
    said: Annotated[str, typer.Option("--feedback", help="What is to be said of it.")] = "",
    evidence: Annotated[str, typer.Option("--evidence", help="What shows it.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    supersedes_version: Annotated[
        str, typer.Option("--supersedes-version", help="The version that this one takes the place of.")
    ] = "",
    actor: Actor = "user",
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    given = {"version": version, "name": name, "summary": summary, "applicability": applicability, "task": task}
    given |= {"feedback": said, "evidence": evidence, "reason": reason, "supersedes_version": supersedes_version}
    details = _given({**given, "procedure": step, "citations": citation, "success_score": success_score})
    with current_call().open_memory(workspace, eventloom_path, session_id=session_id) as memory:
        _print_event(memory.skill(action, skill_id, actor=actor, **details), as_json)


def _given(details: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in details.items() if value not in ("", None, [])}


def _print_event(event: Event, as_json: bool) -> None:
    say(json.dumps(event_reply(event)) if as_json else event.citation)


def _print(reply: dict[str, Any], page: Callable[..., str], as_json: bool) -> None:
    if as_json:
        say(json.dumps(reply, indent=2, ensure_ascii=False))
    else:
        print_page(page, reply)
