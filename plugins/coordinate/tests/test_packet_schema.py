"""The JSON Schema of approval packets fits real ones, empty, filled in and signed, and none that is broken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from zaxy import Memory
from zaxy_coordinate import Missions
from zaxy_coordinate.contract import fields, items
from zaxy_coordinate.packet_schema import PACKET
from zaxy_coordinate.packets import signed

Packet = dict[str, Any]
JUDGE = Draft202012Validator(PACKET)
PASSED = {"kind": "test", "command": "pytest", "exit_code": 0}
LOG = "src/lock.py"


@pytest.fixture
def missions(tmp_path: Path) -> Iterator[Missions]:
    with Memory.open(tmp_path) as memory:
        made = Missions(memory)
        made.start("port", "Port it to Windows")
        made.create_worker("port", "w1")
        made.create_worker("port", "w2")
        yield made


@pytest.fixture
def packet(missions: Missions) -> Packet:
    """With all that a finding can have: a claim, evidence, a conflict, a repetition, a review, a changed source."""
    claim: dict[str, Any] = {"claim_key": "lock", "confidence": 1}
    missions.report_finding("port", "w1", "The lock is held", claim_value="held", evidence=[PASSED], **claim)
    missions.report_finding("port", "w2", "The lock is free", claim_value="free", **claim)
    missions.report_finding("port", "w2", "Nobody holds it", claim_value="free", **claim)
    missions.report_finding("port", "w1", "It reads the lock", evidence=[{"kind": "file", "path": LOG}])
    missions.memory.append("file.edit.applied", {"path": LOG}, session="port")
    missions.review_finding("port", "w1:finding:1", "deferred", rationale="Not now")
    return passed_on(missions.approval_packet("port"))


def passed_on(packet: Packet) -> Packet:
    """As it comes out of a file."""
    return dict(json.loads(json.dumps(packet)))


def filled(packet: Packet) -> Packet:
    changed = deepcopy(packet)
    for decision in changed["decisions"]:
        decision |= {"status": "accepted", "rationale": "Looked at", "promote": True}
    return changed


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(PACKET)


def test_a_packet_without_findings_fits_the_schema(missions: Missions) -> None:
    assert JUDGE.is_valid(passed_on(missions.approval_packet("port")))


def test_a_real_packet_fits_the_schema_and_shows_every_field_of_a_finding(packet: Packet) -> None:
    JUDGE.validate(packet)
    shown = {field for finding in packet["findings"] for field in finding}
    assert shown == set(PACKET["properties"]["findings"]["items"]["properties"])


def test_a_packet_that_is_filled_in_or_signed_fits_the_schema(packet: Packet) -> None:
    JUDGE.validate(filled(packet))
    JUDGE.validate(passed_on(signed(filled(packet), "ed25519", b"key", lambda message: b"signature")))


def broken(change: Callable[[Packet], object]) -> Callable[[Packet], Packet]:
    def broken_copy(packet: Packet) -> Packet:
        changed = filled(packet)
        change(changed)
        return changed

    return broken_copy


BROKEN = {
    "another format": broken(lambda one: one.update(format="packet")),
    "another version": broken(lambda one: one.update(version=2)),
    "no mission": broken(lambda one: one.pop("mission_id")),
    "a short citation": broken(lambda one: one.update(mission_ref="eventloom://port/events/1#0123456789ab")),
    "an id that is no digest": broken(lambda one: one.update(packet_id="1")),
    "a word more": broken(lambda one: one.update(approved=True)),
    "a finding with a word more": broken(lambda one: one["findings"][0].update(approved=True)),
    "a finding without its citation": broken(lambda one: one["findings"][0].pop("citation")),
    "an authority that there is not": broken(lambda one: one["findings"][0].update(authority="accepted")),
    "a decision that there is not": broken(lambda one: one["decisions"][0].update(status="promoted")),
    "a decision without a finding": broken(lambda one: one["decisions"][0].pop("finding_id")),
    "rejected and promoted": broken(lambda one: one["decisions"][0].update(status="rejected")),
    "undecided and promoted": broken(lambda one: one["decisions"][0].update(status=None)),
    "a signature without a key": broken(lambda one: one.update(signature={"algorithm": "ed25519", "signature": "00"})),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_packet_does_not_fit_the_schema(broken: Callable[[Packet], Packet], packet: Packet) -> None:
    assert not JUDGE.is_valid(broken(packet))


def test_the_contract_has_the_schema_and_every_field_of_a_checkout(
    missions: Missions, packet: Packet, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Memory.open(tmp_path_factory.mktemp("empty")) as memory:
        promised = dict(items(memory))
    assert promised["schema approval_packet"] == {"schema": PACKET}
    missions.apply_approval("port", [{"finding_id": "w1:finding:1", "status": "accepted", "promote": True}])
    reply = missions.checkout("port", "Is the lock held?", include_diagnostics=True)
    answered = {f"field coordination_checkout {path}" for path, _ in fields(reply)}
    assert answered - promised.keys() == set()
