"""A client that asks without reading, or cancels all that it asks, is made to wait: the server stays small."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from select import POLLOUT, poll
from typing import Any

import anyio
import pytest

from served import CLIENT, ENVELOPE, ERAS, INITIALIZE, JSON, LEGACY, MODERN, Listening, arguments, environment
from zaxy.serve.http_bodies import McpBodies
from zaxy.serve.limits import MAX_UNANSWERED, Unanswered
from zaxy.serve.turns import Turns

PADDING = 20_000
PIPE = 64 << 10
BUFFERED = (1 << 20) + 2 * PIPE
"""Bytes that the server reads ahead, and that the pipe to it holds."""
REQUESTS = {
    "calls": ("tools/call", {"name": "memory_query", "arguments": {"query": "x", "session_id": "y" * PADDING}}),
    "listings": ("tools/list", {"_meta": {"padding": "y" * PADDING}}),
    "unknown methods": ("no/such", {"padding": "y" * PADDING}),
    "calls of nothing": ("tools/call", {"name": 5, "arguments": "y" * PADDING}),
}


class Unread:
    """A server on stdio and a client that writes as much as the server takes, and reads only when it is told to."""

    def __init__(self, folder: Path, era: str) -> None:
        folder.mkdir()
        self.era = era
        self.process = subprocess.Popen(
            arguments(),
            cwd=folder,
            env=environment(MCP_LIFECYCLE_CAPTURE_ENABLED="0"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdin
        assert self.process.stdout
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout
        if era == LEGACY:
            asked = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
            self.write(self.request("initialize", asked, 0))
            assert json.loads(self._out.readline())["id"] == 0
            self.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        os.set_blocking(self._in, False)

    def request(self, method: str, params: dict[str, Any], number: int) -> bytes:
        if self.era != LEGACY:
            params = {**params, "_meta": {**ENVELOPE, **params.get("_meta", {})}}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return json.dumps(message).encode() + b"\n"

    def write(self, data: bytes, patience: float = 60.0) -> bytes:
        """What the server did not take; it has stopped if it takes nothing for that long."""
        left, ready = data, poll()  # select takes no descriptor above 1023
        ready.register(self._in, POLLOUT)
        while left and ready.poll(patience * 1000):
            left = left[os.write(self._in, left[:4096]) :]
        return left

    def read(self, answers: int) -> list[dict[str, Any]]:
        return [json.loads(self._out.readline()) for _ in range(answers)]

    def __enter__(self) -> Unread:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_does_not_read_is_not_read_on_until_it_does(tmp_path: Path, era: str, kind: str) -> None:
    method, params = REQUESTS[kind]
    with Unread(tmp_path / "demo", era) as client:
        one = client.request(method, params, 1)
        taken = 0
        while taken < 3000 and not (left := client.write(one, patience=4)):  # every id is the same: that counts no less
            taken += 1
        answers = client.read(taken)
        assert {answer["id"] for answer in answers} == {1}
        in_pipe = PIPE // len(json.dumps(answers[0], separators=(",", ":")))
        assert taken <= MAX_UNANSWERED + BUFFERED // PADDING + in_pipe + 20
        if left != one:  # a line was begun
            assert not client.write(left)
            assert client.read(1)[0]["id"] == 1
        assert not client.write(client.request("tools/list", {}, 2))
        assert client.read(1)[0]["id"] == 2


def test_a_turn_ends_with_its_work_also_if_nobody_waits_for_it() -> None:
    at_once, running, most = 3, 0, 0
    mutex, go_on = threading.Lock(), threading.Event()

    def work() -> None:
        nonlocal running, most
        with mutex:
            running += 1
            most = max(most, running)
        go_on.wait(60)
        with mutex:
            running -= 1

    async def ask_and_cancel() -> str:
        turns = Turns(at_once)
        for _ in range(30):
            with anyio.move_on_after(0.02):
                await turns.run(work)
        assert most == at_once
        go_on.set()
        with anyio.fail_after(60):
            return await turns.run(lambda: "answered")

    assert anyio.run(ask_and_cancel) == "answered"
    assert most == at_once


def test_over_http_no_body_is_read_while_too_many_calls_wait() -> None:
    unanswered = Unanswered(max_calls=2)
    seen: list[str] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append("answered")

    async def receive() -> dict[str, Any]:
        seen.append("read")
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Any) -> None:
        pass

    async def post() -> None:
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"host", b"localhost")]}
        await McpBodies(inner, unanswered)(scope, receive, send)

    async def ask_while_others_wait() -> None:
        unanswered.begin()
        unanswered.begin()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post)
            await anyio.sleep(0.1)
            assert seen == []
            unanswered.end()
        assert seen == ["read", "answered"]

    anyio.run(ask_while_others_wait)


class Pipelining:
    """A client over HTTP that sends one call after the other on a connection, and reads only when it is told to."""

    def __init__(self, server: Listening) -> None:
        self._connection = socket.socket()
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        self._connection.connect(("127.0.0.1", server.port))
        self._left = b""
        self.sent = 0

    def send(self, call: bytes) -> bool:
        """Whether the server takes any of it now."""
        self._connection.setblocking(False)
        self._left = self._left or call
        try:
            self._left = self._left[self._connection.send(self._left) :]
        except BlockingIOError:
            return False
        self.sent += not self._left
        return True

    def answers(self) -> int:
        """How many answers come to all that was sent, and no others behind them."""
        self._connection.settimeout(60)
        rest = threading.Thread(target=self._connection.sendall, args=(self._left,))
        rest.start()
        self.sent += bool(self._left)
        found, data, status = 0, b"", b"HTTP/1.1 200 "
        while found < self.sent and (more := self._connection.recv(1 << 16)):
            data += more
            found += data.count(status)
            data = data[-len(status) + 1 :]
        rest.join(60)
        return found


def _posted(padding: int) -> bytes:
    params = {"name": "memory_query", "arguments": {"query": "x", "session_id": "y" * padding}, "_meta": ENVELOPE}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    named = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "memory_query", **JSON}
    lines = ["POST /mcp HTTP/1.1", "host: localhost", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in named.items()), "", ""]).encode() + body


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="only Linux tells how large a process is")
@pytest.mark.parametrize("padding", [200, 200_000])
def test_over_http_a_client_that_does_not_read_is_not_read_on_and_the_server_stays_small(
    tmp_path: Path, padding: int
) -> None:
    quiet = {"MCP_LIFECYCLE_CAPTURE_ENABLED": "0", "ZAXY_HTTP_REQUEST_SECONDS": "600"}
    with Listening(tmp_path / "demo", ZAXY_MAX_CALLS_PER_MINUTE="1000000", **quiet) as server:
        for number in range(20):
            assert server.modern("memory_query", {"query": f"what is {number}?"})["results"] == []
        before, call = server.resident(), _posted(padding)
        clients = [Pipelining(server) for _ in range(8)]
        enough = 8 * MAX_UNANSWERED * (1 if padding > 1000 else 10)
        last = time.monotonic()
        while sum(client.sent for client in clients) < enough and time.monotonic() - last < 4:
            if sum(client.send(call) for client in clients):
                last = time.monotonic()
        print(f"{sum(client.sent for client in clients)} calls sent: {before} KiB, then {server.resident()}")
        assert server.resident() <= 1.5 * before
        assert server.send(INITIALIZE)[0] == 200
        with ThreadPoolExecutor(len(clients)) as readers:  # at once: one that waits for seconds is closed
            answers = list(readers.map(Pipelining.answers, clients))
        assert answers == [client.sent for client in clients]


def test_calls_that_are_cancelled_make_room_for_others(tmp_path: Path) -> None:
    with Unread(tmp_path / "demo", LEGACY) as client:
        cancel = b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d}}\n'
        for number in range(3 * MAX_UNANSWERED):
            assert not client.write(client.request("tools/call", {"name": "memory_query", "arguments": {}}, number))
            assert not client.write(cancel % number)
        assert not client.write(client.request("ping", {}, 5000))
        deadline = time.monotonic() + 60
        while client.read(1)[0]["id"] != 5000:
            assert time.monotonic() < deadline
