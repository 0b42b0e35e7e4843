from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from mission_steps import accept, all_events, events, promoted, report, row

from zaxy import Memory
from zaxy.api import Conflict, InvalidRequest, NotFound, signer_of
from zaxy_coordinate import Missions
from zaxy_coordinate.packets import packet_id_of, signed
from zaxy_export import KeyFiles, generate


@pytest.fixture
def packet(missions: Missions) -> dict[str, Any]:
    for number in (1, 2, 3):
        report(missions, f"Fact {number}")
    return missions.approval_packet("port")


def filled(packet: dict[str, Any], *decisions: dict[str, Any]) -> dict[str, Any]:
    """A packet as it comes back from a file, with the first decisions filled in."""
    back: dict[str, Any] = json.loads(json.dumps(packet))
    for one, decision in zip(back["decisions"], decisions, strict=False):
        one |= decision
    return back


ACCEPT, REJECT = {"status": "accepted", "promote": True}, {"status": "rejected", "rationale": "No."}


def test_a_packet_has_what_waits_each_with_room_for_a_decision(missions: Missions, memory: Memory) -> None:
    promoted(missions, "It is done.")
    missions.review_finding("port", report(missions, "It is wrong."), "rejected")
    ready, waits = report(missions, "It is ready."), report(missions, "It waits.")
    accept(missions, ready)
    before = len(all_events(memory))
    packet = missions.approval_packet("port")
    assert {one["finding_id"] for one in packet["findings"]} == {ready, waits}
    assert packet["decisions"] == [
        {"finding_id": one["finding_id"], "status": None, "rationale": "", "promote": False}
        for one in packet["findings"]
    ]
    assert packet["packet_id"] == packet_id_of(packet)
    assert len(all_events(memory)) == before


def test_what_is_filled_in_becomes_reviews_and_promotions_at_once(
    missions: Missions, memory: Memory, packet: dict[str, Any]
) -> None:
    reply = missions.apply_approval("port", filled(packet, ACCEPT, REJECT), actor="grace")
    assert (reply["reviewed"], reply["promoted"]) == (["w1:finding:1", "w1:finding:2"], ["w1:finding:1"])
    assert [row(missions, f"w1:finding:{n}")["status"] for n in (1, 2, 3)] == ["promoted", "rejected", "pending"]
    written = events(memory)[3:]
    assert [event.type.rpartition(".")[2] for event in written] == ["reviewed", "reviewed", "promoted", "recorded"]
    assert {event.actor for event in written} == {"grace"}
    assert (written[-1].payload or {})["packet_id"] == packet["packet_id"]


def test_promotion_needs_a_decision_that_says_so(missions: Missions, packet: dict[str, Any]) -> None:
    missions.apply_approval("port", filled(packet, {"status": "accepted"}))
    assert row(missions, "w1:finding:1")["status"] == "accepted"


def test_a_packet_changes_nothing_the_second_time(missions: Missions, memory: Memory, packet: dict[str, Any]) -> None:
    done = filled(packet, ACCEPT, REJECT, {"status": "deferred"})
    missions.apply_approval("port", done)
    missions.review_finding("port", "w1:finding:3", "accepted")
    before = len(all_events(memory))
    reply = missions.apply_approval("port", done, actor="somebody else")
    assert (reply["replayed"], reply["reviewed"], reply["promoted"], len(reply["unchanged"])) == (True, [], [], 3)
    assert len(all_events(memory)) == before
    assert row(missions, "w1:finding:3")["status"] == "accepted", "an old deferral reopens nothing"


def test_a_packet_of_another_mission_is_refused(missions: Missions, packet: dict[str, Any]) -> None:
    missions.start("moon", "Fly there")
    with pytest.raises(InvalidRequest, match="the packet is of the mission 'port', and not of moon"):
        missions.apply_approval("moon", filled(packet, ACCEPT))


def test_a_packet_that_says_other_things_is_refused(missions: Missions, packet: dict[str, Any]) -> None:
    for field in set(packet) - {"packet_id", "note", "decisions", "format", "version", "mission_id", "mission_ref"}:
        with pytest.raises(Conflict, match="changed beyond its decisions"):
            missions.apply_approval("port", {**filled(packet, ACCEPT), field: "other"})
    changed = filled(packet, ACCEPT)
    changed["findings"][0]["summary"] = "Something harmless"
    with pytest.raises(Conflict, match="changed beyond its decisions"):
        missions.apply_approval("port", changed)
    changed["findings"][0]["citation"] = changed["findings"][1]["citation"]
    changed["packet_id"] = packet_id_of(changed)
    with pytest.raises(Conflict, match="w1:finding:1 is another finding than in the packet"):
        missions.apply_approval("port", changed)


def test_a_decision_on_a_finding_that_the_packet_has_not_is_refused(missions: Missions, packet: dict[str, Any]) -> None:
    later = report(missions, "Fact 4")
    back = filled(packet, ACCEPT)
    back["decisions"].append({"finding_id": later, "status": "accepted"})
    with pytest.raises(InvalidRequest, match="the packet has no finding 'w1:finding:4'"):
        missions.apply_approval("port", back)


def test_a_packet_without_a_decision_is_refused(missions: Missions, packet: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="no decision of the packet is filled in"):
        missions.apply_approval("port", packet)


@pytest.mark.parametrize("odd", [None, 5, "accepted", {}, [5], [None], [[]]])
def test_decisions_that_are_no_list_of_objects_are_refused(
    missions: Missions, packet: dict[str, Any], odd: object
) -> None:
    with pytest.raises(InvalidRequest):
        missions.apply_approval("port", {**packet, "decisions": odd})
    made = {**packet, "findings": odd}
    with pytest.raises(InvalidRequest):
        missions.apply_approval("port", {**made, "packet_id": packet_id_of(made)})


def test_what_is_no_packet_is_refused(missions: Missions, packet: dict[str, Any]) -> None:
    for odd in ({}, {**packet, "format": "other"}, {**packet, "version": 2}):
        with pytest.raises(InvalidRequest, match="this is no approval packet"):
            missions.apply_approval("port", odd)


# Lists of decisions


def test_a_list_of_decisions_is_taken_without_a_packet(missions: Missions, packet: dict[str, Any]) -> None:
    missions.apply_approval("port", [{"finding_id": "w1:finding:1", **ACCEPT}])
    assert row(missions, "w1:finding:1")["authority"] == "accepted_parent"


@pytest.mark.parametrize(
    "given",
    [
        [],
        "accepted",
        5,
        [5],
        [{"finding_id": "w1:finding:1"}],
        [{"finding_id": "w1:finding:1", "status": "fine"}],
        [{"finding_id": "w1:finding:1", "status": "accepted", "promote": "yes"}],
        [{"finding_id": "w1:finding:1", "status": "rejected", "promote": True}],
        [{"finding_id": "w1:finding:1", "status": "accepted", "because": "so"}],
        [{"finding_id": "w1:finding:1", "status": "accepted"}, {"finding_id": "w1:finding:1", "status": "accepted"}],
        [{"finding_id": "w1:finding:1", "status": None, "promote": True}],
    ],
)
def test_decisions_that_are_not_well_formed_are_refused(
    missions: Missions, memory: Memory, packet: dict[str, Any], given: object
) -> None:
    with pytest.raises(InvalidRequest):
        missions.apply_approval("port", given)
    assert len(events(memory)) == 3


def test_a_promotion_without_a_status_is_refused_and_not_passed_over(
    missions: Missions, packet: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest, match="is not well formed"):
        missions.apply_approval("port", filled(packet, {"promote": True}, {"status": "accepted"}))


@pytest.mark.parametrize("last", ["unknown", "decided", "stale"])
def test_all_are_applied_or_none(missions: Missions, memory: Memory, packet: dict[str, Any], last: str) -> None:
    bad = "w9:finding:9"
    if last == "decided":
        bad = "w1:finding:3"
        missions.review_finding("port", bad, "rejected", actor="ada")
    if last == "stale":
        bad = report(missions, "A file says so.", evidence=[{"path": "src/a.py"}])
        memory.append("file.edit.applied", {"path": "src/a.py"}, session="port.w1")
    before = len(all_events(memory))
    good = [{"finding_id": "w1:finding:1", **ACCEPT}, {"finding_id": "w1:finding:2", **REJECT}]
    with pytest.raises((NotFound, Conflict)):
        missions.apply_approval("port", [*good, {"finding_id": bad, **ACCEPT}])
    assert len(all_events(memory)) == before


def test_the_same_list_counts_again_once_something_was_reopened(missions: Missions, packet: dict[str, Any]) -> None:
    both = [{"finding_id": f"w1:finding:{number}", "status": "accepted"} for number in (1, 2)]
    missions.apply_approval("port", both)
    assert missions.apply_approval("port", both)["replayed"]
    missions.review_finding("port", "w1:finding:1", "deferred")
    assert missions.apply_approval("port", both)["reviewed"] == ["w1:finding:1"]
    assert row(missions, "w1:finding:1")["status"] == "accepted"


# Signatures


def made_keys(folder: Path, algorithm: str) -> KeyFiles:
    files = KeyFiles(str(folder / "key.pem"), str(folder / "key.pub"), algorithm)
    generate(files)
    return files


@pytest.fixture
def keys(tmp_path: Path) -> KeyFiles:
    return made_keys(tmp_path, "ed25519")


def signed_by(keys: KeyFiles, packet: dict[str, Any]) -> tuple[dict[str, Any], str]:
    with signer_of(keys) as signer:
        made = signed(packet, signer.algorithm, signer.public_key, signer.sign)
        return json.loads(json.dumps(made)), signer.public_key.hex()


def test_a_signed_packet_is_applied_and_the_log_names_its_key(
    missions: Missions, memory: Memory, packet: dict[str, Any], keys: KeyFiles
) -> None:
    made, key = signed_by(keys, filled(packet, ACCEPT))
    reply = missions.apply_approval("port", made, expect_public_key=key.upper())
    assert reply["signed_by"] == key == (events(memory)[-1].payload or {})["signed_by"]


@pytest.mark.parametrize("algorithm", ["ml-dsa-44", "ml-dsa-65", "ml-dsa-87"])
def test_a_packet_is_signed_with_the_algorithm_of_a_package(
    missions: Missions, memory: Memory, packet: dict[str, Any], tmp_path: Path, algorithm: str
) -> None:
    pytest.importorskip("zaxy_mldsa")
    made, key = signed_by(made_keys(tmp_path, algorithm), filled(packet, ACCEPT))
    changed = copy.deepcopy(made)
    changed["decisions"][0]["rationale"] = "changed by somebody"
    with pytest.raises(Conflict, match="signature does not fit"):
        missions.apply_approval("port", changed)
    assert missions.apply_approval("port", made, expect_public_key=key)["signed_by"] == key
    assert (events(memory)[-1].payload or {})["signed_by"] == key


def test_a_packet_that_was_changed_after_it_was_signed_is_refused(
    missions: Missions, memory: Memory, packet: dict[str, Any], keys: KeyFiles
) -> None:
    made, _ = signed_by(keys, filled(packet, REJECT))
    changes: list[dict[str, Any]] = []
    for path in (("decisions", 0, "status"), ("decisions", 0, "rationale"), ("note",), ("packet_id",)):
        changed = copy.deepcopy(made)
        at = changed
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = "accepted"
        changes.append(changed)
    for bad in ("00", "not hex", made["signature"]["signature"][::-1]):
        changes.append({**made, "signature": {**made["signature"], "signature": bad}})
    for changed in changes:
        with pytest.raises(Conflict, match="signature does not fit"):
            missions.apply_approval("port", changed)
    assert len(events(memory)) == 3


@pytest.mark.parametrize(
    "odd", [5, {}, {"algorithm": "ed25519"}, {"algorithm": "none", "public_key": "", "signature": ""}]
)
def test_a_signature_that_is_none_is_refused(missions: Missions, packet: dict[str, Any], odd: object) -> None:
    with pytest.raises((InvalidRequest, NotFound)):
        missions.apply_approval("port", {**filled(packet, ACCEPT), "signature": odd})


def test_only_the_expected_signer_is_taken(
    missions: Missions, packet: dict[str, Any], keys: KeyFiles, tmp_path: Path
) -> None:
    other = KeyFiles(str(tmp_path / "other.pem"), str(tmp_path / "other.pub"))
    generate(other)
    _, key = signed_by(keys, packet)
    made, _ = signed_by(other, filled(packet, ACCEPT))
    with pytest.raises(Conflict, match="signed by somebody else"):
        missions.apply_approval("port", made, expect_public_key=key)
    with pytest.raises(InvalidRequest, match="the packet is not signed"):
        missions.apply_approval("port", filled(packet, ACCEPT), expect_public_key=key)
    with pytest.raises(InvalidRequest, match="a list of decisions has no signature"):
        missions.apply_approval("port", made["decisions"], expect_public_key=key)
