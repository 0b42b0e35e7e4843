"""Words, the tokens of which they are made, and how much each word counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

WORD = re.compile(r"[^\W_]+")
MAX_WORD = 32
"""Characters of a word; a longer one is cut, as a run of Chinese characters is."""
BEGINNING = "\N{LOWER ONE EIGHTH BLOCK}"
"""What stands before the first token of a word."""
SMOOTHING = 1e-3
"""A word of this frequency counts half; rarer ones count up to 1."""
TABLE = Path(__file__).with_name("frequencies") / "words.txt"


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, none longer than `MAX_WORD`."""
    found = WORD.findall(text.lower())
    if all(len(word) <= MAX_WORD for word in found):
        return found
    return [word[at : at + MAX_WORD] for word in found for at in range(0, len(word), MAX_WORD)]


def tokens_of(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The numbers of a word's tokens: of all neighbours, those are joined first whose sum has the lowest number.

    What is not in the vocabulary says nothing.
    """
    whole = vocabulary.get(BEGINNING + word)
    if whole is not None:
        return [whole]
    tokens = [BEGINNING, *word]
    while len(tokens) > 1:
        joined = [vocabulary.get(left + right) for left, right in pairwise(tokens)]
        best = min((number for number in joined if number is not None), default=None)
        if best is None:
            break
        at = joined.index(best)
        tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]
    return [vocabulary[token] for token in tokens if token in vocabulary and token != BEGINNING]


def weight_of(word: str) -> float:
    """How much a word counts: the less, the commoner it is in its language."""
    return SMOOTHING / (SMOOTHING + _frequencies().get(_without_accents(word), 0.0))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))


@cache
def _frequencies() -> dict[str, float]:
    """The share that each of the commonest words has in texts of its language."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return {word: 10.0 ** (int(zipf) / 10 - 9) for word, zipf in map(str.split, lines)}
