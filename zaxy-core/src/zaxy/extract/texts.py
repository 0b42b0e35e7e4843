"""Text out of JSON: names that match, summaries that fit, and the readable text of any payload."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

MAX_NAME_CHARS = 160
MAX_SUMMARY_CHARS = 2000

PROSE = (
    "summary",
    "decision",
    "task",
    "goal",
    "issue",
    "fact",
    "preference",
    "verification",
    "handoff",
    "finding",
    "claim",
    "text",
    "content",
    "description",
    "title",
)
"""The fields that are read as sentences, in this order; what stands in other fields is shown with the field's name."""
_RANK = {field: rank for rank, field in enumerate(PROSE)}

MAX_KEY_CHARS = 64
MAX_LEAVES = 1000
DEEPEST = 8
"""Bounds of what is nested. A key is repeated for each value below it, so a few long ones could fill the memory."""


def text_of(value: object) -> str:
    """A text without the space around it, a number or a truth value as JSON writes it; empty for all else."""
    kind = type(value)
    if kind is str:
        return value.strip()  # type: ignore[attr-defined, no-any-return]
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return ""


def first_text(payload: Mapping[str, object], fields: Sequence[str]) -> str:
    """The first of the fields that holds a text or a number that is not blank."""
    for field in fields:
        if field in payload:
            value = payload[field]
            if text := value.strip() if type(value) is str else text_of(value):
                return text
    return ""


def entity_name(text: str) -> str:
    """The name that a text gives: NFKC, trimmed, at most 160 characters. Folding is left to who compares names."""
    head = text.lstrip()[: 4 * MAX_NAME_CHARS]
    if not head.isascii():
        head = unicodedata.normalize("NFKC", head)
    return head.strip()[:MAX_NAME_CHARS].rstrip()


def cut(text: str, max_chars: int) -> str:
    """The text, or its beginning with a mark that there was more."""
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"


def cut_each(texts: Iterable[str], max_chars: int) -> list[str]:
    return [cut(text, max_chars) for text in texts]


def one_line(value: object, max_chars: int) -> str:
    """A JSON value on one line: an object as `key: value; key: value`."""
    if not isinstance(value, Mapping):
        return cut(text_of(value), max_chars)
    return cut("; ".join(" ".join(line.split()) for line in _lines(value)), max_chars)


def readable_text(payload: Mapping[str, object]) -> str:
    """A payload as people read it and search finds it: its prose first, then the other fields as `key: value`.

    Top-level texts are whole. Nested values follow their path, `a.b: value`, the first thousand of them.
    """
    return "\n".join(_lines(payload))


def _lines(payload: Mapping[str, object]) -> list[str]:
    prose = sorted((_RANK[key], text) for key in payload if key in _RANK and (text := _prose(payload[key])))
    lines = list(dict.fromkeys(text for _, text in prose))
    nested: list[str] = []
    for key in sorted(payload):
        value = payload[key]
        if isinstance(value, dict | list):
            _flatten(value, key[:MAX_KEY_CHARS], 1, nested)
        elif (key not in _RANK or not isinstance(value, str)) and (text := text_of(value)):
            lines.append(f"{key[:MAX_KEY_CHARS]}: {text}")
    return lines + nested


def _prose(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _flatten(value: object, path: str, depth: int, lines: list[str]) -> None:
    if depth > DEEPEST or len(lines) >= MAX_LEAVES:
        return
    if isinstance(value, list):
        plain = [text for item in value[:MAX_LEAVES] if (text := text_of(item))]
        if plain:
            lines.append(f"{path}: {', '.join(plain)}")
        for item in value[:MAX_LEAVES]:
            if isinstance(item, dict | list):
                _flatten(item, path, depth + 1, lines)
    elif isinstance(value, dict):
        for key in sorted(value):
            _flatten(value[key], f"{path}.{key[:MAX_KEY_CHARS]}", depth + 1, lines)
    elif text := text_of(value):
        lines.append(f"{path}: {text}")
