"""The built-in event store, a provider of `zaxy_event_stores`: one file for each session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zaxy.api.models import Cursor, Draft, Event, Page
from zaxy.api.provider import ProviderContext
from zaxy.errors import Conflict
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Line
from zaxy.eventloom.tail import Tail

MAX_PAGE_BYTES = 16 << 20
"""A page ends after this much of the log, however many events were asked for."""


class JsonlStore:
    """Stores drafts as they come. The core removes secrets and refuses reserved types, whatever the store."""

    def __init__(self, context: ProviderContext) -> None:
        self._loom = Eventloom(str(context.state_dir), clock=lambda: _time_text(context))

    @classmethod
    def over(cls, loom: Eventloom) -> JsonlStore:
        """The store for a log that is already open."""
        store = cls.__new__(cls)
        store._loom = loom
        return store

    def sessions(self) -> Sequence[str]:
        return self._loom.sessions()

    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        entries = [
            checked_entry(
                draft.type,
                draft.actor,
                dict(draft.payload),
                sensitivity=draft.sensitivity,
                caused_by=draft.caused_by,
                idempotency_key=draft.idempotency_key,
            )
            for draft in drafts
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
            if size > MAX_PAGE_BYTES:
                break
        if not known:
            raise Conflict(
                f"{session} no longer holds event {first}, which was read before: its log was cut back or replaced",
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
    return event_of_record(line.record)


def event_of_record(record: dict[str, Any]) -> Event:
    return Event(
        record["thread"],
        record["seq"],
        record["id"],
        record["type"],
        record["actor"],
        record["time"],
        record.get("payload"),
        record["hash"],
        record["prev"],
        record["sensitivity"],
        record.get("caused_by", ""),
        record.get("idempotency_key", ""),
    )


def cursor_of(tail: Tail) -> Cursor | None:
    return Cursor(tail.seq, tail.hash or "", tail.seq) if tail.line else None


def _time_text(context: ProviderContext) -> str:
    return context.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
