"""How many calls a server takes in a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from zaxy.errors import InvalidRequest, Unavailable


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
