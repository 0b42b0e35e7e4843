"""One state of a session's log: its end, and its events, each proven once however often it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zaxy.api.models import Cursor, Event, Page
from zaxy.errors import Conflict, ZaxyError
from zaxy.eventloom.grammar import Malformed
from zaxy.eventloom.places import UNKNOWN, record_at
from zaxy.eventloom.reader import TO_UPGRADE, unusable
from zaxy.eventloom.record import Damaged, NewerFormat
from zaxy.eventloom.store import event_of_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from zaxy.api.points import StoredLog

MAX_PAGE_BYTES = 16 << 20
"""A page ends after this much of the log, however many events were asked for."""

RECORDS_AT_ONCE = 1000


class LogView:
    """Reads a stored log and believes none of its lines before it has proven them."""

    def __init__(
        self,
        session: str,
        stored: StoredLog,
        *,
        damaged: Callable[[int, str], ZaxyError] | None = None,
        note: Callable[[int, str], None] | None = None,
        known: Iterable[Event] = (),
    ) -> None:
        """`damaged`: notes that a line is not what was written, and says what to do about it.

        `note`: notes that an event breaks the grammar, and is stepped over.

        `known`: events that were proven when the log was opened.
        """
        self.session = session
        self.head = stored.head
        self._stored = stored
        self._damaged = damaged or self._unusable
        self._note = note or _ignored
        self._proven: dict[int, Event] = {event.seq: event for event in known}

    @property
    def end(self) -> int:
        """The seq of the last event; 0 where there is none."""
        return self.head.seq if self.head else 0

    def get(self, seq: int) -> Event | None:
        return self.events((seq,)).get(seq)

    def events(self, seqs: Iterable[int]) -> dict[int, Event]:
        """The events of these numbers that the log holds."""
        end = self.end
        wanted = [seq for seq in dict.fromkeys(seqs) if 0 < seq <= end]
        missing = sorted([seq for seq in wanted if seq not in self._proven])
        if missing:
            for seq, line in self._stored.lines(missing).items():
                self._proven[seq] = self._event(seq, line)
        return {seq: self._proven[seq] for seq in wanted if seq in self._proven}

    def last_of(self, types: Sequence[str], count: int) -> Event | None:
        """The newest of the last `count` events that is of one of these types. Lines of others are not proven."""
        marks = [b'"type":"%b"' % of.encode() for of in types]
        lines = self._stored.lines(range(max(self.end - count, 0) + 1, self.end + 1))
        for seq in sorted(lines, reverse=True):
            # A payload may hold the same bytes, so the type is compared again.
            if any(mark in lines[seq] for mark in marks) and (event := self.get(seq)) and event.type in types:
                return event
        return None

    def count_of(self, types: Iterable[str], last: int) -> int:
        """How many of the first `last` events are of these types, by the look of their lines. None is proven."""
        ends = tuple(b'"type":"%b","v":1}' % of.encode() for of in types)
        found = seq = 0
        while seq < last and (lines := self._stored.lines_after(seq, min(last - seq, RECORDS_AT_ONCE))):
            found += sum([line.endswith(ends) for line in lines])
            seq += len(lines)
        return found

    def of_types(self, types: Iterable[str], since: str = "") -> Iterator[dict[str, Any]]:
        """The records of these types that were made at a time or later, oldest first, each proven by itself. The lines
        of others are passed over by their look."""
        ends = tuple(b'"type":"%b","v":1}' % of.encode() for of in types)
        begin = since.encode()
        for seq, line in enumerate(self.lines(), 1):
            if line.endswith(ends) and _time_in(line) >= begin:
                yield self._record(seq, line, UNKNOWN)

    def seems_to_hold(self, cursor: Cursor) -> bool:
        """Whether the line of a cursor's event names its hash. It is not proven: that is for those who read it."""
        lines = self._stored.lines((cursor.seq,)) if 0 < cursor.seq <= self.end else {}
        return b'"hash":"%b"' % cursor.hash.encode() in lines.get(cursor.seq, b"")

    def are_all(self, seqs: Iterable[int], actor: str, types: Iterable[str]) -> bool:
        """Whether events are all by that actor and of these types, by the look of their lines. None is proven."""
        start = b'{"actor":"%b",' % actor.encode()
        ends = tuple(b'"type":"%b","v":1}' % of.encode() for of in types)
        lines = self._stored.lines(list(seqs)).values()
        return all(line.startswith(start) and line.endswith(ends) for line in lines)

    def read(self, after: Cursor | None, limit: int) -> Page:
        """The events after a cursor, oldest first; `conflict` where the log does not hold the cursor's event."""
        if after is not None:
            self._refuse_unknown(after)
        events: list[Event] = []
        for event in self._chained(after, limit):
            events.append(event)
        last = events[-1] if events else None
        return Page(tuple(events), Cursor(last.seq, last.hash, last.seq) if last else after)

    def _chained(self, after: Cursor | None, limit: int) -> Iterator[Event]:
        seq, before = (after.seq, after.hash) if after else (0, None)
        size = 0
        for line in self._stored.lines_after(seq, limit):
            seq += 1
            event = self._event(seq, line, before)
            yield event
            before = event.hash
            size += len(line)
            if size > MAX_PAGE_BYTES:
                return

    def records(self, first: int, last: int | None = None) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The records of a range with their lines, oldest first, each proven."""
        seq, before = max(first, 1) - 1, UNKNOWN
        last = self.end if last is None else min(last, self.end)
        while seq < last:
            lines = self._stored.lines_after(seq, min(last - seq, RECORDS_AT_ONCE))
            if not lines:
                return
            for line in lines:
                seq += 1
                record = self._record(seq, line, before)
                before = record["hash"]
                yield record, line

    def lines(self) -> Iterator[bytes]:
        """All lines, oldest first, as the store gives them: none is proven."""
        seq = 0
        while seq < self.end and (lines := self._stored.lines_after(seq, RECORDS_AT_ONCE)):
            yield from lines
            seq += len(lines)

    def _refuse_unknown(self, cursor: Cursor) -> None:
        known = self.get(cursor.seq)
        if known is None or known.hash != cursor.hash:
            raise Conflict(
                f"{self.session} no longer holds event {cursor.seq}, which was read before: its log was cut back or "
                "replaced",
                "Read it from the start.",
            )

    def _event(self, seq: int, line: bytes, before: str | None = UNKNOWN) -> Event:
        return event_of_record(self._record(seq, line, before))

    def _record(self, seq: int, line: bytes, before: str | None) -> dict[str, Any]:
        try:
            record = record_at(line, self.session, seq=seq, before=before)
        except NewerFormat as error:
            raise unusable(self.session, f"event {seq} cannot be read: {error}", TO_UPGRADE) from None
        except Damaged as error:
            raise self._damaged(seq, str(error)) from None
        if type(record) is Malformed:
            self._note(seq, record.reason)
        return record

    def _unusable(self, seq: int, reason: str) -> ZaxyError:
        fix = f"Run 'zaxy verify {self.session}' to see what is intact."
        return unusable(self.session, f"event {seq} is damaged: {reason}", fix)

    def close(self) -> None:
        self._stored.close()

    def __enter__(self) -> LogView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _time_in(line: bytes) -> bytes:
    """The time that a line gives itself, by its look: nothing but the type and the version stands behind it."""
    at = line.rfind(b'"time":"')
    return line[at + 8 : at + 35]


def _ignored(seq: int, reason: str) -> None:
    pass
