"""What asks for information is never known: no question, request or record of memory's own use is an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembered import SESSION, fact, turn
from zaxy.api.models import Event
from zaxy.extract.own_use import is_own_tool
from zaxy.memory import Memory

QUESTIONS = (
    "Which port does the label printer listen on?",
    "tell me which port the label printer listens on",
    "ラベルプリンターのポートを教えてください。",
    "Do you know who repairs the label printer",
    "Etikettendrucker Anschluss welcher",
    "kto naprawia drukarkę etykiet",
    "etiket yazıcısını kim tamir ediyor",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as memory:
        yield memory


def prompt(memory: Memory, text: str) -> Event:
    payload = {"trigger": "user-prompt-submit", "source": "codex", "summary": text}
    return memory.append("hook.user_prompt_submitted", payload, actor="zaxy-hook", session=SESSION)


def seqs(rows: Any) -> list[int]:
    return [row.seq for row in rows]


def shown(checkout: Any) -> str:
    reply = checkout.as_dict()
    return str([reply["current_facts"], reply["evidence"]])


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("record", [turn, prompt])
def test_a_recorded_question_is_neither_fact_nor_evidence_when_it_is_asked_again(
    memory: Memory, record: Any, text: str
) -> None:
    record(memory, text)
    fact(memory, "The harbour lamp burns whale oil.")
    found = memory.checkout(text, session=SESSION)
    assert found.quality.as_dict()["answerability"] == "ask_user"
    assert "events/1#" not in shown(found)
    assert seqs(memory.query(text, session=SESSION).results) in ([], [2])


@pytest.mark.parametrize("record", [turn, prompt])
def test_a_few_words_without_a_verb_do_not_answer_themselves(memory: Memory, record: Any) -> None:
    record(memory, "alergias de Lucía")
    fact(memory, "The harbour lamp burns whale oil.")
    found = memory.checkout("Alergias de Lucía", session=SESSION)
    assert found.quality.as_dict()["answerability"] == "ask_user"
    assert "events/1#" not in shown(found)


def test_an_answer_is_the_same_with_and_without_recorded_questions(memory: Memory) -> None:
    told = [
        "The label printer listens on port 8443.",
        "The lamp in the harbour burns whale oil.",
        "Grace repairs the scanner on Mondays.",
    ]
    for text in told:
        fact(memory, text, "plain", occurred_at="2026-01-02T10:00:00Z", source="notes")
        fact(memory, text, occurred_at="2026-01-02T10:00:00Z", source="notes")
        for question in QUESTIONS:
            turn(memory, question, occurred_at="2026-03-04T10:00:00Z", source="chat")
    for question in (*QUESTIONS, "who repairs the scanner", "label printer port"):
        plain, asked = (memory.query(question, session=name).results for name in ("plain", SESSION))
        assert [(row.content, row.score) for row in plain] == [(row.content, row.score) for row in asked]
        one, other = (memory.checkout(question, session=name) for name in ("plain", SESSION))
        assert one.quality.as_dict() == _of_session(other.quality.as_dict(), "plain")
        assert [one_["content"] for one_ in one.current_facts] == [fact_["content"] for fact_ in other.current_facts]


def _of_session(quality: dict[str, Any], session: str) -> dict[str, Any]:
    """The same, as it is for another session."""
    action = quality["required_action"]
    return {**quality, "required_action": action and {**action, "session_id": session}}


def test_a_quoted_phrase_finds_a_question_as_it_was_written(memory: Memory) -> None:
    asked = turn(memory, QUESTIONS[0])
    both = turn(memory, "We moved staging to port 9443, can you check it?")
    assert asked.seq not in seqs(memory.verbatim("label printer", session=SESSION).results)
    assert seqs(memory.verbatim('"label printer listen on"', session=SESSION).results)[0] == asked.seq
    assert seqs(memory.verbatim('"port 9443, can you"', session=SESSION).results)[0] == both.seq
    assert asked.seq not in seqs(memory.query('"label printer listen on"', session=SESSION).results)


def test_a_question_points_to_what_was_said_next(memory: Memory) -> None:
    turn(memory, "Which key opens the archive?", source="chat")
    answer = turn(memory, "The small brass one.", source="chat")
    fact(memory, "The harbour lamp burns whale oil.")
    assert seqs(memory.query("archive key", session=SESSION).results)[0] == answer.seq


def test_a_turn_that_tells_and_asks_is_found_by_what_it_tells(memory: Memory) -> None:
    both = turn(memory, "We moved staging to port 9443, can you check the certificate?")
    assert seqs(memory.query("staging port", session=SESSION).results) == [both.seq]
    assert both.citation[:-52] in shown(memory.checkout("which port is staging on", session=SESSION))


@pytest.mark.parametrize("text", ["Always run the linter first.", "Please deploy on Fridays only.", "Use tabs."])
def test_an_instruction_is_found(memory: Memory, text: str) -> None:
    instruction = turn(memory, text)
    assert seqs(memory.query(text, session=SESSION).results) == [instruction.seq]


def test_feedback_does_not_rank_above_what_it_is_about(memory: Memory) -> None:
    told = fact(memory, "The label printer listens on port 8443.")
    memory.feedback("label printer", "fact", feedback="helpful", citation=told.citation, actor="ada", session=SESSION)
    payload = {"feedback": "label printer port", "citation": told.citation}
    memory.append("memory.reinforced", payload, actor="ada", session=SESSION)
    found = memory.query("label printer port feedback", session=SESSION).results
    assert seqs(found) == [told.seq]
    assert "reinforced" in [step.lane for step in found[0].steps]


@pytest.mark.parametrize(
    ("event_type", "payload"),
    [
        ("session.ended", {"reason": "label printer"}),
        ("session.genesis", {"workspace": "label-printer", "summary": "The label printer"}),
        ("hook.stop", {"trigger": "stop", "reason": "label printer"}),
        ("tool.call.completed", {"tool_name": "mcp__zaxy__memory_query", "result_summary": "label printer"}),
        ("tool.call.completed", {"tool_name": "memory_checkout", "result_summary": "label printer"}),
    ],
)
def test_the_use_of_memory_is_no_row_no_fact_and_no_evidence(
    memory: Memory, event_type: str, payload: dict[str, object]
) -> None:
    event = memory.append(event_type, payload, actor="somebody", session=SESSION)
    fact(memory, "The harbour lamp burns whale oil.")
    assert event.seq not in seqs(memory.query("label printer", session=SESSION).results)
    assert event.seq not in seqs(memory.verbatim('"label printer"', session=SESSION).results)
    found = memory.checkout("label printer", session=SESSION).as_dict()
    assert f"events/{event.seq}#" not in str([found["current_facts"], found["evidence"]])
    assert event.seq in [one["seq"] for one in found["recent"]]


@pytest.mark.parametrize("event_type", ["hook.checkpoint", "hook.precompact", "session.ended", "session.summarised"])
def test_a_checkpoint_with_words_of_an_agent_is_evidence(memory: Memory, event_type: str) -> None:
    event = memory.append(event_type, {"summary": "The label printer was moved"}, actor="claude", session=SESSION)
    fact(memory, "The harbour lamp burns whale oil.")
    assert seqs(memory.query("label printer", session=SESSION).results)[:1] == [event.seq]
    found = memory.checkout("was the label printer moved?", session=SESSION).as_dict()
    assert f"events/{event.seq}#" in str([found["current_facts"], found["evidence"]])


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("memory_query", True),
        ("memory.append", True),
        ("mcp__zaxy__memory_checkout", True),
        ("mcp_zaxy_memory_append", True),
        ("zaxy.memory_replay", True),
        ("zaxy-memory/context_assemble", True),
        ("mcp__memory__create_entities", False),
        ("read_memory_map", False),
        ("Bash", False),
        ("galaxy_search", False),
    ],
)
def test_our_tools_are_known_however_a_client_spells_them(name: str, own: bool) -> None:
    assert is_own_tool(name) is own


def test_the_check_of_all_rows_finds_nothing_wrong_with_questions(memory: Memory) -> None:
    for question in QUESTIONS:
        turn(memory, question, source="chat")
        turn(memory, f"It is 8443. {question}", source="chat")
    memory.query("port", session=SESSION)
    assert memory.recall.texts.verify(SESSION) == []
