"""What asks for information is told apart from what tells, in every language that words are stemmed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import Stemmer  # type: ignore[import-not-found]

from zaxy.text.asking_words import ASKING
from zaxy.text.statements import asked, marked_questions, stated, without

CASES = Path(__file__).parent / "corpus" / "asking" / "sentences.txt"


class Case(NamedTuple):
    language: str
    asks: bool
    text: str
    unseen: bool


def cases() -> list[Case]:
    found: list[Case] = []
    language = ""
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language = line.strip("[]")
        elif line[:2] in ("? ", ". "):
            asks = line[0] == "?"
            place = sum(case.language == language and case.asks is asks for case in found)
            found.append(Case(language, asks, line[2:], place % 2 == 1))
    return found


class Figures(NamedTuple):
    precision: float
    recall: float
    right: float


def figures(chosen: Sequence[Case]) -> Figures:
    """Of what is taken for a question, how much is one; of the questions, how many are taken for one."""
    judged = [(case.asks, not stated(case.text)) for case in chosen]
    both, taken, asking = (
        sum(asks and judgement for asks, judgement in judged),
        sum(judgement for _, judgement in judged),
        sum(asks for asks, _ in judged),
    )
    right = sum(asks == judgement for asks, judgement in judged)
    return Figures(both / max(taken, 1), both / max(asking, 1), right / len(judged))
