"""Skills: one event for each step of their life, read by checkouts and never changed by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembered import SESSION
from zaxy.assemble.records import SKILL_ACTIONS
from zaxy.errors import ZaxyError
from zaxy.memory import Memory

TYPES = (
    *("skill.proposed", "skill.validated", "skill.revised", "skill.deprecated", "skill.contradicted"),
    *("skill.applied", "skill.outcome_recorded"),
)
QUESTION = "How do we restore the ledger database?"
STEPS = ["Stop the writers", "Copy the last snapshot", "Replay the log"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def record(memory: Memory, action: str, **details: Any) -> None:
    memory.skill(action, "restore-ledger", session=SESSION, **details)


def propose(memory: Memory, **details: Any) -> None:
    record(memory, "propose", summary="Restore the ledger database", procedure=STEPS, **details)


def checkout(memory: Memory, question: str = QUESTION) -> dict[str, Any]:
    return memory.checkout(question, SESSION).as_dict()


def skills(memory: Memory) -> list[dict[str, Any]]:
    found = checkout(memory)["diagnostics"].get("skills", {"count": 0, "items": []})
    assert found["count"] == len(found["items"])
    return list(found["items"])


# Recording


def test_the_actions_are_the_seven_steps_of_a_skills_life() -> None:
    assert tuple(SKILL_ACTIONS.values()) == TYPES


@pytest.mark.parametrize(("action", "event_type"), SKILL_ACTIONS.items())
def test_an_action_appends_exactly_one_event(memory: Memory, action: str, event_type: str) -> None:
    details = {"summary": "Restore the ledger", "success_score": 0.5}
    event = memory.skill(action, "restore-ledger", actor="ada", session=SESSION, **details)
    assert (event.type, event.actor, event.seq, memory.head(SESSION)) == (event_type, "ada", 1, 1)
    assert event.payload == {"skill_id": "restore-ledger", **details}


@pytest.mark.parametrize("event_type", TYPES)
def test_an_action_may_be_named_as_its_event_is(memory: Memory, event_type: str) -> None:
    event = memory.skill(event_type.removeprefix("skill."), "s", session=SESSION, procedure="x", feedback="y")
    assert event.type == event_type


def test_every_detail_is_kept(memory: Memory) -> None:
    details: dict[str, Any] = {
        "version": "2",
        "name": "Restore",
        "summary": "Restore it",
        "procedure": STEPS,
        "applicability": "outages",
        "citations": ["x"],
        "task": "drill",
        "success_score": 0.9,
        "feedback": "fine",
        "evidence": "log",
        "reason": "faster",
        "supersedes_version": "1",
    }
    assert memory.skill("revise", "s", session=SESSION, **details).payload == {"skill_id": "s", **details}


@pytest.mark.parametrize(
    ("action", "skill_id", "details", "says"),
    [
        ("forget", "s", {}, "propose, validate, revise"),
        ("propose", " ", {"procedure": "x"}, "skill_id"),
        ("propose", "s", {}, "procedure or summary"),
        ("record_outcome", "s", {"task": "x"}, "success_score or feedback"),
        ("apply", "s", {"colour": "red"}, "colour"),
        ("record_outcome", "s", {"success_score": 1.5}, "success_score"),
        ("record_outcome", "s", {"success_score": "good"}, "success_score"),
        ("record_outcome", "s", {"success_score": True}, "success_score"),
        ("record_outcome", "s", {"success_score": float("nan")}, "success_score"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused_and_nothing_is_written(
    memory: Memory, action: str, skill_id: str, details: dict[str, Any], says: str
) -> None:
    with pytest.raises(ZaxyError) as refused:
        memory.skill(action, skill_id, session=SESSION, **details)
    assert refused.value.code == "invalid_request"
    assert says in f"{refused.value.message} {refused.value.remediation}"
    assert memory.head(SESSION) == 0


# Reading


def test_a_skill_that_fits_is_told_with_its_steps_and_citation(memory: Memory) -> None:
    propose(memory)
    record(memory, "validate", summary="Restore the ledger database", procedure=STEPS)
    reply = checkout(memory)
    (skill,) = reply["diagnostics"]["skills"]["items"]
    assert (skill["skill_id"], skill["version"], skill["status"]) == ("restore-ledger", "1", "validated")
    assert skill["procedure"] == STEPS
    assert memory.resolve(skill["citation"]).type == "skill.validated"
    section = reply["prompt"].partition("## Applicable Skills\n")[2].partition("\n\n")[0].splitlines()
    assert section[0].endswith(f"[{skill['citation']}]")
    assert section[1:] == [f'  {number}. "{step}"' for number, step in enumerate(STEPS, 1)]


def test_a_skill_that_does_not_fit_is_not_told(memory: Memory) -> None:
    propose(memory)
    reply = checkout(memory, "What does the harbour lamp burn?")
    assert "skills" not in reply["diagnostics"]
    assert "Applicable Skills" not in reply["prompt"]


@pytest.mark.parametrize("action", ("deprecate", "contradict"))
def test_a_skill_that_was_given_up_is_not_told(memory: Memory, action: str) -> None:
    propose(memory)
    assert len(skills(memory)) == 1
    record(memory, action, summary="Restore the ledger database", reason="it loses rows")
    assert skills(memory) == []


def test_a_new_version_takes_the_place_of_the_one_it_supersedes(memory: Memory) -> None:
    propose(memory, version="1")
    details = {"version": "2", "supersedes_version": "1", "procedure": ["Press the button"]}
    record(memory, "revise", summary="Restore the ledger database", **details)
    assert [(skill["version"], skill["procedure"]) for skill in skills(memory)] == [("2", ["Press the button"])]


def test_at_most_three_skills_are_told_the_validated_first(memory: Memory) -> None:
    for number in range(5):
        details = {"summary": "Restore the ledger database", "procedure": STEPS}
        memory.skill("propose" if number != 2 else "validate", f"way-{number}", session=SESSION, **details)
    found = skills(memory)
    assert len(found) == 3
    assert found[0]["skill_id"] == "way-2"


def test_analytics_tell_of_outcomes_scores_and_candidates(memory: Memory) -> None:
    propose(memory)
    assert "skill_analytics" not in checkout(memory)["diagnostics"]
    for score in (0.9, 0.7):
        record(memory, "record_outcome", success_score=score)
    reply = checkout(memory)
    told = reply["diagnostics"]["skill_analytics"]
    assert (told["outcome_count"], told["contradiction_count"]) == (2, 0)
    assert told["scores"] == {"restore-ledger@1": 0.8}
    assert told["promotion_candidates"] == ["restore-ledger@1"]
    assert told["rollback_candidates"] == []
    assert [memory.resolve(citation).type for citation in told["citations"]] == ["skill.outcome_recorded"] * 2
    assert "## Skill Analytics" in reply["prompt"]
    assert "- promotion candidates: restore-ledger@1" in reply["prompt"]


def test_one_good_outcome_does_not_make_a_candidate(memory: Memory) -> None:
    propose(memory)
    record(memory, "record_outcome", success_score=1.0)
    assert checkout(memory)["diagnostics"]["skill_analytics"]["promotion_candidates"] == []


def test_bad_outcomes_and_contradictions_make_candidates_for_a_rollback(memory: Memory) -> None:
    propose(memory, version="1")
    record(memory, "contradict", version="2", summary="Restore the ledger database", reason="it loses rows")
    for score in (0.1, 0.2):
        record(memory, "record_outcome", version="1", success_score=score)
    told = checkout(memory)["diagnostics"]["skill_analytics"]
    assert told["contradiction_count"] == 1
    assert told["rollback_candidates"] == ["restore-ledger@1", "restore-ledger@2"]
    assert memory.resolve(told["citations"][0]).type == "skill.contradicted"


def test_checkouts_change_no_skill(memory: Memory) -> None:
    propose(memory)
    for score in (0.9, 0.9):
        record(memory, "record_outcome", success_score=score)
    before = [event.seq for event in memory.replay(SESSION)]
    first = checkout(memory)["diagnostics"]
    for _ in range(5):
        assert checkout(memory)["diagnostics"] == first
    assert [event.seq for event in memory.replay(SESSION)] == before
