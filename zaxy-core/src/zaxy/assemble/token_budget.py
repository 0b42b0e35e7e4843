"""The tokens that a reply may take, given out to its parts in the order of their worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import orjson

from zaxy.token_count import count_tokens

T = TypeVar("T")
Costly = tuple[T, Sequence[object]]
"""An item with all that it puts into the reply."""
ATTEMPTS, MIN_STEP = 6, 60


def tokens_of(value: object) -> int:
    """Of a JSON value as a reply carries it."""
    return count_tokens(orjson.dumps(value, default=str).decode())


def fitted(compose: Callable[[int], dict[str, Any]], max_tokens: int) -> dict[str, Any]:
    """What `compose` makes of a budget; made again of a smaller one where it came out larger than was asked for."""
    budget = max_tokens
    for _ in range(ATTEMPTS):
        reply = compose(budget)
        # Counted with room for the number itself.
        reply["tokens_used"] = tokens_of({**reply, "tokens_used": max(max_tokens, 1000)})
        over = reply["tokens_used"] - max_tokens
        if over <= 0 or budget <= 0:
            break
        budget -= max(over, MIN_STEP)
    return reply


def cost_of(*parts: object) -> int:
    """A line of the prompt costs what it does as JSON: its marks and line ends are escaped there."""
    return sum(map(tokens_of, parts))


class TokenBudget:
    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.short = False
        """Whether anything found no room."""

    def takes(self, *parts: object) -> bool:
        """Whether there is room for these parts together; they are given it."""
        cost = cost_of(*parts)
        if cost > self.left:
            self.short = True
            return False
        self.left -= cost
        return True

    def fill(self, items: Iterable[Costly[T]], at_least: int = 0) -> list[T]:
        """The first of the items, until one finds no room.

        `at_least` so many come, room or not.
        """
        taken: list[T] = []
        for item, parts in items:
            if not self.takes(*parts):
                if len(taken) >= at_least:
                    break
                self.left -= cost_of(*parts)
            taken.append(item)
        return taken

    def fill_in_turn(self, *kinds: tuple[Sequence[Costly[Any]], float]) -> list[list[Any]]:
        """Of each kind first as many as its share of what is left takes, then more while there is any room."""
        taken = []
        for items, share in kinds:
            part = TokenBudget(int(self.left * share))
            before = part.left
            taken.append(part.fill(items))
            self.left -= before - part.left
        return [[*kept, *self.fill(items[len(kept) :])] for kept, (items, _) in zip(taken, kinds, strict=True)]
