"""How text is set for a person: within a width, in colour only where a terminal shows it, and steering nothing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TextIO
from unicodedata import combining, east_asian_width

from zaxy.printing import BOLD, DIM, GREEN, PLAIN, RED, YELLOW, show_page

WIDEST, NARROWEST = 100, 40
__all__ = ["BOLD", "DIM", "GREEN", "RED", "YELLOW", "Terminal", "cells", "plain", "terminal_of", "wrapped"]


class Terminal(NamedTuple):
    width: int
    colour: bool

    def painted(self, text: str, *codes: str) -> str:
        return f"{''.join(codes)}{text}{PLAIN}" if self.colour and text else text


def terminal_of(stream: TextIO, environ: Mapping[str, str] = os.environ) -> Terminal:
    """The width of the terminal, at most 100, and whether the stream is one that shows colour."""
    dumb = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
    width = max(min(shutil.get_terminal_size().columns, WIDEST), NARROWEST)
    return Terminal(width, stream.isatty() and not dumb)


def print_page(page: Callable[[Any, int, bool], str], reply: Mapping[str, Any]) -> None:
    """Print what a page makes of a reply, with the width of the terminal, and in colour where it shows that.

    A page must make one line of each text that it quotes.
    """
    show_page(page(reply, *terminal_of(sys.stdout)))


def plain(text: str) -> str:
    """One line without control characters, which could steer the terminal; line ends show as dots."""
    lines = " · ".join(part for line in text.splitlines() if (part := line.strip()))
    return " ".join("".join(letter if letter.isprintable() else " " for letter in lines).split())


def cells(text: str) -> int:
    """How many columns a terminal gives a text."""
    if text.isascii():  # nearly all are, and lines are measured word by word
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def wrapped(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """The text in lines of at most that many columns; `hanging` indents the lines after the first."""
    after = indent if hanging is None else hanging
    lines, line = list[str](), ""
    for word in text.split():
        start = after if lines else indent
        if line and cells(f"{start}{line} {word}") > width:
            lines.append(start + line)
            start, line = after, ""
        parts = _parts(word, width - cells(after))
        lines += [(after if lines else indent) + part for part in parts[:-1]]
        line = f"{line} {parts[-1]}" if line else parts[-1]
    return [*lines, (after if lines else indent) + line] if line else lines


def _parts(word: str, room: int) -> Sequence[str]:
    """A word that is too long for a line, in parts. A citation stays whole: it is there to be copied."""
    if "://" in word or cells(word) <= room:
        return (word,)
    parts, part = list[str](), ""
    for letter in word:
        if part and cells(part + letter) > room:
            parts.append(part)
            part = ""
        part += letter
    return [*parts, part]
