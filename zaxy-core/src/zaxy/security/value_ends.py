"""Where a value begins and ends in a text: in quotes, or without any."""

from __future__ import annotations

from zaxy.security.spans import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

OPENING = r"(?:[bBrRfFuUNL@$]{1,2}|(?:Some\()?String::from\(|Some\(|Secret(?:Str|String)?\()?(\\{0,3}[\"'`“‘«„»「『])"
_CLOSING = {"“": "”", "‘": "’", "«": "»", "»": "«", "„": "“", "「": "」", "『": "』"}
_OTHER_SCRIPT = "[\u0590-\u1fff\u3000-\uffef]"
MAX_VALUE_CHARS = 128
"""How much of a long value is judged, so that a text full of names takes linear time."""
_HEAD = rf"[^\s\"'`<>\\]{{1,{MAX_VALUE_CHARS}}}+"
_REST = r"[^\s\"'`<>\\;,&|()\[\]{}]*+"
_APP_PASSWORD = r"[a-z]{4}(?: [a-z]{4}){3}(?![\w ])"
_CUT = r"[;,&|][\w .-]{0,30}[=:]|%26|&(?:quot|lt|gt|apos|#x?[0-9a-fA-F]{2,4})(?:;|\Z)"
_OPENED_BY = {")": "(", "]": "[", "}": "{"}


def end_of_quoted(text: str, opening: re.Match[str]) -> int:
    """Where the quotes close, or where the first word ends if they stay open on their line."""
    first, mark = opening.end(), opening[1]
    closing = _CLOSING.get(mark, mark)
    line = text.find("\n", first, first + 4096)
    limit = line if line >= 0 else first + 4096
    last = text.find(closing, first, limit)
    while last > first and text[last - 1] == "\\" and len(mark) == 1:
        last = text.find(closing, last + 1, limit)
    return last if last >= 0 else bare_value(text, first, query=False)[1]


def bare_value(text: str, position: int, query: bool) -> tuple[int, int]:
    """The start and end of a value without quotes. Punctuation around it is not part of it."""
    run = compiled(_HEAD).match(text, position)
    if not run:
        return position, position
    value = run[0]
    if value[0].isascii() and (other := compiled(_OTHER_SCRIPT).search(value)):
        value = value[: other.start()]
    if cut := compiled("[&#]" if query else _CUT).search(value):
        value = value[: cut.start()]
    elif len(value) == MAX_VALUE_CHARS:
        return position, run.end()
    value = value.rstrip(".,;:")
    while value[-1:] in _OPENED_BY and _OPENED_BY[value[-1]] not in value:
        value = value[:-1].rstrip(".,;:")
    bold = len(value) - len(value.lstrip("*"))
    if bold and value.endswith("*" * bold):
        return position + bold, position + len(value) - bold
    return position, position + len(value)


def end_of_bare(text: str, first: int, last: int) -> int:
    """The end of a secret without quotes. No part of it may stay."""
    if last - first == MAX_VALUE_CHARS and (rest := compiled(_REST).match(text, last)):
        last = rest.end()
    if last - first == 4 and (rest := compiled(_APP_PASSWORD).match(text, first)):
        last = rest.end()
    while text[last : last + 1] in ("'", '"', "`", ">") and text[last + 1 : last + 2].isalnum():
        more = compiled(_REST).match(text, last + 1)
        last = more.end() if more else last + 1
    return last
