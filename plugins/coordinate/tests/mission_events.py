"""A mission as its events tell it: an event of every type, with all its fields."""

from __future__ import annotations

import inspect
from pathlib import Path

from zaxy.api import Event
from zaxy_coordinate.family import Coordination
from zaxy_testkit import sample_event

MANIFEST = Path(inspect.getfile(Coordination)).with_name("zaxy-plugin.json")
MISSION, WORKER = "port", "port.w1"
FINDING, OTHER = "w1:finding:1", "w2:finding:1"
PASSED = {"kind": "test", "command": "pytest -k lock", "exit_code": 0}
CLAIM = {
    "mission_id": MISSION,
    "worker_id": "w1",
    "finding_id": FINDING,
    "summary": "The lock holds on Windows.",
    "evidence": [PASSED],
    "confidence": 0.9,
    "claim_key": "lock",
    "claim_value": "holds",
}
PAYLOADS: dict[str, dict[str, object]] = {
    "coordination.mission.created": {"mission_id": MISSION, "objective": "Port it to Windows"},
    "coordination.worker.created": {
        "mission_id": MISSION,
        "worker_id": "w1",
        "worker_session_id": WORKER,
        "role": "tester",
        "adopted": False,
    },
    "coordination.assignment.created": {
        "mission_id": MISSION,
        "worker_id": "w1",
        "assignment_id": "w1:assignment:1",
        "assignment": "Run the suite",
    },
    "coordination.finding.reported": CLAIM,
    "coordination.finding.reviewed": {
        "mission_id": MISSION,
        "worker_id": "w1",
        "finding_id": FINDING,
        "status": "accepted",
        "finding_ref": "eventloom://port.w1/events/2#0123456789ab",
        "rationale": "I ran the test too.",
    },
    "coordination.finding.promoted": {
        **CLAIM,
        "citations": ["eventloom://port.w1/events/2#0123456789ab", "eventloom://port/events/3#0123456789ab"],
        "supersedes": [OTHER],
    },
    "coordination.conflict.detected": {
        "mission_id": MISSION,
        "conflict_id": "conflict:lock",
        "claim_key": "lock",
        "finding_ids": [FINDING, OTHER, "w3:finding:1"],
        "finding_refs": ["eventloom://port.w1/events/2#0123456789ab"],
    },
    "coordination.conflict.settled": {"mission_id": MISSION, "conflict_id": "conflict:ink", "claim_key": "ink"},
    "coordination.decision.recorded": {
        "mission_id": MISSION,
        "decision_id": "d1",
        "decision": "Support Windows",
        "rationale": "The lock holds.",
        "finding_ids": [FINDING],
        "packet_id": "packet-1",
        "signed_by": "grace",
    },
    "coordination.handoff.created": {
        "mission_id": MISSION,
        "handoff_id": "h1",
        "summary": "Half of it is done",
        "next_steps": ["Try ARM"],
        "risks": ["ARM is slow"],
    },
    "coordination.proof_packet.created": {
        "mission_id": MISSION,
        "proof_id": "proof-1",
        "artifact_id": "a1",
        "decision_scope": "handoff",
        "accepted_finding_ids": [FINDING],
        "review_refs": ["eventloom://port/events/3#0123456789ab"],
        "promotion_refs": ["eventloom://port/events/4#0123456789ab"],
        "worker_source_refs": ["eventloom://port.w1/events/2#0123456789ab"],
        "handoff_refs": ["eventloom://port/events/6#0123456789ab"],
        "pending_finding_ids": [OTHER],
        "conflict_ids": ["conflict:lock"],
        "excluded_reasons": [{"finding_id": OTHER, "reason": "nobody has promoted it"}],
        "non_authoritative_rows": [{"finding_id": OTHER, "authority": "pending_worker"}],
        "handoff_id": "h1",
        "handoff_event_ref": "eventloom://port/events/6#0123456789ab",
        "query": "Does it run on Windows?",
        "answer": "It does.",
    },
}


def sample(event_type: str, payload: dict[str, object] | None = None, seq: int = 1) -> Event:
    """An event of the mission, in the session where it belongs."""
    session = WORKER if event_type.endswith(("assignment.created", "finding.reported")) else MISSION
    given = PAYLOADS[event_type] if payload is None else payload
    return sample_event(session, seq, event_type=event_type, payload=given)


EVENTS = tuple(sample(event_type, seq=seq) for seq, event_type in enumerate(PAYLOADS, 1))
