"""Feedback: good words reinforce, others are kept, and none is about something that is not there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembered import SESSION, fact
from zaxy.api.models import AsOf, Event
from zaxy.assemble.purpose import purpose_of
from zaxy.errors import ZaxyError
from zaxy.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def lamp(memory: Memory) -> Event:
    return fact(memory, "The harbour lamp burns whale oil.", key="lamp")


@pytest.mark.parametrize("word", ("used", "helpful"))
def test_good_words_reinforce_with_all_that_was_said(memory: Memory, lamp: Event, word: str) -> None:
    details: dict[str, Any] = {
        "importance": 0.8,
        "query": "which oil?",
        "source": "graph",
        "score": 1.7,
        "citation": lamp.citation,
        "reason": "it settled it",
    }
    event = memory.feedback("lamp", "fact", feedback=word, actor="grace", session=SESSION, **details)
    assert (event.type, event.actor) == ("memory.reinforced", "grace")
    assert event.payload == {"entity_name": "lamp", "entity_type": "fact", "feedback": word, **details}


def test_irrelevant_is_kept_for_audit_and_changes_nothing(memory: Memory, lamp: Event) -> None:
    before = memory.checkout("What does the harbour lamp burn?", SESSION).as_dict()
    event = memory.feedback("lamp", "fact", feedback="irrelevant", session=SESSION, citation=lamp.citation)
    assert event.type == "memory.feedback"
    after = memory.checkout("What does the harbour lamp burn?", SESSION).as_dict()
    assert after["current_facts"] == before["current_facts"]
    assert after["quality"] == before["quality"]
    assert memory.resolve(lamp.citation) == lamp


def test_what_was_reinforced_comes_first(memory: Memory) -> None:
    first, second = (fact(memory, f"The harbour lamp number {name} burns oil.", key=name) for name in ("one", "two"))
    rows = memory.query("harbour lamp oil", SESSION).results
    last = rows[-1]
    for _ in range(3):
        memory.feedback(last.entity_name, "fact", feedback="helpful", session=SESSION, citation=last.citation)
    reinforced = {row.citation: row.score for row in memory.query("harbour lamp oil", SESSION).results}
    assert reinforced.keys() >= {first.citation, second.citation}
    assert reinforced[last.citation] > last.score


def test_feedback_is_no_fact(memory: Memory, lamp: Event) -> None:
    details = {"citation": lamp.citation, "reason": "the harbour lamp burns whale oil, this settled it"}
    memory.feedback("lamp", "fact", feedback="used", session=SESSION, **details)
    reply = memory.checkout("What does the harbour lamp burn?", SESSION).as_dict()
    shown = [*reply["current_facts"], *reply["evidence"]]
    assert [memory.resolve(one["citation"]).type for one in shown] == ["fact.recorded"]


def test_purpose_and_outcome_are_kept(memory: Memory, lamp: Event) -> None:
    details: dict[str, Any] = {"purpose": purpose_of("coordinate").as_dict(), "outcome": "handed over"}
    event = memory.feedback("lamp", "fact", feedback="used", session=SESSION, **details)
    assert event.payload is not None
    assert {key: event.payload[key] for key in details} == details
    rows = memory.recall.backend
    memory.query("lamp", SESSION)
    (row,) = rows.current(SESSION, ["memory_feedback"], AsOf(), 5)
    assert row.entity.properties["purpose_preset"] == "coordinate"
    assert row.entity.properties["purpose_evidence_policy"] == "accepted_parent_state_required"
    assert row.entity.properties["outcome"] == "handed over"


def test_feedback_on_a_packet_keeps_where_its_projection_came_from(memory: Memory) -> None:
    metadata = {"source": "packet_memory", "packet_id": "p-7", "projection": {"backend": "sqlite", "seq": 12}}
    event = memory.feedback("p-7", "packet_memory", feedback="used", session=SESSION, metadata=metadata)
    assert event.payload is not None
    assert event.payload["metadata"] == metadata
    assert memory.replay(SESSION)[-1].payload == event.payload


@pytest.mark.parametrize(
    ("entity_name", "entity_type", "word", "details", "says"),
    [
        ("lamp", "fact", "loved", {}, "used, helpful, irrelevant"),
        ("lamp", "fact", "Used", {}, "used, helpful, irrelevant"),
        ("lamp", "fact", "", {}, "used, helpful, irrelevant"),
        (" ", "fact", "used", {}, "entity_name"),
        ("lamp", "", "used", {}, "entity_type"),
        ("lamp", "fact", "used", {"importance": 1.01}, "importance"),
        ("lamp", "fact", "used", {"importance": -0.1}, "importance"),
        ("lamp", "fact", "used", {"importance": "high"}, "importance"),
        ("lamp", "fact", "used", {"importance": True}, "importance"),
        ("lamp", "fact", "used", {"importance": math.nan}, "importance"),
        ("lamp", "fact", "used", {"score": "best"}, "score"),
        ("lamp", "fact", "used", {"score": math.nan}, "score"),
        ("lamp", "fact", "used", {"colour": "red"}, "colour"),
        ("lamp", "fact", "used", {"citation": "not a citation"}, "citation"),
        ("lamp", "fact", "used", {"citation": 7}, "citation"),
    ],
)
def test_feedback_that_makes_no_sense_is_refused_and_nothing_is_written(
    memory: Memory, lamp: Event, entity_name: str, entity_type: str, word: str, details: dict[str, Any], says: str
) -> None:
    with pytest.raises(ZaxyError) as refused:
        memory.feedback(entity_name, entity_type, feedback=word, session=SESSION, **details)
    assert refused.value.code == "invalid_request"
    assert says in f"{refused.value.message} {refused.value.remediation}"
    assert memory.head(SESSION) == 1


@pytest.mark.parametrize(
    "citation",
    (
        f"eventloom://{SESSION}/events/1#000000000000",
        f"eventloom://{SESSION}/events/99#0123456789ab",
        "eventloom://nobody/events/1#0123456789ab",
    ),
    ids=("wrong hash", "no such event", "no such session"),
)
@pytest.mark.parametrize("word", ("used", "irrelevant"))
def test_a_citation_that_does_not_resolve_is_not_found_and_nothing_is_written(
    memory: Memory, lamp: Event, citation: str, word: str
) -> None:
    with pytest.raises(ZaxyError) as refused:
        memory.feedback("lamp", "fact", feedback=word, session=SESSION, citation=citation)
    assert refused.value.code == "not_found"
    assert memory.head(SESSION) == 1
    assert memory.sessions() == [SESSION]


def test_a_long_and_a_short_citation_are_both_taken(memory: Memory, lamp: Event) -> None:
    short = f"{lamp.citation.partition('#')[0]}#{lamp.hash[:12]}"
    for citation in (lamp.citation, short):
        event = memory.feedback("lamp", "fact", feedback="used", session=SESSION, citation=citation)
        assert event.payload is not None
        assert event.payload["citation"] == citation
