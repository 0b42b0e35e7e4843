"""Sentences for events of types that packages own: a template of the owner's, with what the payload says in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from zaxy.api.event_types import PLACEHOLDER
from zaxy.eventloom.citation import SCHEME
from zaxy.extract.texts import cut, text_of

MAX_VALUE_CHARS = 160
"""Characters of a field within a sentence; the whole field stands behind it."""


def sentence_of(template: str, payload: Mapping[str, object]) -> str:
    """The template with the values of a payload, each on one line; empty where one of them is missing."""
    values = {name: " ".join(text_of(payload.get(name)).split()) for name in re.findall(PLACEHOLDER, template)}
    if not all(values.values()):
        return ""
    return re.sub(PLACEHOLDER, lambda found: cut(values[found[1]], MAX_VALUE_CHARS), template)


def unsaid(payload: Mapping[str, object], sentence: str) -> dict[str, object]:
    """The fields of a payload that a sentence does not have in it. What only cites other events has no words."""
    return {
        name: value
        for name, value in payload.items()
        if not _only_cites(value) and (not (text := text_of(value)) or text not in sentence)
    }


def _only_cites(value: object) -> bool:
    values = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(one, str) and one.startswith(SCHEME) for one in values)
