"""Citations in recorded text: only those that name an event of the log are shown as such."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from zaxy.eventloom.citation import SHORT, short_citation
from zaxy.text.passages import ORIGIN

_CITATION = re.compile(r"eventloom://[^\s\"'<>`)\]}\\]*", re.IGNORECASE)
UNRESOLVED = "[unresolved citation]"

Resolves = Callable[[str], bool]
"""Whether a citation names an event of the log; one that is malformed names none."""


def only_real_citations(text: str, resolves: Resolves) -> str:
    """The text, with every citation removed that names no event of the log."""
    if "eventloom://" not in text.lower():
        return text
    return _CITATION.sub(lambda found: _checked(found.group(), resolves), text)


def real_citations_within(value: Any, resolves: Resolves) -> Any:
    """The same for every text within a JSON value, because names and labels are recorded text as well.

    Only an import writes an event's origin, which names an event of another log: that stays.
    """
    if isinstance(value, str):
        return only_real_citations(value, resolves) if "://" in value else value
    if isinstance(value, list | tuple):
        return [real_citations_within(one, resolves) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, of in value.items():
        name = only_real_citations(key, resolves) if "://" in key else key
        if not isinstance(of, str):
            found[name] = real_citations_within(of, resolves) if isinstance(of, dict | list | tuple) else of
        elif "://" not in of or (key == ORIGIN and _CITATION.fullmatch(of)):
            found[name] = of
        else:
            found[name] = only_real_citations(of, resolves)
    return found


def _checked(citation: str, resolves: Resolves) -> str:
    bare = citation.rstrip(".,;:!?…")
    if not resolves(bare):
        return UNRESOLVED
    is_short = len(bare) - bare.rfind("#") - 1 == SHORT
    return citation if is_short else short_citation(bare) + citation[len(bare) :]
