"""The server tried as a client would start it: a process of its own, a handshake, one call, and the end.

It speaks the few lines of the protocol that this takes by itself, so that it can try any command a configuration names.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import IO, Any, NamedTuple

from zaxy import __version__
from zaxy.errors import Unavailable, ZaxyError

PROTOCOL = "2025-11-25"
PATIENCE = 90.0
"""Seconds for a start and an answer: what clients are asked to allow."""
SECONDS_TO_END = 5.0
MAX_ERROR_BYTES = 2000
UNRECORDED = {"MCP_LIFECYCLE_CAPTURE_ENABLED": "0"}
"""A trial is no use of memory, so the server notes neither its call nor its end."""


class Trial(NamedTuple):
    reply: dict[str, Any]
    seconds: float


def try_server(
    command: Sequence[str],
    folder: str,
    *,
    env: Mapping[str, str],
    tool: str,
    arguments: Mapping[str, Any],
    within: float = PATIENCE,
) -> Trial:
    """What a tool of the server answers. One that does not start, answer or speak MCP is `unavailable`."""
    began = monotonic()
    try:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**os.environ, **env, **UNRECORDED},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise _failed(command, f"cannot be started: {error.strerror}") from None
    with process:
        server = _Server(process, command, began + within)
        try:
            hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": _client()}
            server.ask("initialize", hello)
            server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            reply = _content(server.ask("tools/call", {"name": tool, "arguments": dict(arguments)}))
            return Trial(reply, monotonic() - began)
        finally:
            server.end()


class _Server:
    """A running server and what it says, read by threads so that nothing blocks on any system."""

    def __init__(self, process: subprocess.Popen[bytes], command: Sequence[str], deadline: float) -> None:
        self._process = process
        self._command = command
        self._deadline = deadline
        self._lines: Queue[bytes] = Queue()
        self._errors = bytearray()
        assert process.stdout and process.stderr
        self._readers = [
            Thread(target=self._read, args=(process.stdout,), daemon=True),
            Thread(target=self._overhear, args=(process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self._asked = 0

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._lines.put(line)
        self._lines.put(b"")

    def _overhear(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._errors += line
            del self._errors[:-MAX_ERROR_BYTES]

    def send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        with suppress(OSError):  # one that reads no more is judged by what it wrote, and by its end
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._asked += 1
        self.send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._asked and "method" not in message:
                break
        if not isinstance(result := message.get("result"), dict):
            raise _failed(self._command, f"refused {method}: {json.dumps(message.get('error'))[:200]}")
        return result

    def _next(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=max(self._deadline - monotonic(), 0))
        except Empty:
            raise _failed(self._command, "did not answer in time") from None
        if not line:
            raise self._ended()
        try:
            message = json.loads(line)
        except ValueError:
            raise _failed(self._command, f"wrote something other than MCP to stdout: {line[:80]!r}") from None
        return message if isinstance(message, dict) else {}

    def _ended(self) -> ZaxyError:
        self.end()
        lines = bytes(self._errors).decode(errors="replace").strip().splitlines()
        reason = f": {lines[0] if len(lines) < 3 else lines[-1]}" if lines else ""
        return _failed(self._command, f"ended with exit code {self._process.returncode}{reason:.300}")

    def end(self) -> None:
        """Go away as a client does, which ends the server; one that stays is ended."""
        assert self._process.stdin
        with suppress(OSError):  # it may have ended already
            self._process.stdin.close()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(SECONDS_TO_END)


def _client() -> dict[str, str]:
    return {"name": "zaxy-trial", "version": __version__}


def _content(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool answered; an error of the tool is raised as the one it is."""
    content = result.get("structuredContent")
    if not isinstance(content, dict):
        raise Unavailable("the server's answer has no content", "Run 'zaxy demo' to test the installation.")
    if result.get("isError") and isinstance(error := content.get("error"), dict):
        raise Unavailable(f"the server answered: {error.get('message')}", str(error.get("remediation", "")))
    return content


def _failed(command: Sequence[str], what: str) -> ZaxyError:
    shown = " ".join(command)
    return Unavailable(f"the server ({shown}) {what}", f"Run it yourself to see more: {shown}")
