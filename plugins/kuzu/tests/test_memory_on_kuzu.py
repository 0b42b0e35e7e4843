"""The whole memory on Kuzu: the answers of the built-in graph, and one owner at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from zaxy.api.models import Draft
from zaxy.memory import Memory

SESSION = "work"
PEOPLE = ("Ada", "Bob", "Eve")
THINGS = ("cache", "queue", "search index", "login page")
STORES = ("SQLite", "Redis", "Postgres", "a file")
QUESTIONS = (
    "where is the cache kept?",
    "what did Bob say about the queue?",
    "who decided on the search index",
    "login page",
    "ZX-0017",
    '"moved to Redis"',
    "what is related to the cache",
    "which store do we use now for the queue",
)


def history() -> list[Draft]:
    """Decisions that replace each other, facts about things, turns of conversations, and a correction."""
    drafts = []
    for number in range(120):
        who, thing, store = PEOPLE[number % 3], THINGS[number % 4], STORES[number // 4 % 4]
        text = f"The {thing} moved to {store}, see ZX-{number:04d}."
        day = f"2026-03-{number // 5 + 1:02d}T10:00:00Z"
        payload: dict[str, Any] = {"decision": f"Keep the {thing} in {store}", "key": thing, "occurred_at": day}
        if number % 3 == 1:
            payload = {"fact": text, "subject": thing, "occurred_at": day}
        elif number % 3 == 2:
            payload = {"role": "user", "speaker": who, "content": text, "source": f"chat {number // 20}"}
        drafts.append(Draft(("decision.made", "fact.recorded", "transcript.turn")[number % 3], who, payload))
    return drafts


def answers(folder: Path) -> list[Any]:
    """What every question gives now, at a time and as known at an event: citations in order, scores, windows."""
    with Memory.open(folder) as memory:
        asked = [
            memory.query(question, SESSION, 20, temporal_filter, known_at)
            for question in QUESTIONS
            for temporal_filter, known_at in (("", None), ("2026-03-10", None), ("", 60))
        ]
    assert [answer.warnings for answer in asked if answer.warnings] == []
    return [
        [(row.citation, round(row.score, 9), row.valid_from, row.valid_to, row.entity_name) for row in answer.results]
        for answer in asked
    ]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with Memory.open(tmp_path / "here") as memory:
        memory.append_many(history(), SESSION)
    return tmp_path / "here"


def test_one_log_gives_the_same_answers_on_kuzu_as_on_the_built_in_graph(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_kuzu = Path(copytree(workspace, workspace.with_name("there")))
    built_in = answers(workspace)
    monkeypatch.setenv("ZAXY_EMBEDDED_ENGINE", "kuzu")
    assert answers(with_kuzu) == built_in
    assert sum(map(len, built_in)) > 100
    assert (with_kuzu / ".eventloom" / "followers" / "projection_backends-kuzu").is_dir()


def test_one_log_gives_the_same_checkouts_on_kuzu_as_on_the_built_in_graph(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_kuzu = Path(copytree(workspace, workspace.with_name("there")))

    def checkouts(folder: Path) -> list[Any]:
        purposes = (None, "coding", "research")
        with Memory.open(folder) as memory:
            return [
                memory.checkout(question, SESSION, purpose=purpose).as_dict()
                for question in (*QUESTIONS, "where are we?")
                for purpose in purposes
            ]

    built_in = checkouts(workspace)
    monkeypatch.setenv("ZAXY_EMBEDDED_ENGINE", "kuzu")
    assert checkouts(with_kuzu) == built_in
    assert any(reply["current_facts"] and reply["working_set"]["decisions"] for reply in built_in)


def test_a_second_process_is_told_who_has_the_graph_and_its_appends_still_succeed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAXY_EMBEDDED_ENGINE", "kuzu")

    def zaxy(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "zaxy", *words, "--session-id", SESSION, "--workspace", str(workspace)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    with Memory.open(workspace) as owner:
        assert owner.query("cache", SESSION).results
        asked = zaxy("query", "cache")
        said = asked.stdout + asked.stderr
        assert f"process {os.getpid()}" in said, said
        appended = zaxy("append", "note.taken", "--payload", '{"text": "the kettle is in the hall"}')
        assert (appended.returncode, appended.stderr) == (0, "")
        assert zaxy("verbatim", "kettle").stdout.count("the kettle is in the hall") == 1
        assert "the kettle is in the hall" in owner.query("where is the kettle?", SESSION).results[0].content
