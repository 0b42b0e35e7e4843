"""Lines of a text: how they end, where they begin and how far they are indented."""

from __future__ import annotations

import re

BOM = "\ufeff"
LINE_END = re.compile(r"\r?\n")


def text_start(text: str) -> int:
    """Where the text begins: behind the byte order mark, if it has one."""
    return 1 if text.startswith(BOM) else 0


def line_end_of(text: str) -> str:
    """The line end that the text uses: that of its first line."""
    first = LINE_END.search(text)
    return first[0] if first else "\n"


def line_start(text: str, at: int) -> int:
    """Where the line of a place begins."""
    return text.rfind("\n", 0, at) + 1


def line_before(text: str, start: int) -> int:
    """Where the line end before a line begins; the line's own start where there is none."""
    if text[start - 2 : start] == "\r\n":
        return start - 2
    return start - 1 if text[start - 1 : start] == "\n" else start


def after_line_end(text: str, at: int) -> int:
    """Behind the line end at a place, or the place itself if there is none."""
    if text.startswith("\r\n", at):
        return at + 2
    return at + 1 if text.startswith("\n", at) else at


def indent_of(text: str, at: int) -> str:
    """The spaces that begin the line of a place."""
    start = line_start(text, at)
    return text[start : start + len(text[start:at]) - len(text[start:at].lstrip(" \t"))]


def place_of(text: str, at: int) -> str:
    """`line 3, column 5`, counted from 1; a byte order mark takes no column."""
    line = text.count("\n", 0, at) + 1
    column = at - line_start(text, at) + 1 - (text_start(text) if line == 1 else 0)
    return f"line {line}, column {column}"
