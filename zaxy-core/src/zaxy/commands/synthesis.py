"""`zaxy memory synthesis-artifact | synthesis-evidence`."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from zaxy.api import (
    AsJson,
    EventloomPath,
    InvalidRequest,
    TyperCommand,
    WorkspaceFolder,
    current_call,
    event_reply,
    read_named_file,
    say,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
MAX_BYTES = 4 << 20
TO_MAKE_ONE = "Write one with 'zaxy checkout QUESTION --json > checkout.json'."


class SynthesisCommands(TyperCommand):
    app = app


CheckoutFile = Annotated[
    str, typer.Argument(help="The reply of a checkout as JSON: a file, or - for what is piped in.")
]
Rank = Annotated[int | None, typer.Option("--candidate", help="The candidate that is meant, by its rank.")]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]
Actor = Annotated[str, typer.Option("--actor", help="Who says so.")]


@app.command("synthesis-artifact")
def artifact(
    checkout: CheckoutFile,
    *,
    candidate: Rank = None,
    outcome: Annotated[str, typer.Option("--outcome", help="used, rejected, corrected or excluded.")] = "",
    reason: Reason = "",
    correction: Annotated[str, typer.Option("--correction", help="What is right instead.")] = "",
    actor: Actor = "user",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    given = _read(checkout)
    with current_call().open_memory(workspace, eventloom_path, session_id=_session(given)) as memory:
        reply = memory.synthesis_artifact(
            given, _ranked(candidate), outcome=outcome, reason=reason, correction=correction, actor=actor
        ).as_dict()
    said = "\n".join(str(reply[name]["citation"]) for name in ("artifact", "outcome") if name in reply)
    say(json.dumps(reply, indent=2, ensure_ascii=False) if as_json else said)


@app.command("synthesis-evidence")
def evidence(
    checkout: CheckoutFile,
    row: Annotated[str, typer.Argument(help="The row of the ledger, by its fact_id.")],
    *,
    outcome: Annotated[str, typer.Option("--outcome", help="used, helpful or excluded.")],
    candidate: Rank = None,
    reason: Reason = "",
    actor: Actor = "user",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    given = _read(checkout)
    with current_call().open_memory(workspace, eventloom_path, session_id=_session(given)) as memory:
        event = memory.synthesis_evidence(
            given, {"fact_id": row}, outcome=outcome, candidate=_ranked(candidate), reason=reason, actor=actor
        )
    say(json.dumps(event_reply(event)) if as_json else event.citation)


def _read(path: str) -> dict[str, Any]:
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if path == "-" else read_named_file(path, MAX_BYTES)
        given = json.loads(data)
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{path!r:.80} holds no checkout: {error!s:.120}", TO_MAKE_ONE) from None
    if not isinstance(given, dict):
        raise InvalidRequest(f"{path!r:.80} holds no checkout: it is no object", TO_MAKE_ONE)
    return given


def _session(given: dict[str, Any]) -> str | None:
    named = given.get("session_id")
    return named if isinstance(named, str) and named else None


def _ranked(rank: int | None) -> dict[str, Any] | None:
    return None if rank is None else {"rank": rank}
