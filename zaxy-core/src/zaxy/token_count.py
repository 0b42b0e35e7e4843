"""How many tokens a text is for a model, as an estimate that is meant to err on the high side.

Tokenizers differ by model, and none is worth its weight here. One letter in four begins a token in English words, as
good as every mark of punctuation is one, digits come in threes, and a character beyond Latin is one or more.
"""

from __future__ import annotations

import re

_PIECES = re.compile(r"([A-Za-z]+)|([0-9]+)|([\x00-\x20]+)|([\x21-\x7f])|([\u0080-\u024f]+)|(.)", re.DOTALL)


def count_tokens(text: str) -> int:
    tokens = 0.0
    for letters, digits, space, mark, accented, other in _PIECES.findall(text):
        if letters:
            tokens += 1 if len(letters) <= 6 else len(letters) / 4.5
        elif digits:
            tokens += (len(digits) + 2) // 3
        elif space:
            tokens += 0.15 if space == " " else len(space.replace(" ", "")) + space.count(" ") / 4
        elif mark:
            tokens += 0.9
        elif accented:
            tokens += len(accented) / 1.5
        else:
            tokens += 1.3 if other < "\U00010000" else 2.5
    return int(tokens) + 1 if text else 0
