"""The real server in a process of its own, spoken to line by line, for tests that send what no client would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from zaxy.user_state import state_folder

LEGACY, MODERN = "2025-11-25", "2026-07-28"
ERAS = (LEGACY, MODERN)
CLIENT = {"name": "test", "version": "1"}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT},
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def environment(site: Path | None = None, **env: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ZAXY_", "EVENTLOOM_", "MCP_"))}
    kept["ZAXY_STATE_DIR"] = state_folder()  # of the same user as the test
    return {**kept, **({"PYTHONPATH": str(site)} if site else {}), **env}


def arguments(*options: str) -> list[str]:
    return [sys.executable, "-m", "zaxy", "serve", *options]


class Server:
    """One server and one client, which speaks the protocol of an era but sends whatever it is told to."""

    def __init__(
        self,
        folder: Path,
        era: str = LEGACY,
        site: Path | None = None,
        options: tuple[str, ...] = (),
        *,
        under: tuple[str, ...] = (),
        **env: str,
    ):
        """`under`: a command that starts the server, such as a shell that sets a limit first."""
        began = time.monotonic()
        folder.mkdir(exist_ok=True)
        self.era = era
        self.process = subprocess.Popen(
            [*under, *arguments(*options)],
            cwd=folder,
            env=environment(site, **env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines: list[bytes] = []
        self._messages: Queue[dict[str, Any]] = Queue()
        self._told: list[bytes] = []
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._overhear)]
        for thread in self._threads:
            thread.start()
        self._next = 100
        if era == LEGACY:
            asked = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
            assert "result" in self.request("initialize", asked)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.soon = 10 + 4 * (time.monotonic() - began)
        """Seconds that pass for soon on a machine that is as busy as when the server was started."""

    @property
    def stderr(self) -> str:
        return b"".join(self._told).decode(errors="replace")

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            self._messages.put(json.loads(line))

    def _overhear(self) -> None:
        assert self.process.stderr
        self._told.extend(self.process.stderr)

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, within: float = 60.0) -> dict[str, Any]:
        return self._messages.get(timeout=within)

    def silent(self, seconds: float) -> bool:
        try:
            self._messages.get(timeout=seconds)
        except Empty:
            return True
        return False

    def params(self, **given: Any) -> dict[str, Any]:
        return {**given, "_meta": {**ENVELOPE, **given.get("_meta", {})}} if self.era == MODERN else given

    def ask(self, method: str, params: Mapping[str, Any]) -> int:
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": self.params(**params)})
        return self._next

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request; notifications that come before it are passed over."""
        number = self.ask(method, params)
        while (answer := self.receive()).get("id") != number:
            assert "method" in answer, answer
        return answer

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        """What a tool answers, whether it worked or not."""
        return content(self.request("tools/call", {"name": tool, "arguments": given}))

    def close(self, within: float = 60.0) -> float:
        """Close our end; how long the server took to end."""
        assert self.process.stdin
        began = time.monotonic()
        self.process.stdin.close()
        self.process.wait(within)
        for thread in self._threads:
            thread.join(60)
        return time.monotonic() - began

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Listening:
    """A real server on a free port."""

    def __init__(self, folder: Path, transport: str = "http", *, under: tuple[str, ...] = (), **env: str) -> None:
        """`under`: a command that starts the server, such as a shell that sets a limit first."""
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.process = subprocess.Popen(
            [*under, *arguments("--transport", transport, "--port", "0")],
            cwd=folder,
            env=environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr
        self.told: list[str] = []
        for line in self.process.stderr:
            self.told.append(line)
            if line.startswith("listening on "):
                break
        self.url = self.told[-1].removeprefix("listening on ").strip()
        self.port = int(self.url.split(":")[2].split("/")[0])
        threading.Thread(target=lambda: self.told.extend(self.process.stderr or ()), daemon=True).start()

    def send(
        self, body: Mapping[str, Any] | bytes, headers: Mapping[str, str] = {}, method: str = "POST", path: str = "/mcp"
    ) -> tuple[int, dict[str, str], bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, {**JSON, **headers})
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def modern(self, tool: str, given: Mapping[str, Any], headers: Mapping[str, str] = {}) -> dict[str, Any]:
        """A call in the newer protocol, which needs no session."""
        params = {"name": tool, "arguments": given, "_meta": ENVELOPE}
        named = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        status, _, answer = self.send(body, {**named, **headers})
        assert status == 200, answer
        return content(json.loads(answer))

    def resident(self) -> int:
        """KiB of memory that the server has; only Linux says so."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])

    def end(self) -> float:
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        return time.monotonic() - began

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@contextmanager
def listening(folder: Path, site: Path | None = None, *options: str) -> Iterator[str]:
    """A server over HTTP on a free port; its address."""
    process = subprocess.Popen(
        arguments("--transport", "http", "--port", "0", *options),
        cwd=folder,
        env=environment(site),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr
        yield next(line for line in process.stderr if line.startswith("listening on ")).split()[-1]
    finally:
        process.kill()
        process.communicate()


def content(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The structured content of a result, after proving that the text says the same."""
    result = answer["result"]
    (block,) = result["content"]
    assert json.loads(block["text"]) == result["structuredContent"]
    assert bool(result.get("isError")) == ("error" in result["structuredContent"])
    found: dict[str, Any] = result["structuredContent"]
    return found
