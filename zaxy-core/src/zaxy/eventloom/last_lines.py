"""The end of a session's log, up to a bound: its lines as they stand, each proven when it is read.

It needs no index and no follower, so a hook can read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zaxy.eventloom.grammar import Malformed
from zaxy.eventloom.log import SessionLog
from zaxy.eventloom.places import UNKNOWN, record_at
from zaxy.eventloom.reader import damage_explained, unusable
from zaxy.eventloom.store import event_of_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zaxy.api.models import Event

OWN = b'{"actor":"zaxy",'
"""How each of Zaxy's own lines begins: `actor` is the first key of a record."""
_END = b'"type":"%b","v":1}'


def look_of(event_type: str) -> bytes:
    """How each line of that type ends. A payload may hold the same bytes, so what is found by them is proven."""
    return _END % event_type.encode()


class LastLines:
    """What a log ends with. A log that is damaged is not read at all."""

    def __init__(self, folder: str, session: str, *, max_bytes: int, timeout: float) -> None:
        """`max_bytes`: so much of its end is looked at, or its last line if that is longer."""
        log = SessionLog(folder, session)
        if log.is_known_as("damaged"):
            raise _damaged(session)
        with log.reader(timeout) as reader:
            if reader.damage:
                raise _damaged(session)
            self.session, self.tail = session, reader.tail
            begin = max(0, reader.size - max_bytes)
            lines = [line for _, line in reader.lines(begin)][bool(begin) :]
            self.lines: list[bytes] = lines or ([self.tail.line.data] if self.tail.line else [])
            self.very_first: bytes = next((line for _, line in reader.lines()), b"")
        log.rest()

    @property
    def end(self) -> int:
        """The number of the last event; 0 where there is none."""
        return self.tail.seq

    @property
    def first(self) -> int:
        """The number of the first event that is looked at."""
        return self.end - len(self.lines) + 1

    def newest(self, ends: tuple[bytes, ...], *, own: bool = False, or_with: bytes = b"") -> Iterator[Event]:
        """The events whose lines have one of these looks, newest first; with `own`, those that Zaxy wrote itself.

        `or_with`: bytes that are enough by themselves.
        """
        for back, line in enumerate(reversed(self.lines)):
            looks_so = line.endswith(ends) or (bool(or_with) and or_with in line)
            if looks_so and (not own or line.startswith(OWN)):
                event = self._proven(self.end - back, line)
                if event is not None and event.payload is not None:
                    yield event

    def get(self, seq: int) -> Event | None:
        """An event of those that are looked at, or the first of the log."""
        if seq == 1 and self.very_first:
            return self._proven(1, self.very_first)
        return self._proven(seq, self.lines[seq - self.first]) if self.first <= seq <= self.end else None

    def _proven(self, seq: int, line: bytes) -> Event | None:
        with damage_explained(self.session, f"event {seq}"):
            before = self.lines[seq - self.first - 1] if seq > self.first else b""
            record = record_at(line, self.session, seq=seq, before=_hash_in(before) or UNKNOWN)
        return None if type(record) is Malformed else event_of_record(record)


def _hash_in(line: bytes) -> str:
    """The hash that a line gives itself, by its look. A text in a payload has its quotes escaped."""
    at = line.find(b'"hash":"')
    return line[at + 8 : at + 72].decode("ascii", "replace") if at >= 0 else ""


def _damaged(session: str) -> Exception:
    return unusable(session, "its log is damaged", f"Run 'zaxy verify {session}' to see what is intact.")
