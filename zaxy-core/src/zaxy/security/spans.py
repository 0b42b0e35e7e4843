"""Places of secrets in a text, and what every search for them needs."""

from __future__ import annotations

import re
from functools import cache

from zaxy.tuples import NamedTuple


class Span(NamedTuple):
    """A secret in a text. If two overlap, the kind with the higher rank is kept."""

    start: int
    end: int
    kind: str
    rank: int = 1


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled when it is first needed. Most payloads need none."""
    return re.compile(pattern, flags)


def contains_any(text: str, literals: tuple[str, ...]) -> bool:
    for literal in literals:  # noqa: SIM110 - any() with a generator takes twice as long
        if literal in text:
            return True
    return False
