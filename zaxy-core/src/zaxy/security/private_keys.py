"""Finds private keys: PEM, OpenSSH, PGP and PuTTY, whole or cut off, on one line or many."""

from __future__ import annotations

from zaxy.security.spans import Span, compiled, contains_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_KEY_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: [0-9]{1,3}"
_KEY_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_HEADER = r"(?:\s|\\[nr]){0,16}+[A-Z][A-Za-z-]{2,20}+: ?[^\n\\]{1,100}+"
_NOT_A_WORD = r"(?![a-z]++(?![A-Za-z0-9+/=]))"
_KEY_LINE = rf"(?:[ \t]|\r?\n|\\r|\\n){{0,16}}+{_NOT_A_WORD}[A-Za-z0-9+/=]{{8,}}+"
_KEY_NEXT_LINE = rf"(?:[ \t]|\\r){{0,16}}+(?:\r?\n|\\n)?[ \t]{{0,16}}+{_NOT_A_WORD}[A-Za-z0-9+/=]++(?=[\s\\\"'`,;<]|\Z)"
_KEY_RUN = r"[A-Za-z0-9+/=]{32}"
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_KEY_HINTS = ("PRIVATE KEY", "Private-Lines")


def may_have_private_keys(text: str) -> bool:
    return contains_any(text, _KEY_HINTS)


def find_private_keys(text: str) -> Iterator[Span]:
    """Whole blocks, blocks without an end, and blocks without a beginning."""
    begins = list(compiled(_KEY_BEGIN).finditer(text))
    ends = list(compiled(_KEY_END).finditer(text))
    used = 0
    for number, begin in enumerate(begins):
        limit = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        while used < len(ends) and ends[used].start() < begin.end():
            yield from _find_headless_key(text, ends[used])
            used += 1
        body = _end_of_key_lines(text, begin.end(), limit)
        if used < len(ends) and ends[used].start() < limit:
            end = ends[used]
            used += 1
            whole = body > begin.end() and not text[body : end.start()].strip(" \t\r\n\\nr")
            if whole or compiled(_KEY_RUN).search(text, begin.end(), end.start()):
                yield Span(begin.start(), end.end(), "private_key", 3)
        elif body > begin.end() + 12:
            yield Span(begin.start(), body, "private_key", 3)
    for end in ends[used:]:
        yield from _find_headless_key(text, end)


def _end_of_key_lines(text: str, position: int, limit: int) -> int:
    while header := compiled(_KEY_HEADER).match(text, position, limit):
        position = header.end()
    line = compiled(_KEY_LINE).match(text, position, limit)
    while line:
        position = line.end()
        line = compiled(_KEY_NEXT_LINE).match(text, position, limit)
    return position


def _find_headless_key(text: str, end: re.Match[str]) -> Iterator[Span]:
    before = text[max(0, end.start() - 8192) : end.start()]
    kept = before.rstrip(_BASE64 + " \t\r\n\\")
    if compiled(_KEY_RUN).search(before, len(kept)):
        yield Span(end.start() - len(before) + len(kept), end.end(), "private_key", 3)
