"""A session's file as a stored log: its lines as they were durable when it was opened."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zaxy.api.models import Cursor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zaxy.eventloom.reader import Reader
    from zaxy.eventloom.tail import Tail

    Seek = Callable[[Sequence[int]], dict[int, tuple[int, int]]]
    """For numbers of events an event at or before each, and the offset at which that one begins."""


class FileLog:
    def __init__(self, reader: Reader, seek: Seek, *, places: Seek) -> None:
        """`places` is quick, and may lack places or give those of another file; `seek` is always right."""
        self._reader = reader
        self._seek = seek
        self._places = places

    @property
    def tail(self) -> Tail:
        return self._reader.tail

    @property
    def head(self) -> Cursor | None:
        tail = self.tail
        return Cursor(tail.seq, tail.hash or "", tail.seq) if tail.line else None

    def lines(self, seqs: Sequence[int]) -> dict[int, bytes]:
        """The lines of these numbers. Those that share a known place are read together."""
        found = self._at(self._places(seqs))
        # Sorted keys put an event's number before its session.
        wrong = [seq for seq in seqs if b'"seq":%d,"thread":' % seq not in found.get(seq, b"")]
        return {**found, **self._at(self._seek(wrong))} if wrong else found

    def _at(self, places: dict[int, tuple[int, int]]) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        groups: dict[tuple[int, int], list[int]] = {}
        for seq, place in places.items():
            groups.setdefault(place, []).append(seq)
        for (known, offset), wanted in groups.items():
            lines = self._reader.first_lines(offset, max(wanted) - known + 1)
            found |= {seq: lines[seq - known] for seq in wanted if 0 <= seq - known < len(lines)}
        return found

    def lines_after(self, seq: int, limit: int) -> list[bytes]:
        """The next lines behind an event."""
        first = seq + 1
        if first > self._reader.size:  # an event has more than one byte
            return []
        known, offset = self._seek((first,))[first]
        return [line for _, line in islice(self._reader.lines(offset), first - known, first - known + limit)]

    def close(self) -> None:
        self._reader.close()
