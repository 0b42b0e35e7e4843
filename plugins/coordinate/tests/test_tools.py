from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mission_steps import report

from zaxy import Memory
from zaxy.api import Checkup, ProviderContext, UnknownTool, parse_citation
from zaxy_coordinate import Missions, logs
from zaxy_coordinate.doctor import MAX_ROWS, MissionCheck
from zaxy_coordinate.tools import TOOLS, MissionTools

Call = Callable[..., Any]
OF = {"mission_id": "port"}


def context(folder: Path) -> ProviderContext:
    folder.mkdir(exist_ok=True)
    return ProviderContext({}, folder, "workspace", warn=lambda _: None, clock=lambda: datetime.now(UTC))


@pytest.fixture
def call(missions: Missions, tmp_path: Path) -> Call:
    pack = MissionTools(context(tmp_path / "own"))

    def call(tool: str, **arguments: Any) -> Any:
        return pack.call(f"coordination_{tool}", {**OF, **arguments}, missions.memory, lambda *_: None)

    return call


def test_there_are_fourteen_tools_and_all_take_an_actor_and_a_key(missions: Missions) -> None:
    assert len(TOOLS) == 14
    for tool in TOOLS:
        assert {"mission_id", "actor", "idempotency_key"} <= set(tool.input_schema["properties"])  # type: ignore[arg-type]


def test_an_unknown_tool_is_refused(call: Call) -> None:
    with pytest.raises(UnknownTool, match="there is no tool 'coordination_win' here"):
        call("win")


def test_what_a_tool_showed_can_be_given_back_to_it(call: Call) -> None:
    """Replies have short citations. A packet has whole ones: it is a file for others."""
    finding = call("report_finding", worker_id="w1", summary="The lock holds.")["finding_id"]
    packet = call("approval_packet")
    assert len(parse_citation(packet["findings"][0]["citation"]).hash) == 64
    packet["decisions"][0] |= {"status": "accepted", "promote": True}
    assert call("apply_approval", decisions=packet)["promoted"] == [finding]
    checkout = call("checkout", query="Does the lock hold?")
    assert len(parse_citation(checkout["current_facts"][0]["citation"]).hash) < 64
    made = call("record_synthesis_artifact", checkout=checkout, candidate={"rank": 1}, outcome="used")
    assert call("proof_trace", artifact_id=made["artifact_id"])["answer_candidates"][0]["answer"] == "The lock holds."


def test_the_actor_is_the_coordinator_and_of_a_finding_the_worker(call: Call, memory: Memory) -> None:
    for tool, given, actor in (
        ("assign", {"worker_id": "w1", "assignment": "Look"}, "coordinator"),
        ("report_finding", {"worker_id": "w1", "summary": "It holds."}, "w1"),
        ("handoff", {"summary": "Half is done", "actor": "ada"}, "ada"),
    ):
        assert memory.resolve(call(tool, **given)["citation"]).actor == actor


def test_many_callers_at_once_never_see_a_mission_half_way(call: Call, missions: Missions) -> None:
    def work(number: int) -> int:
        if number % 2:
            call("worker_create", worker_id=f"more{number}")
            call("report_finding", worker_id=f"more{number}", summary=f"Fact {number}")
        brief = call("merge_brief", max_tokens=50_000)
        assert len(brief["findings"]) == brief["counts"]["findings"]
        assert call("checkout", include_diagnostics=True)["counts"]["findings"] >= len(brief["findings"])
        return int(call("performance_ledger")["total"]["reported"])

    with ThreadPoolExecutor(6) as pool:
        assert max(pool.map(work, range(24))) == 12


# The doctor


def rows(check: MissionCheck, missions: Missions, folder: Path) -> list[tuple[str, str]]:
    found = check.check(Checkup(folder, True, lambda: nullcontext(missions.memory)))
    return [(one.status, one.message) for one in found]


def test_the_doctor_is_content_with_a_mission_in_which_nothing_contradicts(missions: Missions, tmp_path: Path) -> None:
    report(missions, "The lock holds.")
    check = MissionCheck(context(tmp_path / "own"))
    assert rows(check, missions, tmp_path) == [("ok", "1 missions, and nothing in them needs a decision")]


def test_the_doctor_names_open_conflicts_and_never_more_than_its_rows(missions: Missions, tmp_path: Path) -> None:
    for number in range(MAX_ROWS + 3):
        missions.start(f"m{number}", "Anything")
        missions.create_worker(f"m{number}", "w1")
        for value in ("holds", "breaks"):
            missions.report_finding(f"m{number}", "w1", f"It {value}", claim_key="lock", claim_value=value)
    found = rows(MissionCheck(context(tmp_path / "own")), missions, tmp_path)
    assert len(found) == MAX_ROWS
    assert found[0] == ("warning", "m0: 1 open conflicts between findings")
    assert found[-1] == ("warning", "4 more missions need somebody")


def test_the_doctor_notices_a_kept_state_that_is_not_what_the_logs_say(
    missions: Missions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "SAVE_AFTER", 1)
    finding, own = report(missions, "The lock holds."), context(tmp_path / "own")
    used = logs.MissionLogs(str(own.state_dir / "missions"), "workspace")
    state = used.state(missions.memory, "port")
    state.findings.pop(finding)
    used._unsaved["port"] = 1
    used._save(state, 0)
    ((status, message),) = rows(MissionCheck(own), missions, tmp_path)
    assert (status, message) == ("error", "port: what is remembered of it is not what its logs say")
