"""How text is set for a person: within a width, in colour only where a terminal shows it, and steering nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TextIO

from zaxy.printing import BOLD, DIM, GREEN, PLAIN, RED, YELLOW, cells, columns, show_page, wrapped

__all__ = ["BOLD", "DIM", "GREEN", "RED", "YELLOW", "Terminal", "cells", "plain", "terminal_of", "wrapped"]


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
    show_page(page(reply, *terminal_of(sys.stdout)))


def plain(text: str) -> str:
    """One line without control characters, which could steer the terminal; line ends show as dots."""
    lines = " · ".join(part for line in text.splitlines() if (part := line.strip()))
    return " ".join("".join(letter if letter.isprintable() else " " for letter in lines).split())
