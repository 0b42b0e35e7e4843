"""The table of providers' tokens, `shapes.txt`: its rows, and a quick test whether a text may have one of them."""

from __future__ import annotations

import os
import re
from functools import cache

from zaxy.security.spans import compiled, contains_any
from zaxy.tuples import NamedTuple

TABLE = os.path.join(os.path.dirname(__file__), "shapes.txt")
MIN_SHAPE_CHARS = 16
"""A shape has at least this many characters without a space, which keeps the search for literals cheap."""
SHORT_TEXT_CHARS = 2048
"""In a shorter text the literals are looked for one by one: the pattern of them all takes 5 ms to compile, which a hook
that appends a single event would have to pay."""
LITERAL = "<>"
_MIXED = r"(?=[\w+/=%-]{0,40}?[0-9])(?=[\w+/=%-]{0,40}?[A-Z])(?=[\w+/=%-]{0,40}?[a-z])"
_ENDED = r"(?![A-Za-z0-9])"
_BEGUN = r"(?<![A-Za-z0-9])"
_ESCAPES = ("\\", "%", "\x1b")
"""What may stand right before a token though it ends in a letter or digit: `\\n`, `%20`, a colour of a terminal."""



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
        return self.form.startswith(LITERAL)


@cache
def pattern_of(shape: Shape) -> re.Pattern[str]:
    """Its first group is the secret; without a group, the whole match is."""
    literals = "|".join(re.escape(literal) for literal in sorted(shape.literals, key=len, reverse=True))
    form = shape.form.replace("<mix>", _MIXED).replace(LITERAL, f"(?:{literals})")
    return re.compile(form + _ENDED, re.ASCII)


@cache
def shapes() -> tuple[Shape, ...]:
    """All rows, in the order of the table."""
    with open(TABLE, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    return tuple(_shape(line) for line in lines)


def _shape(line: str) -> Shape:
    kind, literals, form, provider = line.split(None, 3)
    return Shape(kind, tuple(literals.lstrip("~").split(",")), form, provider, literals.startswith("~"))


def may_have_shapes(text: str) -> bool:
    """Whether the text may have such shapes. A quick test: only a yes can be wrong."""
    words = [word for word in text.split() if len(word) >= MIN_SHAPE_CHARS]
    return bool(words) and _may_have(" ".join(words))


def _may_have(text: str) -> bool:
    if len(text) >= SHORT_TEXT_CHARS:
        return bool(shapes_in(text))
    rare, common = _hints()
    if contains_any(text, rare):
        return True
    for literal in common:
        if literal in text and any(pattern_of(shape).search(text) for shape in common[literal]):
            return True
    return False


@cache
def _hints() -> tuple[tuple[str, ...], dict[str, list[Shape]]]:
    """The literals that are rare, and those that are not with the shapes that have them."""
    rare: dict[str, None] = {}
    common: dict[str, list[Shape]] = {}
    for shape in shapes():
        for literal in shape.literals:
            if shape.common:
                common.setdefault(literal, []).append(shape)
            else:
                rare[literal] = None
    return tuple(rare), common


def shapes_in(text: str) -> list[Shape]:
    """The shapes of which the text has a literal."""
    if len(text) < SHORT_TEXT_CHARS:
        return [shape for shape in shapes() if contains_any(text, shape.literals)]
    escaped = contains_any(text, _ESCAPES)
    stems, of_stem = _stems()
    present = set(compiled(stems if escaped else _BEGUN + stems).findall(text))
    found = {shape for stem in present for shape in of_stem[stem]}
    return [
        shape for shape in shapes() if (shape in found if shape.leads() else contains_any(text, shape.literals))
    ]


@cache
def _stems() -> tuple[str, dict[str, list[Shape]]]:
    """A pattern that finds the shortest beginning of every literal that leads, and the shapes of each beginning."""
    literals = sorted({literal for shape in shapes() if shape.leads() for literal in shape.literals})
    stems: dict[str, list[Shape]] = {}
    for literal in literals:
        stem = next((stem for stem in stems if literal.startswith(stem)), literal)
        stems.setdefault(stem, []).extend(shape for shape in shapes() if literal in shape.literals)
    return _either(list(stems)), stems


def _either(literals: list[str]) -> str:
    """A pattern for any of the literals, of which none begins another. What they share is tried once."""
    tails: dict[str, list[str]] = {}
    for literal in literals:
        tails.setdefault(literal[0], []).append(literal[1:])
    parts = [re.escape(first) + ("" if rest == [""] else _either(rest)) for first, rest in tails.items()]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
