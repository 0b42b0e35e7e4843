"""How many calls a server takes in a minute, and how many before it has answered others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import anyio

from zaxy.errors import InvalidRequest, Unavailable

MAX_UNANSWERED = 100
"""Calls that are taken from a client before it is made to wait: each holds its arguments, later its answer."""


class Unanswered:
    """Counts the calls that are not answered yet, in one event loop. Who reads calls waits while there are too many."""

    def __init__(self, max_calls: int = MAX_UNANSWERED) -> None:
        self._max_calls = max_calls
        self._changed: anyio.Event | None = None
        self.count = 0

    def begin(self) -> None:
        self.count += 1

    def end(self) -> None:
        self.count = max(self.count - 1, 0)
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    @contextmanager
    def one(self) -> Iterator[None]:
        self.begin()
        try:
            yield
        finally:
            self.end()

    async def room(self) -> None:
        """Return when one more may be read."""
        await self._until_fewer_than(self._max_calls)

    async def none_left(self) -> None:
        await self._until_fewer_than(1)

    async def _until_fewer_than(self, calls: int) -> None:
        while self.count >= calls:
            self._changed = self._changed or anyio.Event()
            await self._changed.wait()


class CallLimit:
    """A token bucket: a whole minute's worth of calls may come at once, after that as many as time gives back."""

    def __init__(self, calls_per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        if calls_per_minute < 1:
            raise InvalidRequest("ZAXY_MAX_CALLS_PER_MINUTE must be at least 1", "Set it to a number such as 6000.")
        self._max_calls = float(calls_per_minute)
        self._left = self._max_calls
        self._clock = clock
        self._last = clock()
        self._mutex = Lock()

    def take(self) -> None:
        """Count one call, or refuse it."""
        with self._mutex:
            now = self._clock()
            self._left = min(self._max_calls, self._left + (now - self._last) * self._max_calls / 60)
            self._last = now
            if self._left < 1:
                wait = (1 - self._left) * 60 / self._max_calls
                raise Unavailable(
                    f"more than {self._max_calls:,.0f} calls came within a minute",
                    f"Wait {max(wait, 0.1):.1f} s and call again, or raise ZAXY_MAX_CALLS_PER_MINUTE.",
                )
            self._left -= 1
