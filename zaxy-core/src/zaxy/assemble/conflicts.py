"""Current facts that cannot both be true: they give one thing two values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

from zaxy.assemble.features import Weighed
from zaxy.extract.texts import cut
from zaxy.retrieve.results import Result
from zaxy.text import tokens

ASSERTING = frozenset(("fact", "decision", "preference"))
MIN_SHARED_WORDS = 3
"""How many first words two texts must share. A shorter beginning is shared by chance."""
MAX_VALUE_WORDS = 4
"""How many last words may differ. Texts that differ by more are about different things."""
MAX_DISAGREEMENTS = 3
"""All pairs of eight facts would leave no room for the facts."""
MAX_CLAIM_CHARS = 100
CHANGED_MIND = timedelta(hours=1)
_WORDS = re.compile(r"[^\W_]+(?:[.:/@-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Disagreement:
    about: str
    first: Result
    second: Result

    def as_dict(self) -> dict[str, Any]:
        return {
            "about": cut(self.about, MAX_CLAIM_CHARS),
            "claims": [
                {
                    "content": cut(result.statement, MAX_CLAIM_CHARS),
                    "citation": result.citation,
                    "valid_from": result.valid_from,
                }
                for result in (self.first, self.second)
            ],
        }

    @property
    def warning(self) -> str:
        """It cites both and repeats no word of theirs: a warning is ours, and `conflicts` shows what they say."""
        return f"two current facts disagree: {self.first.citation} and {self.second.citation}"


def disagreements(rows: Iterable[Weighed]) -> list[Disagreement]:
    """The pairs that disagree, each with what they disagree about."""
    asserted = [row for row in rows if row.result.entity_type in ASSERTING]
    found = ((_subject(one, other), one.result, other.result) for one, other in combinations(asserted, 2))
    return [Disagreement(about, one, other) for about, one, other in found if about]


def _subject(one: Weighed, other: Weighed) -> str:
    """What both are about, if they disagree on it; else empty."""
    if _is_settled(one.result, other.result):
        return ""
    if one.value_of_same(other) and one.statements.claim:
        return " ".join(one.statements.claim[:2])
    if one.result.entity_type != other.result.entity_type or (one.statements.claim and other.statements.claim):
        return ""
    return _shared_beginning(*([word.lower() for word in _WORDS.findall(row.result.statement)] for row in (one, other)))


def _is_settled(one: Result, other: Result) -> bool:
    """Whether the same person said the one so long after the other that it is a change of mind."""
    if one.actor != other.actor:
        return False
    moments = [datetime.fromisoformat(result.valid_from) for result in (one, other) if result.valid_from]
    return len(moments) == 2 and abs(moments[0] - moments[1]) >= CHANGED_MIND


def _shared_beginning(one: Sequence[str], other: Sequence[str]) -> str:
    """The first words that two texts share, if only a value behind them differs."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    ends = (one[shared:], other[shared:])
    meaningful = [word for word in one[:shared] if word not in tokens.STOP_WORDS]
    if shared < MIN_SHARED_WORDS or len(meaningful) < 2 or not all(0 < len(end) <= MAX_VALUE_WORDS for end in ends):
        return ""
    return " ".join(one[:shared]) if shared >= max(map(len, ends)) else ""
