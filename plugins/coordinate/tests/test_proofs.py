from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from mission_steps import PASSED, all_events, events, promoted, report

from zaxy import Memory
from zaxy.api import Conflict, InvalidRequest, NotFound, with_short_citations
from zaxy_coordinate import Missions


@pytest.fixture
def checkout(missions: Missions) -> dict[str, Any]:
    promoted(missions, "The lock holds.", claim_key="lock", claim_value="holds", evidence=[PASSED])
    promoted(missions, "The printer works.", "w2")
    report(missions, "An okapi grazes.")
    reply: dict[str, Any] = json.loads(json.dumps(missions.checkout("port", include_diagnostics=True)))
    return reply


def test_a_recorded_answer_has_an_artifact_and_a_proof_of_all_it_rests_on(
    missions: Missions, memory: Memory, checkout: dict[str, Any]
) -> None:
    reply = missions.record_synthesis_artifact("port", checkout, actor="ada")
    artifact, proof = events(memory)[-2:]
    assert (artifact.type, proof.type) == ("memory.synthesis.artifact.created", "coordination.proof_packet.created")
    assert (reply["artifact"]["seq"], reply["proof"]["seq"]) == (artifact.seq, proof.seq)
    said = proof.payload or {}
    assert said["accepted_finding_ids"] == ["w2:finding:1", "w1:finding:1"]
    types = {
        name: [memory.resolve(ref).type.rpartition(".")[2] for ref in said[name]] for name in said if "_refs" in name
    }
    assert types == {
        "review_refs": ["reviewed"] * 2,
        "promotion_refs": ["promoted"] * 2,
        "worker_source_refs": ["reported"] * 2,
        "handoff_refs": [],
    }
    assert (said["pending_finding_ids"], said["conflict_ids"]) == (["w1:finding:2"], [])
    assert said["excluded_reasons"] == [{"finding_id": "w1:finding:2", "reason": "nobody has promoted it"}]
    assert [one["authority"] for one in said["non_authoritative_rows"]] == ["pending_worker"]


def test_the_same_answer_twice_changes_nothing(missions: Missions, memory: Memory, checkout: dict[str, Any]) -> None:
    chosen: dict[str, Any] = {"candidate": {"rank": 1}, "outcome": "used"}
    first = missions.record_synthesis_artifact("port", checkout, **chosen, actor="ada")
    before = len(all_events(memory))
    again = missions.record_synthesis_artifact("port", checkout, **chosen, actor="ada")
    assert again["proof_id"] == first["proof_id"]
    assert [again[part]["replayed"] for part in ("artifact", "outcome", "proof")] == [True] * 3
    assert len(all_events(memory)) == before


def test_a_handoff_as_scope_needs_a_handoff(missions: Missions, checkout: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="there is no handoff_id"):
        missions.record_synthesis_artifact("port", checkout, decision_scope="handoff")
    with pytest.raises(NotFound, match="has no handoff 'port:handoff:9'"):
        missions.record_synthesis_artifact("port", checkout, decision_scope="handoff", handoff_id="port:handoff:9")
    with pytest.raises(InvalidRequest, match="is no decision_scope"):
        missions.record_synthesis_artifact("port", checkout, decision_scope="whim")


def test_a_proof_of_a_handoff_cites_its_event(missions: Missions, memory: Memory, checkout: dict[str, Any]) -> None:
    made = missions.handoff("port", "Half is done")
    reply = missions.record_synthesis_artifact(
        "port", checkout, decision_scope="handoff", handoff_id=made["handoff_id"]
    )
    assert reply["handoff_event_ref"] == {name: made[name] for name in ("citation", "seq", "hash")}
    said = events(memory)[-1].payload or {}
    assert said["handoff_refs"] == [said["handoff_event_ref"]] == [made["citation"]]


# What is refused


def altered(checkout: dict[str, Any], part: str) -> list[tuple[str, dict[str, Any]]]:
    """The checkout with one field of one row or candidate changed, for each of them; and with rows too many."""
    found = []
    rows = checkout["diagnostics"]["synthesis"][part]
    for number, one in enumerate(rows):
        for name, value in one.items():
            other = copy.deepcopy(checkout)
            changed = {**one, name: [*value, "x"] if isinstance(value, list) else f"{value}x"}
            other["diagnostics"]["synthesis"][part][number] = changed
            found.append((f"{number} {name}", other))
    twice = copy.deepcopy(checkout)
    twice["diagnostics"]["synthesis"][part].append(copy.deepcopy(rows[0]))
    return [*found, ("twice", twice)]


@pytest.mark.parametrize("part", ["ledger_rows", "answer_candidates"])
def test_a_checkout_that_was_altered_in_any_field_is_refused(
    missions: Missions, memory: Memory, checkout: dict[str, Any], part: str
) -> None:
    before = len(all_events(memory))
    changes = altered(checkout, part)
    assert len(changes) > 12
    for what, other in changes:
        with pytest.raises((Conflict, InvalidRequest)):
            missions.record_synthesis_artifact("port", other)
            pytest.fail(f"{part} {what} was taken")
    assert len(all_events(memory)) == before


def test_a_finding_that_is_there_twice_is_refused(missions: Missions, checkout: dict[str, Any]) -> None:
    said = checkout["diagnostics"]["synthesis"]
    said["ledger_rows"].insert(1, said["ledger_rows"][0])
    said["answer_candidates"].insert(1, {**said["answer_candidates"][0], "rank": 2})
    said["answer_candidates"][2]["rank"] = 3
    with pytest.raises(Conflict, match="has a finding twice"):
        missions.record_synthesis_artifact("port", checkout)


@pytest.mark.parametrize("odd", [None, 5, "x", {}, [5], [None]])
@pytest.mark.parametrize("part", ["ledger_rows", "answer_candidates", "synthesis", "diagnostics"])
def test_a_checkout_that_is_not_well_formed_is_refused(
    missions: Missions, checkout: dict[str, Any], part: str, odd: object
) -> None:
    if part == "diagnostics":
        checkout[part] = odd
    elif part == "synthesis":
        checkout["diagnostics"][part] = odd
    else:
        checkout["diagnostics"]["synthesis"][part] = odd
    with pytest.raises((InvalidRequest, Conflict)):
        missions.record_synthesis_artifact("port", checkout)


def test_a_checkout_of_another_mission_is_refused(missions: Missions, checkout: dict[str, Any]) -> None:
    missions.start("moon", "Fly there")
    with pytest.raises(InvalidRequest, match="the checkout is not one of moon"):
        missions.record_synthesis_artifact("moon", checkout)


def test_a_checkout_from_which_the_mission_has_moved_on_is_refused(
    missions: Missions, checkout: dict[str, Any]
) -> None:
    promoted(missions, "The lock is broken.", "w2", claim_key="lock", claim_value="broken")
    with pytest.raises(Conflict, match="w1:finding:1 is stale now, and not 'accepted_parent'"):
        missions.record_synthesis_artifact("port", checkout)


@pytest.mark.parametrize(
    ("candidate", "outcome", "correction", "why"),
    [
        ({"rank": 1}, "", "", "without its outcome"),
        (None, "used", "", "without a candidate"),
        ({"rank": 9}, "used", "", "no answer candidate"),
        ({"rank": 1, "answer": "Something else"}, "used", "", "no answer candidate"),
        ({"rank": 1}, "liked", "", "is no outcome"),
        ({"rank": 1}, "corrected", "", "there is no correction"),
        ({"rank": 1}, "used", "It is otherwise", "the outcome is another"),
    ],
)
def test_a_candidate_must_be_one_of_the_checkout_and_have_an_outcome(
    missions: Missions,
    memory: Memory,
    checkout: dict[str, Any],
    candidate: dict[str, Any] | None,
    outcome: str,
    correction: str,
    why: str,
) -> None:
    before = len(all_events(memory))
    with pytest.raises(InvalidRequest, match=why):
        missions.record_synthesis_artifact(
            "port", checkout, candidate=candidate, outcome=outcome, correction=correction
        )
    assert len(all_events(memory)) == before


def test_the_outcome_stands_with_the_answer(missions: Missions, memory: Memory, checkout: dict[str, Any]) -> None:
    chosen = checkout["diagnostics"]["synthesis"]["answer_candidates"][1]
    reply = missions.record_synthesis_artifact(
        "port", checkout, candidate=chosen, outcome="corrected", correction="It holds on ARM too.", reason="I looked."
    )
    outcome, proof = events(memory)[-2:]
    assert (outcome.payload or {})["candidate"] == chosen
    assert (outcome.payload or {})["correction"] == "It holds on ARM too."
    assert (reply["outcome"]["outcome"], (proof.payload or {})["answer"]) == ("corrected", "lock: holds")


def test_short_citations_as_a_model_has_seen_them_are_taken(missions: Missions, checkout: dict[str, Any]) -> None:
    short = with_short_citations(checkout)
    assert short != checkout
    assert (
        missions.record_synthesis_artifact("port", short)["artifact_id"]
        == missions.record_synthesis_artifact("port", checkout)["artifact_id"]
    )


# Traces


def test_a_proof_is_found_by_each_of_its_three_keys(
    missions: Missions, memory: Memory, checkout: dict[str, Any]
) -> None:
    handoff = missions.handoff("port", "Half is done")["handoff_id"]
    made = missions.record_synthesis_artifact("port", checkout, decision_scope="handoff", handoff_id=handoff)
    traces = [
        missions.proof_trace("port", artifact_id=made["artifact_id"]),
        missions.proof_trace("port", handoff_id=handoff),
        missions.proof_trace("port", proof_seq=made["proof"]["seq"]),
    ]
    assert traces[0] == traces[1] == traces[2]
    trace = traces[0]
    assert trace["proof"]["citation"] == made["proof"]["citation"]
    assert trace["artifact"]["payload"]["artifact_id"] == made["artifact_id"]
    assert trace["handoff"]["payload"]["summary"] == "Half is done"
    said = checkout["diagnostics"]["synthesis"]
    assert trace["answer_candidates"] == said["answer_candidates"]
    assert [row["fact_id"] for row in trace["ledger_rows"]] == [row["fact_id"] for row in said["ledger_rows"]]
    assert [one["summary"] for one in trace["refs"]["worker_source_refs"]] == ["The printer works.", "The lock holds."]
    assert trace["diagnostics"]["pending_finding_ids"] == ["w1:finding:2"]


def test_of_several_proofs_the_last_is_traced(missions: Missions, checkout: dict[str, Any]) -> None:
    handoff = missions.handoff("port", "Half is done")["handoff_id"]
    missions.record_synthesis_artifact("port", checkout, decision_scope="handoff", handoff_id=handoff)
    more = missions.checkout("port", "Does the lock hold?")
    last = missions.record_synthesis_artifact("port", more, decision_scope="handoff", handoff_id=handoff)
    assert missions.proof_trace("port", handoff_id=handoff)["proof"]["seq"] == last["proof"]["seq"]


def test_a_trace_names_one_key(missions: Missions) -> None:
    for given in ({}, {"artifact_id": "a", "handoff_id": "b"}, {"handoff_id": "b", "proof_seq": 3}):
        with pytest.raises(InvalidRequest, match="name one of"):
            missions.proof_trace("port", **given)  # type: ignore[arg-type]
    for given in ({"artifact_id": "a"}, {"handoff_id": "b"}, {"proof_seq": 3}):
        with pytest.raises(NotFound, match="port has no such proof"):
            missions.proof_trace("port", **given)  # type: ignore[arg-type]
