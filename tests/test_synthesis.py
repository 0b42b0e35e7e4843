"""Composed answers: which rows count, what follows from them, how sure that is, and what is put on record."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zaxy.access import access_to
from zaxy.api.models import EntityRef, Event
from zaxy.api.synthesis import (
    AnswerCandidate,
    Bundle,
    LedgerRow,
    artifact_payload,
    checked_outcome,
    matching_candidate,
)
from zaxy.assemble.bootstrap import RHYTHM, TOOLS
from zaxy.errors import Forbidden, InvalidRequest
from zaxy.memory import Memory
from zaxy.rights import WRITER, Permission

SESSION = "sums"
FUEL = "How much did we spend on fuel in March 2026?"
Reply = dict[str, Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def spend(memory: Memory, amount: float, day: str = "2026-03-04", category: str = "fuel", **more: object) -> Event:
    fields = {"category": category, "amount": amount, "currency": "EUR", "occurred_at": day, **more}
    return memory.append("expense.recorded", fields, session=SESSION)


def asked(memory: Memory, question: str, **given: Any) -> Reply:
    return memory.checkout(question, SESSION, **{"max_tokens": 20_000, **given}).as_dict()


def synthesis(reply: Reply) -> Reply:
    found: Reply = reply["diagnostics"]["synthesis"]
    return found


def top(memory: Memory, question: str) -> Reply:
    found: Reply = synthesis(asked(memory, question))["answer_candidates"][0]
    return found


def reasons(reply: Reply) -> dict[str, str]:
    return {row["fact_id"]: row.get("exclude_reason", "") for row in synthesis(reply)["ledger_rows"]}


@pytest.fixture
def fuel(memory: Memory) -> Reply:
    """The checkout of a sum over three rows, with one outside the period."""
    for amount, day in ((10, "2026-03-04"), (20.5, "2026-03-09"), (30, "2026-03-30"), (99, "2026-04-01")):
        spend(memory, amount, day)
    return asked(memory, FUEL)


# Candidates and ledger


def test_a_candidate_has_rank_type_answer_value_unit_confidence_and_its_sources(fuel: Reply) -> None:
    assert synthesis(fuel)["answer_candidates"] == [
        {
            "rank": 1,
            "type": "sum",
            "answer": "60.5 EUR",
            "value": 60.5,
            "unit": "EUR",
            "confidence": 0.9,
            "support_source_ids": ["source-1", "source-2", "source-3"],
            "excluded_source_ids": ["source-4"],
        }
    ]


def test_a_ledger_row_says_what_it_is_and_why_it_counts_or_not(memory: Memory, fuel: Reply) -> None:
    first, *_, last = synthesis(fuel)["ledger_rows"]
    assert (first["fact_id"], first["source_group"], first["value"], first["unit"]) == ("fact-1", "source-1", 10, "EUR")
    assert memory.resolve(first["citation"]).seq == 1
    assert first["label"] and first["include_reason"] and "exclude_reason" not in first
    assert (last["fact_id"], last["exclude_reason"]) == ("fact-4", "outside the period")


def test_the_reply_says_how_many_rows_were_looked_at_and_that_these_are_all(fuel: Reply) -> None:
    found = synthesis(fuel)
    assert (found["looked_at"], found["counted"], found["excluded"], found["complete"]) == (4, 3, 1, True)
    assert found["missing"] == []


def test_the_prompt_has_the_first_candidate_with_its_citations(fuel: Reply) -> None:
    line = next(line for line in fuel["prompt"].splitlines() if "60.5 EUR" in line)
    assert synthesis(fuel)["ledger_rows"][0]["citation"] in line
    assert "these are all" in fuel["prompt"]


def test_an_answer_that_rests_on_all_rows_and_on_fields_is_an_answer_from_memory(fuel: Reply) -> None:
    assert (fuel["quality"]["answerability"], fuel["quality"]["required_action"]) == ("answer_from_memory", None)


def test_a_sum_counts_all_rows_and_not_the_best_eight(memory: Memory) -> None:
    for number in range(1, 61):
        spend(memory, number, "2026-03-10")
    assert top(memory, FUEL)["value"] == sum(range(1, 61))


def test_a_large_ledger_is_cut_to_the_budget_and_the_artifact_binds_all_rows(memory: Memory) -> None:
    for number in range(1, 61):
        spend(memory, number, "2026-03-10")
    reply = asked(memory, FUEL, max_tokens=2500)
    shown = synthesis(reply)
    assert reply["tokens_used"] <= 2500
    assert shown["truncated"] and 0 < len(shown["ledger_rows"]) < 60
    assert all("include_reason" in row for row in shown["ledger_rows"])
    recorded = memory.resolve(memory.synthesis_artifact(reply).artifact["citation"])
    assert len(recorded.payload["ledger_rows"]) == 60  # type: ignore[index, arg-type]
    assert len(recorded.payload["answer_candidates"][0]["support_source_ids"]) == 60  # type: ignore[index]


def test_of_a_thing_that_was_corrected_only_the_newest_version_counts(memory: Memory) -> None:
    for key, amount in (("bill-1", 30), ("bill-2", 50), ("bill-1", 40)):
        memory.append(
            "fact.recorded", {"key": key, "fact": "Fuel bill", "amount": amount, "unit": "EUR"}, session=SESSION
        )
    reply = asked(memory, "How much is the fuel bill in total?")
    assert synthesis(reply)["answer_candidates"][0]["value"] == 90
    assert "superseded" in reasons(reply)["fact-1"]


def test_copies_of_one_statement_are_one_source(memory: Memory) -> None:
    for _ in range(2):
        spend(memory, 10)
    spend(memory, 20)
    reply = asked(memory, FUEL)
    assert synthesis(reply)["answer_candidates"][0]["value"] == 30
    copied = next(row for row in synthesis(reply)["ledger_rows"] if row["fact_id"] == "fact-2")
    assert (copied["source_group"], copied["exclude_reason"]) == ("source-1", "a copy of fact-1")


def test_a_sum_over_different_units_is_refused_with_the_reason(memory: Memory) -> None:
    spend(memory, 10)
    spend(memory, 20, currency="USD")
    found = synthesis(asked(memory, FUEL))
    assert found["answer_candidates"] == []
    assert any("different units" in reason for reason in found["missing"])


def test_hours_and_minutes_are_added_in_the_unit_that_is_asked_for(memory: Memory) -> None:
    memory.append("work.logged", {"note": "boiler", "duration_hours": 2}, session=SESSION)
    memory.append("work.logged", {"note": "boiler", "duration_minutes": 30}, session=SESSION)
    assert (top(memory, "How many minutes of work for the boiler?")["value"]) == 150


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did we spend on fuel on average in March 2026?", 20.166667),
        ("What is the highest amount that we spent on fuel in March 2026?", 30),
        ("Wie viel haben wir im März 2026 für fuel ausgegeben?", 60.5),
        ("¿Cuánto gastamos en fuel en marzo de 2026?", 60.5),
        ("Combien avons-nous dépensé pour fuel en mars 2026 ?", 60.5),
    ],
)
def test_the_same_rows_answer_in_several_languages(memory: Memory, fuel: Reply, question: str, answer: float) -> None:
    assert top(memory, question)["value"] == answer


@pytest.mark.parametrize(
    ("sentence", "value", "unit"),
    [
        ("Paid 1,234.50 EUR for fuel on 3 March 2026", 1234.5, "EUR"),
        ("Am 3. März 2026 1.234,50 € für fuel bezahlt", 1234.5, "EUR"),
        ("El 3 de marzo de 2026 pagué 12,50 euros por fuel", 12.5, "EUR"),
        ("Le 3 mars 2026, payé 45 euros pour fuel", 45, "EUR"),
        ("Paid $20 for fuel on 2026-03-03", 20, "USD"),
    ],
)
def test_an_amount_in_a_sentence_is_read_as_its_language_writes_it(
    memory: Memory, sentence: str, value: float, unit: str
) -> None:
    memory.append("fact.recorded", {"fact": sentence}, session=SESSION)
    found = top(memory, FUEL)
    assert (found["value"], found["unit"]) == (value, unit)


def test_a_number_that_can_be_read_in_two_ways_is_left_out_with_that_reason(memory: Memory) -> None:
    memory.append("fact.recorded", {"fact": "Xyzzy: 1.234 EUR"}, session=SESSION)
    assert reasons(asked(memory, "How much did we spend on Xyzzy in total?"))["fact-1"] == (
        "a number that can be read in two ways"
    )


def test_what_was_read_in_sentences_is_never_sure(memory: Memory) -> None:
    for day in (3, 4):
        memory.append("fact.recorded", {"fact": f"Paid {day} EUR for fuel on {day} March 2026"}, session=SESSION)
    assert (top(memory, FUEL)["value"], top(memory, FUEL)["confidence"]) == (7, 0.65)


def test_rows_without_a_value_make_the_answer_partial_and_the_action_names_the_slot(
    memory: Memory, fuel: Reply
) -> None:
    memory.append("expense.recorded", {"category": "fuel", "occurred_at": "2026-03-20"}, session=SESSION)
    reply = asked(memory, FUEL)
    assert synthesis(reply)["answer_candidates"][0]["confidence"] == 0.5
    assert not synthesis(reply)["complete"]
    action = reply["quality"]["required_action"]
    assert action["missing_slots"] == ["numeric"]
    assert len(action["suggested_queries"]) == 1


def test_after_an_erasure_no_candidate_is_sure(memory: Memory, fuel: Reply) -> None:
    memory.forget(synthesis(fuel)["ledger_rows"][0]["citation"], "asked for", actor="user")
    found = synthesis(asked(memory, FUEL))
    assert found["answer_candidates"][0]["confidence"] == 0.5
    assert any("erased" in reason for reason in found["missing"])


def test_a_row_of_another_kind_beside_the_others_makes_the_answer_doubtful(memory: Memory, fuel: Reply) -> None:
    fields = {"fact": "Fuel budget", "amount": 500, "unit": "EUR", "occurred_at": "2026-03-01"}
    memory.append("fact.recorded", fields, session=SESSION)
    assert top(memory, FUEL)["confidence"] <= 0.7


def test_what_was_cancelled_does_not_count(memory: Memory, fuel: Reply) -> None:
    spend(memory, 500, "2026-03-05", status="cancelled")
    reply = asked(memory, FUEL)
    assert synthesis(reply)["answer_candidates"][0]["value"] == 60.5
    assert reasons(reply)["fact-6"] == "its status is 'cancelled'"


def test_tasks_in_a_state_are_counted_by_the_graph(memory: Memory) -> None:
    for number in range(1, 5):
        task = {"id": f"t{number}", "task": f"Step {number}"}
        memory.append("task.proposed", task, actor="ann", session=SESSION)
        if number > 1:
            memory.append("task.completed", task, actor="bob" if number > 2 else "ann", session=SESSION)
    assert top(memory, "How many tasks are still open?")["value"] == 1
    assert top(memory, "How many tasks has Bob completed?")["value"] == 2


def test_two_things_are_compared_and_put_in_order_by_time(memory: Memory, fuel: Reply) -> None:
    spend(memory, 100, "2026-03-05", category="food")
    assert top(memory, "Did we spend more on fuel or on food in March 2026?")["value"] == "food"
    for name, day in (("race", "2026-05-09"), ("checkup", "2026-04-01")):
        memory.append("fact.recorded", {"fact": f"The {name} took place", "occurred_at": day}, session=SESSION)
    assert top(memory, "How many days lie between the checkup and the race?")["value"] == 38
    order = top(memory, "In which order came the race and the checkup?")["answer"]
    assert order.index("checkup") < order.index("race")


def test_a_topic_that_was_never_touched_has_no_candidate(memory: Memory, fuel: Reply) -> None:
    assert synthesis(asked(memory, "How many zebras graze behind the observatory?"))["answer_candidates"] == []


def test_a_plain_question_has_no_synthesis(memory: Memory, fuel: Reply) -> None:
    assert "synthesis" not in asked(memory, "Who pays for the fuel?")["diagnostics"]


def test_the_plan_names_required_and_optional_slots(fuel: Reply) -> None:
    plan = fuel["diagnostics"]["slot_plan"]
    assert (plan["operation"], plan["answer_type"]) == ("sum", "number")
    assert (plan["required_slots"], plan["optional_slots"]) == (["source", "numeric"], ["exact", "semantic"])
    assert [slot["name"] for slot in plan["slots"]] == ["source", "numeric", "exact", "semantic"]


# On record


def test_an_artifact_is_recorded_with_a_hash_of_its_content_for_an_id(memory: Memory, fuel: Reply) -> None:
    done = memory.synthesis_artifact(fuel)
    event = memory.resolve(done.artifact["citation"])
    assert event.type == "memory.synthesis.artifact.created"
    assert event.payload is not None
    assert event.payload["artifact_id"] == done.artifact_id
    content = {key: value for key, value in event.payload.items() if key != "artifact_id"}
    from zaxy.api.synthesis import artifact_id

    assert artifact_id(content) == done.artifact_id


def test_recording_the_same_twice_changes_nothing(memory: Memory, fuel: Reply) -> None:
    first = memory.synthesis_artifact(fuel, {"rank": 1}, outcome="used")
    head = memory.head(SESSION)
    again = memory.synthesis_artifact(fuel, {"rank": 1}, outcome="used")
    assert memory.head(SESSION) == head
    assert again.artifact == {**first.artifact, "replayed": True}


@pytest.mark.parametrize(
    ("outcome", "event_type"),
    [
        ("used", "memory.synthesis.used"),
        ("rejected", "memory.synthesis.rejected"),
        ("corrected", "memory.synthesis.corrected"),
        ("excluded", "memory.evidence.excluded"),
    ],
)
def test_an_outcome_of_a_candidate_has_a_type_of_its_own(
    memory: Memory, fuel: Reply, outcome: str, event_type: str
) -> None:
    correction = "61 EUR" if outcome == "corrected" else ""
    done = memory.synthesis_artifact(fuel, {"rank": 1}, outcome=outcome, correction=correction)
    assert done.outcome is not None
    event = memory.resolve(done.outcome["citation"])
    assert event.type == event_type
    assert event.payload is not None
    assert event.payload["candidate"] == synthesis(fuel)["answer_candidates"][0]


def test_a_candidate_needs_an_outcome(memory: Memory, fuel: Reply) -> None:
    with pytest.raises(InvalidRequest, match="without its outcome"):
        memory.synthesis_artifact(fuel, {"rank": 1})


def test_the_session_is_that_of_the_checkout(memory: Memory, fuel: Reply) -> None:
    assert memory.synthesis_artifact(fuel).artifact["session_id"] == SESSION


def test_who_may_not_use_the_session_of_a_checkout_is_refused(memory: Memory, fuel: Reply) -> None:
    other = access_to(memory, Permission(WRITER, session="other", sessions=frozenset({"other"})))
    with pytest.raises(Forbidden):
        other.synthesis_artifact(fuel)


def test_a_candidate_that_the_checkout_does_not_have_is_refused(memory: Memory, fuel: Reply) -> None:
    with pytest.raises(InvalidRequest, match="no answer candidate"):
        memory.synthesis_artifact(fuel, {"rank": 1, "answer": "61 EUR"}, outcome="used")


@pytest.mark.parametrize(
    "path", [("answer_candidates", 0, "value"), ("answer_candidates", 0, "confidence"), ("counted",), ("looked_at",)]
)
def test_a_checkout_that_was_altered_is_refused(memory: Memory, fuel: Reply, path: tuple[Any, ...]) -> None:
    altered = copy.deepcopy(fuel)
    place: Any = altered["diagnostics"]["synthesis"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = 0.99
    with pytest.raises(InvalidRequest, match="not what memory says"):
        memory.synthesis_artifact(altered)


def test_a_row_that_was_altered_is_refused(memory: Memory, fuel: Reply) -> None:
    altered = copy.deepcopy(fuel)
    altered["diagnostics"]["synthesis"]["ledger_rows"][0]["value"] = 11
    with pytest.raises(InvalidRequest, match="a row of"):
        memory.synthesis_evidence(altered, {"fact_id": "fact-1"}, outcome="used")


def test_what_was_written_since_does_not_change_what_the_checkout_said(memory: Memory, fuel: Reply) -> None:
    spend(memory, 1000)
    done = memory.synthesis_artifact(fuel, {"rank": 1}, outcome="used")
    assert done.candidate is not None
    assert done.candidate["value"] == 60.5


@pytest.mark.parametrize(
    ("outcome", "event_type"),
    [
        ("used", "memory.evidence.reinforced"),
        ("helpful", "memory.evidence.reinforced"),
        ("excluded", "memory.evidence.excluded"),
    ],
)
def test_evidence_keeps_the_row_the_candidate_the_quality_the_plan_and_the_reason(
    memory: Memory, fuel: Reply, outcome: str, event_type: str
) -> None:
    row = synthesis(fuel)["ledger_rows"][1]
    event = memory.synthesis_evidence(fuel, row, outcome=outcome, candidate={"rank": 1}, reason="checked it")
    payload: Any = event.payload
    assert (event.type, event.session) == (event_type, SESSION)
    assert {key: payload["row"][key] for key in row} == row
    assert payload["row"]["support_source_ids"] == ["source-1", "source-2", "source-3"]
    assert payload["candidate"] == synthesis(fuel)["answer_candidates"][0]
    assert payload["quality"] == {"answerability": "answer_from_memory", "confidence": 0.9}
    assert payload["slot_plan"]["query"] == FUEL
    assert payload["reason"] == "checked it"


def test_a_row_that_was_excluded_stays_out_until_it_is_reinforced(memory: Memory, fuel: Reply) -> None:
    event = memory.synthesis_evidence(fuel, {"fact_id": "fact-1"}, outcome="excluded")
    reply = asked(memory, FUEL)
    assert synthesis(reply)["answer_candidates"][0]["value"] == 50.5
    assert reasons(reply)["fact-1"].startswith("excluded by feedback")
    assert f"/events/{event.seq}#" in reasons(reply)["fact-1"]
    memory.synthesis_evidence(reply, {"fact_id": "fact-1"}, outcome="helpful")
    assert top(memory, FUEL)["value"] == 60.5


def test_a_row_that_was_excluded_still_counts_for_another_topic(memory: Memory, fuel: Reply) -> None:
    memory.synthesis_evidence(fuel, {"fact_id": "fact-1"}, outcome="excluded")
    assert top(memory, "How many expenses were there in March 2026?")["value"] == 3


def test_records_of_composed_answers_are_in_the_graph_and_not_among_the_facts(memory: Memory, fuel: Reply) -> None:
    done = memory.synthesis_artifact(fuel, {"rank": 1}, outcome="used")
    assert [row.entity.name for row in memory.current(["synthesis_artifact"], SESSION)] == [done.artifact_id]
    start = [EntityRef("synthesis_artifact", done.artifact_id)]
    relations = {row.edge.relation_type for row in memory.neighbours(start, SESSION, depth=2)}
    assert relations >= {
        "artifact_has_answer_candidate",
        "artifact_has_ledger_row",
        "candidate_supported_by_source_group",
    }
    cited = {fact["citation"] for fact in asked(memory, FUEL)["current_facts"]}
    assert not any(f"/events/{done.artifact['seq']}#" in citation for citation in cited)


def test_a_record_has_the_highest_sensitivity_of_its_rows(memory: Memory) -> None:
    spend(memory, 10)
    fields = {"category": "fuel", "amount": 5, "currency": "EUR", "occurred_at": "2026-03-09"}
    memory.append("expense.recorded", fields, session=SESSION, sensitivity="restricted")
    done = memory.synthesis_artifact(asked(memory, FUEL))
    assert memory.resolve(done.artifact["citation"]).sensitivity == "restricted"


def test_the_rhythm_of_calls_ends_with_the_artifact_and_the_evidence() -> None:
    first_words = [line.split()[0] for line in RHYTHM]
    wanted = ["memory_bootstrap", "memory_checkout", "coordination", "memory_feedback"]
    wanted += ["memory_synthesis_artifact", "memory_synthesis_evidence"]
    assert [word for word in first_words if word in wanted] == wanted
    assert {"memory_synthesis_artifact", "memory_synthesis_evidence"} <= set(TOOLS)


def test_a_checkout_with_a_candidate_says_what_to_record(fuel: Reply) -> None:
    tools = [step["tool"] for step in fuel["guidance"]["synthesis"]]
    assert tools == ["memory_synthesis_artifact", "memory_synthesis_evidence"]


# For packages

ROW = LedgerRow("f1", "s1", "eventloom://m/events/1#0123456789ab", value=4, authority="accepted_parent")
BEST = AnswerCandidate(1, "count", "4", 4, confidence=0.9, support_source_ids=("s1",))


def test_the_same_bundle_has_the_same_id_and_another_has_another() -> None:
    bundle = Bundle("m", "How many?", "count", "number", (BEST,), (ROW,))
    assert artifact_payload(bundle) == artifact_payload(bundle)
    assert artifact_payload(bundle)["artifact_id"] != artifact_payload(bundle._replace(query="Why?"))["artifact_id"]
    assert artifact_payload(bundle)["ledger_rows"][0]["authority"] == "accepted_parent"


def test_a_candidate_is_named_by_its_rank_by_its_answer_or_whole() -> None:
    other = BEST._replace(rank=2, answer="5", value=5)
    for given in ({"rank": 2}, {"answer": "5"}, other.as_dict(), other):
        assert matching_candidate([BEST, other], given) == other
    for wrong in ({"rank": 3}, {"type": "count"}, {"rank": 1, "answer": "5"}, {"color": "red"}):
        with pytest.raises(InvalidRequest):
            matching_candidate([BEST, other], wrong)


def test_an_outcome_and_a_correction_must_fit() -> None:
    assert checked_outcome("used", has_candidate=True) == "used"
    assert checked_outcome("", has_candidate=False) == ""
    for outcome, has_candidate, correction in (
        ("loved", True, ""),
        ("used", False, ""),
        ("used", True, "5"),
        ("corrected", True, ""),
    ):
        with pytest.raises(InvalidRequest):
            checked_outcome(outcome, has_candidate=has_candidate, correction=correction)
