"""A server follows the log while nobody reads, and stops when it is told to."""

from __future__ import annotations

import time
from pathlib import Path

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
