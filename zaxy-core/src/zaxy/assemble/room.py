"""The tokens that a reply may take, given out to its parts in the order of their worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import orjson

from zaxy.token_count import count_tokens

T = TypeVar("T")


def tokens_of(value: object) -> int:
    """Of a JSON value as a reply carries it."""
    return count_tokens(orjson.dumps(value, default=str).decode())


class Room:
    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.short = False
        """Whether anything found no room."""

    def takes(self, *parts: object) -> bool:
        """Whether there is room for these parts together; they are given it."""
        cost = sum(count_tokens(part) if isinstance(part, str) else tokens_of(part) for part in parts)
        if cost > self.left:
            self.short = True
            return False
        self.left -= cost
        return True

    def fill(self, items: Iterable[tuple[T, Sequence[object]]]) -> list[T]:
        """The first of the items, each with the parts that it puts into the reply, until one finds no room."""
        taken = []
        for item, parts in items:
            if not self.takes(*parts):
                break
            taken.append(item)
        return taken
