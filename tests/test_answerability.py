"""What memory can answer it answers, with the right citation; what it cannot, it does not pretend to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from answerable import OTHER_THINGS, OTHER_TOPICS, RECORDED, history
from bench.recall.ours import write_log
from zaxy.assemble.checkout import Checkout
from zaxy.assemble.quality import ANSWER, ASK, REFRESH
from zaxy.memory import Memory

SESSION = "shop"
SIZES = (50, 1_000, 10_000)


@pytest.fixture(scope="module", params=SIZES)
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder: Path = tmp_path_factory.mktemp(f"events-{request.param}")
    write_log(folder, SESSION, list(history(request.param)))
    with closing(Memory.open(folder)) as memory:
        yield memory


@pytest.mark.parametrize("number", range(len(RECORDED)), ids=lambda number: RECORDED[number].question)
def test_a_question_on_something_recorded_is_answered_with_its_citation_among_the_first_three_facts(
    memory: Memory, number: int
) -> None:
    recorded = RECORDED[number]
    reply = memory.checkout(recorded.question, SESSION).as_dict()
    assert reply["quality"]["answerability"] in (ANSWER, REFRESH), reply["evidence"]
    cited = [memory.resolve(fact["citation"]) for fact in reply["current_facts"][:3]]
    assert any(event.payload == recorded.payload for event in cited), [event.payload for event in cited]


@pytest.mark.parametrize("question", OTHER_TOPICS)
def test_a_question_on_a_topic_that_was_never_touched_is_left_to_the_user(memory: Memory, question: str) -> None:
    reply = memory.checkout(question, SESSION).as_dict()
    assert reply["quality"]["answerability"] == ASK, reply["diagnostics"]["judgement"]
    assert reply["current_facts"] == []


def test_of_fifteen_questions_on_other_things_of_a_known_kind_at_most_one_is_answered(memory: Memory) -> None:
    """Words cannot tell them from questions that are answered in other words: a reader must."""
    judged = {one: memory.checkout(one, SESSION) for one in OTHER_THINGS}
    answered = {one: reply.as_dict()["diagnostics"]["judgement"] for one, reply in judged.items() if _answers(reply)}
    assert len(judged) == 15 and len(answered) <= 1, answered


def _answers(reply: Checkout) -> bool:
    return reply.quality.answerability == ANSWER
