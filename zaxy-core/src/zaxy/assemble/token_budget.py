"""The tokens that a reply may take. Its parts get theirs in turn, the most useful first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import orjson

from zaxy.token_count import count_tokens

T = TypeVar("T")
Candidate = tuple[T, Sequence[object]]
"""An item, and everything that it would add to the reply."""
ATTEMPTS, MIN_STEP = 6, 60


def tokens_of(value: object) -> int:
    """The tokens of a JSON value in a reply."""
    return count_tokens(orjson.dumps(value, default=str).decode())


def fitted(compose: Callable[[int], dict[str, Any]], max_tokens: int) -> dict[str, Any]:
    """The reply that `compose` makes of a budget. If it is too large, it is composed again with a smaller budget."""
    budget = max_tokens
    for _ in range(ATTEMPTS):
        reply = compose(budget)
        # The count leaves room for the number itself.
        reply["tokens_used"] = tokens_of({**reply, "tokens_used": max(max_tokens, 1000)})
        over = reply["tokens_used"] - max_tokens
        if over <= 0 or budget <= 0:
            break
        budget -= max(over, MIN_STEP)
    return reply


def cost_of(*parts: object) -> int:
    """A line of the prompt costs as much as its JSON, which escapes quotation marks and line ends."""
    return sum(map(tokens_of, parts))


class TokenBudget:
    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.short = False
        """Whether anything was left out."""

    def takes(self, *parts: object) -> bool:
        """Take the tokens for these parts together; False if too few are left."""
        cost = cost_of(*parts)
        if cost > self.left:
            self.short = True
            return False
        self.left -= cost
        return True

    def fill(self, items: Iterable[Candidate[T]], at_least: int = 0) -> list[T]:
        """The first items, until one does not fit. `at_least` is a count of items that come even if they do not fit."""
        taken: list[T] = []
        for item, parts in items:
            if not self.takes(*parts):
                if len(taken) >= at_least:
                    break
                self.left -= cost_of(*parts)
            taken.append(item)
        return taken

    def fill_in_turn(self, *kinds: tuple[Sequence[Candidate[Any]], float]) -> list[list[Any]]:
        """As many items of each kind as its share of the tokens allows; then more while tokens are left."""
        taken = []
        for items, share in kinds:
            part = TokenBudget(int(self.left * share))
            before = part.left
            taken.append(part.fill(items))
            self.left -= before - part.left
        return [[*kept, *self.fill(items[len(kept) :])] for kept, (items, _) in zip(taken, kinds, strict=True)]
