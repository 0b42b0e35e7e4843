"""Reads the entries that a selector takes from a log, in the log's order, holding one event at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from zaxy.api import Event, MemoryAccess
from zaxy_export.entries import entries_of
from zaxy_export.erasures import Erasures
from zaxy_export.selector import Selector

BATCH_EVENTS = 4096
"""How many events are read together in a search for the most recent ones."""

Progress = Callable[[int, int], None]


def project(
    memory: MemoryAccess,
    session: str,
    *,
    selector: Selector,
    found: Collection[int] | None = None,
    progress: Progress | None = None,
) -> Iterator[bytes]:
    """The entries of a session. `found`: the events that match the selector's query, if it has one.

    Every line that is read is verified. Events that are appended later are not seen.
    """
    head = memory.head(session)
    last = head if selector.max_seq is None else min(head, selector.max_seq)
    first = selector.first_seq
    if found is not None:
        found = {seq for seq in found if first <= seq <= last}
        first, last = min(found, default=last + 1), max(found, default=0)
    if selector.limit is not None:
        first = _first_of_latest(memory, session, selector=selector, found=found, first=first, last=last)
    erasures = Erasures(memory, session, head)
    for event, line in memory.lines(session, first=first, last=last) if first <= last else ():
        if progress and not event.seq % 1024:
            progress(event.seq - first, last - first + 1)
        if _matches(event, selector, found):
            yield from entries_of(event, line, selector, closings=erasures.closings_of(event))
    if progress:
        progress(1, 1)


def _matches(event: Event, selector: Selector, found: Collection[int] | None) -> bool:
    return (
        (not selector.kinds or event.type in selector.kinds)
        and event.sensitivity not in selector.exclude_sensitivities
        and (found is None or event.seq in found)
    )


def _first_of_latest(
    memory: MemoryAccess, session: str, *, selector: Selector, found: Collection[int] | None, first: int, last: int
) -> int:
    """The seq of the first among the most recent events: as many as the limit says, counting those with an entry."""
    missing = selector.limit or 0
    while first <= last:
        start = max(first, last - BATCH_EVENTS + 1)
        giving = [
            event.seq
            for event, line in memory.lines(session, first=start, last=last)
            if _matches(event, selector, found) and entries_of(event, line, selector)
        ]
        if len(giving) >= missing:
            return giving[-missing]
        missing -= len(giving)
        last = start - 1
    return first
