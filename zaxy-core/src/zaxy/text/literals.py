"""What a question asks for as it stands: quoted phrases, and identifiers, which have no other form.

An identifier is a path, a ticket, a hash, a version, a snake_case or a dotted name. Numbers, dates, times, quantities
and words with hyphens have other forms, and are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from zaxy.text.tokens import IDENTIFIER, QUOTED, UNSPACED, folded, quoted_phrases

MAX_LITERALS = 16
"""Of one question; the others are looked for as words."""
_DATE_OR_TIME = re.compile(
    r"(?:19|20)\d\d[-/.]\d\d?(?:[-/.]\d\d?)?(?:t[\d:.+-]*z?)?|\d\d?[-/.]\d\d?[-/.](?:19|20)\d\d|\d\d?:\d\d(?::\d\d)?",
    re.IGNORECASE,
)
# `10ms` and `3rd` are quantities, and so are `24-hour` and `3-day`.
_QUANTITY = re.compile(r"\d+[^\W\d_]{1,4}|\d+(?:-[^\W\d_A-Z]+)+")
_VERSION = re.compile(r"[vV]?\d+(?:\.\d+)+(?:[-+.:]?\w+)*")
_TICKET = re.compile(r"[^\W\d_][^\W_]*(?:[-#]+[^\W_]+)*[-#]\d+(?:[-.][^\W_]+)*")
_HASH_OR_CODE = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])[^\W_]+")
_SNAKE = re.compile(r"\w*[^\W_]_+[^\W_]\w*(?:[.:/\\-]+\w+)*|__\w+__")
_DOTTED = re.compile(r"[\w$-]{2,}(?:(?:\.|::|@)[\w$-]{2,})+|[^\W\d_]\w*\.\d+")
_PATH = re.compile(r"[\w$.@:+~-]+[/\\]+[\w$./\\@:+~-]+")
_PATH_SIGNS = frozenset("/\\~")
_NUMBERED = re.compile(r"(?<![\w#])#\d+(?!\w)")
_SPACES = re.compile(r"\s+")


class Literals(NamedTuple):
    phrases: tuple[str, ...]
    """Folded, with single spaces."""
    identifiers: tuple[str, ...]
    """Folded."""

    @property
    def total(self) -> int:
        return len(self.phrases) + len(self.identifiers)

    @property
    def shown(self) -> list[str]:
        """As a message names them."""
        return [*[f'"{phrase}"' for phrase in self.phrases], *self.identifiers]

    def count_in(self, text: str) -> int:
        """How many of them stand in a text. Line ends count as spaces, case and accents do not count."""
        plain = _SPACES.sub(" ", folded(text))
        found = sum([phrase in plain for phrase in self.phrases])
        if self.identifiers:
            spaced = UNSPACED.sub(" ", plain)
            found += sum([_stands_in(name, spaced) for name in self.identifiers])
        return found


def literals_of(question: str) -> Literals:
    """What of a question has to stand in a text as it is; nothing if it has only words."""
    phrases = tuple(_SPACES.sub(" ", phrase).strip() for phrase in quoted_phrases(question))
    names = dict.fromkeys(folded(name) for name in _identifiers(QUOTED.sub(" ", question)))
    return Literals(tuple(dict.fromkeys(filter(None, phrases)))[:MAX_LITERALS], tuple(names)[:MAX_LITERALS])


def _identifiers(text: str) -> Iterator[str]:
    plain = UNSPACED.sub(" ", text)
    yield from _NUMBERED.findall(plain)
    for found in IDENTIFIER.finditer(plain):
        name = found.group()
        if _is_identifier(name, begins_path=plain[found.start() - 1 : found.start()] in _PATH_SIGNS):
            yield name


def _is_identifier(name: str, *, begins_path: bool) -> bool:
    """`begins_path`: a mark of paths stands before it, as in `/etc`."""
    if _DATE_OR_TIME.fullmatch(name) or _QUANTITY.fullmatch(name):
        return False
    if _PATH.fullmatch(name):
        return begins_path or "." in name or "\\" in name or name.count("/") > 1
    kinds = (_VERSION, _TICKET, _HASH_OR_CODE, _SNAKE, _DOTTED)
    return begins_path or any(kind.fullmatch(name) for kind in kinds)


def _stands_in(name: str, text: str) -> bool:
    """Whether it stands there whole: `1.2` is not in `1.2.3`, nor `ABC-12` in `ABC-123` or `ABC-12-4`."""
    whole = rf"(?<!\w)(?<!\d[.]){re.escape(name)}(?!\w)(?![.-]\d)"
    return name in text and re.search(whole, text) is not None
