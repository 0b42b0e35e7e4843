"""Extractors of plugins: their rows are added, and those that raise, hang or lie lose only their own."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import made_folder
from outside_extractors import install_extractor
from zaxy.api.models import AsOf
from zaxy.eventloom.citation import parse_citation
from zaxy.extract import rules
from zaxy.memory import Memory

SESSION = "work"
GOOD = "return Extraction((Entity(f'ticket {event.seq}', 'ticket', 'T'),))"


@pytest.fixture
def extractor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))

    def make(body: str, version: str = "'1'") -> str:
        return install_extractor(site, body, version)

    return make


def remembered(memory: Memory, events: int = 4) -> set[str]:
    """The types of the entities that the graph holds of a few decisions."""
    for number in range(events):
        memory.append("decision.made", {"decision": f"decision {number}"}, session=SESSION)
    assert len(memory.query("decision", SESSION, limit=100, max_tokens=10**6).results) == events
    rows = memory.recall.backend.rows_of_events(SESSION, list(range(1, events + 1)), AsOf())
    return {row.entity.entity_type for row in rows}


def test_an_extractor_adds_rows_and_its_version_is_kept(tmp_path: Path, extractor: Callable[..., str]) -> None:
    name = extractor(GOOD)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert remembered(memory) == {"decision", "actor", "ticket"}
        cursor = memory.recall.texts.cursor(SESSION)
        assert cursor and re.match(rf"built-in@{rules.VERSION} {name}@1/2[ |]", cursor.fed_by)
        assert memory.query("decision", SESSION).notices == ()


LIES = {
    "raises": "raise LookupError('no rows today')",
    "exits": "raise SystemExit(3)",
    "returns nothing": "return None",
    "returns rows in a list": "return [Entity('a', 'ticket', 'T')]",
    "entities are none": "return Extraction(None, None)",
    "entities in a list": "return Extraction([Entity('a', 'ticket', 'T')])",
    "closes a built-in row": "r = EntityRef('decision', 'a')\nreturn Extraction(closings=(Closing(event.time, r),))",
    "closes badly": "return Extraction(closings=None)",
    "closes at no time": "return Extraction(closings=(Closing('', seq=1),))",
    "writes a built-in type": "return Extraction((Entity('decision 1', 'decision', 'changed'),))",
    "writes a built-in relation": "r = EntityRef('ticket', 'a')\nreturn Extraction((), (Edge(r, r, 'made_decision'),))",
    "too many rows": "return Extraction(tuple(Entity(f'a {n}', 'ticket', 'T') for n in range(2000)))",
    "a row that is none": "return Extraction(('a',))",
    "a name that is none": "return Extraction((Entity(None, 'ticket', 'T'),))",
    "a blank name": "return Extraction((Entity('  ', 'ticket', 'T'),))",
    "half a character": "return Extraction((Entity('a\\ud800', 'ticket', 'T'),))",
    "a huge summary": "return Extraction((Entity('a', 'ticket', 'T' * 1000000),))",
    "a time that is none": "return Extraction((Entity('a', 'ticket', 'T', {}, 'yesterday'),))",
    "a property that is no JSON": "return Extraction((Entity('a', 'ticket', 'T', {'x': object()}),))",
    "properties of mixed keys": "return Extraction((Entity('a', 'ticket', 'T', {1: 1, 'x': 2}),))",
    "a number that is none": "return Extraction((Entity('a', 'ticket', 'T', {'x': float('nan')}),))",
    "a sure edge": "r = EntityRef('ticket', 'a')\nreturn Extraction((), (Edge(r, r, 'x', 'very'),))",
    "an edge to nothing": "return Extraction((), (Edge(None, None, 'x'),))",
    "evidence that is none": "r = EntityRef('ticket', 'a')\nreturn Extraction((), (Edge(r, r, 'x', evidence=b'e'),))",
}


@pytest.mark.parametrize("lie", LIES)
def test_an_extractor_that_lies_loses_its_own_rows_only(
    tmp_path: Path, extractor: Callable[..., str], lie: str
) -> None:
    name, good = extractor(LIES[lie]), extractor(GOOD)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert remembered(memory) == {"decision", "actor", "ticket"}
        answer = memory.query("decision", SESSION)
        assert answer.warnings == ()
        assert any(name in said for said in answer.notices)
        assert not any(good in said for said in answer.notices)
        assert memory.recall.backend.stats(SESSION).entities == 4 + 1 + 4


@pytest.mark.parametrize("version", ["None", "7", "'a' * 20000", "property(lambda self: 1 / 0)"])
def test_an_extractor_without_a_version_adds_nothing(
    tmp_path: Path, extractor: Callable[..., str], version: str
) -> None:
    name = extractor(GOOD, version)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        assert remembered(memory) == {"decision", "actor"}
        assert any(name in said for said in memory.query("decision", SESSION).notices)


def test_an_extractor_that_hangs_costs_one_wait(
    tmp_path: Path, extractor: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zaxy.follow.extraction.SECONDS_FOR_EACH", 1.0)
    name, _ = extractor("threading.Event().wait()"), extractor(GOOD)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        began = time.monotonic()
        assert remembered(memory, 60) == {"decision", "actor", "ticket"}
        assert time.monotonic() - began < 30, "a wait for each event would take a minute"
        assert any(name in said and "did not come back" in said for said in memory.query("decision", SESSION).notices)


def test_extractors_do_not_see_what_zaxy_writes_for_itself(tmp_path: Path, extractor: Callable[..., str]) -> None:
    extractor(GOOD)
    with Memory.open(made_folder(tmp_path / "here")) as memory:
        event = memory.append("decision.made", {"decision": "one"}, session=SESSION)
        memory.recall.store.set_ref("refs/heads/main", memory.recall.store.resolve(parse_citation(event.citation)))
        memory.query("decision", SESSION)
        assert memory.recall.backend.stats(SESSION).entities == 3
