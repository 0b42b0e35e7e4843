"""Memory as data: what was recorded may say anything, and must not read like an instruction or a citation of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import parse_citation
from zaxy.extract.texts import cut

_CITATION = re.compile(r"eventloom://[^\s\"'<>`)\]}]*", re.IGNORECASE)
UNRESOLVED = "[unresolved citation]"

Resolves = Callable[[str], bool]
"""Whether a citation names an event of the log."""


def quoted(text: str, longest: int) -> str:
    """A text on one line between quotation marks: nothing in it can end the line, the marks or a block around it."""
    return json.dumps(cut(text, longest), ensure_ascii=False).replace("`", "\\u0060").replace("\u2028", " ")


def only_real_citations(text: str, resolves: Resolves) -> str:
    """The text with each citation that names no event of the log taken out."""
    if "eventloom://" not in text.lower():
        return text
    return _CITATION.sub(lambda found: _checked(found.group(), resolves), text)


def _checked(citation: str, resolves: Resolves) -> str:
    bare = citation.rstrip(".,;:!?")
    try:
        short = parse_citation(bare).short
    except ZaxyError:
        return UNRESOLVED
    return short + citation[len(bare) :] if resolves(bare) else UNRESOLVED
