from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mission_events
import pytest

from zaxy.api import JsonObject, MemoryAccess
from zaxy_coordinate import Missions
from zaxy_coordinate.commands import CoordinateCommand
from zaxy_coordinate.doctor import MissionCheck
from zaxy_coordinate.family import Coordination
from zaxy_coordinate.tools import MissionTools
from zaxy_export import KeyFiles, generate
from zaxy_testkit import (
    CommandCase,
    CommandSuite,
    EventFamilyCase,
    EventFamilySuite,
    HealthCheckCase,
    HealthCheckSuite,
    PluginSuite,
    ToolPackCase,
    ToolPackSuite,
)
from zaxy_testkit.checks.trial_memory import trial_memory

FINDING = "w1:finding:1"
FAMILY = Coordination(None)  # type: ignore[arg-type] # it needs no context


def started(memory: MemoryAccess) -> Missions:
    """A mission with a finding that was promoted and one that waits."""
    missions = Missions(memory)
    missions.start("port", "Port it")
    missions.create_worker("port", "w1")
    for words in ("The lock holds.", "The printer works."):
        missions.report_finding("port", "w1", words)
    missions.review_finding("port", FINDING, "accepted")
    missions.promote("port", FINDING)
    return missions


class TestPlugin(PluginSuite):
    plugin = "coordinate"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestFamily(EventFamilySuite):
    @pytest.fixture
    def case(self) -> EventFamilyCase:
        return EventFamilyCase(Coordination, manifest=mission_events.MANIFEST, events=mission_events.EVENTS)


class TestTools(ToolPackSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> ToolPackCase:
        of: dict[str, Any] = {"mission_id": "port"}
        with trial_memory(tmp_path, FAMILY) as memory:
            missions = started(memory)
            checkout = json.loads(json.dumps(missions.checkout("port")))
            made = missions.record_synthesis_artifact("port", checkout)
        calls: dict[str, JsonObject] = {
            "start": {**of, "objective": "Port it", "actor": "ada"},
            "worker_create": {**of, "worker_id": "w2", "role": "tester"},
            "assign": {**of, "worker_id": "w1", "assignment": "Look", "idempotency_key": "a"},
            "report_finding": {**of, "worker_id": "w1", "summary": "It holds.", "idempotency_key": "b"},
            "merge_brief": of,
            "checkout": {**of, "query": "Does it hold?", "include_diagnostics": True},
            "performance_ledger": of,
            "approval_packet": of,
            "apply_approval": {**of, "decisions": [{"finding_id": "w1:finding:2", "status": "accepted"}]},
            "review_finding": {**of, "finding_id": "w1:finding:2", "status": "accepted"},
            "promote": {**of, "finding_id": FINDING},
            "handoff": {**of, "summary": "Half is done", "idempotency_key": "c"},
            "record_synthesis_artifact": {**of, "checkout": checkout, "candidate": {"rank": 1}, "outcome": "used"},
            "proof_trace": {**of, "artifact_id": made["artifact_id"]},
        }
        return ToolPackCase(MissionTools, calls={f"coordination_{name}": given for name, given in calls.items()})


class TestCommands(CommandSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> CommandCase:
        packet, checkout = tmp_path / "packet.json", tmp_path / "checkout.json"
        with trial_memory(tmp_path, FAMILY) as memory:
            missions = started(memory)
            memory.append("command.completed", {"command": "ls", "exit_code": 0}, session="quiet")
            handoff = missions.handoff("port", "Half is done")["handoff_id"]
            checkout.write_text(json.dumps(missions.checkout("port")))
            made = missions.record_synthesis_artifact("port", missions.checkout("port"))
            filled = missions.approval_packet("port")
            filled["decisions"][0]["status"] = "deferred"
            packet.write_text(json.dumps(filled))
        keys = KeyFiles(str(tmp_path / "key.pem"), str(tmp_path / "key.pub"))
        generate(keys)
        calls: dict[str, tuple[str, ...]] = {
            "start": ("moon", "Fly there"),
            "worker": ("port", "w2", "--role", "tester"),
            "adopt": ("quiet", "--mission", "port"),
            "assign": ("port", "w1", "Look", "--idempotency-key", "a"),
            "report": ("port", "w1", "It holds.", "--evidence", '{"command": "pytest", "exit_code": 0}'),
            "brief": ("port",),
            "checkout": ("port", "Does it hold?", "--include-diagnostics"),
            "ledger": ("port",),
            "packet": ("port", "--out", str(tmp_path / "out.json")),
            "sign": (str(packet), "--private-key", keys.private, "--public-key", keys.public),
            "apply": ("port", str(packet)),
            "review": ("port", "w1:finding:2", "deferred"),
            "promote": ("port", FINDING),
            "handoff": ("port", "More is done", "--next-step", "Go on"),
            "record": ("port", str(checkout), "--decision-scope", "handoff", "--handoff-id", handoff),
            "trace": ("port", "--artifact-id", made["artifact_id"]),
            "status": ("port",),
        }
        return CommandCase(CoordinateCommand, calls={f"coordinate {word}": given for word, given in calls.items()})


class TestDoctor(HealthCheckSuite):
    @pytest.fixture
    def case(self) -> HealthCheckCase:
        def contradict(memory: MemoryAccess) -> None:
            missions = started(memory)
            for value in ("holds", "breaks"):
                missions.report_finding("port", "w1", f"It {value}.", claim_key="lock", claim_value=value)

        return HealthCheckCase(MissionCheck, well_memory=started, broken_memory=contradict)
