"""The properties of an entity: a few fields of the payload, each small, so that a row stays small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from zaxy.extract.texts import cut, one_line, text_of

COMMON = ("key", "source", "turn_index", "tags")
"""Kept of every payload that has them."""
EXCERPTS = frozenset(("stdout", "stderr", "result_summary"))
EXCERPT = 240
MAX_TEXT_CHARS = 500
MAX_ITEM_CHARS = 240
MAX_ITEMS = 32


def kept(payload: Mapping[str, object], fields: Sequence[str], nulls: bool = False) -> dict[str, object]:
    """The given fields and the common ones, bounded: texts, numbers, truth values, and lists of them.

    With `nulls` also fields that are null, which an update takes away.
    """
    properties: dict[str, object] = {}
    for field in _wanted(tuple(fields)):
        if field in payload:
            value = small(payload[field], EXCERPT if field in EXCERPTS else MAX_TEXT_CHARS)
            if value is None:
                if nulls:
                    properties[field] = None
            elif value != "" and value != []:
                properties[field] = value
    return properties


@lru_cache(maxsize=256)
def _wanted(fields: tuple[str, ...]) -> tuple[str, ...]:
    return (*fields, *COMMON)


def small(value: object, max_chars: int = MAX_TEXT_CHARS) -> object:
    """The value if it is small, else the beginning of it; an object becomes one line of text."""
    kind = type(value)
    if kind is str:
        text: str = value.strip()  # type: ignore[attr-defined]
        return text if len(text) <= max_chars else cut(text, max_chars)
    if kind is int:
        return value
    if isinstance(value, list):
        items = (one_line(item, MAX_ITEM_CHARS) if isinstance(item, dict | str) else item for item in value[:MAX_ITEMS])
        return [item for item in items if text_of(item)]
    if isinstance(value, dict):
        return one_line(value, max_chars)
    return value
