"""A server follows the log while nobody reads, and stops when it is told to."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from zaxy.api import Draft
from zaxy.follow.background import Background
from zaxy.memory import Memory


def behind(memory: Memory, session: str) -> int:
    return sum(state.behind for state in memory.followers_status(session))


def test_followers_of_all_sessions_come_up_to_the_log_while_nobody_reads(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.follow_in_background()
        memory.follow_in_background()
        for number in range(30):
            memory.append("note.taken", {"text": f"note {number}"}, session=("one", "two")[number % 2])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and behind(memory, "one") + behind(memory, "two"):
            time.sleep(0.05)
        assert (behind(memory, "one"), behind(memory, "two")) == (0, 0)
        assert [row.content for row in memory.query("note 28", session="one", limit=1).results] == ["note 28"]


def test_nothing_is_followed_after_the_memory_was_closed(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    memory.append("note.taken", {"text": "first"}, session="one")
    memory.follow_in_background()
    memory.close()
    with Memory.open(tmp_path) as other:
        other.append("note.taken", {"text": "second"}, session="one")
        time.sleep(1.2)
        assert behind(other, "one")


def test_what_is_stopped_before_it_starts_never_follows(tmp_path: Path) -> None:
    """A server's client may leave while the server is still opening memory, in another thread."""
    with Memory.open(tmp_path) as memory:
        memory.append("note.taken", {"text": "first"}, session="one")
        background = Background(memory.recall.loop, memory.sessions, every=0.01)
        background.stop()
        background.start()
        time.sleep(0.2)
        assert behind(memory, "one")


def backlog(memory: Memory, count: int, session: str = "long") -> None:
    for _ in range(0, count, 500):
        memory.append_many([Draft("note.taken", "user", {"text": f"note {number}"}) for number in range(500)], session)


def test_a_read_does_not_wait_for_a_backlog_that_it_cannot_have(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        backlog(memory, 1000)
        pace = memory.recall.loop.pace
        pace.in_background, pace._rate = True, 10.0
        memory.recall.patience = 2.0
        before = memory.followers_status("long")
        answer = memory.query("note 7", session="long")
        assert memory.followers_status("long") == before, "nothing was followed meanwhile"
        assert answer.warnings[0] == "text of long is 1,000 events behind the log (event 0 of 1,000)"
        assert pace.wanted() == ["long"]


def test_where_no_rate_is_known_the_first_batch_gives_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(tmp_path) as memory:
        backlog(memory, 2000)
        pace = memory.recall.loop.pace
        pace.in_background = True
        monkeypatch.setattr(pace, "measured", lambda events, seconds: setattr(pace, "_rate", 1.0))  # a slow machine
        states = memory.recall.loop.catch_up("long", 60.0)
        assert [state.seq for state in states] == [500, 500] and pace.wanted() == ["long"]


def test_a_backlog_that_the_rate_allows_is_followed_before_the_answer(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        backlog(memory, 500)
        pace = memory.recall.loop.pace
        pace.in_background, pace._rate = True, 1e9
        assert not memory.query("note 7", session="long").warnings


def test_without_a_background_a_read_follows_for_as_long_as_it_may(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        backlog(memory, 500)
        memory.recall.loop.pace._rate = 0.001
        assert not memory.query("note 7", session="long").warnings


def test_the_background_goes_on_with_what_was_read_first_and_finishes_it(tmp_path: Path) -> None:
    worked: list[str] = []
    with Memory.open(tmp_path) as memory:
        for session in ("a", "b", "long"):
            backlog(memory, 500, session)
        loop = memory.recall.loop
        work_on = loop.work_on
        loop.work_on = lambda session, seconds: (worked.append(session), work_on(session, seconds))[1]  # type: ignore[method-assign,func-returns-value]
        loop.pace.want("long")
        background = Background(loop, memory.sessions, every=0.01)
        background.start()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and any(behind(memory, session) for session in ("a", "b", "long")):
            time.sleep(0.05)
        background.stop()
        assert worked[0] == "long" and not loop.pace.wanted() and not loop.pace.in_background
        assert [behind(memory, session) for session in ("a", "b", "long")] == [0, 0, 0]
