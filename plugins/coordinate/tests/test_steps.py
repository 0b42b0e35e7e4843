from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mission_steps import PASSED, all_events, events, report, row

from zaxy import Memory
from zaxy.api import Conflict, InvalidRequest, NotFound
from zaxy_coordinate import Missions
from zaxy_coordinate.logs import MissionLogs

# Missions and workers


def test_a_mission_is_an_event_in_its_own_session(missions: Missions, memory: Memory) -> None:
    first = events(memory)[0]
    assert (first.type, first.actor) == ("coordination.mission.created", "ada")
    assert first.payload == {"mission_id": "port", "objective": "Port it to Windows"}


def test_starting_it_again_changes_nothing(missions: Missions, memory: Memory) -> None:
    before = len(all_events(memory))
    reply = missions.start("port", "Port it to Windows", actor="grace")
    assert (reply["replayed"], reply["seq"], len(all_events(memory))) == (True, 1, before)


def test_another_objective_is_a_conflict_that_says_who_started_it(missions: Missions) -> None:
    with pytest.raises(Conflict, match=r"port was started by ada on .* with another objective"):
        missions.start("port", "Port it to Plan 9")


def test_of_two_who_start_it_at_once_one_is_refused(memory: Memory) -> None:
    def start(objective: str) -> str:
        try:
            return str(Missions(memory).start("port", objective)["mission_id"])
        except Conflict as error:
            return error.code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(start, ("One thing", "Another"))) == ["conflict", "port"]
    assert len(events(memory)) == 1


@pytest.mark.parametrize("mission", ["", " ", "a/b", "../port", "a\0b", "x" * 300])
def test_a_mission_that_cannot_be_a_session_is_refused(memory: Memory, mission: str, tmp_path: Path) -> None:
    missions = Missions(memory, MissionLogs(str(tmp_path / "missions"), "w"))
    with pytest.raises((InvalidRequest, NotFound)):
        missions.merge_brief(mission)
    if mission:  # nothing named is the session of the workspace
        with pytest.raises(InvalidRequest):
            missions.start(mission, "Anything")


@pytest.mark.parametrize("call", ["create_worker", "assign", "report_finding", "review_finding", "handoff"])
def test_nothing_is_done_in_a_mission_that_was_not_started(memory: Memory, call: str) -> None:
    given = {"create_worker": ("w1",), "handoff": ("Done",), "review_finding": ("w1:finding:1", "accepted")}
    with pytest.raises(NotFound, match="there is no mission 'moon'"):
        getattr(Missions(memory), call)("moon", *given.get(call, ("w1", "Something")))
    assert all_events(memory) == []


def test_a_worker_has_a_session_of_its_own(missions: Missions) -> None:
    reply = missions.create_worker("port", "w3", role="tester")
    assert (reply["worker_id"], reply["worker_session_id"], reply["session_id"]) == ("w3", "port.w3", "port")
    again = missions.create_worker("port", "w3")
    assert (again["replayed"], again["seq"]) == (True, reply["seq"])


def test_a_worker_with_another_role_is_a_conflict(missions: Missions) -> None:
    missions.create_worker("port", "w3", role="tester", actor="ada")
    with pytest.raises(Conflict, match="has a worker w3 already, added by ada"):
        missions.create_worker("port", "w3", role="writer")


@pytest.mark.parametrize("worker", ["", "a b", "a.b", "-a", "_a", "a:b", "é", "x" * 65])
def test_a_worker_id_that_is_no_plain_name_is_refused(missions: Missions, worker: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a worker's id"):
        missions.create_worker("port", worker)


def test_an_unknown_worker_is_refused_with_the_names_of_the_known(missions: Missions) -> None:
    with pytest.raises(NotFound) as caught:
        missions.assign("port", "w9", "Look")
    assert "w1, w2" in caught.value.remediation


# Assignments, findings and handoffs


def test_assignments_are_numbered_in_the_workers_session(missions: Missions, memory: Memory) -> None:
    made = [missions.assign("port", worker, "Look")["assignment_id"] for worker in ("w1", "w1", "w2")]
    assert made == ["w1:assignment:1", "w1:assignment:2", "w2:assignment:1"]
    assert [event.type for event in events(memory, "port.w1")] == ["coordination.assignment.created"] * 2


def test_a_finding_is_kept_whole_in_the_workers_session(missions: Missions, memory: Memory) -> None:
    item = {"kind": "other", "reference": "src/a.py:3", "anything": {"deep": [1, None, "x"]}}
    given: dict[str, Any] = {"evidence": [PASSED, item], "confidence": 0.0, "claim_key": "lock", "claim_value": "ok"}
    reply = missions.report_finding("port", "w1", "The lock holds.", **given)
    assert (reply["finding_id"], reply["status"], reply["session_id"]) == ("w1:finding:1", "pending", "port.w1")
    (event,) = events(memory, "port.w1")
    said = {"mission_id": "port", "worker_id": "w1", "finding_id": "w1:finding:1", "summary": "The lock holds."}
    assert (event.actor, event.payload) == ("w1", {**said, **given})
    assert len(events(memory)) == 3, "nothing of it stands in the parent's log"


def test_findings_are_numbered_for_each_worker(missions: Missions) -> None:
    made = [report(missions, f"Fact {n}", worker) for n, worker in enumerate(("w1", "w2", "w1"))]
    assert made == ["w1:finding:1", "w2:finding:1", "w1:finding:2"]


def test_findings_that_are_reported_at_once_all_get_a_number(missions: Missions, memory: Memory) -> None:
    def one(number: int) -> str:
        return report(Missions(memory), f"Fact {number}")

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(one, range(12)))
    assert sorted(made) == sorted(f"w1:finding:{number}" for number in range(1, 13))


@pytest.mark.parametrize(
    "given",
    [
        {"summary": " "},
        {"summary": "x", "claim_value": "holds"},
        {"summary": "x", "confidence": 1.1},
        {"summary": "x", "confidence": -0.1},
        {"summary": "x", "confidence": math.nan},
    ],
)
def test_a_finding_that_is_not_well_formed_is_refused(missions: Missions, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        missions.report_finding("port", "w1", **given)


@pytest.mark.parametrize("call", ["assign", "report_finding"])
def test_what_says_nothing_is_refused(missions: Missions, call: str) -> None:
    with pytest.raises(InvalidRequest, match="is empty"):
        getattr(missions, call)("port", "w1", "\n")


def test_a_handoff_has_summary_next_steps_and_risks(missions: Missions, memory: Memory) -> None:
    steps, risks = ["Try ARM", "Write it down"], ["ARM is slow"]
    reply = missions.handoff("port", "Half of it is done", next_steps=steps, risks=risks, actor="ada")
    event = events(memory)[-1]
    assert (reply["handoff_id"], event.type) == ("port:handoff:1", "coordination.handoff.created")
    assert event.payload is not None
    assert [event.payload[name] for name in ("summary", "next_steps", "risks")] == ["Half of it is done", steps, risks]
    assert missions.merge_brief("port")["handoff"]["next_steps"] == steps
    assert missions.handoff("port", "More is done")["handoff_id"] == "port:handoff:2"
    assert missions.merge_brief("port")["handoff"]["summary"] == "More is done"


# Idempotency keys


@pytest.mark.parametrize("call", ["assign", "report_finding", "handoff"])
def test_the_same_request_under_the_same_key_is_done_once(missions: Missions, memory: Memory, call: str) -> None:
    given = ("port", "Same words") if call == "handoff" else ("port", "w1", "Same words")
    first = getattr(missions, call)(*given, idempotency_key="k")
    again = getattr(Missions(memory), call)(*given, idempotency_key="k")
    assert (again["citation"], again["replayed"]) == (first["citation"], True)
    another = getattr(missions, call)(*given, idempotency_key="k2")
    assert another["citation"] != first["citation"]


@pytest.mark.parametrize("call", ["assign", "report_finding", "handoff"])
def test_other_words_under_the_same_key_are_a_conflict(missions: Missions, memory: Memory, call: str) -> None:
    given = ("port",) if call == "handoff" else ("port", "w1")
    getattr(missions, call)(*given, "These words", actor="ada", idempotency_key="k")
    before = len(all_events(memory))
    with pytest.raises(Conflict, match="the idempotency key 'k' was used for something else, by ada"):
        getattr(missions, call)(*given, "Other words", actor="ada", idempotency_key="k")
    assert len(all_events(memory)) == before


def test_a_key_is_one_request_of_the_whole_mission(missions: Missions) -> None:
    missions.assign("port", "w1", "Look", idempotency_key="k")
    for call in (missions.assign, missions.report_finding):
        with pytest.raises(Conflict, match="used for something else"):
            call("port", "w2", "Look", idempotency_key="k")


def test_a_request_with_a_secret_in_it_is_the_same_the_second_time(missions: Missions) -> None:
    words = "The key is AKIAIOSFODNN7EXAMPLE and it works."
    first = missions.report_finding("port", "w1", words, idempotency_key="k")
    assert missions.report_finding("port", "w1", words, idempotency_key="k")["seq"] == first["seq"]
    assert "AKIAIOSFODNN7EXAMPLE" not in row(missions, first["finding_id"])["summary"]
