"""What lanes of plugins add to the judgement of a checkout: words that are alike, and texts that were read."""

from __future__ import annotations

from importlib import invalidate_caches
from itertools import count
from pathlib import Path

import pytest

import outside_lane
from folders import made_folder
from remembered import fact
from zaxy.assemble.quality import ASK, REFRESH
from zaxy.memory import Memory

SESSION = "work"
BILLING = "Invoices leave the office on the last Friday of each month."
TEXTS = ("The label printer listens on port 8443.", BILLING, "Marta waters the plants in the office.")
QUESTION = "When do bills leave the building?"
SYNONYMS = """
def similar_words(self, words, texts):
    alike = {"bills": "invoices", "building": "office"}
    return [[float(alike.get(word.casefold(), word.casefold()) in text.casefold()) for word in words] for text in texts]
"""
EVERYTHING_ALIKE = """
def similar_words(self, words, texts):
    return [[1.0 for word in words] for text in texts]
"""
READER = """
def rerank(self, question, texts):
    return [0.97 if "plants" in text else 0.02 for text in texts]
"""
BAD_ANSWERS = {
    "too few": "return [[0.5 for word in words]]",
    "beyond one": "return [[1.5 for word in words] for text in texts]",
    "no numbers": "return [['x' for word in words] for text in texts]",
    "raises": "raise LookupError('no words today')",
}
_numbers = count()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def judging(site: Path, body: str, *abilities: str) -> str:
    name = outside_lane.install_judging(site, f"judge{next(_numbers)}", body, *abilities)
    invalidate_caches()  # memory was asked before it was there
    return name


def checked_out(tmp_path: Path, question: str = QUESTION) -> dict[str, object]:
    folder = tmp_path / f"memory{next(_numbers)}"
    with Memory.open(made_folder(folder)) as memory:
        for text in TEXTS:
            fact(memory, text)
        return memory.checkout(question, SESSION).as_dict()


def figures(reply: dict[str, object]) -> dict[str, float]:
    return reply["diagnostics"]["judgement"]["figures"]  # type: ignore[index, no-any-return]


def test_words_that_are_alike_count_towards_the_topic_and_stay_among_those_not_found(
    tmp_path: Path, site: Path
) -> None:
    before = checked_out(tmp_path)
    judging(site, SYNONYMS, "word-similarity")
    after = checked_out(tmp_path)
    assert figures(after)["coverage"] > figures(before)["coverage"] + 0.2
    assert figures(after)["unseen"] < figures(before)["unseen"] - 0.2
    assert {"bills", "building"} <= set(after["diagnostics"]["judgement"]["words_not_found"])  # type: ignore[index]
    assert after["current_facts"][0]["content"] == BILLING  # type: ignore[index]


def test_a_name_and_a_number_are_like_no_other(tmp_path: Path, site: Path) -> None:
    question = "Which port does Gottfried open on 9999?"
    before = figures(checked_out(tmp_path, question))
    judging(site, EVERYTHING_ALIKE, "word-similarity")
    after = figures(checked_out(tmp_path, question))
    assert after["unseen_names"] == before["unseen_names"] > 0
    assert 0 < after["unseen"] < before["unseen"]


def test_a_lane_that_finds_everything_alike_does_not_make_an_answer(tmp_path: Path, site: Path) -> None:
    question = "Which vicar lost the office umbrella?"
    assert checked_out(tmp_path, question)["quality"]["answerability"] == ASK  # type: ignore[index]
    judging(site, EVERYTHING_ALIKE, "word-similarity")
    assert checked_out(tmp_path, question)["quality"]["answerability"] == REFRESH  # type: ignore[index]


def test_what_a_reader_takes_for_the_answer_comes_first(tmp_path: Path, site: Path) -> None:
    question = "Who is in charge of the office flowers?"
    assert "reader" not in figures(checked_out(tmp_path, question))
    judging(site, READER, "rerank")
    reply = checked_out(tmp_path, question)
    assert figures(reply)["reader"] == 0.97
    assert reply["current_facts"][0]["content"] == TEXTS[2]  # type: ignore[index]


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_lane_that_answers_nonsense_is_left_out_with_a_notice(name: str, tmp_path: Path, site: Path) -> None:
    plain = checked_out(tmp_path)
    lane = judging(site, f"def similar_words(self, words, texts):\n    {BAD_ANSWERS[name]}", "word-similarity")
    reply = checked_out(tmp_path)
    assert figures(reply) == figures(plain)
    assert [said for said in reply["notices"] if lane in said and "does not help to judge" in said]  # type: ignore[attr-defined]
    assert reply["warnings"] == plain["warnings"] == []
