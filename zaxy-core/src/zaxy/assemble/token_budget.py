"""The tokens that a reply may take. Its parts get theirs in turn, the most useful first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import orjson

from zaxy.token_count import counts_of_tokens

T = TypeVar("T")
Candidate = tuple[T, Sequence[object]]
"""An item, and everything that it would add to the reply."""
ATTEMPTS, MIN_STEP = 6, 60
COUNTED_TOGETHER = 16
"""Items whose tokens are counted at once: all that most replies have, and few too many where a budget is small."""


def tokens_of(*values: object) -> int:
    """The tokens of JSON values in a reply. A line of the prompt costs as much as its JSON, which escapes quotation
    marks and line ends."""
    return sum(counts_of_tokens([orjson.dumps(value, default=str).decode() for value in values]))


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


class TokenBudget:
    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.short = False
        """Whether anything was left out."""

    def takes(self, *parts: object) -> bool:
        """Take the tokens for these parts together; False if too few are left."""
        return self._takes(tokens_of(*parts))

    def _takes(self, cost: int) -> bool:
        if cost > self.left:
            self.short = True
            return False
        self.left -= cost
        return True

    def fill(self, items: Iterable[Candidate[T]], at_least: int = 0) -> list[T]:
        """The first items, until one does not fit. `at_least` is a count of items that come even if they do not fit."""
        taken: list[T] = []
        for item, cost in _with_costs(items):
            if not self._takes(cost):
                if len(taken) >= at_least:
                    break
                self.left -= cost
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


def _with_costs(items: Iterable[Candidate[T]]) -> Iterator[tuple[T, int]]:
    """Each item with the tokens of all that it would add."""
    rest = iter(items)
    while some := list(islice(rest, COUNTED_TOGETHER)):
        texts = [orjson.dumps(part, default=str).decode() for _, parts in some for part in parts]
        counts = iter(counts_of_tokens(texts))
        yield from [(item, sum(islice(counts, len(parts)))) for item, parts in some]
