"""The form in which names of entities are compared. Every graph stores it beside the name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

REMEMBERED = 20_000
"""Names whose forms are remembered, of those that take long: people's come with every event."""


def folded_names(names: Iterable[str]) -> set[str]:
    return set(map(folded_name, names))


def folded_name(name: str) -> str:
    return name.strip().lower() if name.isascii() else _folded(name)


@lru_cache(REMEMBERED)
def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()
