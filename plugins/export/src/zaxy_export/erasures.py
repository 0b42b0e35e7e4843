"""What erased events had closed. The records of erasures say it, and each entry says it of its own event: so a bundle
that leaves the records out carries it too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from zaxy.api import Event, JsonObject, MemoryAccess, ZaxyError

ERASED, INVALIDATED = "event.erased", "memory.invalidated"
FIELDS = ("at", "row", "seq")


class Erasures:
    """The records of a session, looked for when an event comes that they may be about."""

    def __init__(self, memory: MemoryAccess, session: str, head: int) -> None:
        self._memory = memory
        self._session = session
        self._head = head

    def closings_of(self, event: Event) -> list[JsonObject]:
        """What an event had closed that was erased, or that refers to one that was."""
        if event.payload is not None and event.type != INVALIDATED:
            return []
        return self._closings.get(event.seq, [])

    @cached_property
    def _closings(self) -> dict[int, list[JsonObject]]:
        found: dict[int, list[JsonObject]] = {}
        with suppress(ZaxyError):  # what stands before damage can be exported, and what stands behind it says nothing
            for event, _ in self._memory.lines(self._session, last=self._head):
                for by, closing in _recorded(event):
                    found.setdefault(by, []).append(closing)
        return found


def _recorded(event: Event) -> Iterator[tuple[int, JsonObject]]:
    """The closings in the record of an erasure, each beside the seq of the event that had made it."""
    payload = event.payload if event.type == ERASED else None
    items = payload.get("closings") if payload else None
    for item in items if payload and isinstance(items, list) else ():
        by = item.get("by", payload.get("seq")) if payload and isinstance(item, dict) else None
        if type(by) is int and type(item.get("seq")) is int:
            yield by, {name: item[name] for name in FIELDS if item.get(name) is not None}
