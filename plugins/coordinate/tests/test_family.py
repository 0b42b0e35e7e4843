from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mission_events import FINDING, MANIFEST, MISSION, OTHER, PASSED, PAYLOADS, WORKER, sample

from zaxy import Memory
from zaxy.api import Entity, EntityRef, Extraction, Forbidden, MemoryAccess
from zaxy_coordinate.family import RULES, Coordination
from zaxy_coordinate.fields import ROOM
from zaxy_testkit import described_types
from zaxy_testkit.checks.trial_memory import trial_memory

REPORTED, REVIEWED, PROMOTED = (f"coordination.finding.{word}" for word in ("reported", "reviewed", "promoted"))
CONFLICT, SETTLED = "coordination.conflict.detected", "coordination.conflict.settled"
DECIDED = "coordination.decision.recorded"
HANDED_OVER, PROOF = "coordination.handoff.created", "coordination.proof_packet.created"
STARTED = "coordination.mission.created"
TYPES = described_types(MANIFEST)
FAMILY = Coordination(None)  # type: ignore[arg-type] # it needs no context


def rows(event_type: str, **changed: object) -> Extraction:
    return FAMILY.extract(sample(event_type, {**PAYLOADS[event_type], **changed}))


def own(event_type: str, **changed: object) -> Entity:
    return rows(event_type, **changed).entities[0]


def arrows(event_type: str, **changed: object) -> list[str]:
    return [
        f"{' '.join(edge.source)} -{edge.relation_type}-> {' '.join(edge.target)}"
        for edge in rows(event_type, **changed).edges
    ]


# Rules


def test_every_type_has_a_rule_and_only_the_package_writes_it() -> None:
    assert set(RULES) == set(TYPES) == set(PAYLOADS)
    assert {declared.written_by for declared in TYPES.values()} == {"package"}
    assert {name: rule.entity_type for name, rule in RULES.items()} == {
        name: declared.entities[0] for name, declared in TYPES.items()
    }


RELATIONS = {
    STARTED: [],
    "coordination.worker.created": ["mission port -mission_has_worker-> worker w1"],
    "coordination.assignment.created": ["worker w1 -worker_has_assignment-> assignment w1:assignment:1"],
    REPORTED: ["worker w1 -worker_reported_finding-> finding w1:finding:1"],
    REVIEWED: ["finding_review w1:finding:1 -coordinator_reviewed_finding-> finding w1:finding:1"],
    PROMOTED: [
        "finding w1:finding:1 -finding_promoted_to_parent-> promotion w1:finding:1",
        "finding w1:finding:1 -finding_promoted_to_parent-> mission port",
        "promotion w1:finding:1 -supersedes-> promotion w2:finding:1",
    ],
    CONFLICT: [
        "mission port -mission_has_conflict-> conflict conflict:lock",
        "finding w1:finding:1 -finding_conflicts_with-> finding w2:finding:1",
        "finding w1:finding:1 -finding_conflicts_with-> finding w3:finding:1",
    ],
    SETTLED: [],
    DECIDED: ["mission port -mission_has_decision-> decision coordination:d1"],
    HANDED_OVER: ["mission port -mission_has_handoff-> handoff coordination:h1"],
    PROOF: ["coordination_proof_packet proof-1 -proof_links_synthesis_artifact-> synthesis_artifact a1"],
}


@pytest.mark.parametrize("event_type", RELATIONS)
def test_an_event_gives_all_relations_that_the_manifest_names(event_type: str) -> None:
    assert arrows(event_type) == RELATIONS[event_type]
    assert {edge.relation_type for edge in rows(event_type).edges} == set(TYPES[event_type].relations)


def test_a_finding_stays_a_workers_until_its_promotion() -> None:
    finding = own(REPORTED)
    assert (finding.name, finding.summary) == (FINDING, "The lock holds on Windows.")
    assert (finding.properties["authority"], finding.properties["status"]) == ("pending_worker", "pending")
    assert finding.properties["evidence"] == [PASSED], "items of evidence are kept whole"
    promotion = own(PROMOTED)
    assert (promotion.properties["authority"], promotion.properties["status"]) == ("accepted_parent", "accepted")
    assert promotion.properties["citations"] == PAYLOADS[PROMOTED]["citations"]


@pytest.mark.parametrize(
    ("status", "authority"),
    [
        ("accepted", "pending_worker"),
        ("deferred", "pending_worker"),
        ("rejected", "rejected"),
        ("conflicted", "conflict"),
        ("", "pending_worker"),
    ],
)
def test_no_review_makes_a_finding_part_of_the_mission(status: str, authority: str) -> None:
    assert own(REVIEWED, status=status).properties["authority"] == authority


def test_a_review_has_no_words_of_the_finding_even_if_its_event_does() -> None:
    assert "secret words" not in repr(rows(REVIEWED, summary="secret words", claim_value="secret words"))
    assert own(REVIEWED).summary == "I ran the test too."


def test_a_promotion_ends_the_promotions_that_it_supersedes_and_never_itself() -> None:
    assert [closing.entity for closing in rows(PROMOTED).closings] == [EntityRef("promotion", OTHER)]
    assert rows(PROMOTED, supersedes=OTHER).closings == rows(PROMOTED).closings
    assert rows(PROMOTED, supersedes=[FINDING.upper()]).closings == ()
    assert rows(REPORTED, supersedes=[OTHER]).closings == ()


def test_a_mission_is_its_session_unless_it_is_named() -> None:
    assert own(STARTED, mission_id=None).name == MISSION
    assert arrows(HANDED_OVER, mission_id="") == ["mission port -mission_has_handoff-> handoff coordination:h1"]
    assert arrows(REPORTED, worker_id=None) == ["worker port.w1 -worker_reported_finding-> finding w1:finding:1"]


def test_a_proof_packet_keeps_accepted_ids_diagnostic_rows_conflicts_and_handoff_refs() -> None:
    kept = own(PROOF).properties
    fields = ("accepted_finding_ids", "pending_finding_ids", "conflict_ids", "handoff_refs", "non_authoritative_rows")
    assert {field: kept[field] for field in fields} == {field: PAYLOADS[PROOF][field] for field in fields}


def test_a_large_packet_keeps_what_fits_into_a_row_and_the_most_telling_first() -> None:
    many = [f"worker-{number}:finding:{number}" for number in range(5000)]
    lists = ("accepted_finding_ids", "pending_finding_ids", "review_refs", "non_authoritative_rows")
    kept = own(PROOF, **dict.fromkeys(lists, many), answer="word " * 9999).properties
    assert len(json.dumps(kept)) <= ROOM
    assert kept["accepted_finding_ids"] == many[: len(kept["accepted_finding_ids"])]  # type: ignore[arg-type]
    assert len(kept["accepted_finding_ids"]) > 200  # type: ignore[arg-type]


ODD = ([], {}, [[], {}, None, 5, ""], 0, True, " ", "x" * 20_000, ["x" * 20_000] * 40, None, {"a": {"b": "c" * 20_000}})


@pytest.mark.parametrize("event_type", PAYLOADS)
def test_odd_fields_give_rows_that_a_graph_takes(event_type: str) -> None:
    for odd in ODD:
        made = rows(event_type, **dict.fromkeys(PAYLOADS[event_type], odd))
        for entity in made.entities:
            assert entity.name.strip() and entity.summary.strip() and len(entity.name) < 200
            assert len(json.dumps(entity.properties, ensure_ascii=False)) <= 10_000


# In memory


@pytest.fixture
def access(tmp_path: Path) -> Iterator[MemoryAccess]:
    """Memory as a tool of this package is given it."""
    with trial_memory(tmp_path, FAMILY) as memory:
        yield memory


def test_nobody_else_writes_its_events(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        for event_type, payload in PAYLOADS.items():
            with pytest.raises(Forbidden, match="only zaxy-coordinate itself writes"):
                memory.append(event_type, payload, session=MISSION)
        with pytest.raises(Forbidden, match="this is none of them"):
            memory.append("coordination.mission.won", {}, session=MISSION)


def write(access: MemoryAccess, *event_types: str) -> None:
    for event_type in event_types or PAYLOADS:
        event = sample(event_type)
        access.append(event_type, PAYLOADS[event_type], actor="ada", session=event.session)


SENTENCES = {
    STARTED: "Mission port: Port it to Windows",
    "coordination.worker.created": "w1 joins the mission port",
    "coordination.assignment.created": "w1 is asked to: Run the suite",
    REPORTED: "w1 reports: The lock holds on Windows.",
    REVIEWED: "The review of w1:finding:1 says: accepted",
    PROMOTED: "Accepted w1:finding:1: The lock holds on Windows.",
    CONFLICT: "Findings of port disagree",
    SETTLED: "A conflict of port is settled",
    DECIDED: "Decided: Support Windows",
    HANDED_OVER: "Handed over: Half of it is done",
}


@pytest.mark.parametrize("event_type", SENTENCES)
def test_an_event_is_read_as_a_sentence(access: MemoryAccess, event_type: str) -> None:
    write(access, event_type)
    session = sample(event_type).session
    (row,) = access.verbatim(SENTENCES[event_type], session).results
    assert row.content.splitlines()[0] == SENTENCES[event_type]


def test_a_proof_is_in_the_graph_and_is_found_by_no_words(access: MemoryAccess) -> None:
    write(access, PROOF)
    assert not access.verbatim("Proof proof-1 says what the answer a1 rests on", MISSION).results
    assert [row.entity.entity_type for row in access.current(["coordination_proof_packet"], MISSION)]


def test_a_settled_conflict_blocks_nobody_any_more(access: MemoryAccess) -> None:
    write(access, CONFLICT)
    assert len(access.context("lock", MISSION).as_dict()["working_set"]["blockers"]) == 1
    access.append(
        SETTLED, {"mission_id": MISSION, "conflict_id": "conflict:lock", "claim_key": "lock"}, session=MISSION
    )
    assert not access.context("lock", MISSION).as_dict()["working_set"]["blockers"]


def test_the_working_set_has_what_is_open_under_the_cores_headings(access: MemoryAccess) -> None:
    write(access)
    headings = {session: access.context("lock", session).as_dict()["working_set"] for session in (MISSION, WORKER)}
    (task,) = headings[WORKER]["tasks"]
    assert (task["type"], task["text"].splitlines()[0][:29]) == ("assignment", "w1 is asked to: Run the suite")
    mission = headings[MISSION]
    assert [item["type"] for item in mission["blockers"]] == ["conflict"]
    assert [item["type"] for item in mission["decisions"]] == ["decision"]
    assert [item["type"] for item in mission["artifacts"]] == ["handoff"]


def test_a_promotion_that_is_superseded_is_not_current_any_more(access: MemoryAccess) -> None:
    older = {**PAYLOADS[PROMOTED], "finding_id": OTHER, "summary": "The lock is broken.", "supersedes": []}
    access.append(PROMOTED, older, actor="ada", session=MISSION)
    assert [row.entity_name for row in access.query("lock", MISSION).results] == [OTHER]
    write(access, PROMOTED)
    assert [row.entity_name for row in access.query("lock", MISSION).results] == [FINDING]


def test_a_decision_of_a_mission_and_one_of_the_log_with_the_same_id_are_two(access: MemoryAccess) -> None:
    access.append("decision.made", {"id": "d1", "key": "d1", "decision": "Support Linux"}, session=MISSION)
    write(access, DECIDED)
    decisions = access.context("support", MISSION).as_dict()["working_set"]["decisions"]
    assert len(decisions) == 2


def test_its_rows_are_taken_without_a_notice(access: MemoryAccess) -> None:
    write(access)
    for session in (MISSION, WORKER):
        assert access.query("lock", session).notices == ()
