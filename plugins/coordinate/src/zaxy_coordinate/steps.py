"""The steps of a mission that write: start, workers, assignments, findings, handoffs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zaxy.api import Conflict, Event, InvalidRequest, event_reply
from zaxy_coordinate.fold import ASSIGNMENT, FINDING, HANDOFF, MISSION, WORKER, MissionState
from zaxy_coordinate.workplace import Reply, Workplace, check_worker_id

MAX_TRIES = 1000
"""Numbers that are tried for a finding while others report too."""


def start(at: Workplace, mission_id: str, objective: str, *, actor: str) -> Reply:
    """Begin a mission in the session that has its id."""
    _needs_text(objective, "objective")
    state = at.logs.state(at.memory, mission_id)
    payload = {"mission_id": mission_id, "objective": objective}
    if state.created is not None:
        first = at.event(state.created)
        if (first.payload or {}).get("objective") != objective:
            raise Conflict(
                f"{mission_id} was started by {first.actor} on {first.time[:10]} with another objective",
                "Use another mission_id, or go on with that mission: coordination_merge_brief shows it.",
            )
        return {**event_reply(first, replayed=True), "mission_id": mission_id}
    written = at.write(MISSION, payload, session=mission_id, actor=actor, key="mission")
    return {**written, "mission_id": mission_id}


def create_worker(
    at: Workplace, mission_id: str, worker_id: str, *, role: str = "", actor: str, adopted_session: str = ""
) -> Reply:
    """Add a worker, who has a session of its own: `<mission_id>.<worker_id>`, or one that was there already."""
    state = at.mission(mission_id)
    check_worker_id(worker_id)
    session = adopted_session or f"{mission_id}.{worker_id}"
    known = state.workers.get(worker_id)
    if known is not None:
        if known.session != session or (role and at.words(known.ref).get("role", "") != role):
            raise Conflict(
                f"{mission_id} has a worker {worker_id} already, added by {known.ref.actor}",
                "Use another worker_id.",
            )
        return {**event_reply(at.event(known.ref), replayed=True), **_of_worker(worker_id, session)}
    for other, worker in state.workers.items():
        if worker.session == session:
            raise Conflict(f"{session} is the session of {other} already", f"Use {other}.")
    payload = {
        "mission_id": mission_id,
        "worker_id": worker_id,
        "worker_session_id": session,
        "role": role,
        "adopted": True if adopted_session else None,
    }
    written = at.write(WORKER, payload, session=mission_id, actor=actor, key=f"worker:{worker_id}")
    return {**written, **_of_worker(worker_id, session)}


def assign(
    at: Workplace, mission_id: str, worker_id: str, assignment: str, *, actor: str, request_key: str = ""
) -> Reply:
    """Give a worker something to do. It is recorded in the worker's own session, where its checkouts find it."""
    _needs_text(assignment, "assignment")
    state = at.mission(mission_id)
    payload = {"mission_id": mission_id, "worker_id": worker_id, "assignment": assignment, "request_key": request_key}
    numbers = sum(one.worker == worker_id for one in state.assignments.values())
    return _numbered(at, state, ASSIGNMENT, payload, noun="assignment", after=numbers, actor=actor)


def report_finding(
    at: Workplace,
    mission_id: str,
    worker_id: str,
    summary: str,
    *,
    evidence: Sequence[Mapping[str, Any]] = (),
    confidence: float | None = None,
    claim_key: str = "",
    claim_value: str = "",
    actor: str = "",
    request_key: str = "",
) -> Reply:
    """Record what a worker found, in the worker's own session: nobody else has it as a fact before it is promoted."""
    _needs_text(summary, "summary")
    if claim_value and not claim_key.strip():
        raise InvalidRequest("claim_value is given without claim_key", "Say what the value is of, as claim_key.")
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidRequest("confidence must be from 0 to 1", "Leave it out if you cannot say.")
    state = at.mission(mission_id)
    payload = {
        "mission_id": mission_id,
        "worker_id": worker_id,
        "summary": summary,
        "evidence": [dict(item) for item in evidence],
        "confidence": confidence,
        "claim_key": claim_key.strip(),
        "claim_value": claim_value,
        "request_key": request_key,
    }
    after = state.last_number.get(worker_id, 0)
    reply = _numbered(at, state, FINDING, payload, noun="finding", after=after, actor=actor or worker_id)
    return {**reply, "status": "pending"}


def hand_off(
    at: Workplace,
    mission_id: str,
    summary: str,
    *,
    next_steps: Sequence[str] = (),
    risks: Sequence[str] = (),
    actor: str,
    request_key: str = "",
) -> Reply:
    """Record where the mission stands, for the next one who works on it."""
    _needs_text(summary, "summary")
    state = at.mission(mission_id)
    payload = {
        "mission_id": mission_id,
        "summary": summary,
        "next_steps": list(next_steps),
        "risks": list(risks),
        "request_key": request_key,
    }
    return _numbered(at, state, HANDOFF, payload, noun="handoff", after=len(state.handoffs), actor=actor)


def _numbered(
    at: Workplace,
    state: MissionState,
    event_type: str,
    payload: dict[str, Any],
    *,
    noun: str,
    after: int,
    actor: str,
) -> Reply:
    """Write something that gets the next free number. The key of the append makes sure that nobody else has it."""
    worker_id = payload.get("worker_id", "")
    session = at.worker(state, worker_id).session if worker_id else state.id
    done = at.done_before(state, payload.get("request_key", ""))
    if done is not None:
        return _again(at, done, event_type, payload, noun=noun, session=session)
    for number in range(after + 1, after + 1 + MAX_TRIES):
        name = f"{worker_id or state.id}:{noun}:{number}"
        try:
            written = at.write(
                event_type, {f"{noun}_id": name, **payload}, session=session, actor=actor, key=f"{noun}:{number}"
            )
        except Conflict:  # somebody else was quicker, unless nobody has written there at all
            if not at.memory.head(session):
                raise
            continue
        return {**written, f"{noun}_id": name}
    raise Conflict(f"no number was free for another {noun}", "Try again.")


def _again(at: Workplace, done: Event, event_type: str, payload: dict[str, Any], *, noun: str, session: str) -> Reply:
    """The same request as before, which the log compares, secrets left out; `conflict` for another one."""
    other = Conflict(
        f"the idempotency key {payload['request_key']!r:.80} was used for something else, by {done.actor}",
        "Send a new key with a new request.",
    )
    if (done.type, done.session) != (event_type, session):
        raise other
    name = str((done.payload or {})[f"{noun}_id"])
    key = f"{noun}:{name.rpartition(':')[2]}"
    try:
        written = at.write(event_type, {f"{noun}_id": name, **payload}, session=session, actor=done.actor, key=key)
    except Conflict:
        raise other from None
    return {**written, f"{noun}_id": name}


def _of_worker(worker_id: str, session: str) -> Reply:
    return {"worker_id": worker_id, "worker_session_id": session}


def _needs_text(text: str, name: str) -> None:
    if not text.strip():
        raise InvalidRequest(f"{name} is empty", f"Say the {name} in a sentence.")
