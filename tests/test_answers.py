"""What a checkout makes of what was found: statements with their fields, in one list, with honest marks and advice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zaxy.memory import Memory

SESSION = "work"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as memory:
        yield memory


def checked_out(memory: Memory, question: str, **options: Any) -> dict[str, Any]:
    return memory.checkout(question, SESSION, **options).as_dict()


def lines(reply: dict[str, Any]) -> list[str]:
    """The rows of the prompt."""
    held = reply["prompt"].partition("## What Memory Holds\n")[2].partition("\n\n")[0]
    return held.splitlines()


@pytest.mark.parametrize(
    ("event_type", "payload", "question", "stated"),
    [
        (
            "decision.made",
            {"title": "Card payments", "decision": "We take Mollie.", "rationale": "the fees are half of the others"},
            "why do we take Mollie for card payments?",
            "Rationale: the fees are half of the others",
        ),
        (
            "issue.diagnosed",
            {"title": "Mails land in spam", "root_cause": "the DKIM selector was wrong", "fix": "publish pw1"},
            "why do the mails land in spam?",
            "Root cause: the DKIM selector was wrong",
        ),
        (
            "task.proposed",
            {"id": "T-7", "title": "Voucher import", "owner": "tobi", "due": "2026-04-02"},
            "who owns the voucher import?",
            "Owner: tobi",
        ),
        (
            "handoff.created",
            {"summary": "The ledger is migrated.", "next_steps": ["run the nightly check"], "risks": ["old exports"]},
            "what are the next steps for the ledger?",
            "run the nightly check",
        ),
        (
            "incident.opened",
            {"id": "INC-4", "title": "Cold room alarm", "impact": "two pallets were thrown away"},
            "what was the impact of the cold room alarm?",
            "Impact: two pallets were thrown away",
        ),
        (
            "fact.recorded",
            {"subject": "label printer", "relation": "port", "value": "8443"},
            "which port has the label printer?",
            "label printer port: 8443",
        ),
    ],
)
def test_a_row_states_what_its_event_states(
    memory: Memory, event_type: str, payload: dict[str, Any], question: str, stated: str
) -> None:
    memory.append(event_type, payload, actor="ada", session=SESSION)
    memory.append("fact.recorded", {"fact": "The canteen closes at two."}, actor="bo", session=SESSION)
    reply = checked_out(memory, question)
    assert stated in lines(reply)[0]
    assert any(stated in fact["content"] for fact in reply["current_facts"])


def test_of_a_long_turn_the_sentences_that_bear_on_the_question_are_shown(memory: Memory) -> None:
    filling = "We also spoke about the garden fence and its colour. " * 8
    text = f"{filling}The boiler loses pressure because the valve leaks. {filling}"
    memory.append("transcript.turn", {"speaker": "ada", "content": text}, actor="ada", session=SESSION)
    (line,) = lines(checked_out(memory, "why does the boiler lose pressure?"))
    assert "The boiler loses pressure because the valve leaks." in line
    assert len(line) < 560


def test_what_is_related_but_not_certain_stands_in_the_prompt_with_its_citation(memory: Memory) -> None:
    event = memory.append(
        "transcript.turn",
        {"speaker": "joost", "content": "Veldkamp called: the batteries come on 2 April."},
        actor="joost",
        session=SESSION,
    )
    reply = checked_out(memory, "When will the batteries be delivered?")
    assert reply["quality"]["answerability"] == "refresh_recommended"
    (line,) = [line for line in lines(reply) if "2 April" in line]
    assert f"/events/{event.seq}#" in line and "by joost" in line
    assert "deliver" in str(reply["diagnostics"]["judgement"]["words_not_found"])
    assert "Answer if a cited line states it outright" in reply["guidance"]["answer"]


def test_the_newer_of_two_statements_of_one_person_stands_directly_above_the_older(memory: Memory) -> None:
    said = (
        ("2026-03-02T10:00:00Z", "My flight home leaves on 28 July."),
        ("2026-05-02T10:00:00Z", "My flight home leaves on 3 August."),
    )
    for when, text in said:
        payload = {"speaker": "haruka", "content": text, "occurred_at": when}
        memory.append("transcript.turn", payload, actor="haruka", session=SESSION)
        memory.append("fact.recorded", {"fact": f"The heating was checked {when[:10]}."}, actor="bo", session=SESSION)
    reply = checked_out(memory, "When does the flight home leave?")
    first, second = lines(reply)[:2]
    assert "3 August" in first
    assert second.startswith("- perhaps replaced:") and "28 July" in second
    (older,) = [row for row in reply["evidence"] if "maybe_replaced_by" in row]
    assert older["maybe_replaced_by"] in first


def test_two_people_who_give_one_thing_two_values_conflict(memory: Memory) -> None:
    for actor, value in (("joost", "every 6 months"), ("ebba", "every 12 months")):
        payload = {"subject": "Heron probes", "relation": "calibration interval", "value": value}
        memory.append("fact.recorded", payload, actor=actor, session=SESSION)
    reply = checked_out(memory, "What is the calibration interval of the Heron probes?")
    (conflict,) = reply["conflicts"]
    assert {claim["content"].rpartition(": ")[2] for claim in conflict["claims"]} == {
        "every 6 months",
        "every 12 months",
    }
    assert reply["quality"]["answerability"] == "refresh_recommended"


def test_values_of_two_relations_of_one_thing_both_hold_and_do_not_conflict(memory: Memory) -> None:
    for relation, value in (("blood group", "A positive"), ("shoe size", "31")):
        payload = {"subject": "Emil", "relation": relation, "value": value}
        memory.append("fact.recorded", payload, actor="ada", session=SESSION)
    assert "A positive" in lines(checked_out(memory, "Which blood group has Emil?"))[0]
    reply = checked_out(memory, "Which shoe size has Emil?")
    assert "31" in lines(reply)[0]
    assert reply["conflicts"] == []


def test_advice_names_another_call_than_the_one_just_made_and_ends(memory: Memory) -> None:
    memory.append("fact.recorded", {"fact": "The ledger is backed up at 02:30 UTC."}, actor="ada", session=SESSION)
    asked = ["When is the quarterly ledger printed?"]
    for _ in range(5):
        action = checked_out(memory, asked[-1])["quality"]["required_action"]
        if action is None or action["tool"] == "memory_verbatim":
            break
        assert (action["tool"], action["session_id"]) == ("memory_checkout", SESSION)
        assert action["query"] not in asked
        asked.append(action["query"])
    else:
        pytest.fail(f"the advice does not end: {asked}")


def test_with_ask_user_nobody_is_sent_to_a_tool_that_is_none(memory: Memory) -> None:
    memory.append("fact.recorded", {"fact": "The canteen closes at two."}, actor="ada", session=SESSION)
    reply = checked_out(memory, "Which quaternion library renders the holograms?")
    assert reply["quality"]["answerability"] == "ask_user"
    assert reply["quality"]["required_action"] is None
    assert "ask the user" in reply["guidance"]["answer"]


def test_the_follow_up_and_the_feedback_of_a_reply_go_to_its_session_and_change_no_answer(memory: Memory) -> None:
    memory.append("fact.recorded", {"fact": "The canteen closes at two."}, actor="ada", session=SESSION)
    before = checked_out(memory, "When does the canteen close?")
    follow_up = before["guidance"]["next"]["arguments"]
    assert follow_up["session_id"] == SESSION
    again = memory.checkout(follow_up["query"], follow_up["session_id"]).as_dict()
    assert (again["quality"], again["current_facts"]) == (before["quality"], before["current_facts"])
    for payload in before["guidance"]["feedback"]["payloads"]:
        assert payload.pop("session_id") == SESSION
        memory.feedback(**payload, session=SESSION)
    after = checked_out(memory, "When does the canteen close?")
    assert [fact["content"] for fact in after["current_facts"]] == [fact["content"] for fact in before["current_facts"]]


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Der Heizkessel verliert Druck, weil das Ventil tropft.", "Warum verliert der Heizkessel Druck?"),
        ("El grupo sanguíneo de Emil es A positivo.", "¿Cuál es el grupo sanguíneo de Emil?"),
        ("La réunion du conseil est reportée au jeudi 12 mars.", "Quand a lieu la réunion du conseil ?"),
        ("Собрание перенесли на четверг, в библиотеку.", "Когда собрание в библиотеке?"),
        ("図書館の鍵は玄関の棚にあります。", "図書館の鍵はどこにありますか"),
        ("图书馆的钥匙在前门的架子上。", "图书馆的钥匙在哪里？"),
    ],
)
def test_a_question_in_another_language_gets_what_was_said_in_it(memory: Memory, said: str, question: str) -> None:
    for other in ("The canteen closes at two.", "Ana paints the fence in May.", "Deploys happen on Mondays."):
        memory.append("fact.recorded", {"fact": other}, actor="bo", session=SESSION)
    memory.append("transcript.turn", {"speaker": "eva", "content": said}, actor="eva", session=SESSION)
    reply = checked_out(memory, question)
    assert reply["quality"]["answerability"] != "ask_user"
    assert said in lines(reply)[0]
