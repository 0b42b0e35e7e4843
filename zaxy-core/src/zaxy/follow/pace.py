"""How fast events are followed, and whether somebody else goes on when a read does not wait."""

from __future__ import annotations

from threading import Lock

NEWEST = 0.5
"""How much the last batch counts in the rate; the batches before it make up the rest."""


class Pace:
    def __init__(self) -> None:
        self.in_background = False
        """Whether a thread follows all sessions: without one, whatever a read leaves is left."""
        self._rate = 0.0
        self._wanted: dict[str, None] = {}
        self._lock = Lock()

    def measured(self, events: int, seconds: float) -> None:
        """Note how long a batch took."""
        rate = events / max(seconds, 1e-6)
        self._rate = NEWEST * rate + (1 - NEWEST) * self._rate if self._rate else rate

    def allows(self, events: int, seconds: float) -> bool:
        """Whether to go on: nobody else would, or the events can be followed in the time. Where no rate is known
        yet the first batch gives it."""
        return not self.in_background or not self._rate or events <= self._rate * seconds

    # The sessions that reads did not wait for

    def want(self, session: str) -> None:
        with self._lock:
            self._wanted[session] = None

    def done(self, session: str) -> None:
        with self._lock:
            self._wanted.pop(session, None)

    def wanted(self) -> list[str]:
        with self._lock:
            return list(self._wanted)
