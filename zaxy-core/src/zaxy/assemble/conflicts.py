"""Current facts that cannot both be so: the same thing said twice, with another value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from zaxy.assemble.citations_in_text import quoted
from zaxy.extract.texts import cut
from zaxy.retrieve.results import Result
from zaxy.text import tokens

ASSERTING = frozenset(("fact", "decision", "preference"))
MIN_SHARED = 3
"""Words that two texts must begin with alike; a shorter beginning is shared by chance."""
MAX_VALUE_CHARS = 4
"""Words in which they may differ at the end. What differs by more says something else."""
MOST = 3
"""Disagreements that are told. All pairs of eight facts would leave no room for the facts."""
LONGEST = 160
_WORDS = re.compile(r"[^\W_]+(?:[.:/@-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Conflict:
    about: str
    first: Result
    second: Result

    def as_dict(self) -> dict[str, Any]:
        return {
            "about": cut(self.about, LONGEST),
            "claims": [
                {
                    "content": cut(result.statement, LONGEST),
                    "citation": result.citation,
                    "valid_from": result.valid_from,
                }
                for result in (self.first, self.second)
            ],
        }

    @property
    def warning(self) -> str:
        both = f"{self.first.citation} and {self.second.citation}"
        return f"two current facts disagree about {quoted(self.about, LONGEST)}: {both}"


def conflicts(facts: Iterable[Result]) -> list[Conflict]:
    """The first pairs that disagree, each with what they disagree about."""
    asserted = [fact for fact in facts if fact.entity_type in ASSERTING]
    found = ((_subject(one, other), one, other) for one, other in combinations(asserted, 2))
    return [Conflict(about, one, other) for about, one, other in found if about][:MOST]


def _subject(one: Result, other: Result) -> str:
    """What both tell of, if they tell different things of it; else empty."""
    if one.entity_type != other.entity_type:
        return ""
    told, told_again = _told_in_parts(one), _told_in_parts(other)
    if told and told_again:
        return told[0] if told[0] == told_again[0] and told[1] != told_again[1] else ""
    return _shared_beginning(*([word.lower() for word in _WORDS.findall(result.statement)] for result in (one, other)))


def _told_in_parts(result: Result) -> tuple[str, str] | None:
    """`subject attribute` and the value, of a fact that was recorded in fields."""
    fields = [str(result.properties.get(name, "")) for name in ("subject", "attribute", "value")]
    return (tokens.folded(f"{fields[0]} {fields[1]}").strip(), tokens.folded(fields[2])) if all(fields) else None


def _shared_beginning(one: Sequence[str], other: Sequence[str]) -> str:
    """What two texts begin with alike, if all that differs is a value behind it."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    ends = (one[shared:], other[shared:])
    told = [word for word in one[:shared] if word not in tokens.STOP_WORDS]
    if shared < MIN_SHARED or len(told) < 2 or not all(0 < len(end) <= MAX_VALUE_CHARS for end in ends):
        return ""
    return " ".join(one[:shared]) if shared >= max(map(len, ends)) else ""
