"""The form in which names of entities are compared. Every graph stores it beside the name."""

from __future__ import annotations

import unicodedata


def folded_name(name: str) -> str:
    if name.isascii():
        return name.strip().lower()
    return unicodedata.normalize("NFKC", name).strip().casefold()
