"""Takes a session that is there already as a worker: what a subagent said last becomes a finding, with the commands it
ran as evidence."""

from __future__ import annotations

import re
from typing import Any

from zaxy.api import Event, InvalidRequest, NotFound
from zaxy_coordinate.fold import MISSION
from zaxy_coordinate.steps import create_worker, report_finding
from zaxy_coordinate.workplace import Reply, Workplace

MAX_FINDING_CHARS = 4000
MAX_EVIDENCE = 20
LOOKED_AT = 2000
"""The last events of the session, in which its closing words and its commands are looked for."""
SPEAKERS = ("assistant", "agent", "model")


def adopt(at: Workplace, session: str, mission_id: str, *, worker_id: str = "", role: str = "", actor: str) -> Reply:
    """Make the session a worker's, and its closing words a pending finding. The second time this changes nothing."""
    end = at.memory.head(session)
    if not end:
        raise NotFound(f"there is no session {session!r:.80} with events", "List them with 'zaxy sessions'.")
    if at.memory.latest(session, 1, types=(MISSION,)):
        raise InvalidRequest(
            f"{session} is the session of a mission, and no worker's", "A finding would stand among what was accepted."
        )
    worker_id = worker_id or _worker_id(session, mission_id)
    created = create_worker(at, mission_id, worker_id, role=role, actor=actor, adopted_session=session)
    events = [event for event, _ in at.memory.lines(session, first=max(end - LOOKED_AT + 1, 1), last=end)]
    said = next((event for event in reversed(events) if _is_said(event)), None)
    if said is None:
        return {**created, "finding_id": None}
    key = f"adopted:{said.seq}:{said.hash[:16]}"
    known = at.mission(mission_id).requests.get(key)
    if known is not None:
        return {**created, "finding_id": at.words(known).get("finding_id"), "finding_citation": known.citation}
    reported = report_finding(
        at,
        mission_id,
        worker_id,
        _words(said)[:MAX_FINDING_CHARS],
        evidence=_evidence(said, events),
        actor=said.actor,
        request_key=key,
    )
    return {**created, "finding_id": reported["finding_id"], "finding_citation": reported["citation"]}


def _evidence(said: Event, events: list[Event]) -> list[dict[str, Any]]:
    """Where it was said, and the commands that ran before, the last ones."""
    ran = [event for event in events if event.seq < said.seq and event.type == "command.completed" and event.payload]
    return [{"kind": "transcript", "reference": said.citation}, *map(_command, ran[-MAX_EVIDENCE:])]


def _command(event: Event) -> dict[str, Any]:
    payload = event.payload or {}
    fields = {name: payload[name] for name in ("command", "exit_code", "status") if name in payload}
    return {"kind": "command", **fields, "citation": event.citation}


def _is_said(event: Event) -> bool:
    payload = event.payload or {}
    role = str(payload.get("role") or "")
    return event.type == "transcript.turn" and role in SPEAKERS and bool(_words(event))


def _words(event: Event) -> str:
    return str((event.payload or {}).get("content") or "").strip()


def _worker_id(session: str, mission_id: str) -> str:
    """The session's own name, without that of the mission."""
    name = session.removeprefix(f"{mission_id}.").rpartition(".")[2]
    return re.sub(r"[^A-Za-z0-9_-]", "-", name).strip("-_")[:64] or "worker"
