"""How often words occur in their languages: a table of the common ones, searched where it lies.

Frequencies are on the Zipf scale: 3 is once in a million words, 6 once in a thousand. Languages have codes of two
letters; `nb` is Norwegian, `sh` Serbian, Croatian and Bosnian. Words are folded, as `zaxy.text.tokens` does it. Where
the table comes from, and its licence, stands beside it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from zaxy.tuples import NamedTuple

TABLE = Path(__file__).with_name("frequencies") / "words.txt"
BLOCK = 4096
"""Bytes between two places of the table that are known beforehand: few enough to be searched in a microsecond."""
MAX_KEY = 80
"""Bytes of a line that are enough to put it in order."""


class _Table(NamedTuple):
    """Sorted lines, each a word with two capitals and two digits for every language: `aberDE68ES47`.

    No word has capitals. So of all lines that begin alike the shortest word stands first.
    """

    lines: bytes
    starts: list[int]
    """Line ends, one for each block of the table and the last one of all."""
    keys: list[bytes]
    """The lines behind them."""

    def place_of(self, beginning: bytes) -> int:
        """Where the first line ends that begins like this; -1 if none does."""
        block = bisect_left(self.keys, beginning)
        last = self.starts[min(block, len(self.starts) - 1)] + 1 + len(beginning)
        place = self.lines.find(b"\n" + beginning, self.starts[max(block - 1, 0)], last)
        return place + 1 + len(beginning) if place >= 0 else -1

    def values_at(self, place: int) -> str:
        """The languages and frequencies that stand at a place, nothing within a word."""
        if not 65 <= self.lines[place] <= 90:
            return ""
        return self.lines[place : self.lines.index(b"\n", place)].decode("ascii")


@cache
def _table() -> _Table:
    lines = TABLE.read_bytes()
    ends = [lines.find(b"\n", place) for place in range(0, len(lines) - 1, BLOCK)]
    starts = list(dict.fromkeys([*ends, len(lines) - 1]))
    return _Table(lines, starts, [lines[start + 1 : start + 1 + MAX_KEY] for start in starts[:-1]])


def zipfs(word: str) -> dict[str, float]:
    """The frequency of a word in each language that has it among its common ones."""
    values = _values(word)
    return {values[at : at + 2].lower(): int(values[at + 2 : at + 4]) / 10 for at in range(0, len(values), 4)}


def zipf(word: str, language: str) -> float:
    """The frequency of a word in a language; 0 if it is not listed there."""
    return _value(_values(word), language) if language else 0.0


def words_at(text: str, start: int, language: str) -> Iterator[tuple[int, float]]:
    """The listed words of a language that stand in a text at a place: where each ends, and its frequency."""
    table = _table()
    for end in range(start + 1, len(text) + 1):
        place = table.place_of(text[start:end].encode())
        if place < 0:
            return
        if value := _value(table.values_at(place), language):
            yield end, value


def _values(word: str) -> str:
    if not word or word[0].isdigit():
        return ""
    place = _table().place_of(word.encode("utf-8", "replace"))
    return _table().values_at(place) if place >= 0 else ""


def _value(values: str, language: str) -> float:
    at = values.find(language.upper())
    return int(values[at + 2 : at + 4]) / 10 if at >= 0 else 0.0
