"""Chance that is the same on every Python: only `Random.random` is promised never to change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def whole(self, least: int, most: int) -> int:
        """Both ends included."""
        return least + int(self._random.random() * (most - least + 1))

    def pick(self, things: Sequence[T]) -> T:
        return things[int(self._random.random() * len(things))]

    def some(self, things: Iterable[T], most: int) -> list[T]:
        """At most so many different ones, in a new order."""
        return self.shuffled(things)[:most]

    def shuffled(self, things: Iterable[T]) -> list[T]:
        order = list(things)
        for last in range(len(order) - 1, 0, -1):
            other = int(self._random.random() * (last + 1))
            order[last], order[other] = order[other], order[last]
        return order
