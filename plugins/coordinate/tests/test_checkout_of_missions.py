from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mission_steps import PASSED, accept, all_events, promoted, report, row, words_of_parent

from zaxy import Memory
from zaxy.api import InvalidRequest, Unavailable
from zaxy_coordinate import Missions

UNPROMOTED = ("okapi", "giraffe", "zebra", "walrus", "lemur", "heron")


@pytest.fixture
def mission(missions: Missions) -> Missions:
    """One promoted finding, and one of each other standing, with words that no other text has."""
    promoted(missions, "The lock holds.", claim_key="lock", claim_value="holds", evidence=[PASSED])
    report(missions, "An okapi grazes.", claim_key="giraffe", claim_value="zebra", evidence=[{"summary": "walrus"}])
    accept(missions, report(missions, "A lemur climbs."))
    missions.review_finding("port", report(missions, "A heron flies."), "rejected")
    report(missions, "No okapi grazes.", "w2", claim_key="giraffe", claim_value="walrus")
    return missions


@pytest.mark.parametrize("query", ["", "Does the lock hold?", "okapi giraffe", "What did w1 find?"])
def test_no_word_of_what_was_not_promoted_is_in_it(mission: Missions, query: str) -> None:
    reply = mission.checkout("port", query)
    said = json.dumps({name: value for name, value in reply.items() if name != "query"})
    assert [fact["finding_id"] for fact in reply["current_facts"]] == ["w1:finding:1"]
    assert not any(word in said for word in UNPROMOTED)


def test_no_word_of_what_was_not_promoted_is_in_the_parents_log(mission: Missions, memory: Memory) -> None:
    recorded = mission.checkout("port", include_diagnostics=True)
    mission.record_synthesis_artifact("port", recorded)
    assert not any(word in words_of_parent(memory) for word in UNPROMOTED)
    conflicts = [event for event in all_events(memory) if event.type == "coordination.conflict.detected"]
    (payload,) = (event.payload or {} for event in conflicts)
    assert payload["finding_ids"] == ["w1:finding:2", "w2:finding:1"]
    assert set(payload) == {"mission_id", "conflict_id", "finding_ids", "finding_refs"}


def test_a_conflict_with_what_was_promoted_names_the_promoted_claim(missions: Missions, memory: Memory) -> None:
    promoted(missions, "The lock holds.", claim_key="lock", claim_value="holds")
    reply = missions.report_finding("port", "w2", "It is broken.", claim_key="LOCK", claim_value="broken")
    last = list(memory.lines("port"))[-1][0]
    assert (last.payload or {})["claim_key"] == "lock"
    assert reply["conflict_ids"] == [(last.payload or {})["conflict_id"]]


def test_a_conflict_is_recorded_once(missions: Missions, memory: Memory) -> None:
    for value in ("holds", "broken", "broken", "Holds"):
        report(missions, f"It is {value}", claim_key="lock", claim_value=value)
    types = [event.type for event in all_events(memory)]
    assert types.count("coordination.conflict.detected") == 1


def test_diagnostics_are_labelled_and_no_facts(mission: Missions) -> None:
    reply = mission.checkout("port", include_diagnostics=True, max_tokens=9000)
    labels = {one["finding_id"]: one["authority"] for one in reply["diagnostics"]["non_authoritative"]}
    assert labels == {
        "w1:finding:2": "conflict",
        "w1:finding:3": "pending_worker",
        "w1:finding:4": "rejected",
        "w2:finding:1": "conflict",
    }
    assert not any(one["authoritative"] for one in reply["diagnostics"]["non_authoritative"])
    assert [one["finding_id"] for one in reply["current_facts"]] == ["w1:finding:1"]
    assert len(reply["diagnostics"]["conflicts"]) == 1
    rows = reply["diagnostics"]["synthesis"]["ledger_rows"]
    assert {one["fact_id"]: one["authority"] for one in rows} == {**labels, "w1:finding:1": "accepted_parent"}
    assert "walrus" not in json.dumps(rows) and "okapi" not in json.dumps(rows)
    prompt = reply["prompt"].partition("## Not accepted: claims of workers, not facts")
    assert not any(word in prompt[0] for word in UNPROMOTED) and "okapi" in prompt[2]


def test_a_fact_is_cited_with_what_it_rests_on(mission: Missions, memory: Memory) -> None:
    (fact,) = mission.checkout("port")["current_facts"]
    assert (fact["content"], fact["authority"], fact["promoted_by"]) == ("The lock holds.", "accepted_parent", "ada")
    assert memory.resolve(fact["citation"]).type == "coordination.finding.promoted"
    assert memory.resolve(fact["finding_citation"]).session == "port.w1"
    assert (fact["test_backed"], fact["evidence"]) == (True, [PASSED])


def test_a_question_chooses_among_what_was_promoted(missions: Missions) -> None:
    for thing in ("lock", "printer", "keyboard", "screen"):
        promoted(missions, f"The {thing} works on Windows.")
    reply = missions.checkout("port", "Does the printer work?")
    assert reply["current_facts"][0]["content"] == "The printer works on Windows."
    assert reply["quality"]["answerability"] == "answer_from_memory"
    assert len(missions.checkout("port")["current_facts"]) == 4


def test_it_has_the_purpose_of_coordination(missions: Missions) -> None:
    reply = missions.checkout("port")
    assert reply["purpose"]["preset"] == "coordinate"
    assert (reply["quality"]["answerability"], reply["current_facts"]) == ("ask_user", [])
    assert reply["retention"]["known_to_seq"] == 3


@pytest.mark.parametrize("diagnostics", [False, True])
@pytest.mark.parametrize("budget", [1500, 3000, 6000])
def test_it_keeps_to_its_budget(missions: Missions, budget: int, diagnostics: bool) -> None:
    for number in range(25):
        words = f"Module {number} works on Windows, " + "as far as anybody can tell, " * 4
        promoted(missions, words, claim_key=f"module {number}", claim_value="works", evidence=[PASSED] * 2)
        report(missions, f"Not so {words}", "w2", claim_key=f"module {number}", claim_value="broken")
    missions.handoff("port", "Much is done. " * 400, next_steps=["Go on. " * 100] * 50, risks=["Rain. " * 100] * 50)
    reply = missions.checkout("port", include_diagnostics=diagnostics, max_tokens=budget)
    assert reply["truncated"]
    assert reply["tokens_used"] <= budget or len(reply["current_facts"]) == 1


def test_a_budget_that_nothing_fits_into_is_refused(missions: Missions) -> None:
    with pytest.raises(InvalidRequest, match="max_tokens is below 600"):
        missions.checkout("port", max_tokens=599)


# Without a graph


def everything(missions: Missions) -> dict[str, Any]:
    replies = {
        "brief": missions.merge_brief("port"),
        "ledger": missions.performance_ledger("port"),
        "checkout": missions.checkout("port"),
        "packet": missions.approval_packet("port"),
    }
    return json.loads(json.dumps(replies))  # type: ignore[no-any-return]


def test_all_reads_are_the_same_where_the_followers_were_deleted(mission: Missions, here: Path) -> None:
    mission.handoff("port", "Half is done")
    before = everything(mission)
    shutil.rmtree(here / ".eventloom" / "followers")
    assert everything(mission) == before
    with Memory.open(here) as again:
        assert everything(Missions(again)) == before


class NoGraph:
    """Memory whose followers cannot be opened."""

    def __init__(self, memory: object) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> Any:
        if name in ("checkout", "query", "context", "fitting", "current", "entities", "neighbours", "verbatim"):
            return self._fail
        return getattr(self._memory, name)

    def _fail(self, *_: object, **__: object) -> object:
        raise Unavailable("the graph cannot be opened", "Look at the doctor.")


def test_a_question_is_answered_from_the_log_where_memory_cannot_be_asked(mission: Missions) -> None:
    before = everything(mission)
    mission = Missions(NoGraph(mission.memory))  # type: ignore[arg-type]
    reply = mission.checkout("port", "Does the lock hold?")
    assert [fact["content"] for fact in reply["current_facts"]] == ["The lock holds."]
    assert reply["notices"] == [
        "memory could not be asked, and what follows comes from the log alone: the graph cannot be opened"
    ]
    assert reply["quality"]["answerability"] == "refresh_recommended"
    assert everything(mission) == before


def test_a_mission_is_carried_on_where_memory_cannot_be_asked(mission: Missions) -> None:
    mission = Missions(NoGraph(mission.memory))  # type: ignore[arg-type]
    finding = promoted(mission, "It works without a graph.")
    handoff = mission.handoff("port", "Half is done")["handoff_id"]
    scope = {"decision_scope": "handoff", "handoff_id": handoff}
    made = mission.record_synthesis_artifact("port", mission.checkout("port"), **scope)
    assert mission.proof_trace("port", handoff_id=handoff)["proof"]["citation"] == made["proof"]["citation"]
    assert row(mission, finding)["authority"] == "accepted_parent"
