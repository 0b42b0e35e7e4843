"""How much time is left, for a whole delivery and for one step of it."""

from __future__ import annotations

import time


class OutOfTime(Exception):
    """The delivery has used up all its time."""


class Deadline:
    """`quiet` is how long a single step may wait without a byte moving."""

    def __init__(self, seconds: float, quiet: float) -> None:
        self.quiet = quiet
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return self._end - time.monotonic()

    def step(self) -> float:
        """The seconds that the next step may wait."""
        left = self.left()
        if left <= 0:
            raise OutOfTime
        return max(min(left, self.quiet), 0.001)  # a socket takes 0 for "do not wait"

    def within(self, seconds: float) -> Deadline:
        """An earlier deadline, for a step that is not worth all the remaining time."""
        return Deadline(min(seconds, self.left()), self.quiet)
