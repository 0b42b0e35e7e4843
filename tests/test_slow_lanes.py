"""Lanes that are followed beside all reads: nobody waits for them, and what they have not read yet is said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import invalidate_caches
from pathlib import Path

import pytest

import outside_lane
from conftest import Zaxy
from folders import made_folder
from remembered import fact
from zaxy.memory import Memory

SESSION = "work"
GRANNY = "Granny sees Dr. Okafor for her ears."
QUESTION = "Which physician treats grandmother's hearing?"
LANE = f"lane {outside_lane.SLOW}"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    outside_lane.install_slow(folder)
    invalidate_caches()
    return folder


@pytest.fixture
def memory(tmp_path: Path, site: Path) -> Iterator[Memory]:
    with Memory.open(made_folder(tmp_path / "here")) as opened:
        for text in ("The label printer listens on port 8443.", GRANNY, "Ada likes tea."):
            fact(opened, text)
        yield opened


def found(memory: Memory) -> list[str]:
    return [row.content for row in memory.query(QUESTION, SESSION).results]


def behind(memory: Memory) -> dict[str, int]:
    return {state.follower: state.behind for state in memory.followers_status(SESSION)}


def test_a_read_answers_without_a_slow_lane_and_says_how_far_that_is(memory: Memory) -> None:
    answer = memory.query("Which port does the printer listen on?", SESSION)
    assert "8443" in answer.results[0].content
    assert answer.warnings == ()
    assert [notice for notice in answer.notices if LANE in notice and "3 events behind" in notice]
    assert behind(memory) == {"text": 0, "graph": 0, LANE: 3}


def test_a_slow_lane_that_has_caught_up_finds_what_it_has_read(memory: Memory) -> None:
    assert found(memory) == []
    assert {state.follower: state.behind for state in memory.catch_up_followers(SESSION)}[LANE] == 0
    assert found(memory) == [GRANNY]
    fact(memory, "Nan's GP is Dr. Osei.")
    assert found(memory) == [GRANNY], "what it has read is used, and the rest comes later"


def test_a_server_follows_slow_lanes_beside_the_others(memory: Memory) -> None:
    memory.follow_in_background()
    deadline = time.monotonic() + 120
    while behind(memory)[LANE] and time.monotonic() < deadline:
        time.sleep(0.02)
    assert behind(memory)[LANE] == 0
    assert found(memory) == [GRANNY]


def test_a_rebuild_and_a_digest_take_slow_lanes_too(memory: Memory) -> None:
    first = memory.follower_digests(SESSION)
    assert [state.follower for state in memory.rebuild_followers(SESSION, [LANE])] == [LANE]
    assert memory.follower_digests(SESSION) == first
    assert LANE in first and LANE in [findings.follower for findings in memory.verify_followers(SESSION)]


def test_what_is_erased_is_in_no_file_of_a_slow_lane(memory: Memory, tmp_path: Path) -> None:
    memory.catch_up_followers(SESSION)
    citation = memory.query(QUESTION, SESSION).results[0].citation
    memory.forget(citation, "no longer needed", actor="user")
    here = tmp_path / "here"
    assert [path for path in here.rglob("*") if path.is_file() and b"Okafor" in path.read_bytes()] == []
    assert found(memory) == []


def test_a_command_waits_until_slow_lanes_have_read_everything(
    zaxy: Zaxy, tmp_path: Path, site: Path, memory: Memory
) -> None:
    place = ("--workspace", str(tmp_path / "here"), "--session-id", SESSION)
    assert f"{LANE}  event 0  3 events behind" in zaxy("followers", "status", *place, PYTHONPATH=str(site)).stdout
    done = zaxy("followers", "catch-up", *place, PYTHONPATH=str(site))
    assert done.returncode == 0 and f"{LANE}  event 3  up to date" in done.stdout
