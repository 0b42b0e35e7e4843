"""How text is set for a person: within a width, in colour only where a terminal shows it, and steering nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TextIO

from zaxy.printing import (
    BOLD,
    DIM,
    GREEN,
    PLAIN,
    RED,
    YELLOW,
    as_json_has_it,
    cells,
    columns,
    is_looked_at,
    one_line,
    show_page,
    wrapped,
)

__all__ = ["BOLD", "DIM", "GREEN", "RED", "YELLOW", "Terminal", "cells", "one_line", "plain", "terminal_of", "wrapped"]

PLAINER = str.maketrans("…·▁▂▃▄▅▆▇█", "~-12345678")
"""What a page draws itself, for an encoding that does not have it."""


UNBOUNDED = 1_000_000


class Terminal(NamedTuple):
    width: int
    colour: bool

    def painted(self, text: str, *codes: str) -> str:
        return f"{''.join(codes)}{text}{PLAIN}" if self.colour and text else text


def terminal_of(stream: TextIO, environ: Mapping[str, str] = os.environ) -> Terminal:
    """The width of the terminal, at most 100, and whether the stream is one that shows colour."""
    dumb = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
    return Terminal(columns(environ), stream.isatty() and not dumb)


def print_page(page: Callable[[Any, int, bool], str], reply: Mapping[str, Any]) -> None:
    """Print what a page makes of a reply, with the width of the terminal, and in colour where it shows that.

    A page must make one line of each text that it quotes.
    """
    encoding = sys.stdout.encoding or "utf-8"
    made = page(_encodable(reply, encoding), *terminal_of(sys.stdout))
    show_page(made if _has(encoding, made) else made.translate(PLAINER))


def print_rows(page: Callable[[Any, int, bool], str], reply: Mapping[str, Any]) -> None:
    """The same for what another program may read line by line: wrapped only where somebody looks."""
    print_page(lambda given, _, colour: page(given, terminal_of_rows().width, colour), reply)


def terminal_of_rows() -> Terminal:
    terminal = terminal_of(sys.stdout)
    return terminal if is_looked_at(sys.stdout) else terminal._replace(width=UNBOUNDED)


def _has(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _encodable(value: Any, encoding: str) -> Any:
    """A value whose texts an encoding has. What it does not have is as JSON has it, before lines are measured."""
    if isinstance(value, str):
        if value.isascii() or _has(encoding, value):
            return value
        return "".join(letter if _has(encoding, letter) else as_json_has_it(letter) for letter in value)
    if isinstance(value, Mapping):
        return {key: _encodable(one, encoding) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(one, encoding) for one in value]
    return value


def source_lines(source: str, citation: str, terminal: Terminal) -> list[str]:
    """Who said something and when, dimmed, with the citation on the same line where that fits."""
    line = f"    {source}  {citation}" if source else f"    {citation}"
    if cells(line) <= terminal.width:
        return [terminal.painted(line, DIM)]
    return [terminal.painted(line, DIM) for line in (*wrapped(source, terminal.width, "    "), f"    {citation}")]


def plain(text: str) -> str:
    """One line without control characters, which could steer the terminal; line ends show as dots."""
    lines = " · ".join(part for line in text.splitlines() if (part := line.strip()))
    return " ".join("".join(letter if letter.isprintable() else " " for letter in lines).split())
