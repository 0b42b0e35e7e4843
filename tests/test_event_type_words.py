"""The words of an event's type: a question that names a kind finds what was recorded under it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remembered import SESSION, fact, turn
from zaxy.memory import Memory
from zaxy.text.rows import type_words

KINDS = {
    "incidents": ("incident.opened", {"what": "Pump 3 stopped at dawn", "site": "Malmö"}),
    "which experiments finished?": ("experiment.finished", {"sample": "H-11", "peel": "4.2 N"}),
    "customer complaints": ("customer.complaint", {"text": "The crates arrived wet"}),
    "parcels": ("parcel.received", {"from": "Leipzig", "weight": "3 kg"}),
    "load tests": ("load_test.finished", {"peak": "410 requests a second"}),
    "reservations": ("hotel.reservation-changed", {"nights": 4, "town": "Cuenca"}),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("question", KINDS)
def test_a_question_that_names_a_kind_finds_what_was_recorded_under_it(memory: Memory, question: str) -> None:
    recorded = {
        asked: memory.append(event_type, payload, actor="ada", session=SESSION)
        for asked, (event_type, payload) in KINDS.items()
    }
    wanted = recorded[question]
    assert [row.seq for row in memory.query(question, SESSION).results][:1] == [wanted.seq]
    found = memory.checkout(question, SESSION).as_dict()
    assert f"events/{wanted.seq}#" in str([found["current_facts"], found["evidence"]])


def test_what_most_types_say_finds_nothing(memory: Memory) -> None:
    fact(memory, "The label printer listens on port 8443.")
    turn(memory, "My cat is called Biscuit.")
    for word in ("recorded", "turn", "transcript"):
        assert memory.query(word, SESSION).results == ()


def test_the_words_of_a_type_make_a_passage_no_longer(memory: Memory) -> None:
    memory.append("shipment.received_late", {"text": "eleven crates"}, actor="ada", session=SESSION)
    turn(memory, "eleven crates")
    memory.query("crates", SESSION)
    with memory.recall.texts.hold(SESSION):
        lengths = {text.length for text in memory.recall.texts.texts(SESSION, (1, 2))}
    assert len(lengths) == 1


def test_words_of_a_type_that_the_text_has_are_not_counted_twice(memory: Memory) -> None:
    memory.append("incident.opened", {"text": "an incident at the pump"}, actor="ada", session=SESSION)
    memory.query("incident", SESSION)
    with memory.recall.texts.hold(SESSION):
        (text,) = memory.recall.texts.texts(SESSION, (1,))
    assert text.words.split().count("incid") == 1


def test_parts_of_a_type_are_stemmed_as_texts_are() -> None:
    assert type_words("task_queue.drained") == ("task", "queue", "drain")
    assert type_words("fact.recorded") == ("fact",)
