"""The built-in event store: one file per session, as a provider of `zaxy_event_stores`."""

from __future__ import annotations

from collections.abc import Sequence

from zaxy.api.models import Cursor, Draft, Event, Page
from zaxy.api.provider import ProviderContext
from zaxy.errors import Conflict
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Line
from zaxy.eventloom.tail import Tail

MAX_PAGE = 16 << 20
"""Bytes of the log after which a page ends, however many events were asked for."""


class JsonlStore:
    """Drafts come as they are to be kept: secrets and reserved types are the core's business, whatever the store."""

    def __init__(self, context: ProviderContext) -> None:
        self._loom = Eventloom(str(context.state_dir), clock=lambda: _time_text(context))

    @classmethod
    def over(cls, loom: Eventloom) -> JsonlStore:
        """The store of a log that is open already."""
        store = cls.__new__(cls)
        store._loom = loom
        return store

    def sessions(self) -> Sequence[str]:
        return self._loom.sessions()

    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        entries = [
            checked_entry(d.type, d.actor, dict(d.payload), d.sensitivity, d.caused_by, d.idempotency_key)
            for d in drafts
        ]
        return [event_of(line) for line in self._loom.append(session, entries)]

    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        first = after.seq if after else 1
        events = []
        size = 0
        cursor = after
        known = after is None
        for line in self._loom.read(session, first, first + limit - (after is None)):
            if not known and after is not None:
                known = line.hash == after.hash
                if not known:
                    break
                continue
            events.append(event_of(line))
            cursor = Cursor(line.seq, line.hash, line.seq)
            size += len(line.data)
            if size > MAX_PAGE:
                break
        if not known:
            raise Conflict(
                f"{session} does not hold the event {first} that was read before: its log was cut back or replaced",
                "Read it from the start.",
            )
        return Page(tuple(events), cursor)

    def get(self, session: str, seq: int) -> Event | None:
        line = self._loom.get(session, seq)
        return event_of(line) if line else None

    def head(self, session: str) -> Cursor | None:
        tail = self._loom.end(session)
        return cursor_of(tail)

    def erase(self, session: str, seq: int, actor: str, reason: str) -> Event:
        return event_of(self._loom.erase(session, seq, actor, reason))

    def close(self) -> None:
        self._loom.close()


def event_of(line: Line) -> Event:
    record = line.record
    optional = (record.get("caused_by", ""), record.get("idempotency_key", ""))
    of_all = (record["type"], record["actor"], record["time"], record.get("payload"), record["hash"], record["prev"])
    return Event(record["thread"], record["seq"], record["id"], *of_all, record["sensitivity"], *optional)


def cursor_of(tail: Tail) -> Cursor | None:
    return Cursor(tail.seq, tail.hash or "", tail.seq) if tail.line else None


def _time_text(context: ProviderContext) -> str:
    return context.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
