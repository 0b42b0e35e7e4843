"""Requests that may come twice: what is appended while one is answered gets keys that are the same the second time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Keys:
    def __init__(self, request: str) -> None:
        self.request = request
        self.given = 0

    @property
    def coming(self) -> str:
        return f"{self.request}:{self.given}"


_keys: ContextVar[_Keys | None] = ContextVar("keys", default=None)


@contextmanager
def answering(request: str) -> Iterator[None]:
    """Events without an idempotency key that are appended meanwhile get one each, made from `request`; "" gives none.

    A request that is answered a second time appends the same events in the same order, so it writes none of them
    again, whatever the first time came to.
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
    keys.given += 1
    return key


def coming_key() -> str:
    """What `next_key` will give."""
    keys = _keys.get()
    return keys.coming if keys else ""
