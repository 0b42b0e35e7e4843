"""Judges the rows of secret shapes that a plugin brings. They are data, in the format of `shapes.txt`, and refused one
by one: a row that could cost more than linear time, or that matches harmless text, never gets to the search.

A plugin's pattern is simpler than one of ours: it begins with its literal, and is a row of characters and classes, each
of them once, a fixed number of times, or as often as there are any (`{8,40}+`, which gives nothing back). So no place
of a text is tried in more than a few ways. Only the last class may repeat without end, and then it takes every letter
and digit: what it has taken is not looked at again.
"""

from __future__ import annotations

import os
import re

from zaxy.security.shape_table import MIN_SHAPE_CHARS, Shape, pattern_of, shape_of
from zaxy.tuples import NamedTuple

MAX_FILE_BYTES = 64 << 10
MAX_ROWS = 100
MAX_ROW_CHARS = 400
MAX_LITERALS = 16
MIN_LITERAL_CHARS = 3
MAX_LITERAL_CHARS = 40
MAX_PATTERN_CHARS = 512
MAX_OPTIONAL_PARTS = 4
HARMLESS = os.path.join(os.path.dirname(__file__), "harmless.txt")
_KIND = r"[a-z][a-z0-9_]{2,39}"
_CLASS = r"\\[wd]|\[(?:\\w)?[A-Za-z0-9_.~+/=%:!@#$&*,;-]{0,60}\]"
_ATOM = rf"(?:{_CLASS}|\\[.$|+*?()\[\]{{}}^/-]|[A-Za-z0-9_=:/~@%!,;#&-])"
_COUNTED = rf"{_ATOM}(?:\{{[0-9]{{1,3}}\}})?"
_GROUP = rf"\(\?:(?:{_COUNTED}){{1,12}}\)(?:\{{[0-9]\}}|\?)"
_PARTS = rf"(?:{_GROUP}|{_ATOM}(?:\{{[0-9]{{1,3}}(?:,[0-9]{{1,3}}\}}\+|\}})|\?)?){{0,24}}"
_ENDLESS = rf"(?:{_CLASS})\{{[0-9]{{1,3}},\}}\+(?:=\{{0,[1-3]\}}\+)?"
_FORM = (
    rf"(?:<start>)?<>(?:<mix>|<odd>)?"
    rf"(?P<parts>{_PARTS}(?:\({_PARTS}(?P<inner>{_ENDLESS})?\)|(?P<endless>{_ENDLESS}))?)"
)
_PART = (
    rf"\(\?:(?P<group>(?:{_COUNTED}){{1,12}})\)(?:\{{(?P<times>[0-9])\}}|\?)"
    rf"|{_ATOM}(?:\{{(?P<min>[0-9]+)(?:,(?P<max>[0-9]*))?\}}|(?P<optional>\?))?"
)
_ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class RefusedRow(NamedTuple):
    line: int
    """Where it is in the file, from 1; 0 where the whole file is refused."""
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


class JudgedRows(NamedTuple):
    shapes: tuple[Shape, ...]
    refused: tuple[RefusedRow, ...]


def judged_rows(data: bytes) -> JudgedRows:
    """The rows of a file that can be used, and why each of the others cannot."""
    if len(data) > MAX_FILE_BYTES:
        return JudgedRows((), (RefusedRow(0, f"it has more than {MAX_FILE_BYTES:,} bytes"),))
    try:
        lines = data.decode("ascii").splitlines()
    except UnicodeDecodeError:
        return JudgedRows((), (RefusedRow(0, "it is not plain ASCII"),))
    rows = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    refused = [RefusedRow(number, f"there are more than {MAX_ROWS} rows") for number, _ in rows[MAX_ROWS:]]
    harmless = _harmless_text()
    shapes = []
    for number, line in rows[:MAX_ROWS]:
        reason = _problem(line, harmless)
        if reason:
            refused.append(RefusedRow(number, reason))
        else:
            shapes.append(shape_of(line))
    return JudgedRows(tuple(shapes), tuple(sorted(refused)))


def _harmless_text() -> str:
    with open(HARMLESS, encoding="utf-8") as file:
        return file.read()


def _problem(line: str, harmless: str) -> str:
    """Why a row is refused; empty if it is not."""
    if len(line) > MAX_ROW_CHARS:
        return f"it has more than {MAX_ROW_CHARS} characters"
    if len(line.split(None, 3)) < 4:
        return "it needs four columns: kind, literals, pattern, provider"
    shape = shape_of(line)
    return _problem_of_names(shape) or _problem_of_form(shape) or _problem_met(shape, harmless)


def _problem_of_names(shape: Shape) -> str:
    if not re.fullmatch(_KIND, shape.kind):
        return f"the kind {shape.kind!r:.60} is not lower-case letters, digits and _"
    if len(shape.literals) > MAX_LITERALS:
        return f"it has more than {MAX_LITERALS} literals"
    for literal in shape.literals:
        if not MIN_LITERAL_CHARS <= len(literal) <= MAX_LITERAL_CHARS or not literal[0].isalnum():
            return (
                f"the literal {literal!r:.60} must begin with a letter or digit and have {MIN_LITERAL_CHARS} to "
                f"{MAX_LITERAL_CHARS} characters"
            )
    return ""


def _problem_of_form(shape: Shape) -> str:
    """What could be tried in many ways is not in the grammar, so that a row is refused by its letters alone."""
    form = re.fullmatch(_FORM, shape.form)
    if form is None:
        return (
            "its pattern is not <> and then characters and classes, each with a fixed count, a ? or a possessive count "
            "such as {8,40}+; only the last may be endless, as in {20,}+"
        )
    try:
        pattern_of(shape)
    except (re.error, OverflowError, RecursionError) as error:
        return f"its pattern is no regular expression: {error}"
    endless = form["endless"] or form["inner"]
    if endless and not re.fullmatch(f"(?:{endless.partition('{')[0]})+", _ALPHANUMERIC, re.ASCII):
        return "what repeats without end must take every letter and digit, or be given an end"
    if form["parts"].replace("(?:", "").replace("\\?", "").count("?") > MAX_OPTIONAL_PARTS:
        return f"it has more than {MAX_OPTIONAL_PARTS} optional parts"
    return _problem_of_width(shape, *_width(form["parts"]))


def _problem_of_width(shape: Shape, min_chars: int, max_chars: int) -> str:
    """The quick test of a text looks at no shorter words; and what is tried in vain is not long."""
    total = min_chars + min(map(len, shape.literals))
    if total < MIN_SHAPE_CHARS:
        return f"it matches {total} characters: a secret has at least {MIN_SHAPE_CHARS}"
    if max_chars > MAX_PATTERN_CHARS:
        return f"it matches more than {MAX_PATTERN_CHARS} characters; let it end in a class such as \\w{{40,}}+"
    return ""


def _width(parts: str) -> tuple[int, int]:
    """How many characters the parts of a pattern take, at least and at most, without what is endless."""
    min_chars = max_chars = 0
    for part in re.finditer(_PART, parts):
        if part["group"]:
            inner = _width(part["group"])[0]
            min_chars += inner * int(part["times"] or 0)
            max_chars += inner * int(part["times"] or 1)
        else:
            needed = 0 if part["optional"] else int(part["min"] or 1)
            min_chars += needed
            max_chars += max(needed, int(part["max"] or 0), 1)
    return min_chars, max_chars


def _problem_met(shape: Shape, harmless: str) -> str:
    found = pattern_of(shape).search(harmless)
    return f"it matches harmless text, such as {found[0]!r:.60}" if found else ""
