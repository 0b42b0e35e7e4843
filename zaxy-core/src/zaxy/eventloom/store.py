"""The built-in event store, a provider of `zaxy_event_stores`: one file for each session."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from zaxy.api.models import Draft, Event
from zaxy.api.provider import ProviderContext
from zaxy.eventloom.drafts import entry_of
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Line

if TYPE_CHECKING:
    from zaxy.api.points import StoredLog

CHECK_EVERY = 0.2
"""Seconds between two looks at a log while waiting for more of it."""


class JsonlStore:
    """Stores drafts as they come. The core removes secrets and refuses reserved types, whatever the store."""

    def __init__(self, context: ProviderContext, begin: Callable[[], None] | None = None) -> None:
        self.loom = Eventloom(str(context.state_dir), clock=lambda: _time_text(context), begin=begin)

    def sessions(self) -> Sequence[str]:
        return self.loom.sessions()

    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        return [line.data for line in self.loom.append(session, [entry_of(draft) for draft in drafts])]

    def open(self, session: str) -> StoredLog:
        return self.loom.stored(session)

    def by_key(self, session: str, key: str) -> bytes | None:
        line = self.loom.by_key(session, key)
        return line.data if line else None

    def refs(self, session: str) -> Sequence[bytes]:
        return [line.data for line in self.loom.ref_lines(session)] if self.loom.end(session).line else []

    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        return self.loom.erase_with(session, seq, entry_of(record)).data

    def wait(self, session: str, after: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.loom.end(session).seq <= after:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(CHECK_EVERY, left))
        return True

    def close(self) -> None:
        self.loom.close()


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


def _time_text(context: ProviderContext) -> str:
    return f"{context.clock().isoformat(timespec='microseconds')[:26]}Z"
