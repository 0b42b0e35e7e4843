"""The table of providers' tokens, `shapes.txt`: its rows, and a quick test whether a text may have one of them."""

from __future__ import annotations

import os
import re
from functools import cache

from zaxy.security.spans import contains_any
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = os.path.join(os.path.dirname(__file__), "shapes.txt")
MIN_SHAPE_CHARS = 16
"""A shape has at least this many characters without a space, which keeps the search for literals cheap."""
MIN_INNER_CHARS = 36
"""The same for a shape that does not begin with its literal."""
_START = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9]m))"
_MIXED = r"(?=[\w+/=%-]{0,40}?[0-9])(?=[\w+/=%-]{0,40}?[A-Z])(?=[\w+/=%-]{0,40}?[a-z])"
_ODD = rf"(?:{_MIXED}|(?=(?:[a-z=_-]{{0,20}}[0-9]){{4}}))"
_ENDED = r"(?![A-Za-z0-9])"
_ESCAPES = (b"\\", b"%", b"\x1b")
"""What may stand right before a token though it ends in a letter or digit: `\\n`, `%20`, a colour of a terminal."""
_HEAD_CHARS = 3
_sources: dict[object, Callable[[], tuple[Shape, ...]]] = {}
"""Where shapes come from that are not in the table, by the owner of the source."""
_WORD_CHARS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TO_WORDS = bytes(code if code in _WORD_CHARS else 32 for code in range(256))


class Shape(NamedTuple):
    """One row of the table."""

    kind: str
    literals: tuple[str, ...]
    """Every secret of this shape has at least one of these."""
    form: str
    """Its pattern, with `<>` for the literals."""
    provider: str
    common: bool
    """Its literals are in many harmless texts."""

    def leads(self) -> bool:
        """Whether it begins with its literal."""
        return self.form.removeprefix("<start>").startswith("<>")


@cache
def pattern_of(shape: Shape) -> re.Pattern[str]:
    """Its first group is the secret; without a group, the whole match is."""
    literals = "|".join(re.escape(literal) for literal in sorted(shape.literals, key=len, reverse=True))
    form = (
        shape.form.replace("<start>", _START)
        .replace("<mix>", _MIXED)
        .replace("<odd>", _ODD)
        .replace("<>", f"(?:{literals})")
    )
    return re.compile(form + _ENDED, re.ASCII)


@cache
def shapes() -> tuple[Shape, ...]:
    """All rows, in the order of the table."""
    with open(TABLE, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    return tuple(shape_of(line) for line in lines)


def shape_of(line: str) -> Shape:
    kind, literals, form, provider = line.split(None, 3)
    return Shape(kind, tuple(literals.lstrip("~").split(",")), form, provider, literals.startswith("~"))


def add_shapes(owner: object, source: Callable[[], tuple[Shape, ...]]) -> None:
    """Let the search find these shapes too. The source is asked when they are first needed, and must not raise.

    It takes the place of the one before it, unless that has the same owner.
    """
    if owner not in _sources:
        _sources.clear()
        _sources[owner] = source
        _by_head.cache_clear()


def may_have_shapes(text: str) -> bool:
    """Whether the text may have such shapes. A quick test: only a yes can be wrong."""
    words = [word for word in text.split() if len(word) >= MIN_SHAPE_CHARS]
    if not words:
        return False
    long = " ".join(words)
    inner = "" if len(long) < MIN_INNER_CHARS else " ".join([word for word in words if len(word) >= MIN_INNER_CHARS])
    return any(not shape.common or pattern_of(shape).search(long) for shape in _with_literals(long, inner))


def shapes_in(text: str) -> list[Shape]:
    """The shapes of which the text has a literal."""
    return _with_literals(text, text)


def _with_literals(text: str, inner: str) -> list[Shape]:
    """`inner`: what is searched for shapes that do not begin with their literal."""
    by_head, others = _by_head()
    found = [shape for head in _heads(text) for shape in by_head.get(head, ()) if contains_any(text, shape.literals)]
    if inner:
        found += [shape for shape in others if contains_any(inner, shape.literals)]
    return list(dict.fromkeys(found))


def _heads(text: str) -> set[bytes]:
    """The first letters and digits of every word, however short, and of what may be a word behind an escape."""
    plain = text.encode("ascii", "replace")
    words = set(plain.translate(_TO_WORDS).split())
    heads = {word[:_HEAD_CHARS] for word in words}
    if any(escape in plain for escape in _ESCAPES):
        heads |= {word[skipped : skipped + _HEAD_CHARS] for word in words for skipped in (1, 2, 3)}
    return heads | {head[:2] for head in heads}


@cache
def _by_head() -> tuple[dict[bytes, list[Shape]], tuple[Shape, ...]]:
    """The shapes by the head of the literal that they begin with, and those that do not begin with one."""
    by_head: dict[bytes, list[Shape]] = {}
    every = (*shapes(), *(shape for source in _sources.values() for shape in source()))
    for shape in every:
        for head in {_head(literal) for literal in shape.literals} if shape.leads() else ():
            by_head.setdefault(head, []).append(shape)
    return by_head, tuple(shape for shape in every if not shape.leads())


def _head(literal: str) -> bytes:
    return literal.encode().translate(_TO_WORDS).split()[0][:_HEAD_CHARS]
