"""Takes out of a text what a person put between `<private>` and `</private>`: it is never recorded.

Where one of the two is missing, too much is taken rather than too little: up to the end of the text, or from its start.
"""

from __future__ import annotations

import re

MARK = "[private]"
"""Stands in its place."""
TAG = r"<\s*(?P<ending>/\s*)?private(?P<rest>/|\s[^<>]*)?>"


def may_have_private(lowered: str) -> bool:
    """Whether a text in lower case is worth a search; a capital `İ` in it became two letters."""
    return "vate" in lowered and "<" in lowered


def without_private(text: str) -> str:
    """The text with a mark for each private part; the same object where it has none."""
    if not may_have_private(text.lower()):
        return text
    parts: list[str] = []
    start = depth = opened = 0
    maybe = -1
    """Where words such as `<private key>` stand: they open a part only if something ends it."""
    for tag in re.finditer(TAG, text, re.IGNORECASE):
        if not tag["ending"]:
            if not _is_plain(tag["rest"]):
                maybe = tag.start() if maybe < 0 and not depth else maybe
                continue
            opened = opened if depth else tag.start()
            depth += 1
            continue
        if depth > 1:
            depth -= 1
            continue
        if depth or maybe >= 0:
            parts += [text[start : opened if depth else maybe], MARK]
        else:
            parts = [MARK]
        start, depth, maybe = tag.end(), 0, -1
    if depth:
        return "".join([*parts, text[start:opened], MARK])
    return "".join([*parts, text[start:]]) if parts else text


def is_all_private(text: str) -> bool:
    """Whether nothing of a text is left without its private parts."""
    public = without_private(text)
    return MARK in public and not public.replace(MARK, "").strip()


def _is_plain(rest: str | None) -> bool:
    """Whether an opening tag is meant as one: alone, or with attributes that have values."""
    return not rest or "=" in rest or not rest.replace("/", "").strip()
