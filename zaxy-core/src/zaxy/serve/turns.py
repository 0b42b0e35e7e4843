"""Work in threads, only so much of it at a time, also of what nobody waits for any more."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio
import anyio.to_thread

Result = TypeVar("Result")


class Turns:
    """At most `at_once` functions run, each in a thread; more wait their turn. Made inside of the event loop."""

    def __init__(self, at_once: int) -> None:
        self._turns = anyio.CapacityLimiter(at_once)
        self._threads = anyio.CapacityLimiter(math.inf)
        self._loop = asyncio.get_running_loop()

    async def run(self, work: Callable[[], Result]) -> Result:
        """What it returns. If the caller is cancelled it works on, and its turn ends only when it has ended: otherwise
        a client that cancels all that it asks could start any number of threads."""
        turn = object()
        started = False

        def in_thread() -> Result:
            nonlocal started
            started = True
            try:
                return work()
            finally:
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(self._end, turn)

        await self._turns.acquire_on_behalf_of(turn)
        try:
            return await anyio.to_thread.run_sync(in_thread, abandon_on_cancel=True, limiter=self._threads)
        finally:
            if not started:
                self._end(turn)

    def _end(self, turn: object) -> None:
        with suppress(RuntimeError):  # it has ended already
            self._turns.release_on_behalf_of(turn)
