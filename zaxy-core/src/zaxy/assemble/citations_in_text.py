"""Recorded text as data: it may say anything, and must never read like an instruction or a citation of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import parse_citation
from zaxy.extract.texts import cut
from zaxy.text.passages import ORIGIN

_CITATION = re.compile(r"eventloom://[^\s\"'<>`)\]}\\]*", re.IGNORECASE)
_UNSAFE = re.compile("[`\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that JSON does not escape: further line ends, terminal controls, and changes of text direction."""
_PLAIN_NAME = re.compile(r"[\w.@:/+-]{1,64}")
UNRESOLVED = "[unresolved citation]"

Resolves = Callable[[str], bool]
"""Whether a citation names an event of the log."""


def quoted(text: str, max_chars: int) -> str:
    """A text on one line between quotation marks: nothing in it can end the line, the marks or a block around it."""
    line = json.dumps(cut(text, max_chars), ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", line)


def name_in_line(name: str) -> str:
    """A name within a line of ours. Anything but a plain word is quoted."""
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name, 80)


def only_real_citations(text: str, resolves: Resolves) -> str:
    """The text, with every citation removed that names no event of the log."""
    if "eventloom://" not in text.lower():
        return text
    return _CITATION.sub(lambda found: _checked(found.group(), resolves), text)


def real_citations_within(value: Any, resolves: Resolves) -> Any:
    """The same for every text within a JSON value, because names and labels are recorded text as well."""
    if isinstance(value, str):
        return only_real_citations(value, resolves)
    if isinstance(value, dict):
        return {only_real_citations(key, resolves): _value(key, of, resolves) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [real_citations_within(one, resolves) for one in value]
    return value


def _value(key: str, value: Any, resolves: Resolves) -> Any:
    """A value under its key. Only an import writes an event's origin, which names an event of another log."""
    if key == ORIGIN and isinstance(value, str) and _CITATION.fullmatch(value):
        return value
    return real_citations_within(value, resolves)


def _checked(citation: str, resolves: Resolves) -> str:
    bare = citation.rstrip(".,;:!?…")
    try:
        short = parse_citation(bare).short
    except ZaxyError:
        return UNRESOLVED
    return short + citation[len(bare) :] if resolves(bare) else UNRESOLVED
