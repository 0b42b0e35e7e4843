"""The form in which names of entities match: every graph keeps it beside the name, and looks that up."""

from __future__ import annotations

import unicodedata


def folded_name(name: str) -> str:
    if name.isascii():
        return name.strip().lower()
    return unicodedata.normalize("NFKC", name).strip().casefold()
