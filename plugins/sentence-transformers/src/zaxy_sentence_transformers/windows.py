"""Cuts texts into windows that a model can take whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

OF_A_TEXT = 2
"""Tokens that a model adds at the beginning and the end of a text."""
CHARACTERS = 2
"""For each token where tokens are not known: most have more, and the model leaves out what is beyond its end."""


class Cutter:
    """By the tokens of the model where its tokenizer can be read, else by characters. `rule` says which."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        self._file = folder / "tokenizer.json"
        self._max_tokens = max(max_tokens - OF_A_TEXT, 1)
        self._by_tokens = self._file.is_file() and find_spec("tokenizers") is not None
        self._tokenizer: Any = None
        self._lock = Lock()

    @property
    def rule(self) -> str:
        return f"windows of {self._max_tokens} {'tokens' if self._by_tokens else 'characters'}"

    def windows(self, text: str) -> list[str]:
        """Parts of a text of about equal size: one if it fits."""
        if not self._by_tokens:
            return _even_parts(text, range(1, len(text) + 1), self._max_tokens * CHARACTERS)
        if len(text.encode()) <= self._max_tokens:
            return [text]  # a token has at least one byte
        return _even_parts(text, self._token_ends(text), self._max_tokens)

    def _token_ends(self, text: str) -> Sequence[int]:
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = read_tokenizer(self._file)
                self._tokenizer.no_truncation()
                self._tokenizer.no_padding()
            offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return [end for _, end in offsets]


def read_tokenizer(file: Path) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # it warns on stderr where a process forks
    return import_module("tokenizers").Tokenizer.from_file(str(file))


def _even_parts(text: str, ends: Sequence[int], limit: int) -> list[str]:
    """`ends`: where each token ends. No part has more than `limit` of them."""
    count = -(-len(ends) // limit)
    if count <= 1:
        return [text] if text.strip() else []
    borders = [0, *(ends[len(ends) * part // count - 1] for part in range(1, count)), len(text)]
    parts = (text[first:last].strip() for first, last in pairwise(borders))
    return [part for part in parts if part]
