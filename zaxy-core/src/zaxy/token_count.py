"""How many tokens a text is for a model, as an estimate that is meant to err on the high side.

Tokenizers differ by model, and none is worth its weight here. One letter in four begins a token in English words, as
good as every mark of punctuation is one, digits come in threes, and a character beyond Latin is one or more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LONG_WORD = 7
"""Letters. A shorter word is one token."""
_OTHER_SPACE = re.compile(r"[\x00-\x20]{2,}|[\x00-\x1f]")
_ACCENTED = re.compile(r"[\u0080-\u024f]+")
_OTHERS = re.compile(r"[^\x00-\u024f]")
_LETTERS = bytes(0x61 if chr(byte).isalpha() and byte < 0x80 else 0x20 for byte in range(256))
_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
"""Tables by which each byte becomes a letter `a` or a digit `0`, and all others spaces."""
_CONTROLS = bytes(range(0x20))


def counts_of_tokens(texts: Iterable[str]) -> list[int]:
    return list(map(count_tokens, texts))


def count_tokens(text: str) -> int:
    """Each kind is counted in the whole text at once: looking at every piece takes five times as long."""
    if not text:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    letters, digits = data.translate(_LETTERS), data.translate(_DIGITS)
    words = letters.split()
    long_words = [len(word) for word in words if len(word) >= LONG_WORD]
    has_odd = b"  " in data or len(data.translate(None, _CONTROLS)) < len(data)
    odd = "".join(_OTHER_SPACE.findall(text)) if has_odd else ""  # few have any, and the pattern looks at each space
    plain_spaces = text.count(" ") - odd.count(" ")
    tokens = len(words) - len(long_words) + sum(long_words) / 4.5
    tokens += sum([(len(number) + 2) // 3 for number in digits.split()])
    tokens += 0.15 * plain_spaces + len(odd.replace(" ", "")) + odd.count(" ") / 4
    beyond = 0
    if not text.isascii():
        accented, others = len("".join(_ACCENTED.findall(text))), _OTHERS.findall(text)
        tokens += accented / 1.5 + sum(1.3 if other < "\U00010000" else 2.5 for other in others)
        beyond = accented + len(others)
    marks = len(text) - letters.count(b"a") - digits.count(b"0") - len(odd) - plain_spaces - beyond
    return int(tokens + 0.9 * marks) + 1
