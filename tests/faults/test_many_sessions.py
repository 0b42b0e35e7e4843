"""Thousands of sessions in one server that may open few files: none is refused, and descriptors stay few."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from served import Server

if sys.platform == "linux":
    import resource

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc and sets limits with prlimit"),
    pytest.mark.slow,
]
SESSIONS = int(os.environ.get("ZAXY_MANY_SESSIONS", "600"))
LIMIT = 256
MAX_OPEN = 200
"""Descriptors that the server may hold at any time."""
EVERY = 25
UNDER = ("/bin/sh", "-c", f'ulimit -n {LIMIT}; exec "$@"', "sh")
NO_MORE = 3
"""A limit under which nothing can be opened: only the standard streams have lower numbers."""
BURST = 12


@contextmanager
def started(folder: Path) -> Iterator[Server]:
    with Server(folder, under=UNDER, ZAXY_MAX_CALLS_PER_MINUTE="1000000") as server:
        assert resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0] == LIMIT
        yield server


def append(server: Server, session: str) -> dict[str, Any]:
    payload = {"fact": f"The lamp of {session} burns oil", "key": "lamp"}
    return server.call("memory_append", event_type="fact.recorded", actor="ada", payload=payload, session_id=session)


def ask(server: Server, session: str) -> dict[str, Any]:
    return server.call("memory_query", query="which lamp burns oil", session_id=session)


def wrong_with(reply: dict[str, Any], session: str) -> object:
    """Why a reply is not the whole answer of a session; nothing where it is."""
    if "error" in reply or reply.get("warnings") or reply.get("notices"):
        return reply.get("error") or (reply.get("warnings"), reply.get("notices"))
    texts = [row["content"] for row in reply["results"]]
    return "" if len(texts) == 1 and f"The lamp of {session} burns oil" in texts[0] else texts


def descriptors(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.mark.timeout(300 + SESSIONS)
def test_sessions_beyond_the_limit_of_open_files_are_all_served(tmp_path: Path) -> None:
    held, refused, wrong = [], {}, {}
    with started(tmp_path / "here") as server:
        for number in range(SESSIONS):
            session = f"s{number}"
            if "error" in (reply := append(server, session)):
                refused[session] = reply["error"]
            elif found := wrong_with(ask(server, session), session):
                wrong[session] = found
            if not number % EVERY:
                held.append(descriptors(server))
        for number in range(0, SESSIONS, EVERY):  # those of the beginning too
            if found := wrong_with(ask(server, f"s{number}"), f"s{number}"):
                wrong[f"s{number} again"] = found
    assert not refused, f"{len(refused)} of {SESSIONS} appends were refused, first {next(iter(refused.items()))}"
    assert not wrong, f"{len(wrong)} answers were not whole, first {next(iter(wrong.items()))}"
    assert max(held) <= MAX_OPEN, held


def limit_open_files(server: Server, limit: int) -> None:
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, LIMIT))


def test_after_a_burst_without_free_descriptors_the_same_calls_work(tmp_path: Path) -> None:
    known, new = [f"known{number}" for number in range(BURST)], [f"new{number}" for number in range(BURST)]
    with started(tmp_path / "here") as server:
        assert [session for session in known if "error" in append(server, session)] == []
        limit_open_files(server, NO_MORE)
        refused = [append(server, session) for session in new]
        for session in known:
            ask(server, session)  # answered or refused, as long as it is answered
        limit_open_files(server, LIMIT)
        assert {reply["error"]["code"] for reply in refused} == {"unavailable"}
        assert all(reply["error"]["remediation"] for reply in refused)
        assert [session for session in new if "error" in append(server, session)] == []
        replies = {session: wrong_with(ask(server, session), session) for session in (*known, *new)}
        assert {session: wrong for session, wrong in replies.items() if wrong} == {}
        for session in new:  # what was refused was not written
            events = server.call("memory_replay", session_id=session)["results"]
            assert len(events) == 1, (session, events)
