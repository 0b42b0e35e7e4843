"""One state of a session's log: its end, and its events, each proven once however often it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from zaxy.api.models import Cursor, Event, Page
from zaxy.errors import Conflict, ZaxyError
from zaxy.eventloom.bulk import prove
from zaxy.eventloom.reader import TO_UPGRADE, unusable
from zaxy.eventloom.record import Damaged, NewerFormat
from zaxy.eventloom.store import event_of_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    class StoredLog(Protocol):
        """What a store keeps of a session, as it is at one moment: lines, which nobody need believe."""

        @property
        def head(self) -> Cursor | None: ...

        def lines(self, seqs: Sequence[int]) -> Mapping[int, bytes]: ...

        def lines_after(self, seq: int, limit: int) -> Sequence[bytes]: ...

        def close(self) -> None: ...


MAX_PAGE_BYTES = 16 << 20
"""A page ends after this much of the log, however many events were asked for."""


class LogView:
    """Reads a stored log and believes none of its lines before it has proven them."""

    def __init__(
        self,
        session: str,
        stored: StoredLog,
        *,
        damaged: Callable[[int, str], ZaxyError] | None = None,
        known: Iterable[Event] = (),
    ) -> None:
        """`damaged`: notes that a line is not what was written, and says what to do about it.

        `known`: events that were proven when the log was opened.
        """
        self.session = session
        self.head = stored.head
        self._stored = stored
        self._damaged = damaged or self._unusable
        self._proven: dict[int, Event] = {event.seq: event for event in known}

    @property
    def end(self) -> int:
        """The seq of the last event; 0 where there is none."""
        return self.head.seq if self.head else 0

    def get(self, seq: int) -> Event | None:
        return self.events((seq,)).get(seq)

    def events(self, seqs: Iterable[int]) -> dict[int, Event]:
        """The events of these numbers that the log holds."""
        wanted = [seq for seq in dict.fromkeys(seqs) if 0 < seq <= self.end]
        missing = sorted(seq for seq in wanted if seq not in self._proven)
        if missing:
            for seq, line in self._stored.lines(missing).items():
                self._proven[seq] = self._event(seq, line)
        return {seq: self._proven[seq] for seq in wanted if seq in self._proven}

    def of_types(self, seqs: Iterable[int], types: Sequence[str]) -> list[Event]:
        """Those of the events that are of the given types, in order. Lines of others are passed over unproven."""
        marks = [b'"type":"%b"' % of.encode() for of in types]
        lines = self._stored.lines([seq for seq in seqs if 0 < seq <= self.end])
        # A payload may hold the same bytes, so the type is compared again.
        likely = sorted(seq for seq, line in lines.items() if any(mark in line for mark in marks))
        return [event for event in self.events(likely).values() if event.type in types]

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
            event = self._event(seq, line)
            if event.prev != before:
                raise self._damaged(seq, "it does not continue the event before it")
            yield event
            before = event.hash
            size += len(line)
            if size > MAX_PAGE_BYTES:
                return

    def _refuse_unknown(self, cursor: Cursor) -> None:
        known = self.get(cursor.seq)
        if known is None or known.hash != cursor.hash:
            raise Conflict(
                f"{self.session} no longer holds event {cursor.seq}, which was read before: its log was cut back or "
                "replaced",
                "Read it from the start.",
            )

    def _event(self, seq: int, line: bytes) -> Event:
        try:
            record = prove(line)
        except NewerFormat as error:
            raise unusable(self.session, f"event {seq} cannot be read: {error}", TO_UPGRADE) from None
        except Damaged as error:
            raise self._damaged(seq, str(error)) from None
        if record["seq"] != seq:
            raise self._damaged(seq, f"it has the number {record['seq']}")
        if record["thread"] != self.session:
            raise self._damaged(seq, "it belongs to another session")
        return event_of_record(record)

    def _unusable(self, seq: int, reason: str) -> ZaxyError:
        fix = f"Run 'zaxy verify {self.session}' to see what is intact."
        return unusable(self.session, f"event {seq} is damaged: {reason}", fix)

    def close(self) -> None:
        self._stored.close()

    def __enter__(self) -> LogView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
