"""A Neo4j server that is killed, hangs, is full or never answers: appends go on, reads warn, following resumes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from folders import made_folder
from servers.neo4j_server import Address, Neo4jServer, new_server
from varied_history import record
from zaxy.follow import run
from zaxy.follow.loop import FollowerState
from zaxy.memory import Memory

pytestmark = [
    pytest.mark.xdist_group("neo4j-down"),  # a server of its own, so a worker of its own
    pytest.mark.skipif(os.name != "posix", reason="SIGKILL and SIGSTOP are POSIX"),
]
SESSION = "work"
EVENTS = 500
SMALL_BATCH = 25
AT_MOST = 40.0
"""Seconds that a read may take with a server that hangs; without one, it is a moment."""
AT_ONCE = 20.0
"""Seconds that an append may take on a busy machine."""
TO_RESUME = 90.0
MEGABYTES = 150
QUESTION = "where is the cache kept?"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A disk that can be filled; None where this machine does not let us mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    yield place if mounted else None
    if mounted:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server of our own, since the other tests would miss theirs."""
    started = new_server(tmp_path_factory.mktemp("neo4j") / "server")
    yield started
    started.kill()


def use(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PROJECTION_BACKEND": "neo4j", **address.settings}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def memory(server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory with events that nobody has followed yet, in so small batches that a kill can come between them."""
    use(server.address, monkeypatch)
    monkeypatch.setattr(run, "BATCH", SMALL_BATCH)
    monkeypatch.setattr(run, "MAX_BATCH", SMALL_BATCH)
    with Memory.open(made_folder(tmp_path / "here")) as opened:
        record(opened, EVENTS)
        yield opened


def graph_of(states: list[FollowerState]) -> FollowerState:
    return next(state for state in states if state.follower == "graph")


def until_followed(memory: Memory, ask: bool = True) -> None:
    """Wait until the graph is up to the log, without help from anybody; `ask`: a read follows, a status does not."""
    deadline = time.monotonic() + TO_RESUME
    while True:
        state = graph_of(memory.follow(SESSION) if ask else memory.followers_status(SESSION))
        if not state.behind and not state.problem:
            return
        assert time.monotonic() < deadline, f"it does not resume: {state}"
        time.sleep(0.2)


def until_answered(memory: Memory, question: str) -> list[str]:
    """Wait until a question is answered without a doubt; a server that has just started may take too long at first."""
    deadline = time.monotonic() + TO_RESUME
    while True:
        answer = memory.query(question, SESSION)
        if not answer.warnings and not answer.notices:
            return [row.content for row in answer.results]
        assert time.monotonic() < deadline, f"it does not resume: {answer.warnings} {answer.notices}"
        time.sleep(0.2)


def digest_of_graph(memory: Memory) -> str:
    return memory.follower_digests(SESSION)["graph"]


def kill_amid(memory: Memory, server: Neo4jServer, delay: float) -> FollowerState:
    """Kill the server while this very process follows; where that stopped."""
    before = graph_of(memory.followers_status(SESSION)).seq
    states: list[FollowerState] = []
    following = Thread(target=lambda: states.extend(memory.follow(SESSION)))
    following.start()
    deadline = time.monotonic() + TO_RESUME
    with Memory.open(memory.workspace.root) as other:
        # Two batches, so that of one this process knows as well: it may be killed before it is told of the last.
        while graph_of(other.followers_status(SESSION)).seq <= before + SMALL_BATCH:
            assert time.monotonic() < deadline and following.is_alive(), "nothing was followed"
            time.sleep(0.02)
    time.sleep(delay)
    server.kill()
    following.join()
    return graph_of(states)


def still_useful(memory: Memory, said: str, read_within: float) -> None:
    """Appends are taken at once; reads answer from the words and warn; no event is lost."""
    head = memory.head(SESSION)
    began = time.monotonic()
    event = memory.append("note.taken", {"text": "The kettle is in the hall."}, session=SESSION)
    assert time.monotonic() - began < AT_ONCE
    assert event.seq == head + 1
    began = time.monotonic()
    answer = memory.query("where is the kettle?", SESSION)
    spent = time.monotonic() - began
    assert spent < read_within, f"the answer took {spent:.0f} s"
    assert "The kettle is in the hall." in [row.content for row in answer.results]
    assert [warning for warning in answer.warnings if warning.startswith("graph") and said in warning], answer.warnings
    reply = memory.checkout("where is the kettle?", SESSION).as_dict()
    assert any(said in warning for warning in reply["warnings"]), reply["warnings"]
    plain = memory.verbatim("kettle", SESSION)
    assert plain.warnings == () and plain.results
    assert all(notice.startswith("which of the passages no longer hold is not known") for notice in plain.notices)


def test_a_server_killed_amid_following_and_back_again_ends_in_the_same_digest(
    memory: Memory, server: Neo4jServer
) -> None:
    first = kill_amid(memory, server, 0.0)
    assert first.problem and 0 < first.seq < EVENTS, first
    still_useful(memory, "no Neo4j server answers", AT_MOST)
    server.start()
    second = kill_amid(memory, server, 0.1)
    assert second.problem and first.seq < second.seq < EVENTS, second
    memory.follow_in_background()
    server.start()
    until_followed(memory, ask=False)  # nobody asks, and it goes on by itself
    assert memory.recall.store.verify(SESSION).ok
    mended = digest_of_graph(memory)
    assert until_answered(memory, QUESTION)
    memory.rebuild_followers(SESSION, ["graph"])
    assert digest_of_graph(memory) == mended


def test_a_server_that_hangs_costs_a_bounded_wait_and_is_used_again_when_it_answers(
    memory: Memory, server: Neo4jServer
) -> None:
    until_followed(memory)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        still_useful(memory, "did not answer", AT_MOST)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    until_followed(memory)
    assert "The kettle is in the hall." in until_answered(memory, "where is the kettle?")


def test_a_full_server_loses_nothing_and_is_filled_when_it_has_room(
    memory: Memory, small_disk: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small_disk is None:
        pytest.skip("a small disk cannot be mounted here")
    server = new_server(small_disk / "server")
    try:
        use(server.address, monkeypatch)
        with Memory.open(memory.workspace.root) as on_small_disk:
            fill_and_mend(on_small_disk, server, small_disk)
    finally:
        server.kill()


def fill_and_mend(memory: Memory, server: Neo4jServer, small_disk: Path) -> None:
    filling = small_disk / "filling"
    with suppress(OSError), filling.open("wb", buffering=0) as file:
        while file.write(b"\0" * 4096):  # until there is no room; the server takes some of it meanwhile
            pass
    state = graph_of(memory.follow(SESSION))
    assert state.problem and state.behind, "the disk was not full"
    still_useful(memory, f"graph of {SESSION} stands at event", AT_MOST)
    filling.unlink()
    server.kill()  # it has taken its database off, and only a start brings that back
    server.start()
    until_followed(memory)
    mended = digest_of_graph(memory)
    memory.rebuild_followers(SESSION, ["graph"])
    assert digest_of_graph(memory) == mended


def test_something_that_takes_connections_and_never_answers_costs_a_bounded_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("neo4j", reason="the driver (package neo4j) is not installed")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use(Address(f"bolt://127.0.0.1:{silent.getsockname()[1]}"), monkeypatch)
        with Memory.open(made_folder(tmp_path / "here")) as memory:
            memory.append("note.taken", {"text": "The lamp is on the stairs."}, session=SESSION)
            still_useful(memory, "Neo4j", AT_MOST)
