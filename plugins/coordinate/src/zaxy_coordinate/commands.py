"""`zaxy coordinate …`: missions on the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from zaxy.api import (
    DEFAULT_ALGORITHM,
    AsJson,
    EventloomPath,
    InvalidRequest,
    KeyFiles,
    NotFound,
    ProviderContext,
    TyperCommand,
    WorkspaceFolder,
    atomic_file,
    current_call,
    make_folder_for,
    open_named_file,
    print_page,
    signer_of,
)
from zaxy_coordinate import pages
from zaxy_coordinate.fold import MISSION
from zaxy_coordinate.logs import MissionLogs
from zaxy_coordinate.missions import Missions
from zaxy_coordinate.packets import signed
from zaxy_coordinate.workplace import DEFAULT_ACTOR, Reply

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
MAX_FILE_BYTES = 16 << 20

_context: list[ProviderContext] = []


class CoordinateCommand(TyperCommand):
    app = app

    def run(self, call: Any) -> int:
        _context[:] = [self.context]
        return super().run(call)


Mission = Annotated[str, typer.Argument(help="The mission's id.")]
Worker = Annotated[str, typer.Argument(help="The worker's id.")]
Finding = Annotated[str, typer.Argument(help="The finding's id, such as w1:finding:1.")]
Actor = Annotated[str, typer.Option("--actor", help="Who does it.")]
Key = Annotated[str, typer.Option("--idempotency-key", help="The same key again does nothing more.")]
Role = Annotated[str, typer.Option("--role", help="What the worker is good at.")]
Printer = Callable[[Any, int, bool], str]


@contextmanager
def _missions(workspace: str | None, eventloom_path: str | None) -> Iterator[Missions]:
    context = _context[0]
    logs = MissionLogs(os.path.join(str(context.state_dir), "missions"), context.workspace_id)
    with current_call().open_memory(workspace, eventloom_path) as memory:
        yield Missions(memory, logs)


def _print(reply: Reply, as_json: bool, page: Printer) -> None:
    if as_json:
        current_call().say(json.dumps(reply, ensure_ascii=False))
    else:
        print_page(page, reply)


@app.command("start")
def start(
    mission: Mission,
    objective: Annotated[str, typer.Argument(help="What the mission is to reach.")],
    *,
    actor: Actor = DEFAULT_ACTOR,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        _print(missions.start(mission, objective, actor=actor), as_json, pages.written_page)


@app.command("worker")
def worker(
    mission: Mission,
    worker: Worker,
    *,
    role: Role = "",
    actor: Actor = DEFAULT_ACTOR,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        _print(missions.create_worker(mission, worker, role=role, actor=actor), as_json, pages.written_page)


@app.command("adopt")
def adopt(
    session: Annotated[str, typer.Argument(help="A session with events, such as that of a captured subagent.")],
    *,
    mission: Annotated[str, typer.Option("--mission", help="The mission's id.")],
    worker_id: Annotated[str, typer.Option("--worker-id", help="Default: from the session's name.")] = "",
    role: Role = "",
    actor: Actor = DEFAULT_ACTOR,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.adopt(session, mission, worker_id=worker_id, role=role, actor=actor)
        _print(reply, as_json, pages.written_page)


@app.command("assign")
def assign(
    mission: Mission,
    worker: Worker,
    assignment: Annotated[str, typer.Argument(help="What the worker is to do.")],
    *,
    actor: Actor = DEFAULT_ACTOR,
    idempotency_key: Key = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.assign(mission, worker, assignment, actor=actor, idempotency_key=idempotency_key)
        _print(reply, as_json, pages.written_page)


@app.command("report")
def report(
    mission: Mission,
    worker: Worker,
    summary: Annotated[str, typer.Argument(help="What was found, in a sentence.")],
    *,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence", help='A JSON object, such as {"command": "pytest", "exit_code": 0}, or a reference.'
        ),
    ] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", min=0.0, max=1.0, help="From 0 to 1.")] = None,
    claim_key: Annotated[str, typer.Option("--claim-key", help="What it is about, the same for all who say so.")] = "",
    claim_value: Annotated[str, typer.Option("--claim-value", help="What is so.")] = "",
    actor: Annotated[str, typer.Option("--actor", help="Who says so. Default: the worker.")] = "",
    idempotency_key: Key = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    items = [_evidence_item(text) for text in evidence or ()]
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.report_finding(
            mission,
            worker,
            summary,
            evidence=items,
            confidence=confidence,
            claim_key=claim_key,
            claim_value=claim_value,
            actor=actor,
            idempotency_key=idempotency_key,
        )
        _print(reply, as_json, pages.written_page)


@app.command("brief")
def brief(
    mission: Mission,
    *,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="How long it may be.")] = 6000,
    cursor: Annotated[str, typer.Option("--cursor", help="Where the page before ended.")] = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        _print(missions.merge_brief(mission, max_tokens=max_tokens, cursor=cursor), as_json, pages.brief_page)


@app.command("checkout")
def checkout(
    mission: Mission,
    query: Annotated[str, typer.Argument(help="A question; without one all that was accepted is shown.")] = "",
    *,
    include_diagnostics: Annotated[
        bool, typer.Option("--include-diagnostics", help="Also what was not accepted, labelled.")
    ] = False,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="How long it may be.")] = 3000,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.checkout(mission, query, include_diagnostics=include_diagnostics, max_tokens=max_tokens)
        _print(reply, as_json, pages.checkout_page)


@app.command("ledger")
def ledger(
    mission: Mission,
    *,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        _print(missions.performance_ledger(mission), as_json, pages.ledger_page)


@app.command("packet")
def packet(
    mission: Mission,
    *,
    out: Annotated[str, typer.Option("--out", help="The file to write. Default: print it.")] = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        made = missions.approval_packet(mission)
    if not out:
        current_call().say(json.dumps(made, ensure_ascii=False, indent=2))
        return
    _write_json(make_folder_for(out), made)
    current_call().say(f"{len(made['findings'])} findings to decide on, in {out}")


@app.command("sign")
def sign(
    file: Annotated[str, typer.Argument(help="A packet whose decisions are filled in.")],
    *,
    private_key: Annotated[str, typer.Option("--private-key", help="The PEM file of the private key.")],
    public_key: Annotated[str, typer.Option("--public-key", help="The PEM file of the public key.")],
    algorithm: Annotated[str, typer.Option("--algorithm", help="ed25519, or one of a package.")] = DEFAULT_ALGORITHM,
    passphrase_file: Annotated[str, typer.Option("--passphrase-file", help="Holds the private key's passphrase.")] = "",
) -> None:
    filled = _read_json(file)
    with signer_of(KeyFiles(private_key, public_key, algorithm, passphrase_file)) as signer:
        _write_json(file, signed(filled, signer.algorithm, signer.public_key, signer.sign))
    current_call().say(f"signed with {signer.algorithm}, key {signer.public_key.hex()}")


@app.command("apply")
def apply(
    mission: Mission,
    file: Annotated[str, typer.Argument(help="A filled in packet, or a list of decisions.")],
    *,
    expect_public_key: Annotated[
        str, typer.Option("--expect-public-key", help="The approver's public key in hex: any other is refused.")
    ] = "",
    actor: Actor = DEFAULT_ACTOR,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    decisions = _read_json(file)
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.apply_approval(mission, decisions, actor=actor, expect_public_key=expect_public_key)
        _print(reply, as_json, pages.applied_page)


@app.command("review")
def review(
    mission: Mission,
    finding: Annotated[str, typer.Argument(help="The finding's id. Without one, all that wait are gone through.")] = "",
    status: Annotated[str, typer.Argument(help="accepted, rejected, deferred or conflicted.")] = "",
    *,
    rationale: Annotated[str, typer.Option("--rationale", help="Why.")] = "",
    actor: Actor = DEFAULT_ACTOR,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        if finding:
            reply = missions.review_finding(mission, finding, status, rationale=rationale, actor=actor)
            _print(reply, as_json, pages.written_page)
        else:
            from zaxy_coordinate.review_walk import walk

            walk(missions, mission, actor=actor)


@app.command("promote")
def promote(
    mission: Mission,
    finding: Finding,
    *,
    actor: Actor = DEFAULT_ACTOR,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        _print(missions.promote(mission, finding, actor=actor), as_json, pages.written_page)


@app.command("handoff")
def handoff(
    mission: Mission,
    summary: Annotated[str, typer.Argument(help="Where the mission stands.")],
    *,
    next_step: Annotated[list[str] | None, typer.Option("--next-step", help="What comes next.")] = None,
    risk: Annotated[list[str] | None, typer.Option("--risk", help="What may go wrong.")] = None,
    actor: Actor = DEFAULT_ACTOR,
    idempotency_key: Key = "",
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.handoff(
            mission,
            summary,
            next_steps=next_step or (),
            risks=risk or (),
            actor=actor,
            idempotency_key=idempotency_key,
        )
        _print(reply, as_json, pages.written_page)


@app.command("record")
def record(
    mission: Mission,
    file: Annotated[str, typer.Argument(help="The JSON that 'zaxy coordinate checkout --json' printed.")],
    *,
    decision_scope: Annotated[
        str, typer.Option("--decision-scope", help="accepted_checkout, merge_brief, approval_packet or handoff.")
    ] = "accepted_checkout",
    handoff_id: Annotated[str, typer.Option("--handoff-id", help="The handoff that it belongs to.")] = "",
    candidate: Annotated[int | None, typer.Option("--candidate", min=1, help="The rank of the chosen answer.")] = None,
    outcome: Annotated[str, typer.Option("--outcome", help="used, rejected, corrected or excluded.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    correction: Annotated[str, typer.Option("--correction", help="What is right instead.")] = "",
    actor: Actor = DEFAULT_ACTOR,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    checked_out = _read_json(file)
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.record_synthesis_artifact(
            mission,
            checked_out,
            decision_scope=decision_scope,
            handoff_id=handoff_id,
            candidate={"rank": candidate} if candidate else None,
            outcome=outcome,
            reason=reason,
            correction=correction,
            actor=actor,
        )
        _print(reply, as_json, pages.recorded_page)


@app.command("trace")
def trace(
    mission: Mission,
    *,
    artifact_id: Annotated[str, typer.Option("--artifact-id", help="The answer's id.")] = "",
    handoff_id: Annotated[str, typer.Option("--handoff-id", help="The handoff's id.")] = "",
    proof_seq: Annotated[int | None, typer.Option("--proof-seq", min=1, help="The proof's number in the log.")] = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        reply = missions.proof_trace(mission, artifact_id=artifact_id, handoff_id=handoff_id, proof_seq=proof_seq)
        _print(reply, as_json, pages.trace_page)


@app.command("status")
def status(
    mission: Annotated[str, typer.Argument(help="The mission's id. Without one, the missions are listed.")] = "",
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Keep it current until Ctrl-C.")] = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    with _missions(workspace, eventloom_path) as missions:
        mission = mission or _only_mission(missions)
        if not mission:
            _print({"missions": _started(missions)}, as_json, pages.missions_page)
        elif watch:
            from zaxy_coordinate.watching import watch_mission

            watch_mission(missions, mission, as_json=as_json)
        else:
            _print(missions.merge_brief(mission), as_json, pages.status_page)


def _started(missions: Missions) -> list[Reply]:
    """The missions of the workspace, with when each was started."""
    found = []
    for session in missions.memory.sessions():
        events = missions.memory.latest(session, 1, types=(MISSION,))
        found += [
            {"mission_id": session, "objective": (event.payload or {}).get("objective", ""), "started": event.time}
            for event in events
        ]
    return sorted(found, key=lambda one: str(one["started"]), reverse=True)


def _only_mission(missions: Missions) -> str:
    found = _started(missions)
    return str(found[0]["mission_id"]) if len(found) == 1 else ""


# Files


def _evidence_item(text: str) -> Mapping[str, Any]:
    """JSON, or a reference such as a path or a citation."""
    if not text.lstrip().startswith("{"):
        return {"kind": "reference", "reference": text}
    try:
        item = json.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"--evidence is not JSON: {error}", "Write an object, or a plain reference.") from None
    return dict(item)


def _read_json(path: str) -> Any:
    try:
        with open_named_file(path) as file:
            return json.loads(file.read(MAX_FILE_BYTES))
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror or error}", "Check the path.") from None
    except ValueError:
        raise InvalidRequest(f"{path} is not JSON", "Name the file as it was written.") from None


def _write_json(path: str, value: object) -> None:
    with atomic_file(path, mode=None) as file:
        file.write(json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")
