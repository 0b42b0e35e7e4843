"""The written histories of the answers bench hold what they say of themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.answers.histories import FOLDER, load
from bench.answers.measures import calibration_error, share

FILES = (*sorted(FOLDER.glob("*/*.json")), FOLDER.parent / "two_weeks.json")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_words_of_every_answer_stand_in_an_event_that_answers(path: Path) -> None:
    history = load(path)
    said = {event.label: json.dumps(event.payload, ensure_ascii=False).casefold() for event in history.events}
    assert len(said) == len(history.events)
    for question in history.questions:
        texts = [said[label] for label in question.events]
        assert all(any(word.casefold() in text for text in texts) for word in question.words), question.ask
        assert bool(question.words) == question.answerable
        assert not question.as_of or question.as_of in said


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_not_recorded_is_of_three_kinds_and_pairs_of_three_relations(path: Path) -> None:
    history = load(path)
    kinds = {question.kind for question in history.questions if not question.answerable}
    assert kinds == {"other_topic", "same_kind", "attribute"}
    assert {pair.relation for pair in history.pairs} == {"update", "conflict", "compatible"}
    order = {event.label: number for number, event in enumerate(history.events)}
    assert all(order[pair.older] < order[pair.newer] for pair in history.pairs)


def test_a_share_is_in_percent_and_of_nothing_there_is_none() -> None:
    assert share([True, False, True, True]) == 75
    assert share([]) is None
    assert calibration_error([]) is None
