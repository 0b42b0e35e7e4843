"""Idempotency keys for events that a request appends, so that a repeated request does not append them twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Keys:
    def __init__(self, request: str) -> None:
        self.request = request
        self.count = 0

    @property
    def coming(self) -> str:
        return f"{self.request}:{self.count}"


_keys: ContextVar[_Keys | None] = ContextVar("keys", default=None)


@contextmanager
def answering(request: str) -> Iterator[None]:
    """Meanwhile, every event without an idempotency key gets one made from `request`. An empty `request` gives none.

    A request that is answered a second time appends the same events in the same order. So it writes only those that
    the first time did not.
    """
    token = _keys.set(_Keys(request) if request else None)
    try:
        yield
    finally:
        _keys.reset(token)


def next_key() -> str:
    """The key for the next event; empty outside of `answering`."""
    keys = _keys.get()
    if keys is None:
        return ""
    key = keys.coming
    keys.count += 1
    return key


def coming_key() -> str:
    """The key that `next_key` will return."""
    keys = _keys.get()
    return keys.coming if keys else ""
