"""The MCP inspector, a client in another language, lists and calls every tool over both transports and in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import npm_programs
from all_tools import all_tools
from conftest import missing_package
from served import environment, listening

INSPECTOR = "@modelcontextprotocol/inspector/clients/cli/build/index.js"
AT_ONCE = 3

pytestmark = pytest.mark.xdist_group("inspector")  # its servers are started once

CALLS: dict[str, dict[str, Any]] = {
    "memory_append": {
        "event_type": "decision.made",
        "actor": "ann",
        "payload": {"decision": "Store the cache in Redis", "key": "cache"},
    },
    "memory_ingest": {
        "session_id": "worker",
        "events": [{"event_type": "fact.recorded", "actor": "bob", "payload": {"fact": "The port is free"}}],
    },
    "memory_bootstrap": {"current_task": "move the cache"},
    "memory_capabilities": {},
    "memory_checkout": {"query": "where do we store the cache?", "purpose": {"preset": "coding"}},
    "memory_query": {"query": "where is the cache?", "limit": 3},
    "memory_verbatim": {"query": "cache in Redis"},
    "memory_replay": {"limit": 5},
    "memory_export": {"kinds": ["decision.made"], "grains": ["event"], "limit": 1},
    "memory_feedback": {"entity_name": "cache", "entity_type": "decision", "feedback": "used", "importance": 0.5},
    "memory_skill": {"action": "propose", "skill_id": "flush", "procedure": ["stop", "flush", "start"]},
    "context_assemble": {"query": "where is the cache?"},
    "context_after_turn": {"role": "user", "content": "Where is the cache?", "turn_index": 1},
    "subagent_cleanup": {"parent_session_id": "parent", "subagent_session_id": "worker", "summary": "found a port"},
    "memory_ref": {"name": "v1"},
    "memory_invalidate": {"entity_name": "cache", "entity_type": "decision"},
}
"""The first two write what others need, and the last one ends it."""
if missing_package("export"):
    del CALLS["memory_export"]
ONE = {"mission_id": "port", "finding_id": "w1:finding:1"}
MISSION_CALLS: dict[str, dict[str, Any]] = {
    "coordination_start": {"mission_id": "port", "objective": "Port it to Windows"},
    "coordination_worker_create": {"mission_id": "port", "worker_id": "w1", "role": "tester"},
    "coordination_assign": {"mission_id": "port", "worker_id": "w1", "assignment": "Try the lock"},
    "coordination_report_finding": {"mission_id": "port", "worker_id": "w1", "summary": "The lock holds"},
    "coordination_merge_brief": {"mission_id": "port"},
    "coordination_approval_packet": {"mission_id": "port"},
    "coordination_review_finding": {**ONE, "status": "accepted"},
    "coordination_promote": ONE,
    "coordination_apply_approval": {
        "mission_id": "port",
        "decisions": [{"finding_id": "w1:finding:1", "status": "accepted"}],
    },
    "coordination_performance_ledger": {"mission_id": "port"},
    "coordination_handoff": {"mission_id": "port", "summary": "It is done", "next_steps": ["Ship it"]},
    "coordination_checkout": {"mission_id": "port"},
}
"""One after the other. The last two tools of missions take what the checkout returned."""


class Target(NamedTuple):
    """A server as the inspector is told of it."""

    words: list[str]
    folder: Path

    def inspect(self, *options: str) -> tuple[int, dict[str, Any], str]:
        """Exit code, what it printed as JSON, and standard error."""
        program = str(npm_programs.installed("inspector") / INSPECTOR)
        command = [npm_programs.node().node, program, "--format", "json", *options, *self.words]
        home = dict.fromkeys(("HOME", "USERPROFILE"), str(self.folder / "home"))
        done = subprocess.run(
            command, cwd=self.folder, env={**environment(), **home}, capture_output=True, text=True, timeout=120
        )
        return done.returncode, json.loads(done.stdout or "{}"), done.stderr

    def call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        arguments = json.dumps(given)
        code, printed, told = self.inspect(
            "--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments, "--quiet"
        )
        assert code == 0, (tool, printed, told)
        result: dict[str, Any] = printed["result"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module", params=["stdio, legacy", "http, modern"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    transport, era = request.param.split(", ")
    folder = tmp_path_factory.mktemp("demo")
    negotiated = ["--protocol-era", era]
    if transport == "stdio":
        yield Target([*negotiated, "--", sys.executable, "-m", "zaxy", "serve", "--profile", "full"], folder)
        return
    with listening(folder, None, "--profile", "full") as url:
        yield Target([*negotiated, "--server-url", url, "--transport", "http"], folder)


def test_it_lists_every_tool_and_finds_no_schema_that_clients_refuse(target: Target) -> None:
    code, printed, told = target.inspect("--method", "tools/list", "--strict")
    assert code == 0, told
    assert [tool["name"] for tool in printed["result"]["tools"]] == [served.tool.name for served in all_tools()]


@pytest.mark.needs_package("coordinate")
def test_it_takes_a_mission_through_all_its_tools(target: Target) -> None:
    answers = {tool: target.call(tool, given) for tool, given in MISSION_CALLS.items()}
    checkout = answers["coordination_checkout"]
    assert [fact["content"] for fact in checkout["current_facts"]] == ["The lock holds"]
    given = {"mission_id": "port", "checkout": checkout, "candidate": {"rank": 1}, "outcome": "used"}
    recorded = target.call("coordination_record_synthesis_artifact", given)
    trace = target.call("coordination_proof_trace", {"mission_id": "port", "artifact_id": recorded["artifact_id"]})
    assert trace["proof"]["payload"]["accepted_finding_ids"] == ["w1:finding:1"]


def test_it_records_a_composed_answer(target: Target) -> None:
    for amount in (40, 50):
        payload = {"fact": "Fuel bill", "key": f"bill-{amount}", "amount": amount, "unit": "EUR"}
        given = {"event_type": "fact.recorded", "actor": "ann", "payload": payload, "session_id": "bills"}
        target.call("memory_append", given)
    asked = {"query": "How much is the fuel bill in total?", "session_id": "bills"}
    checkout = target.call("memory_checkout", asked)
    artifact = {"checkout": checkout, "candidate": {"rank": 1}, "outcome": "used"}
    assert target.call("memory_synthesis_artifact", artifact)["artifact_id"]
    row = {"fact_id": checkout["diagnostics"]["synthesis"]["ledger_rows"][0]["fact_id"]}
    assert target.call("memory_synthesis_evidence", {"checkout": checkout, "row": row, "outcome": "used"})["citation"]


def test_it_calls_every_tool(target: Target) -> None:
    apart = {"memory_synthesis_artifact", "memory_synthesis_evidence"}
    others = {served.tool.name for served in all_tools() if not served.tool.name.startswith("coordination_")}
    assert set(CALLS) == others - apart
    first, last = ("memory_append", "memory_ingest"), "memory_invalidate"
    answers = {tool: target.call(tool, CALLS[tool]) for tool in first}
    others = [tool for tool in CALLS if tool not in (*first, last)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers |= zip(others, pool.map(lambda tool: target.call(tool, CALLS[tool]), others), strict=True)
    answers[last] = target.call(last, CALLS[last])
    assert answers["memory_query"]["results"][0]["citation"] == answers["memory_append"]["citation"]
    assert answers["memory_checkout"]["quality"]["answerability"] == "answer_from_memory"
    assert answers["subagent_cleanup"]["integrity"]["status"] == "ok"
    if "memory_export" in CALLS:
        assert answers["memory_export"]["entries"][0]["content"]["payload"] == CALLS["memory_append"]["payload"]


def test_an_error_is_a_result_that_it_recognises(target: Target) -> None:
    code, printed, told = target.inspect("--method", "tools/call", "--tool-name", "memory_query", "--quiet")
    assert code == 5, told  # its own code for a tool that failed
    assert printed["result"]["structuredContent"]["error"]["message"] == "query is missing"
