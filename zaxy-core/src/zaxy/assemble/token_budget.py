"""The tokens that a reply may take. Its parts get theirs in turn, the most useful first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import orjson

from zaxy.errors import InvalidRequest
from zaxy.token_count import counts_of_tokens

T = TypeVar("T")
Candidate = tuple[T, Sequence[object]]
"""An item, and everything that it would add to the reply."""
ATTEMPTS, MIN_STEP = 6, 60
HIGH_COUNT = 1_000_000
"""Takes as many tokens as any count of them does."""
COUNTED_TOGETHER = 16
"""Items whose tokens are counted at once: all that most replies have, and few too many where a budget is small."""


def tokens_of(*values: object) -> int:
    """The tokens of JSON values in a reply. A line of the prompt costs as much as its JSON, which escapes quotation
    marks and line ends."""
    return sum(counts_of_tokens([orjson.dumps(value, default=str).decode() for value in values]))


Compose = Callable[[int], dict[str, Any]]
"""Makes a reply of a budget. Of too small a budget it makes its smallest reply."""


def fitted(compose: Compose, max_tokens: int, *, least: Compose, what: str) -> dict[str, Any]:
    """The reply that fits: what `compose` makes, or where that is too large what `least` makes. Where the smallest of
    those is too large too, an error says how large that is."""
    reply = _within(compose, max_tokens) or _within(least, max_tokens)
    if reply is None:
        needed = _counted(least(0))["tokens_used"]
        raise InvalidRequest(
            f"max_tokens {max_tokens} is too little for {what}", f"The smallest that works here is {needed}."
        )
    return reply


def _within(compose: Compose, max_tokens: int) -> dict[str, Any] | None:
    """What is composed again with a smaller budget as long as it is too large; None if the smallest is."""
    budget = max_tokens
    for _ in range(ATTEMPTS):
        reply = _counted(compose(budget))
        over = reply["tokens_used"] - max_tokens
        if over <= 0:
            return reply
        if budget <= 0:
            return None
        budget -= max(over, MIN_STEP)
    reply = _counted(compose(0))
    return reply if reply["tokens_used"] <= max_tokens else None


def _counted(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply with its tokens, of which the number itself is some."""
    return {**reply, "tokens_used": tokens_of({**reply, "tokens_used": HIGH_COUNT})}


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
