"""`memory_query` is short: ten rows fit 1,500 tokens, and say what a model needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from remembered import SESSION, decision, fact, turn
from zaxy.api.models import Draft
from zaxy.api.tools import Call
from zaxy.memory import Memory
from zaxy.serve.catalog import Catalog, own_tools
from zaxy.token_count import count_tokens

HISTORIES = sorted((Path(__file__).parent / "bench" / "answers" / "histories" / "tune").glob("*.json"))
TOOLS = Catalog(own_tools())
TAIL = "It was discussed at length with everybody who works there, and nobody had anything to add to that. "
FIELDS = {"content", "citation", "source_lane", "score", "event_type", "actor", "valid_from"}


def called(memory: Memory, tool: str, **arguments: Any) -> dict[str, Any]:
    given = {"session_id": SESSION, **arguments}
    return dict(TOOLS.find(tool).answer(Call(memory, given, lambda done, total: None)))


def cost(reply: dict[str, Any]) -> int:
    return count_tokens(orjson.dumps(reply).decode())


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def lengthy(memory: Memory) -> Memory:
    for number in range(14):
        turn(memory, f"{TAIL * 4}The crane {number} lifts {number + 40} tons. {TAIL * 4}", source=f"chat {number}")
        decision(memory, f"Crane {number} is painted. {TAIL * 6}", key=f"paint {number}", rationale=TAIL * 3)
    return memory


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_ten_rows_of_a_history_fit_1500_tokens(memory: Memory, path: Path) -> None:
    history = json.loads(path.read_text())
    drafts = [Draft(event["type"], event["actor"], event["payload"]) for event in history["events"]]
    memory.append_many(drafts, SESSION)
    fewer = 0
    questions = [question["ask"] for question in history["questions"]]
    for question in questions:
        reply = called(memory, "memory_query", query=question)
        assert cost(reply) <= reply["tokens_used"] <= 1500
        fewer += len(reply["results"]) < len(memory.query(question, SESSION, max_tokens=1_000_000).results)
    assert fewer <= len(questions) // 8  # the hashes in citations, which differ each time, decide the last tokens


def test_ten_long_rows_fit_and_the_first_ones_say_what_was_asked(lengthy: Memory) -> None:
    reply = called(lengthy, "memory_query", query="how many tons does the crane 7 lift?")
    assert len(reply["results"]) == 10
    assert cost(reply) <= reply["tokens_used"] <= 1500
    assert any("The crane 7 lifts 47 tons." in row["content"] for row in reply["results"][:3])


@pytest.mark.parametrize(
    "text", ("港のクレーンは重いです。" * 60, "ปั้นจั่นที่ท่าเรือหนักมาก " * 40, "Der Hafenkran ist schwer. " * 40)
)
def test_long_rows_of_every_script_fit_too(memory: Memory, text: str) -> None:
    for number in range(12):
        turn(memory, f"{number} {text}", source=f"chat {number}")
    reply = called(memory, "memory_query", query=text[:12])
    assert len(reply["results"]) == 10
    assert cost(reply) <= 1500


def test_every_row_has_its_citation_and_no_field_says_what_another_says(lengthy: Memory) -> None:
    for row in called(lengthy, "memory_query", query="crane painted tons")["results"]:
        assert row.keys() >= FIELDS
        assert lengthy.resolve(row["citation"]).session == SESSION
        texts = [str(value) for key, value in row.items() if key not in ("citation", "score")]
        assert len(texts) == len(set(texts))
        assert not row["content"].startswith(row.get("entity_name", "nothing"))


def test_a_page_with_room_has_every_field(memory: Memory) -> None:
    fact(memory, "The crane lifts nine tons.")
    (row,) = called(memory, "memory_query", query="crane")["results"]
    assert row.keys() >= {*FIELDS, "score_explanation", "valid_to", "metadata", "entity_type"}
    assert row["score_explanation"] == {"source": "keyword", "weighted_score": row["score"]}
    assert row["content"] == "The crane lifts nine tons."


def test_what_was_shortened_is_whole_in_a_verbatim_read(lengthy: Memory) -> None:
    query = "how many tons does the crane 7 lift?"
    shown = next(row for row in called(lengthy, "memory_query", query=query)["results"] if "47 tons" in row["content"])
    assert "…" in shown["content"]
    whole = called(lengthy, "memory_verbatim", query='"crane 7 lifts 47 tons"')["results"]
    assert [row["citation"] for row in whole] == [shown["citation"]]
    assert whole[0]["content"] == lengthy.resolve(shown["citation"]).payload["content"]


def test_pages_of_short_rows_show_each_row_once(lengthy: Memory) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = called(lengthy, "memory_query", query="crane", limit=6, max_tokens=700, **cursor)
        assert page["tokens_used"] <= 700
        seen += [row["citation"] for row in page["results"]]
        if not page["next_cursor"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert len(seen) == len(set(seen)) == 28


def test_a_larger_budget_shows_more_of_a_row(lengthy: Memory) -> None:
    query = "how many tons does the crane 7 lift?"
    small, large = (
        called(lengthy, "memory_query", query=query, limit=5, max_tokens=budget)["results"] for budget in (700, 6000)
    )
    assert [row["citation"] for row in small] == [row["citation"] for row in large]
    assert all(len(one["content"]) < len(two["content"]) for one, two in zip(small, large, strict=True))
