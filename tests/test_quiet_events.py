"""Records of how memory was used are in the graph and in replay, and stand in front of nothing that they repeat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from zaxy import Memory

ARTIFACT = {
    "artifact_id": "the-count-of-boats",
    "query": "How many boats are in the harbour?",
    "answer_candidates": [{"rank": 1, "type": "count", "answer": "seven boats in the harbour", "value": 7}],
    "ledger_rows": [{"fact_id": "f1", "source_group": "g1", "label": "seven boats in the harbour"}],
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as memory:
        memory.append("fact.recorded", {"fact": "There are seven boats in the harbour.", "key": "boats"})
        yield memory


def found(memory: Memory, query: str) -> str:
    return json.dumps([memory.checkout(query).as_dict()["current_facts"], memory.checkout(query).as_dict()["evidence"]])


def test_a_recorded_answer_is_in_the_graph_and_never_an_answer_itself(memory: Memory) -> None:
    memory.append("memory.synthesis.artifact.created", ARTIFACT)
    memory.append(
        "memory.synthesis.used", {"artifact_id": "the-count-of-boats", "candidate": ARTIFACT["answer_candidates"][0]}
    )
    memory.append("memory.evidence.reinforced", {"row": ARTIFACT["ledger_rows"][0], "outcome": "used"})
    shown = found(memory, "How many boats are in the harbour?")
    assert "There are seven boats" in shown
    assert "the-count-of-boats" not in shown
    assert [row.entity.name for row in memory.current(["synthesis_artifact"])] == ["the-count-of-boats"]
    assert "memory.synthesis.used" in [event.type for event in memory.replay()]


def test_a_correction_of_an_answer_is_told(memory: Memory) -> None:
    correction = "Nine boats lie in the harbour since the regatta."
    memory.append("memory.synthesis.corrected", {"artifact_id": "the-count-of-boats", "correction": correction})
    assert "regatta" in found(memory, "How many boats since the regatta?")
