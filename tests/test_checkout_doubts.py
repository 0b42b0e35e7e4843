"""Memory that cannot be trusted is told with a warning, and not answered from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from folders import made_folder
from remembered import SESSION, citations_in, log_of, project, turn
from zaxy.api.models import Event
from zaxy.memory import Memory

DATABASE = "What does the billing service use?"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def memory(workspace: Path) -> Iterator[Memory]:
    with Memory.open(workspace) as opened:
        yield opened


@pytest.fixture(scope="module")
def events(memory: Memory) -> dict[str, Event]:
    return project(memory)


def checked_out(memory: Memory, question: str, **asked: Any) -> dict[str, Any]:
    return memory.checkout(question, SESSION, **asked).as_dict()


@pytest.fixture
def copied(workspace: Path, memory: Memory, events: dict[str, Event], tmp_path: Path) -> Path:
    """The project's folder, to be damaged."""
    memory.checkout(DATABASE, SESSION)
    memory.head(SESSION)  # the mark of the checkout is written behind its reply
    return Path(shutil.copytree(workspace, tmp_path / "copy", ignore=shutil.ignore_patterns("*.lock")))


def test_a_log_that_was_cut_back_is_warned_of_and_not_answered_from(copied: Path) -> None:
    log = log_of(copied)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:4]))
    with Memory.open(copied) as memory:
        for question in (DATABASE, "Which port does the label printer listen on?", "where are we?"):
            reply = checked_out(memory, question)
            assert "cut back" in reply["warnings"][0]
            assert reply["quality"]["answerability"] != "answer_from_memory"
            assert all(memory.resolve(citation) for citation in citations_in(reply))


@pytest.mark.parametrize("what", (b"Postgres", b"Biscuit", b"whale oil"))
def test_a_damaged_log_is_read_with_a_warning_and_not_answered_from(copied: Path, what: bytes) -> None:
    log = log_of(copied)
    log.write_bytes(log.read_bytes().replace(what, what[::-1], 1))
    with Memory.open(copied) as memory:
        assert memory.recall.store.verify(SESSION).damage is not None
        for question in (DATABASE, "What is the cat called?", "What does the harbour lamp burn?", "where are we?"):
            reply = checked_out(memory, question)
            assert any("damaged" in warning for warning in reply["warnings"])
            assert reply["quality"]["answerability"] != "answer_from_memory"
            assert what[::-1].decode() not in str(reply)
        assert memory.capabilities(SESSION).as_dict()["eventloom"]["status"] == "damaged"
        assert memory.bootstrap(SESSION).as_dict()["capabilities"]["warnings"]


def test_damage_that_nobody_has_noticed_yet_is_noticed_where_a_fact_rests_on_it(copied: Path) -> None:
    log = log_of(copied)
    log.write_bytes(log.read_bytes().replace(b"Postgres", b"Postgray", 1))
    with Memory.open(copied) as memory:
        reply = checked_out(memory, DATABASE)
        assert reply["quality"]["answerability"] != "answer_from_memory"
        assert "Postgr" not in reply["prompt"]
        assert any("damaged" in warning for warning in reply["warnings"])


def test_a_frozen_follower_is_warned_of_and_not_answered_from(copied: Path, tmp_path: Path) -> None:
    """The log is replaced by another history, which the followers have not followed."""
    with Memory.open(made_folder(tmp_path / "other")) as other:
        project(other)
        for number in range(30):
            turn(other, f"Remark {number}.")
    shutil.copyfile(log_of(tmp_path / "other"), log_of(copied))
    with Memory.open(copied) as memory:
        assert all(state.frozen for state in memory.followers_status(SESSION))
        for question in (DATABASE, "where are we?"):
            reply = checked_out(memory, question)
            assert reply["warnings"]
            assert reply["quality"]["answerability"] != "answer_from_memory"
            assert all(memory.resolve(citation) for citation in citations_in(reply))


def test_followers_that_lag_are_warned_of_and_not_answered_from(copied: Path) -> None:
    with Memory.open(copied) as memory:
        turn(memory, "One more remark.")
    with Memory.open(copied, patience=0.0) as memory:
        reply = checked_out(memory, DATABASE)
        assert any("behind the log" in warning for warning in reply["warnings"])
        assert reply["quality"]["answerability"] != "answer_from_memory"
