"""The record of tool calls, written behind the replies by one thread: no reply waits for it, none fails by it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from queue import Empty, Full, Queue
from threading import Lock, Thread
from typing import NamedTuple

from zaxy.printing import say

MAX_WAITING = 10_000
QUIET, MAX_WAIT = 0.2, 1.0
"""Seconds. Calls that follow on each other are recorded together when they pause: a read that comes right behind a
record has to wait until the followers have taken it, which was measured at 4 ms."""


class ToolCall(NamedTuple):
    """What is kept of a call: nothing of what was said in it."""

    tool: str
    status: str
    argument_keys: Sequence[str]
    summary: str
    session: str
    default_session: str = ""
    """Where it is recorded if that session is not there; empty for the workspace's own."""
    identity: str = ""
    """The name of who called, where requests are authenticated."""


class Ended(NamedTuple):
    """The client of one of several servers has gone."""

    session: str


Noted = ToolCall | Ended


class Lifecycle:
    """`write` appends one record; if it fails, stderr says so once."""

    def __init__(self, write: Callable[[Noted], None]) -> None:
        self._write = write
        self._waiting: Queue[Noted | None] = Queue(MAX_WAITING)
        self._starting = Lock()
        self._thread: Thread | None = None
        self._warned = False
        self._ended = False

    def note(self, call: Noted) -> None:
        with self._starting:
            if self._ended:
                return
            if self._thread is None:
                self._thread = Thread(target=self._work, name="zaxy-lifecycle", daemon=True)
                self._thread.start()
        try:
            self._waiting.put_nowait(call)
        except Full:
            self._tell(f"more than {MAX_WAITING:,} records wait to be written")

    def flush(self, within: float) -> None:
        """Write what is waiting, and nothing after it; when `within` seconds have passed the rest is given up."""
        with self._starting:
            self._ended = True
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(within)

    def _work(self) -> None:
        going_on = True
        while going_on:
            calls, going_on = self._next()
            for call in calls:
                try:
                    self._write(call)
                except Exception as error:
                    self._tell(f"{type(error).__name__}: {error}")

    def _next(self) -> tuple[list[Noted], bool]:
        """The calls until the next pause, and whether more may come."""
        calls: list[Noted] = []
        call = self._waiting.get()
        deadline = time.monotonic() + MAX_WAIT
        while call is not None:
            calls.append(call)
            if time.monotonic() > deadline:
                return calls, True
            try:
                call = self._waiting.get(timeout=QUIET)
            except Empty:
                return calls, True
        return calls, False

    def _tell(self, problem: str) -> None:
        if not self._warned:
            self._warned = True
            say(f"zaxy: tool calls are not recorded: {problem}", err=True)
