"""Rows are shown in sentences wherever they are shown: what was recorded in fields reads as a person would say it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembered import SESSION, log_of
from zaxy.eventloom.opening import files_log
from zaxy.memory import Memory
from zaxy.terminal.event_row import text_of_row

RECORDED: dict[str, tuple[str, dict[str, Any], str]] = {
    "decision": (
        "decision.made",
        {"decision": "Sow rye after the maize", "rationale": "it holds the soil", "key": "winter-crop"},
        "Sow rye after the maize. Rationale: it holds the soil",
    ),
    "issue": (
        "issue.diagnosed",
        {"issue": "The kiln trips at 900 °C", "root_cause": "a cracked element", "fix": "replace element 2"},
        "The kiln trips at 900 °C. Fix: replace element 2. Root cause: a cracked element",
    ),
    "task": (
        "task.proposed",
        {"title": "Order seed trays", "owner": "Mina", "due": "2026-03-02", "task_id": "T-4"},
        "Order seed trays. Due: 2026-03-02. Owner: Mina. Status: proposed. Task id: T-4",
    ),
    "handoff": (
        "handoff.created",
        {"summary": "Night shift done", "next_steps": ["drain tank 2", "call Ines"], "risks": ["ice on the ramp"]},
        "Night shift done. Next steps: drain tank 2, call Ines. Risks: ice on the ramp",
    ),
    "fact": (
        "fact.recorded",
        {"subject": "greenhouse", "attribute": "night temperature", "value": "14 °C"},
        "greenhouse night temperature: 14 °C",
    ),
    "verification": (
        "verification.recorded",
        {"name": "restore drill", "result": "passed", "outcome": "six minutes"},
        "Name: restore drill. Outcome: six minutes. Result: passed",
    ),
    "edit": ("file.edit.applied", {"path": "beds/plan.md", "summary": "a fourth bed"}, "beds/plan.md: a fourth bed"),
    "document": (
        "document.indexed",
        {"path": "beds/soil.md", "title": "Soil", "content": "Bed 1 is clay.\nBed 2 is loam."},
        "Soil: Bed 1 is clay. Bed 2 is loam.",
    ),
    "turn": ("transcript.turn", {"role": "user", "content": "I moved the hoses."}, "I moved the hoses."),
}
WORKING = {"decision": "decisions", "issue": "blockers", "task": "tasks", "handoff": "artifacts"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def record(memory: Memory, name: str) -> int:
    event_type, payload, _ = RECORDED[name]
    return memory.append(event_type, payload, actor="ada", session=SESSION).seq


def said_in_log(name: str) -> str:
    """The sentences without the status that only the graph's rule gives."""
    return RECORDED[name][2].replace(" Status: proposed.", "")


@pytest.mark.parametrize("name", RECORDED)
def test_the_last_events_are_shown_in_sentences(memory: Memory, name: str) -> None:
    record(memory, name)
    assert [one["text"] for one in memory.checkout("gardens", SESSION).as_dict()["recent"]] == [said_in_log(name)]
    assert [one["text"] for one in memory.context("gardens", SESSION).replay] == [said_in_log(name)]


@pytest.mark.parametrize("name", RECORDED)
def test_what_context_finds_is_shown_in_the_sentences_of_a_checkout(memory: Memory, name: str) -> None:
    seq = record(memory, name)
    question = RECORDED[name][2]
    (found,) = memory.context(question, SESSION).context
    assert found["content"] == said_in_log(name)
    reply = memory.checkout(question, SESSION).as_dict()
    facts = {fact["citation"]: fact["content"] for fact in (*reply["current_facts"], *reply["evidence"])}
    (content,) = [text for citation, text in facts.items() if f"events/{seq}#" in citation]
    shown = content.rstrip("…")
    assert said_in_log(name).startswith(shown) or RECORDED[name][2].startswith(shown)


@pytest.mark.parametrize("name", WORKING)
def test_the_working_set_is_shown_in_sentences(memory: Memory, name: str) -> None:
    record(memory, name)
    (item,) = memory.context("gardens", SESSION).working_set[WORKING[name]]
    assert item["text"] == RECORDED[name][2]
    assert f'"{RECORDED[name][2]}"' in memory.context("gardens", SESSION).prompt


def test_a_thing_of_several_events_is_shown_with_what_each_of_them_says(memory: Memory) -> None:
    first = {"task_id": "T-9", "task": "Repair the fence", "due": "Friday", "owner": "Mina"}
    memory.append("task.proposed", first, actor="ada", session=SESSION)
    memory.append("task.claimed", {"task_id": "T-9", "owner": "Tariq"}, actor="ada", session=SESSION)
    (item,) = memory.context("gardens", SESSION).working_set["tasks"]
    assert item["text"] == "Repair the fence. Due: Friday. Owner: Tariq. Status: claimed. Task id: T-9"


def test_of_a_long_row_whole_sentences_are_shown(memory: Memory) -> None:
    long = "it " + "really " * 30 + "holds"
    decision = {"decision": "Sow rye after the maize", "rationale": long, "scope": "field 3"}
    memory.append("decision.made", decision, actor="ada", session=SESSION)
    (item,) = memory.context("gardens", SESSION).working_set["decisions"]
    assert item["text"] == "Sow rye after the maize. … Scope: field 3"


@pytest.mark.parametrize("name", RECORDED)
def test_a_printed_log_has_the_same_sentences(memory: Memory, tmp_path: Path, name: str) -> None:
    record(memory, name)
    ((line, _),) = files_log(str(log_of(tmp_path).parent)).records(SESSION)
    assert text_of_row(line) == " ".join(said_in_log(name).split())
