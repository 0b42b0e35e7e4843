"""A mission as a script of steps, which goes on where it was when it is started again."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zaxy.atomic_write import atomic_write
from zaxy.memory import Memory
from zaxy_coordinate.logs import MissionLogs
from zaxy_coordinate.missions import Missions

MISSION = "raid"
PASSED = {"kind": "test", "command": "pytest -q", "exit_code": 0}
FOUND = (
    ("w1", {"summary": "The disk is full", "claim_key": "disk", "claim_value": "full", "evidence": [PASSED]}),
    ("w2", {"summary": "The disk is half empty", "claim_key": "disk", "claim_value": "half empty"}),
    ("w1", {"summary": "The fan is loud", "evidence": [{"reference": "docs/fan.md:3"}]}),
    ("w3", {"summary": "The fan is loud"}),
    ("w2", {"summary": "The cable is loose", "claim_key": "cable", "claim_value": "loose", "confidence": 0.6}),
    ("w3", {"summary": "The cable is gone", "claim_key": "cable", "claim_value": "gone", "evidence": [PASSED]}),
)
_CITATION = re.compile(r"eventloom://([^/]+)/events/\d+#[0-9a-f]+")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+Z")
_OF_ONE_RUN = ("known_to_seq", "tokens_used", "retention", "confidence")
Step = Callable[[Missions, Path], object]


def _report(number: int) -> Step:
    worker, said = FOUND[number]
    return lambda at, _: at.report_finding(MISSION, worker, idempotency_key=f"report-{number}", **said)


def _review(name: str, status: str) -> Step:
    return lambda at, _: at.review_finding(MISSION, name, status, rationale="I looked.")


def _write_packet(at: Missions, folder: Path) -> None:
    packet = at.approval_packet(MISSION)
    for row in packet["decisions"]:
        row["status"] = {"w1:finding:1": "accepted", "w2:finding:1": "rejected"}.get(row["finding_id"])
        row["promote"] = row["status"] == "accepted"
    _keep(folder / "packet.json", packet)


def _write_checkout(at: Missions, folder: Path) -> None:
    _keep(folder / "checkout.json", at.checkout(MISSION, "Is the disk full?", include_diagnostics=True))


def _record(at: Missions, folder: Path) -> None:
    checkout = _kept(folder / "checkout.json")
    candidate = checkout["diagnostics"]["synthesis"]["answer_candidates"][0]
    at.record_synthesis_artifact(MISSION, checkout, candidate=candidate, outcome="used")


def _keep(path: Path, value: object) -> None:
    atomic_write(str(path), json.dumps(value).encode())


def _kept(path: Path) -> Any:
    return json.loads(path.read_bytes())


STEPS: tuple[Step, ...] = (
    lambda at, _: at.start(MISSION, "Find out what is wrong with the disks"),
    *(lambda at, _, worker=worker: at.create_worker(MISSION, worker) for worker in ("w1", "w2", "w3")),
    lambda at, _: at.assign(MISSION, "w1", "Look at the disk", idempotency_key="assign-1"),
    *(_report(number) for number in range(4)),
    _write_packet,
    lambda at, folder: at.apply_approval(MISSION, _kept(folder / "packet.json")),
    _review("w1:finding:2", "deferred"),
    _review("w1:finding:2", "accepted"),
    lambda at, _: at.promote(MISSION, "w1:finding:2"),
    _report(4),
    _review("w2:finding:2", "accepted"),
    lambda at, _: at.promote(MISSION, "w2:finding:2"),
    _report(5),
    _review("w3:finding:2", "accepted"),
    lambda at, _: at.handoff(MISSION, "Half of it is known", next_steps=["Go on"], idempotency_key="handoff"),
    _write_checkout,
    _record,
    lambda at, _: at.promote(MISSION, "w3:finding:2"),
)


def run_script(folder: Path) -> None:
    """Do the steps that are not noted as done. One that was done and not noted is done again."""
    notes = os.open(folder / "done", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with Memory.open(folder) as memory:
        missions = Missions(memory, MissionLogs(str(folder / "state"), "w"))
        for step in STEPS[os.fstat(notes).st_size :]:
            step(missions, folder)
            os.write(notes, b".")


def steps_left(folder: Path) -> int:
    done = folder / "done"
    return len(STEPS) - (done.stat().st_size if done.exists() else 0)


def standing_of(folder: Path) -> dict[str, Any]:
    """Where the mission stands, without what differs between two runs; and how many events of each type there are."""
    with Memory.open(folder) as memory:
        missions = Missions(memory, MissionLogs(str(folder / "state"), "w"))
        replies = {
            "brief": missions.merge_brief(MISSION),
            "ledger": missions.performance_ledger(MISSION),
            "checkout": missions.checkout(MISSION),
            "diagnostics": missions.checkout(MISSION, include_diagnostics=True),
            "proof": missions.proof_trace(MISSION, proof_seq=_seq_of_the_proof(memory)),
        }
        folded_anew = Missions(memory).merge_brief(MISSION)
        assert folded_anew == replies["brief"], "what is remembered of the state is what the log says"
        sessions = [MISSION, *(f"{MISSION}.{worker}" for worker in ("w1", "w2", "w3"))]
        events = [event for session in sessions for event in memory.replay(session)]
        assert all(memory.verify(session).ok for session in sessions)
    written = Counter(f"{event.session} {event.type}" for event in events)
    return {**{name: without_run(reply) for name, reply in replies.items()}, "events": dict(sorted(written.items()))}


def _seq_of_the_proof(memory: Memory) -> int:
    (seq,) = [event.seq for event in memory.replay(MISSION) if event.type == "coordination.proof_packet.created"]
    return seq


def without_run(value: Any) -> Any:
    """A reply without times, places and hashes."""
    if isinstance(value, Mapping):
        kept = {name: without_run(one) for name, one in value.items() if name not in _OF_ONE_RUN}
        return {name: one for name, one in kept.items() if name not in ("seq", "hash", "artifact_id", "proof_id")}
    if isinstance(value, list):
        return [without_run(one) for one in value]
    return _TIME.sub("T", _CITATION.sub(r"\1", value)) if isinstance(value, str) else value
