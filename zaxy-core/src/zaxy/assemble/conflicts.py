"""Current facts that cannot both be true: they give one thing two values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from zaxy.assemble.quoting import quoted
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
MAX_CLAIM_CHARS = 160
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
        both = f"{self.first.citation} and {self.second.citation}"
        return f"two current facts disagree about {quoted(cut(self.about, MAX_CLAIM_CHARS))}: {both}"


def disagreements(facts: Iterable[Result]) -> list[Disagreement]:
    """The first pairs that disagree, each with what they disagree about."""
    asserted = [fact for fact in facts if fact.entity_type in ASSERTING]
    found = ((_subject(one, other), one, other) for one, other in combinations(asserted, 2))
    return [Disagreement(about, one, other) for about, one, other in found if about][:MAX_DISAGREEMENTS]


def _subject(one: Result, other: Result) -> str:
    """What both facts are about, if they disagree on it; else empty."""
    if one.entity_type != other.entity_type:
        return ""
    first, second = _subject_and_value(one), _subject_and_value(other)
    if first and second:
        return first[0] if first[0] == second[0] and first[1] != second[1] else ""
    return _shared_beginning(*([word.lower() for word in _WORDS.findall(result.statement)] for result in (one, other)))


def _subject_and_value(result: Result) -> tuple[str, str] | None:
    """`subject attribute` and the value of a fact that was recorded in fields."""
    fields = [str(result.properties.get(name, "")) for name in ("subject", "attribute", "value")]
    return (tokens.folded(f"{fields[0]} {fields[1]}").strip(), tokens.folded(fields[2])) if all(fields) else None


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
