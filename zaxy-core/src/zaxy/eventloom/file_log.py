"""A session's file as a stored log: its lines as they were durable when it was opened."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zaxy.api.models import Cursor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zaxy.eventloom.reader import Reader

    Seek = Callable[[Sequence[int]], dict[int, tuple[int, int]]]
    """For each number an event at or before it, and the offset at which that one begins."""

SMALL_CHUNK = 1 << 13
"""Bytes that are read at once for a single line: it stands at most a few lines behind the place that is known."""


class FileLog:
    def __init__(self, reader: Reader, seek: Seek) -> None:
        self._reader = reader
        self._seek = seek
        self.offsets: dict[int, int] = {}
        """Where the lines begin that were read last, for messages about damage."""

    @property
    def head(self) -> Cursor | None:
        tail = self._reader.tail
        return Cursor(tail.seq, tail.hash or "", tail.seq) if tail.line else None

    def lines(self, seqs: Sequence[int]) -> dict[int, bytes]:
        """The lines of these numbers. Those that share a known place are read together."""
        found: dict[int, bytes] = {}
        groups: dict[tuple[int, int], list[int]] = {}
        for seq, place in self._seek(seqs).items():
            groups.setdefault(place, []).append(seq)
        for (known, offset), wanted in groups.items():
            ends = max(wanted) - known + 1
            for at, (start, line) in enumerate(islice(self._reader.lines(offset, SMALL_CHUNK), ends), known):
                if at in wanted:
                    found[at], self.offsets[at] = line, start
        return found

    def lines_after(self, seq: int, limit: int) -> list[bytes]:
        """The next lines behind an event."""
        first = seq + 1
        if first > self._reader.size:  # an event has more than one byte
            return []
        known, offset = self._seek((first,))[first]
        read = islice(self._reader.lines(offset), first - known, first - known + limit)
        found = []
        for at, (start, line) in enumerate(read, first):
            found.append(line)
            self.offsets[at] = start
        return found

    def close(self) -> None:
        self._reader.close()
