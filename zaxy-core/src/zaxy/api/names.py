"""The form in which names of entities are compared. Every graph stores it beside the name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

REMEMBERED = 20_000
"""Names whose forms are remembered: those of people and sessions come with every event."""


def folded_names(names: Iterable[str]) -> set[str]:
    return set(map(folded_name, names))


@lru_cache(REMEMBERED)
def folded_name(name: str) -> str:
    if name.isascii():
        return name.strip().lower()
    return unicodedata.normalize("NFKC", name).strip().casefold()
