"""Missions with real processes: every member has a server of its own, and every number is counted again by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.crashes import child_command, in_child
from mission_clients import MISSION, REPORTS, Caller, member, report_all
from mission_crowd import CROWD, PROCESSES, WORKERS, all_report
from mission_fold import SecondFold
from served import environment
from zaxy.memory import Memory
from zaxy_coordinate.missions import Missions

pytestmark = pytest.mark.timeout(600)
SESSIONS = (MISSION, *(f"{MISSION}.{worker}" for worker in REPORTS))
DECIDED = {"w1:finding:1": "accepted", "w2:finding:1": "rejected", "w1:finding:2": "accepted"}
ASKED = "How many slots has the pool?"


def children(commands: list[list[str]]) -> list[Any]:
    """What processes that run at once print, as JSON."""
    path = str(Path(__file__).parent)
    env = environment(PYTHONPATH=path)
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    told = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0] * len(running), told
    return [json.loads(printed) for printed, _ in told]


def log_of(folder: Path, sessions: tuple[str, ...] = SESSIONS) -> SecondFold:
    """The mission by what the command `zaxy replay` prints of its logs."""
    events = []
    for session in sessions:
        command = [sys.executable, "-m", "zaxy", "replay", session, "--json"]
        done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        events += json.loads(done.stdout)["events"]
    return SecondFold(events)


class Course:
    """A mission from its start to its proof, and what every step of it answered."""

    def __init__(self, folder: Path, call: Caller) -> None:
        self.folder = folder
        self._begin(call)
        self.reported = children([child_command(report_all, str(folder), worker) for worker in REPORTS])
        self.reported_log = log_of(folder)
        self.brief, self.first_ledger = call("merge_brief"), call("performance_ledger")
        self.empty = call("checkout", query=ASKED)
        self._decide(call)
        self.handed = call("handoff", summary="The pool is understood", next_steps=["Close it"], risks=["It may grow"])
        self._prove(call)
        self.last_brief, self.last_ledger = call("merge_brief"), call("performance_ledger")
        self.log = log_of(folder)

    def _begin(self, call: Caller) -> None:
        call("start", objective="Find out why the pool leaks")
        for worker in REPORTS:
            call("worker_create", worker_id=worker, role="reader of code")
            call("assign", worker_id=worker, assignment=f"Read part {worker} of the pool")

    def _decide(self, call: Caller) -> None:
        self.packet = call("approval_packet")
        for row in self.packet["decisions"]:
            row["status"] = DECIDED.get(row["finding_id"])
            row["promote"] = row["finding_id"] == "w1:finding:1"
        self.applied = call("apply_approval", decisions=self.packet)
        self.applied_again = call("apply_approval", decisions=self.packet)
        self.promoted = call("promote", finding_id="w1:finding:2")

    def _prove(self, call: Caller) -> None:
        self.checkout = call("checkout", query=ASKED)
        candidate = self.checkout["diagnostics"]["synthesis"]["answer_candidates"][0]
        self.recorded = call(
            "record_synthesis_artifact",
            checkout=self.checkout,
            decision_scope="handoff",
            handoff_id=self.handed["handoff_id"],
            candidate=candidate,
            outcome="used",
        )
        self.trace = call("proof_trace", artifact_id=self.recorded["artifact_id"])


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    folder = tmp_path_factory.mktemp("mission")
    with member(str(folder)) as call:
        yield Course(folder, call)


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["finding_id"] for row in rows]


def short(event: Any) -> str:
    return f"eventloom://{event['thread']}/events/{event['seq']}#{event['hash'][:12]}"


@pytest.mark.xdist_group("mission")
class TestAMissionOfThreeProcesses:
    def test_every_finding_is_in_the_log_of_its_worker(self, course: Course) -> None:
        wanted = [f"{worker}:finding:{n}" for worker, found in REPORTS.items() for n in range(1, len(found) + 1)]
        acknowledged = sorted(name for names in course.reported for name in names)
        assert acknowledged == wanted == sorted(course.reported_log.findings)
        for name, event in course.reported_log.findings.items():
            assert event["thread"] == f"{MISSION}.{name.split(':')[0]}"

    def test_the_brief_counts_what_the_log_has(self, course: Course) -> None:
        assert course.brief["counts"] == course.reported_log.counts()
        assert course.brief["counts"]["conflicts"] == course.brief["counts"]["duplicates"] == 1

    def test_the_brief_shows_each_finding_once_and_the_conflict_first(self, course: Course) -> None:
        told = course.reported_log
        assert sorted(ids(course.brief["findings"])) == sorted(told.findings)
        (sides,) = told.conflicts()
        assert set(ids(course.brief["findings"][:2])) == sides == {"w1:finding:1", "w2:finding:1"}
        (conflict,) = course.brief["conflicts"]
        assert {side["value"] for side in conflict["sides"]} == {"8", "16"}

    def test_each_row_of_the_brief_is_labelled_as_the_log_has_it(self, course: Course) -> None:
        for brief, told in ((course.brief, course.reported_log), (course.last_brief, course.log)):
            for row in brief["findings"]:
                name = row["finding_id"]
                shown = (row["status"], row["authority"], row.get("duplicate_of", ""))
                assert shown == (told.status(name), told.authority(name), told.duplicate_of(name)), name
                assert row["summary"] == told.findings[name]["payload"]["summary"]
                assert row["citation"] == short(told.findings[name])

    def test_the_contradiction_is_recorded_once_and_without_what_was_found(self, course: Course) -> None:
        (conflict,) = [event for event in course.log.events if event["type"] == "coordination.conflict.detected"]
        assert set(conflict["payload"]["finding_ids"]) == {"w1:finding:1", "w2:finding:1"}
        assert conflict["thread"] == MISSION
        assert "slots" not in json.dumps(conflict)

    def test_the_ledger_counts_what_the_log_has(self, course: Course) -> None:
        for ledger, told in ((course.first_ledger, course.reported_log), (course.last_ledger, course.log)):
            rows = {row.pop("worker_id"): row for row in ledger["workers"]}
            assert rows == {worker: told.performance(worker) for worker in REPORTS}
            assert ledger["total"] == told.performance()
            assert ledger["rows"] == {kind: n for kind, n in told.counts()["authority"].items() if n}

    def test_nothing_is_the_missions_before_it_is_promoted(self, course: Course) -> None:
        assert course.empty["current_facts"] == []
        assert course.empty["quality"]["answerability"] == "ask_user"
        assert "slots" not in json.dumps({**course.empty, "query": ""})

    def test_the_packet_has_all_that_waits_and_says_it_in_whole_citations(self, course: Course) -> None:
        told = course.reported_log
        assert sorted(ids(course.packet["findings"])) == sorted(told.findings)
        assert ids(course.packet["findings"]) == ids(course.packet["decisions"])
        for row in course.packet["findings"]:
            assert row["citation"] == told.findings[row["finding_id"]]["citation"]

    def test_an_applied_packet_is_reviews_and_promotions_and_the_second_time_nothing(self, course: Course) -> None:
        told = course.log
        assert {name: told.reviews[name]["payload"]["status"] for name in told.reviews} == DECIDED
        assert set(course.applied["reviewed"]) == set(DECIDED)
        assert course.applied["promoted"] == ["w1:finding:1"]
        assert course.applied_again["replayed"] is True
        assert told.count("decision.recorded") == 1
        assert told.count("finding.reviewed") == len(DECIDED)

    def test_a_promotion_says_what_the_finding_said_and_cites_it_and_its_review(self, course: Course) -> None:
        told = course.log
        assert set(told.promoted) == {"w1:finding:1", "w1:finding:2"}
        for name, event in told.promoted.items():
            found = told.findings[name]
            assert event["payload"]["summary"] == found["payload"]["summary"]
            assert event["payload"]["citations"][0] == found["citation"]
        review = told.reviews["w1:finding:2"]["citation"]
        assert told.promoted["w1:finding:2"]["payload"]["citations"][1] == review

    def test_the_checkout_has_what_was_promoted_and_nothing_else(self, course: Course) -> None:
        told = course.log
        facts = course.checkout["current_facts"]
        assert facts[0]["finding_id"] == "w1:finding:1" and facts[0]["content"] == "The pool has 8 slots"
        for fact in facts:
            assert fact["citation"] == short(told.promoted[fact["finding_id"]])
        unpromoted = [told.findings[name]["payload"]["summary"] for name in told.findings if name not in told.promoted]
        assert not [summary for summary in unpromoted if summary in json.dumps(course.checkout)]

    def test_a_handoff_is_in_the_log_and_in_the_next_brief(self, course: Course) -> None:
        (event,) = [event for event in course.log.events if event["type"] == "coordination.handoff.created"]
        assert course.last_brief["handoff"]["summary"] == event["payload"]["summary"] == "The pool is understood"
        assert (event["payload"]["next_steps"], event["payload"]["risks"]) == (["Close it"], ["It may grow"])

    def test_the_proof_names_what_the_log_has(self, course: Course) -> None:
        told = course.log
        (event,) = [event for event in told.events if event["type"] == "coordination.proof_packet.created"]
        proof, shown = event["payload"], ids(course.checkout["current_facts"])
        assert proof["accepted_finding_ids"] == shown
        assert proof["promotion_refs"] == [told.promoted[name]["citation"] for name in shown]
        assert proof["review_refs"] == [told.reviews[name]["citation"] for name in shown]
        assert proof["worker_source_refs"] == [told.findings[name]["citation"] for name in shown]
        waiting = [name for name in told.findings if told.status(name) == "pending"]
        assert sorted(proof["pending_finding_ids"]) == sorted(waiting)
        others = {name: told.authority(name) for name in told.findings if name not in told.promoted}
        assert {row["finding_id"]: row["authority"] for row in proof["non_authoritative_rows"]} == others
        assert {row["finding_id"] for row in proof["excluded_reasons"]} == set(others)

    def test_the_trace_takes_the_proof_apart_into_events_of_the_log(self, course: Course) -> None:
        told, trace = course.log, course.trace
        by_citation = {short(event): event for event in told.events}
        for part in ("proof", "artifact", "handoff"):
            assert by_citation[trace[part]["citation"]]["type"] == trace[part]["type"]
        cited = [ref for refs in trace["refs"].values() for ref in refs]
        assert len(cited) == 3 * len(course.checkout["current_facts"]) + 1
        assert {ref["type"] for ref in cited} == {by_citation[ref["citation"]]["type"] for ref in cited}
        assert trace["ledger_rows"][0]["fact_id"] == "w1:finding:1"

    def test_the_last_brief_counts_what_the_log_has(self, course: Course) -> None:
        assert course.last_brief["counts"] == course.log.counts()
        assert course.last_brief["counts"]["status"] == {"pending": 4, "promoted": 2, "rejected": 1}

    def test_every_log_of_the_mission_is_whole(self, course: Course) -> None:
        for session in SESSIONS:
            command = [sys.executable, "-m", "zaxy", "verify", session]
            done = subprocess.run(command, cwd=course.folder, env=environment(), capture_output=True, timeout=120)
            assert done.returncode == 0, done.stdout


# Sixteen at once

EACH = 12


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[dict[str, str]]]]:
    """Where sixteen processes have reported at once, and what was acknowledged to each of them."""
    folder = tmp_path_factory.mktemp("crowd")
    return folder / "here", json.loads(in_child(all_report, str(folder), EACH, timeout=500))


def pages_of(missions: Missions, mission: str, tokens: int) -> Iterator[dict[str, Any]]:
    """The brief page by page."""
    page = missions.merge_brief(mission, max_tokens=tokens)
    yield page
    while page["truncated"]:
        page = missions.merge_brief(mission, max_tokens=tokens, cursor=page["next_cursor"])
        yield page


@pytest.mark.skipif(os.name != "posix", reason="fork is POSIX")
@pytest.mark.xdist_group("crowd")
class TestSixteenProcessesAtOnce:
    def test_no_finding_is_lost_and_no_id_is_given_twice(self, crowd: Any) -> None:
        folder, acknowledged = crowd
        told = [(row["finding_id"], row["summary"]) for rows in acknowledged for row in rows]
        assert len(dict(told)) == len(told) == PROCESSES * EACH
        workers = dict.fromkeys(WORKERS)
        logged = log_of(folder, (CROWD, *(f"{CROWD}.{worker}" for worker in workers)))
        assert {name: event["payload"]["summary"] for name, event in logged.findings.items()} == dict(told)
        assert logged.count("finding.reported") == len(told)

    def test_the_findings_of_a_worker_are_numbered_without_a_gap(self, crowd: Any) -> None:
        _, acknowledged = crowd
        shared = [row["finding_id"] for rows in acknowledged for row in rows if row["finding_id"].startswith("many:")]
        numbers = sorted(int(name.rpartition(":")[2]) for name in shared)
        assert numbers == list(range(1, PROCESSES // 2 * EACH + 1))

    @pytest.mark.parametrize("tokens", [2_000, 20_000])
    def test_each_acknowledged_finding_is_on_one_page_of_the_brief(self, crowd: Any, tokens: int) -> None:
        folder, acknowledged = crowd
        with Memory.open(folder) as memory:
            pages = list(pages_of(Missions(memory), CROWD, tokens))
        shown = [(row["finding_id"], row["summary"]) for page in pages for row in page["findings"]]
        assert sorted(shown) == sorted((row["finding_id"], row["summary"]) for rows in acknowledged for row in rows)
        assert len(pages) > 1

    def test_every_contradiction_is_recorded_once_though_many_saw_it(self, crowd: Any) -> None:
        folder, _ = crowd
        with Memory.open(folder) as memory:
            counts = Missions(memory).merge_brief(CROWD)["counts"]
            recorded = [event for event in memory.replay(CROWD) if event.type.endswith("conflict.detected")]
        assert counts["conflicts"] == EACH, "the eight processes of one worker contradict each other in every turn"
        names = [(event.payload or {})["conflict_id"] for event in recorded]
        assert len(set(names)) == len(names) >= EACH
