"""Windows: pieces of a passage of about two or three sentences, each of which has one vector."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from zaxy_vectors.tokens import words_of

WINDOW = 60
"""Words of a window at most; a sentence with more is cut."""
USUAL = 30
"""Words up to which sentences are put together."""
VERSION = 1
_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def windows(passages: Iterable[str]) -> Iterator[list[str]]:
    """The words of each window, in order."""
    for passage in passages:
        yield from _of_passage(passage)


def _of_passage(passage: str) -> Iterator[list[str]]:
    window: list[str] = []
    for sentence in _END.split(passage):
        words = words_of(sentence)
        if window and len(window) + len(words) > USUAL:
            yield window
            window = []
        window = window + words
        while len(window) > WINDOW:
            yield window[:WINDOW]
            window = window[WINDOW:]
    if window:
        yield window
