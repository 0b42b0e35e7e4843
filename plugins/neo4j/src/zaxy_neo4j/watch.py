"""Ends calls that take too long: the driver itself waits for ever for a server that took a question and is silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

EVERY = 0.1
IDLE = 5.0


class Watch:
    """Watches one call at a time, from a thread that is there only while there are calls."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._deadline = 0.0
        self._cut_off: Callable[[], None] | None = None
        self._quiet_since = 0.0
        self._thread: threading.Thread | None = None
        self.struck = False
        """Whether the call that was begun last took too long."""

    def begin(self, seconds: float, cut_off: Callable[[], None]) -> None:
        """From now on until `end`: when the time is up, cut the call off."""
        with self._turn:
            self.struck = False
            self._deadline = time.monotonic() + seconds
            self._cut_off = cut_off
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="zaxy-neo4j-watch", daemon=True)
                self._thread.start()

    def end(self) -> None:
        with self._turn:
            self._cut_off = None
            self._quiet_since = time.monotonic()

    def _run(self) -> None:
        while True:
            time.sleep(EVERY)
            with self._turn:
                now = time.monotonic()
                if self._cut_off is None and now > self._quiet_since + IDLE:
                    self._thread = None
                    return
                if self._cut_off is None or now < self._deadline:
                    continue
                cut_off, self._cut_off, self.struck = self._cut_off, None, True
            with suppress(Exception):  # whatever state the connection is in, the call that waits on it fails
                cut_off()
