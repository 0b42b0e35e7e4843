"""Recorded text as data: it may say anything, and must never read like an instruction of ours."""

from __future__ import annotations

import json
import re

from zaxy.extract.texts import cut

_UNSAFE = re.compile("[`\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that JSON does not escape: further line ends, terminal controls, and changes of text direction."""
_encoded = json.JSONEncoder(ensure_ascii=False).encode
_PLAIN_NAME = re.compile(r"[\w.@:/+-]{1,64}")


def quoted(text: str) -> str:
    """A text on one line between quotation marks: nothing in it can end the line, the marks or a block around it."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", _encoded(text))


def is_plain_name(name: str) -> bool:
    """Whether it is one plain word, which no reader takes for a sentence."""
    return _PLAIN_NAME.fullmatch(name) is not None


def name_in_line(name: str) -> str:
    """A name within a line of ours. Anything but a plain word is quoted."""
    return name if is_plain_name(name) else quoted(cut(name, 80))
