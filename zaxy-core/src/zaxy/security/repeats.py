"""Notices where a text repeats itself, so that what was judged once is not judged at every repetition."""

from __future__ import annotations

MIN_WINDOW = 128
"""How much of the text on either side of two places must be the same before more of it is compared."""
MAX_PLACES = 16
"""How many places apart two repetitions are noticed."""
MAX_REACH = 1 << 10
MAX_QUOTED_REACH = 1 << 15
"""How far behind a place the text is looked at to judge it: without quotes, and with them."""
_QUOTES = "\"'`“‘«„»「『"


class Repeats:
    """Places in a text that are judged in order, as long as none of them is a secret."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.forget()

    def forget(self) -> None:
        """What comes next is compared with nothing before it."""
        self._place, self._around, self._places = 0, "", 0

    def length_at(self, place: int) -> int:
        """How much of the text may be left out behind a place that was judged: whole repetitions of what lies between
        an earlier place and this one. It is 0 in nearly every text."""
        if self._around and self._text.startswith(self._around, place - MIN_WINDOW):
            period = place - self._place
            length = self._repeated_behind(place, period) - self._reach(place)
            if length >= period:
                return length - length % period
        self._places -= 1
        if self._places <= 0 and place >= MIN_WINDOW:
            self._place, self._places = place, MAX_PLACES
            self._around = self._text[place - MIN_WINDOW : place + MIN_WINDOW]
        return 0

    def _reach(self, place: int) -> int:
        between = self._text[self._place : place]
        return MAX_QUOTED_REACH if any(mark in between for mark in _QUOTES) else MAX_REACH

    def _repeated_behind(self, place: int, period: int) -> int:
        """For how long the text behind a place is the same as one period before."""
        length, step = 0, MIN_WINDOW
        while step >= MIN_WINDOW:
            first, last = place + length, place + length + step
            if last <= len(self._text) and self._text[first:last] == self._text[first - period : last - period]:
                length, step = length + step, step * 2
            else:
                step //= 2
        return length
