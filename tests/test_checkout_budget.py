"""A checkout keeps to its budget of tokens, whatever memory holds, and its best fact always comes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from remembered import SESSION, citations_in, decision, fact, project
from zaxy.api.models import Event
from zaxy.assemble.token_budget import tokens_of
from zaxy.errors import InvalidRequest
from zaxy.memory import Memory
from zaxy.token_count import count_tokens

DATABASE = "What does the billing service use?"
BUDGETS = (1500, 1600, 1800, 2000, 2500, 3000, 4000, 8000)
LONG = "with a long tail of words that says why, when and for whom it was so " * 8
MARKED = 'a \\ back-slash, a "quotation", a\nnew line and `ticks` ' * 12


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def memory(workspace: Path) -> Iterator[Memory]:
    with Memory.open(workspace) as opened:
        yield opened


@pytest.fixture(scope="module")
def events(memory: Memory) -> dict[str, Event]:
    return project(memory)


def cited(reply: dict[str, Any]) -> list[str]:
    return [one["citation"] for one in reply["current_facts"]]


def checked_out(memory: Memory, question: str, **asked: Any) -> dict[str, Any]:
    return memory.checkout(question, SESSION, **asked).as_dict()


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A large working set and long facts, skills with outcomes, and texts that are mostly marks."""
    with Memory.open(tmp_path_factory.mktemp("crowded")) as memory:
        for number in range(30):
            text = f"harbour crane {number} {LONG if number % 2 else MARKED}"
            memory.append("goal.created", {"goal": f"goal of {text}"}, actor="ada", session=SESSION)
            decision(memory, f"decision on {text}", key=f"decision {number}")
            memory.append("task.proposed", {"task": f"task for {text}"}, actor="ada", session=SESSION)
            memory.append("issue.diagnosed", {"issue": f"issue with {text}"}, actor="ada", session=SESSION)
            memory.append(
                "file.edit.applied", {"path": f"src/{number}/{'folder/' * 20}crane.py"}, actor="ada", session=SESSION
            )
            fact(memory, f"The harbour crane {number} lifts {number} tons {text}")
            fact(memory, f"港のクレーン {number} は重い。" * 30, key=f"港 {number}")
        steps = {"procedure": [f"Step {number}: {LONG}" for number in range(9)], "summary": "Move the harbour crane"}
        memory.skill("propose", "move-crane", session=SESSION, **steps)
        for score in (0.9, 0.8):
            memory.skill("record_outcome", "move-crane", session=SESSION, success_score=score)
        yield memory


QUESTIONS = (
    "What does the harbour crane 7 lift?",
    "harbour crane",
    "where are we?",
    "Who paints the lighthouse?",
    "how many tons does the harbour crane lift in total, and how long " + "and why " * 400,
    "クレーン " * 400,
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text[:20])
def test_a_default_checkout_of_a_large_memory_fits_3000_tokens(crowded: Memory, question: str) -> None:
    reply = checked_out(crowded, question)
    assert reply["tokens_used"] <= 3000
    assert tokens_of(reply) <= reply["tokens_used"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text[:20])
@pytest.mark.parametrize("purpose", (None, {"preset": "security", "role": "reviewer " * 26, "task": "audit " * 39}))
def test_a_checkout_keeps_to_its_budget_and_tells_what_found_no_room(
    crowded: Memory, question: str, purpose: object
) -> None:
    whole = checked_out(crowded, question, max_tokens=1_000_000, purpose=purpose)
    assert whole["truncated"] is False
    for budget in BUDGETS:
        reply = checked_out(crowded, question, max_tokens=budget, purpose=purpose)
        assert reply["tokens_used"] <= budget
        if not whole["tokens_used"] <= budget <= whole["tokens_used"] + 200:
            assert reply["truncated"] is (whole["tokens_used"] > budget)
        assert reply["quality"]["answerability"] == whole["quality"]["answerability"]
        assert cited(reply) == cited(whole)[: len(cited(reply))]
        assert bool(cited(reply)) == bool(cited(whole))
        assert len(reply["guidance"].get("feedback", {"payloads": []})["payloads"]) == min(len(cited(reply)), 2)


def smallest(ask: Callable[[int], dict[str, Any]]) -> int:
    """The smallest budget that works, as the refusal of one token says it."""
    with pytest.raises(InvalidRequest) as refused:
        ask(1)
    found = re.fullmatch(r"The smallest that works here is (\d+)\.", refused.value.remediation)
    assert found and "max_tokens 1 is too little" in refused.value.message
    return int(found.group(1))


def kept(ask: Callable[[int], dict[str, Any]], budget: int) -> dict[str, Any] | None:
    """The reply, which keeps to its budget as a whole and in its prompt; None where it is refused, and rightly."""
    try:
        reply = ask(budget)
    except InvalidRequest:
        assert smallest(ask) > budget
        return None
    assert count_tokens(reply["prompt"]) <= tokens_of(reply) <= reply["tokens_used"] <= budget
    assert citations_in(reply) or not reply.get("current_facts", reply.get("context"))
    return reply


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text[:20])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(budget=st.integers(50, 3000))
def test_a_checkout_of_any_budget_keeps_to_it_or_says_the_smallest_that_works(
    crowded: Memory, question: str, budget: int
) -> None:
    reply = kept(lambda tokens: checked_out(crowded, question, max_tokens=tokens), budget)
    if reply is not None:
        whole = checked_out(crowded, question, max_tokens=1_000_000)
        assert reply["quality"]["answerability"] == whole["quality"]["answerability"] in reply["prompt"]
        assert cited(reply) == cited(whole)[: len(cited(reply))]
        assert bool(cited(reply)) == bool(cited(whole))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text[:20])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(budget=st.integers(50, 3000))
def test_a_context_of_any_budget_keeps_to_it_or_says_the_smallest_that_works(
    crowded: Memory, question: str, budget: int
) -> None:
    kept(lambda tokens: crowded.context(question, SESSION, max_tokens=tokens).as_dict(), budget)


@pytest.mark.parametrize("question", (*QUESTIONS, "Who paints the lighthouse?"), ids=lambda text: text[:20])
def test_the_smallest_budget_gives_the_verdict_and_the_first_row_with_its_citation(
    crowded: Memory, question: str
) -> None:
    def ask(tokens: int) -> dict[str, Any]:
        return checked_out(crowded, question, max_tokens=tokens)

    least, whole = smallest(ask), ask(1_000_000)
    assert least < 800
    reply = kept(ask, least)
    assert reply is not None and reply["truncated"] is True
    shown = [*reply["current_facts"], *reply["evidence"]]
    assert [one["citation"] for one in shown] == [
        one["citation"] for one in [*whole["current_facts"], *whole["evidence"]][:1]
    ]
    assert all(one["citation"] in reply["prompt"] and one["content"] for one in shown)
    assert kept(ask, least - 1) is None


def test_a_plain_question_fits_400_tokens(memory: Memory, events: dict[str, Event]) -> None:
    for question in (DATABASE, "Who paints the lighthouse?"):
        reply = checked_out(memory, question, max_tokens=400)
        assert reply["tokens_used"] <= 400
        assert reply["prompt"].startswith("# Memory Checkout")
        assert kept(lambda tokens: memory.context(DATABASE, SESSION, max_tokens=tokens).as_dict(), 250) is not None


def test_a_turn_is_recorded_once_even_if_its_context_does_not_fit(crowded: Memory) -> None:
    head = crowded.head(SESSION)
    turn = crowded.after_turn("user", "What does the harbour crane lift?", session=SESSION, max_tokens=40)
    assert turn.event.seq == crowded.head(SESSION) == head + 1
    assert turn.context.context == []
    (warning,) = turn.context.warnings
    assert "is too little for a context. The smallest that works here is" in warning
