"""What a payload says, in the bounds of a row. Events stay in the log for ever, so a field may be missing or odd."""

from __future__ import annotations

import json

from zaxy.api import JsonObject

MAX_NAME_CHARS = 160
MAX_SUMMARY_CHARS = 2000
MAX_NAMES = 32
"""Things that one field may name."""
MAX_VALUE_CHARS = 500
ROOM = 8000
"""Characters of all properties of a row together. What does not fit stands in the event."""


def text(value: object) -> str:
    """A text without the space around it, or a number; empty for all else."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def names(value: object, or_else: str = "") -> list[str]:
    """The names in a field that holds one or a list of them, each once."""
    items = value[:MAX_NAMES] if isinstance(value, list) else [value]
    found = dict.fromkeys(name for item in items if (name := text(item)[:MAX_NAME_CHARS].strip()))
    return list(found) or ([or_else] if or_else else [])


def beginning_of(words: str, max_chars: int = MAX_SUMMARY_CHARS) -> str:
    """The words, or their beginning with a mark that there was more."""
    return words if len(words) <= max_chars else words[: max_chars - 1].rstrip() + "…"


def kept(payload: JsonObject, fields: tuple[str, ...]) -> dict[str, object]:
    """The fields that are there, as long as there is room. Of a list the first items are kept, each of them whole."""
    found: dict[str, object] = {}
    room = ROOM
    for field in fields:
        value = _fitting(payload.get(field), room - len(field))
        if value not in (None, "", []):
            found[field] = value
            room -= _size(value) + len(field)
    return found


def _fitting(value: object, room: int) -> object:
    if isinstance(value, str):
        value = beginning_of(value.strip(), MAX_VALUE_CHARS)
    if isinstance(value, list):
        return _first_items(value, room)
    return value if _size(value) <= room else None


def _first_items(items: list[object], room: int) -> list[object]:
    found = []
    for item in items:
        room -= _size(item)
        if room < 0:
            break
        found.append(item)
    return found


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False)) + len(', "": ')
