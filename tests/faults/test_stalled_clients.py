"""Clients over HTTP that stop amid a request, do not read, leave without a word or come in masses hold up nobody."""

from __future__ import annotations

import json
import os
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from served import INITIALIZE, LEGACY, Listening
from zaxy.serve.http_connections import KEPT_DESCRIPTORS

CALLS = int(os.environ.get("ZAXY_STORM_CALLS", "1000"))
"""In the whole storm, which takes some minutes, there are 20,000."""
STALLS, ABANDONED = 400, CALLS * 3 // 40
QUIET_CLIENTS = 25
QUIET = {"MCP_LIFECYCLE_CAPTURE_ENABLED": "0"}
HEAD = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
BEGINNINGS = {
    "nothing": b"",
    "half a line": b"POST /mc",
    "half of the headers": HEAD,
    "an empty line before": b"\r\n",
    "headers without their body": HEAD + b"content-length: 100\r\n\r\n",
    "half of a body": HEAD + b'content-length: 100\r\n\r\n{"jsonrpc": "2.0"',
    "half of a chunk": HEAD + b"transfer-encoding: chunked\r\n\r\nff\r\n{",
    "a body that nobody reads": b"GET /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n",
}
linux = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="only Linux tells what a process has open")


@contextmanager
def stalled(server: Listening, beginning: bytes = HEAD) -> Iterator[socket.socket]:
    """A connection that stops after that beginning."""
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=60)) as connection:
        connection.sendall(beginning)
        yield connection


def open_session(server: Listening) -> str:
    status, headers, _ = server.send(INITIALIZE)
    assert status == 200
    return headers["mcp-session-id"]


def ping(server: Listening, session: str) -> int:
    of_session = {"mcp-session-id": session, "mcp-protocol-version": LEGACY}
    return server.send({"jsonrpc": "2.0", "id": 2, "method": "ping"}, of_session)[0]


def descriptors(server: Listening) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with Listening(tmp_path_factory.mktemp("demo"), ZAXY_HTTP_REQUEST_SECONDS="1", **QUIET) as running:
        yield running


@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_connection_that_stops_amid_a_request_is_closed(hasty: Listening, beginning: bytes) -> None:
    with stalled(hasty, beginning) as connection:
        answer = connection.recv(4096)
        assert not answer or answer.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 400 ", b"HTTP/1.1 406 "))
        while connection.recv(4096):
            pass


@pytest.mark.parametrize("beginning", [b"POST /mcp HTTP/1.1\r\nx: ", HEAD + b"content-length: 100000\r\n\r\n"])
def test_a_connection_that_sends_byte_by_byte_is_closed_too(hasty: Listening, beginning: bytes) -> None:
    with stalled(hasty, beginning) as connection:
        connection.settimeout(0.1)
        for _ in range(600):
            try:
                connection.sendall(b"x")
                if connection.recv(4096).startswith(b"HTTP/1.1 408 "):
                    return
            except TimeoutError:
                continue
            except OSError:
                return
        pytest.fail("it was still open after a minute")


def test_what_breaks_off_amid_its_body_is_not_done(hasty: Listening) -> None:
    """Its first bytes may be a whole call by themselves."""
    body = json.dumps(INITIALIZE).encode()
    head = HEAD + b"accept: application/json, text/event-stream\r\n"
    with stalled(hasty, head + b"content-length: %d\r\n\r\n" % (len(body) + 9) + body) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert not connection.recv(4096).startswith(b"HTTP/1.1 200")


def test_a_reply_that_nobody_reads_does_not_keep_its_connection(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", ZAXY_HTTP_REQUEST_SECONDS="1", **QUIET) as server:
        asked = b"GET /nowhere/" + b"x" * 100 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n"
        with stalled(server, b"") as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with pytest.raises(ConnectionError):
                for _ in range(1_000_000):
                    connection.sendall(asked * 100)
        assert server.send(INITIALIZE)[0] == 200


@linux
def test_there_are_no_more_connections_than_may_be_and_a_new_client_is_always_answered(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", ZAXY_HTTP_MAX_CONNECTIONS="8", **QUIET) as server, ExitStack() as clients:
        before = descriptors(server)
        for _ in range(50):
            clients.enter_context(stalled(server))
        assert server.send(INITIALIZE)[0] == 200
        assert descriptors(server) <= before + 8 + 2


def test_a_connection_that_is_being_answered_is_not_closed_for_a_new_one(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", ZAXY_HTTP_MAX_CONNECTIONS="4", **QUIET) as server, ExitStack() as clients:
        sessions = [open_session(server) for _ in range(4)]
        streams = [clients.enter_context(stalled(server, _stream_of(session))) for session in sessions]
        for stream in streams:
            assert stream.recv(4096).startswith(b"HTTP/1.1 200 ")
        with stalled(server) as one_more:
            assert one_more.recv(4096).startswith(b"HTTP/1.1 503 ")
        streams[0].close()
        assert any(_answers(server) or time.sleep(0.1) for _ in range(300)), "nobody took the place of who left"


def _answers(server: Listening) -> bool:
    try:
        return server.send(INITIALIZE)[0] == 200
    except OSError:
        return False


def _stream_of(session: str) -> bytes:
    """A request for the stream of what a server says by itself, which stays open."""
    return (
        f"GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\n"
        f"mcp-protocol-version: {LEGACY}\r\n\r\n"
    ).encode()


def test_a_session_that_is_unused_longest_is_ended_for_a_new_one(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", ZAXY_HTTP_MAX_SESSIONS="4", **QUIET) as server:
        kept, first, second, third = (open_session(server) for _ in range(4))
        with stalled(server, _stream_of(kept)) as stream:
            assert stream.recv(4096).startswith(b"HTTP/1.1 200 ")
            assert ping(server, first) == 200
            newer = [open_session(server) for _ in range(2)]
            assert [ping(server, one) for one in (second, third)] == [404, 404]
            assert [ping(server, one) for one in (kept, first, *newer)] == [200] * 4


def test_a_session_that_nobody_uses_is_ended_after_a_time(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", ZAXY_HTTP_SESSION_SECONDS="0.3", **QUIET) as server:
        session = open_session(server)
        for wait in range(1, 60):
            time.sleep(wait / 5)
            if ping(server, session) == 404:
                return
        pytest.fail("it is still there")


def test_a_session_that_its_client_ended_makes_room(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", ZAXY_HTTP_MAX_SESSIONS="2", **QUIET) as server:
        oldest, other = open_session(server), open_session(server)
        assert server.send(b"", {"mcp-session-id": other, "mcp-protocol-version": LEGACY}, "DELETE")[0] == 200
        open_session(server)
        assert ping(server, oldest) == 200


@linux
def test_a_server_without_descriptors_says_so_once_and_goes_on_when_there_are_some(tmp_path: Path) -> None:
    with Listening(tmp_path / "demo", ZAXY_HTTP_MAX_CONNECTIONS="500", **QUIET) as server, ExitStack() as clients:
        session = open_session(server)
        assert server.modern("memory_query", {"query": "x"})["results"] == []
        busy = [clients.enter_context(stalled(server, _stream_of(session)))]
        assert busy[0].recv(10)
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (descriptors(server) + 2, limits[1]))
        for _ in range(200):
            clients.enter_context(stalled(server))
        assert ping(server, session) == 200, "those that only wait made room"
        said = [line for line in server.told if "connections have to wait" in line]
        assert len(said) == 1
        assert sum(map(len, server.told)) < 5_000
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)
        clients.close()
        assert ping(server, session) == 200
        assert server.modern("memory_query", {"query": "x"})["results"] == []


@linux
def test_the_number_of_connections_leaves_descriptors_for_memory(tmp_path: Path) -> None:
    under = ("bash", "-c", f'ulimit -n {KEPT_DESCRIPTORS + 10} && exec "$@"', "bash")
    with Listening(tmp_path / "demo", under=under, **QUIET) as server, ExitStack() as clients:
        assert any("at most 10 connections instead of 256" in line for line in server.told)
        for _ in range(100):
            clients.enter_context(stalled(server))
        fact = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "The sky is blue."}}
        assert server.modern("memory_append", fact)["seq"] == 1
        assert not any("connections have to wait" in line for line in server.told)


@linux
def test_a_storm_of_calls_stalls_and_abandoned_sessions_costs_a_new_client_little(tmp_path: Path) -> None:
    """How long a client waits is compared with what it waits where nobody else is there, in the same minutes: the
    machine may be busy with something else. The longest wait of thousands has nothing to be compared with."""
    bounds = {"ZAXY_MAX_CALLS_PER_MINUTE": "1000000", "ZAXY_HTTP_MAX_SESSIONS": str(ABANDONED // 4)}
    with Listening(tmp_path / "demo", **bounds, **QUIET) as server, ExitStack() as clients:
        _call_again_and_again(server, 100)
        quiet = [_time_of_new_client(server) for _ in range(QUIET_CLIENTS)]
        for _ in range(STALLS):
            clients.enter_context(stalled(server))
        waits = _storm(server)
        memory, files = server.resident(), descriptors(server)
        for _ in range(3):
            quiet += [_time_of_new_client(server) for _ in range(QUIET_CLIENTS)]
            waits += _storm(server)
        print(f"seconds that {len(quiet)} clients waited in quiet, and {len(waits)} in the storm:")
        for part in (0.5, 0.95, 0.99, 1.0):
            alone, stormy = within(quiet, part), within(waits, part)
            print(f"{part:4.0%} within {alone:.4f} and {stormy:.4f}, {stormy / alone:.1f} times")
        print(f"{memory} KiB, then {server.resident()}; {files} descriptors, then {descriptors(server)}")
        assert within(waits, 0.5) <= 20 * within(quiet, 0.5)
        assert within(waits, 0.95) <= 20 * within(quiet, 0.95)
        assert descriptors(server) <= files + 10
        assert server.resident() <= 1.3 * memory, (memory, server.resident())
        assert sum(map(len, server.told)) < 5_000


def within(waits: list[float], part: float) -> float:
    """How long that part of the clients waited, or less."""
    return sorted(waits)[min(int(part * len(waits)), len(waits) - 1)]


def _storm(server: Listening) -> list[float]:
    """A quarter of the calls and sessions at once; how long new clients had to wait meanwhile, in seconds."""
    workers = [
        *(Thread(target=_call_again_and_again, args=(server, CALLS // 8)) for _ in range(2)),
        Thread(target=lambda: [open_session(server) for _ in range(ABANDONED // 4)]),
    ]
    for worker in workers:
        worker.start()
    times = [_time_of_new_client(server)]
    while any(worker.is_alive() for worker in workers):
        times.append(_time_of_new_client(server))
    return times


def _time_of_new_client(server: Listening) -> float:
    began = time.monotonic()
    assert ping(server, open_session(server)) == 200
    return time.monotonic() - began


def _call_again_and_again(server: Listening, calls: int) -> None:
    for number in range(calls):
        found: dict[str, Any] = server.modern("memory_query", {"query": f"what is number {number}?"})
        assert "results" in found
