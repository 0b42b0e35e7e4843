"""Python's garbage collector rests while events are followed: it would go through all rows of a batch again and again,
and none of them is in a cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

MANY = 20_000
"""Containers more than before: this number is left only where thousands of events were followed."""

_lock = Lock()
_resting = 0
_was_on = False


@contextmanager
def resting_collector() -> Iterator[None]:
    """Several threads may follow at once: the last one to end lets it go on, if it was on."""
    global _resting, _was_on
    with _lock:
        if not _resting:
            _was_on = gc.isenabled()
            gc.disable()
        _resting += 1
    try:
        yield
    finally:
        with _lock:
            _resting -= 1
            if not _resting and _was_on:
                _age()
                gc.enable()


def _age() -> None:
    """Let what is left of many events count as old: it was kept to be used again, and the collector would otherwise go
    through all of it at once, and twice more before it is old. That took a fiftieth of the time of following."""
    if gc.get_count()[0] > MANY and not gc.get_freeze_count():  # what an application has frozen stays so
        gc.freeze()
        gc.unfreeze()
