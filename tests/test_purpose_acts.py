"""A purpose acts: what it is for changes which rows come first, which count, and what an answer needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from remembered import decision, fact, turn
from zaxy.api.models import AsOf, Event
from zaxy.assemble.emphasis import RowAction
from zaxy.assemble.evidence import has_passed, is_supported
from zaxy.assemble.purpose import PRESETS, purpose_of
from zaxy.assemble.row_kinds import KIND_WORDS, kind_of, kinds_named
from zaxy.errors import ZaxyError
from zaxy.memory import Memory
from zaxy.retrieve.results import Result

QUESTION = "Does the importer read Parquet files?"
Given = str | Mapping[str, str] | None


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("acting")) as opened:
        yield opened


@pytest.fixture(scope="module")
def importer(memory: Memory) -> dict[str, Event]:
    """One thing, said in rows of many kinds, each by somebody else."""

    def record(event_type: str, actor: str, **payload: object) -> Event:
        return memory.append(event_type, payload, actor=actor, session="importer")

    return {
        "decision": record("decision.made", "ada", decision="The importer shall read Parquet files"),
        "check": record("command.completed", "ci", command="test", exit_code=0, stdout="importer: read Parquet files"),
        "talk": record("transcript.turn", "bob", role="user", content="The importer can read Parquet files, I guess."),
        "source": record("document.indexed", "carol", path="importer.md", text="The importer will read Parquet files."),
        "issue": record("issue.diagnosed", "dora", issue="The importer does not read empty Parquet files"),
        "handoff": record("handoff.created", "erin", handoff="The importer must read Parquet files by May"),
        "edit": record("file.edit.applied", "finn", path="importer.py", summary="importer: read Parquet files"),
    }


def checkout(memory: Memory, purpose: Given, session: str = "importer", question: str = QUESTION) -> dict[str, Any]:
    return memory.checkout(question, session, purpose=purpose, max_tokens=6000).as_dict()


def order(memory: Memory, purpose: Given, session: str = "importer", question: str = QUESTION) -> list[int]:
    """The events of the rows that are shown, in their order."""
    lines = checkout(memory, purpose, session, question)["prompt"].partition("## What Memory Holds\n")[2]
    rows = lines.partition("\n\n")[0].splitlines()
    return [int(line.rpartition("/events/")[2].partition("#")[0]) for line in rows]


def actions(reply: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    rows = reply["diagnostics"]["purpose_retrieval_policy"]["rows"]
    return {int(row["citation"].rpartition("/events/")[2].partition("#")[0]): row for row in rows}


# Which rows come first


@pytest.mark.parametrize(
    ("purpose", "lifted"),
    [
        ("coding", "check"),
        ("review", "issue"),
        ("release", "check"),
        ("security", "issue"),
        ("research", "source"),
        ("coordinate", "handoff"),
        ({"time_horizon": "two years"}, "decision"),
        ({"ontology_lens": "changes"}, "edit"),
        ({"ontology_lens": "handoffs and documents"}, "handoff"),
    ],
    ids=str,
)
def test_the_rows_that_a_purpose_is_about_come_nearer_to_the_first(
    memory: Memory, importer: dict[str, Event], purpose: Given, lifted: str
) -> None:
    seq = importer[lifted].seq
    before, now = order(memory, None), order(memory, purpose)
    assert now.index(seq) < max(before.index(seq), 1)
    done = actions(checkout(memory, purpose))[seq]
    assert done["action"] == "lifted"
    assert done["by"] > 0
    assert memory.resolve(done["citation"]).seq == seq
    assert kind_named_in(done["why"])


def kind_named_in(why: str) -> bool:
    return any(f": {kind}" in why for kind in KIND_WORDS)


@pytest.mark.parametrize("preset", ("coding", "review", "release", "security", "coordinate"))
def test_what_was_only_said_goes_down(memory: Memory, importer: dict[str, Event], preset: str) -> None:
    seq = importer["talk"].seq
    before, now = order(memory, None), order(memory, preset)
    assert seq not in now or now.index(seq) > before.index(seq)
    assert actions(checkout(memory, preset))[seq]["action"] in ("lowered", "left_out")


def test_what_is_far_from_the_question_is_not_lifted_above_what_is_near(memory: Memory) -> None:
    near = fact(memory, "The harbour lamp burns whale oil.", "lamp")
    for number in range(5):
        run = {"verification": f"release gate {number}: the lamp post was painted", "command": "make", "exit_code": 0}
        memory.append("verification.recorded", run, actor="ci", session="lamp")
    assert order(memory, "release", "lamp", "What does the harbour lamp burn, which oil?")[0] == near.seq


def test_what_only_words_of_the_purpose_find_is_named_and_stands_behind(memory: Memory) -> None:
    answer = fact(memory, "The pier has nine lamps.", "pier")
    for number in range(30):
        fact(memory, f"Berth {number} costs {number} crowns a night.", "pier")
    gate = memory.append(
        "verification.recorded", {"verification": "release gate: verification of the crane"}, session="pier"
    )
    question = "How many lamps has the pier?"
    assert gate.seq not in order(memory, None, "pier", question)
    shown = order(memory, "release", "pier", question)
    assert shown.index(answer.seq) < shown.index(gate.seq)
    done = actions(checkout(memory, "release", "pier", question))[gate.seq]
    assert (done["action"], done["why"]) == ("found_by_emphasis", "emphasis terms")


def test_a_short_horizon_prefers_what_is_recent_and_a_long_one_what_was_decided(memory: Memory) -> None:
    old = decision(memory, "The pump of the north dock shall run at night.", "dock", occurred_at="2026-01-05T00:00:00Z")
    new = fact(memory, "The pump of the north dock did not run at night.", "dock", actor="bob")
    question = "Does the pump of the north dock run at night?"
    assert order(memory, {"time_horizon": "long"}, "dock", question)[0] == old.seq
    assert order(memory, {"time_horizon": "the next two days"}, "dock", question)[0] == new.seq
    assert actions(checkout(memory, {"time_horizon": "today"}, "dock", question))[new.seq]["why"] == "short horizon"


@pytest.mark.parametrize("role", ("reviewer", "senior code reviewer"))
def test_a_role_without_a_preset_chooses_the_preset(memory: Memory, importer: dict[str, Event], role: str) -> None:
    reply = checkout(memory, {"role": role})
    assert reply["purpose"] == {"preset": "review", "role": role, "evidence_policy": "cited_current_facts_required"}
    assert order(memory, {"role": role}) == order(memory, "review")


def test_a_role_adds_half_of_its_own_emphasis_to_another_preset() -> None:
    both = purpose_of({"preset": "coding", "role": "reviewer"})
    assert both.preset == "coding"
    assert both.weights["issue"] == PRESETS["review"].weights["issue"] / 2
    assert both.weights["check"] == PRESETS["coding"].weights["check"]
    assert purpose_of({"preset": "review", "role": "reviewer"}).weights == PRESETS["review"].weights


def test_a_role_of_another_kind_is_shown_and_changes_no_row(memory: Memory, importer: dict[str, Event]) -> None:
    assert order(memory, {"role": "night watch"}) == order(memory, None)


def test_the_words_of_task_and_lens_are_looked_for_too() -> None:
    purpose = purpose_of({"task": "Open the port", "ontology_lens": "tidal decisions"})
    assert purpose.terms == ("open", "port", "tidal")
    assert purpose.weights == {"decision": 1.5}


# What is held to a floor or left out


def test_talk_that_hardly_bears_on_the_question_is_held_to_a_floor(memory: Memory) -> None:
    kept = decision(memory, "The crane of the north dock lifts nine tons of granite or slate.", "crane")
    chat = turn(memory, "I saw the crane yesterday, it was raining and we went home early.", "crane")
    question = "How many tons of granite and slate does the crane of the north dock lift?"
    assert {kept.seq, chat.seq} <= set(order(memory, None, "crane", question))
    reply = checkout(memory, "review", "crane", question)
    assert order(memory, "review", "crane", question) == [kept.seq]
    assert actions(reply)[chat.seq] == {
        "citation": actions(reply)[chat.seq]["citation"],
        "action": "left_out",
        "why": "below_floor",
    }
    assert reply["diagnostics"]["purpose_policy"] == {"excluded": 1, "by_reason": {"below_floor": 1}}
    assert reply["retention"]["purpose_policy"] == reply["diagnostics"]["purpose_policy"]


def test_an_open_task_is_no_pending_claim(memory: Memory) -> None:
    task = memory.append("task.proposed", {"task": "Paint the boat house"}, actor="ada", session="boats")
    for preset in ("review", "release"):
        assert task.seq in order(memory, preset, "boats", "Who paints the boat house?")


def test_what_may_not_count_is_no_answer_to_where_things_stand_either(memory: Memory) -> None:
    decision(memory, "Build a second quay.", "quay", status="pending")
    question = "What are the open decisions?"
    assert checkout(memory, None, "quay", question)["current_facts"]
    reply = checkout(memory, "review", "quay", question)
    assert reply["current_facts"] == []
    assert reply["diagnostics"]["purpose_policy"]["by_reason"] == {"pending_claim": 1}


def test_evidence_that_a_fact_names_counts_whatever_the_graph_keeps_of_it(memory: Memory) -> None:
    claim = "The sluice gate is safe at high tide."
    fact(memory, claim, "sluice")
    question = "Is the sluice gate safe at high tide?"
    assert checkout(memory, "security", "sluice", question)["current_facts"] == []
    fact(memory, f"{claim[:-1]}, says the report.", "sluice", evidence="report-7.pdf")
    (shown,) = checkout(memory, "security", "sluice", question)["current_facts"]
    assert shown["content"].startswith("The sluice gate is safe at high tide, says the report.")


# Which evidence an answer needs


def row(entity_type: str, content: str = "The lamp works.", event_type: str = "x.y", **properties: Any) -> Result:
    return Result(
        *(content, "eventloom://work/events/1#0123456789ab", 1, "exact", 1.0, (), "balanced", event_type, "ada"),
        valid_from="2026-06-01T00:00:00Z",
        entity_type=entity_type,
        properties=properties,
    )


@pytest.mark.parametrize(
    ("result", "passed"),
    [
        (row("command_run", exit_code=0), True),
        (row("command_run", exit_code="0"), True),
        (row("command_run", exit_code=1), False),
        (row("command_run", exit_code=-9), False),
        (row("command_run", command="make"), None),
        (row("finding", evidence=[{"command": "pytest", "exit_code": 0}]), True),
        (row("finding", evidence=[{"command": "pytest", "exit_code": 2}]), False),
        (row("verification", status="failed"), False),
        (row("verification", result="Passed"), True),
        (row("verification", "Restore drill done"), True),
        (row("verification", "Restore drill failed"), False),
        (row("verification", "12 passed, 0 failed"), True),
        (row("event", event_type="test.completed", status="red"), False),
        (row("fact"), None),
    ],
)
def test_an_exit_code_of_0_is_a_check_that_passed_and_another_one_that_failed(
    result: Result, passed: bool | None
) -> None:
    assert has_passed(result) is passed
    assert is_supported(result) is bool(passed)


def test_a_command_that_ended_with_0_is_the_gate_of_a_release_and_one_that_failed_is_none(memory: Memory) -> None:
    question = "Are the ferry timetable tests done?"

    def run(exit_code: int, session: str) -> Event:
        stdout = "ferry timetable tests done"
        payload = {"command": "make ferry-timetable-tests", "exit_code": exit_code, "stdout": stdout}
        return memory.append("command.completed", payload, actor="ci", session=session)

    run(0, "green")
    assert checkout(memory, "release", "green", question)["quality"]["answerability"] == "answer_from_memory"
    failed = run(2, "red")
    quality = checkout(memory, "release", "red", question)["quality"]
    assert quality["answerability"] == "refresh_recommended"
    cited = f"a check among the facts failed (eventloom://red/events/{failed.seq}#"
    assert any(cited in reason for reason in quality["reasons"])
    assert checkout(memory, None, "red", question)["quality"]["answerability"] == "answer_from_memory"


def test_the_same_command_that_passes_later_opens_the_gate_again(memory: Memory) -> None:
    for code in (1, 0):
        payload = {"command": "make tide-tables", "exit_code": code, "stdout": f"tide tables checked, run {code}"}
        memory.append("command.completed", payload, actor="ci", session="tides")
    quality = checkout(memory, "release", "tides", "Were the tide tables checked?")["quality"]
    assert not any("failed" in reason for reason in quality["reasons"])


def test_a_fact_that_says_that_something_works_needs_a_check_for_coding(memory: Memory) -> None:
    question = "Is the anchor winch fixed?"
    fact(memory, "The anchor winch is fixed.", "winch")
    assert checkout(memory, None, "winch", question)["quality"]["answerability"] == "answer_from_memory"
    quality = checkout(memory, "coding", "winch", question)["quality"]
    assert quality["answerability"] == "refresh_recommended"
    assert any("no verification or command result that passed" in reason for reason in quality["reasons"])
    run = {"verification": "The anchor winch is fixed: load test", "command": "make winch", "exit_code": 0}
    memory.append("verification.recorded", run, actor="ci", session="winch")
    assert checkout(memory, "coding", "winch", question)["quality"]["answerability"] == "answer_from_memory"


@pytest.mark.parametrize("risk", ("high", "Critical: customers pay", "severe"))
def test_a_high_risk_asks_for_a_second_source_or_for_evidence(memory: Memory, risk: str) -> None:
    session = f"risk-{risk[:4].lower()}"
    question = "How is the ferry timetable, how many sailings has it?"
    fact(memory, "The ferry timetable has four sailings.", session)
    assert checkout(memory, {"risk": "low"}, session, question)["quality"]["answerability"] == "answer_from_memory"
    quality = checkout(memory, {"risk": risk}, session, question)["quality"]
    assert quality["answerability"] == "refresh_recommended"
    assert any("the risk is high" in reason for reason in quality["reasons"])
    fact(memory, "The ferry timetable has four sailings, says the harbour office.", session, actor="bob")
    assert checkout(memory, {"risk": risk}, session, question)["quality"]["answerability"] == "answer_from_memory"


def test_a_preference_for_several_sources_is_a_reason_and_costs_nothing(memory: Memory) -> None:
    question = "How deep is the lagoon in metres?"
    fact(memory, "The lagoon is seven metres deep.", "lagoon")
    plain, research = (checkout(memory, one, "lagoon", question)["quality"] for one in (None, "research"))
    assert research["answerability"] == plain["answerability"]
    assert "The purpose prefers more evidence: all facts have one source." in research["reasons"]


def test_an_evidence_policy_in_free_words_is_shown_and_the_one_of_the_preset_stays_in_force(memory: Memory) -> None:
    fact(memory, "The mole is built of granite.", "mole")
    given = {"preset": "release", "evidence_policy": "two people have to agree"}
    reply = checkout(memory, given, "mole", "What is the mole built of?")
    assert reply["purpose"] == given
    evidence = reply["diagnostics"]["purpose_retrieval_policy"]["evidence"]
    assert (evidence["stated"], evidence["policy"]) == ("two people have to agree", "gate_evidence_required")
    assert '- Evidence asked for, which memory cannot check: "two people have to agree".' in reply["prompt"]
    assert evidence["missing"]
    stated = {"evidence_policy": "two people have to agree"}
    assert (
        checkout(memory, stated, "mole", "What is the mole built of?")["quality"]["answerability"]
        == (checkout(memory, None, "mole", "What is the mole built of?")["quality"]["answerability"])
    )


# What feedback keeps

PROFILE = {
    "preset": "coordinate",
    "role": "coordinator",
    "task": "hand over the night shift",
    "risk": "high",
    "time_horizon": "today",
    "expected_action": "hand over",
    "evidence_policy": "two people have to agree",
    "retention_policy": "keep",
    "ontology_lens": "handoffs",
}


@pytest.mark.parametrize("purpose", (*PRESETS, PROFILE, {"role": "reviewer"}, {"task": "moor"}), ids=str)
def test_the_profile_that_a_checkout_returns_makes_the_same_purpose(purpose: Given) -> None:
    assert purpose_of(purpose_of(purpose).as_dict()) == purpose_of(purpose)
    assert purpose_of(purpose_of(purpose).as_argument) == purpose_of(purpose)


def test_feedback_takes_the_template_of_a_checkout_as_it_is(memory: Memory, importer: dict[str, Event]) -> None:
    reply = checkout(memory, PROFILE)
    (first, *_) = reply["guidance"]["feedback"]["payloads"]
    assert first["purpose"] == reply["purpose"] == PROFILE
    session = first.pop("session_id")
    event = memory.feedback(**first, session=session)
    assert event.payload is not None
    assert event.payload["purpose"] == PROFILE


def test_a_preset_that_feedback_names_is_kept_as_its_profile(memory: Memory) -> None:
    fact(memory, "The mole is built of granite.", "mole", key="mole")
    event = memory.feedback("mole", "fact", feedback="used", session="mole", purpose="release")
    assert event.payload is not None
    assert event.payload["purpose"] == {"preset": "release", "evidence_policy": "gate_evidence_required"}


@pytest.mark.parametrize("given", ("baking", {"preset": "baking"}, {"colour": "red"}, 7))
def test_feedback_refuses_a_purpose_that_is_not_known_and_writes_nothing(memory: Memory, given: Any) -> None:
    fact(memory, "The mole is built of granite.", "mole", key="mole")
    before = memory.head("mole")
    with pytest.raises(ZaxyError) as refused:
        memory.feedback("mole", "fact", feedback="used", session="mole", purpose=given)
    assert refused.value.code == "invalid_request"
    assert "coding" in refused.value.remediation or "preset" in refused.value.remediation
    assert memory.head("mole") == before


@pytest.mark.parametrize("retention", ("none", "ephemeral", "do not keep"))
def test_a_retention_that_keeps_nothing_leaves_words_out_of_feedback(memory: Memory, retention: str) -> None:
    fact(memory, "The mole is built of granite.", "mole", key="mole")
    details: dict[str, Any] = {"query": "secret plans?", "reason": "secret", "outcome": "secret", "importance": 0.5}
    purpose = {**PROFILE, "retention_policy": retention}
    event = memory.feedback("mole", "fact", feedback="used", session="mole", purpose=purpose, **details)
    assert event.type == "memory.reinforced"
    assert event.payload == {
        "entity_name": "mole",
        "entity_type": "fact",
        "feedback": "used",
        "importance": 0.5,
        "purpose": {
            "preset": "coordinate",
            "evidence_policy": "accepted_parent_state_required",
            "retention_policy": retention,
        },
    }


def test_reinforced_memory_keeps_profile_policy_action_authority_and_mission(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        fact(memory, "The mole is built of granite.", "mole", key="mole")
        mission = {"authority": "accepted_parent", "mission_id": "harbour"}
        memory.feedback("mole", "fact", feedback="helpful", session="mole", purpose=PROFILE, metadata=mission)
        memory.query("mole", "mole")
        (kept,) = memory.recall.backend.current("mole", ["memory_feedback"], AsOf(), 5)
    fields = kept.entity.properties
    assert {f"purpose_{name}": value for name, value in PROFILE.items()}.items() <= fields.items()
    assert (fields["authority"], fields["mission_id"]) == ("accepted_parent", "harbour")


# Skills


def test_a_skill_whose_case_is_in_the_question_is_attached_and_memory_does_not_say_that_it_holds_nothing(
    memory: Memory,
) -> None:
    steps = ["Close the valve", "Call the harbour master"]
    case = "the bilge alarm rings; or when oil is on the water"
    memory.skill("propose", "bilge", session="skills", name="Bilge", procedure=steps, applicability=case)
    for number in range(20):
        fact(memory, f"Berth {number} costs {number} crowns a night.", "skills")
    question = "We are moored for the night in a foreign port, it is raining, and oil spreads over the water: what now?"
    reply = checkout(memory, None, "skills", question)
    assert [one["skill_id"] for one in reply["diagnostics"]["skills"]["items"]] == ["bilge"]
    assert '  1. "Close the valve"' in reply["prompt"]
    assert reply["quality"]["answerability"] != "ask_user"
    assert "holds nothing" not in reply["prompt"]
    assert "No current fact in memory bears" not in reply["prompt"]


def test_a_skill_that_shares_a_word_by_chance_is_not_attached(memory: Memory) -> None:
    memory.skill(
        "propose", "paint", session="chance", summary="Paint the hull", procedure=["Sand"], applicability="hull repairs"
    )
    reply = checkout(memory, None, "chance", "How much did the paint shop in Hamburg charge our uncle last week?")
    assert "skills" not in reply["diagnostics"]


# Kinds


def test_every_kind_is_named_by_its_own_name_or_one_of_its_words() -> None:
    assert {kind for text in KIND_WORDS.values() for kind in kinds_named(text)} == KIND_WORDS.keys()
    for kind, text in KIND_WORDS.items():
        assert kinds_named(text) == (kind,)


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (row("transcript_turn"), "talk"),
        (row("command_run"), "check"),
        (row("", event_type="document.indexed"), "source"),
        (row("event", event_type="incident.opened"), "issue"),
        (row("actor", event_type="note.taken"), ""),
    ],
)
def test_a_row_is_of_the_kind_that_its_entity_or_its_event_names(result: Result, kind: str) -> None:
    assert kind_of(result) == kind


def test_an_action_is_shown_with_what_it_added() -> None:
    assert RowAction("c", "left_out", "draft").as_dict() == {"citation": "c", "action": "left_out", "why": "draft"}
    assert RowAction("c", "lifted", "coding: check", 1.234).as_dict()["by"] == 1.23
