"""What a composed question needs: a count, a sum, a difference, a duration or an order rests on several events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from zaxy.retrieve.results import Result

VERSION = 1
SOURCE, NUMERIC, TEMPORAL, EXACT, SEMANTIC = "source", "numeric", "temporal", "exact", "semantic"


class Composed(NamedTuple):
    operation: str
    answer_type: str
    pattern: re.Pattern[str]
    sources: int
    """The least number of events that an answer rests on."""
    required: tuple[str, ...]


def _composed(operation: str, answer_type: str, pattern: str, sources: int, *required: str) -> Composed:
    return Composed(operation, answer_type, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), sources, required)


OPERATIONS = (
    _composed(
        "duration",
        "duration",
        "how long|how many (?:days|weeks|months|years|hours|minutes|seconds)",
        1,
        SOURCE,
        TEMPORAL,
    ),
    _composed("average", "number", "on average|(?:average|mean|median) (?:of|per|over|time|cost)", 1, SOURCE, NUMERIC),
    _composed("sum", "number", "in total|altogether|sum of|total (?:of|number|amount|cost|count)", 1, SOURCE, NUMERIC),
    _composed(
        "difference",
        "number",
        "difference between|how much (?:more|less|longer|faster)|compared (?:to|with)",
        2,
        SOURCE,
        NUMERIC,
    ),
    _composed(
        "extreme",
        "value",
        "highest|lowest|largest|smallest|most expensive|cheapest|slowest|fastest",
        1,
        SOURCE,
        NUMERIC,
    ),
    _composed("count", "number", "how many|how often|number of|count of", 1, SOURCE, NUMERIC),
    _composed(
        "order",
        "list",
        "in (?:what|which) order|chronological(?:ly)?|timeline of|sequence of",
        2,
        SOURCE,
        TEMPORAL,
    ),
)
_NUMBER = re.compile(
    r"\d|\b(?:no|none|never|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|once|twice|half|every|daily|weekly|monthly|quarterly|yearly)\b",
    re.IGNORECASE,
)
_DURATION = re.compile(r"\d+(?:\.\d+)?\s*(?:ms|s|h|sec|second|min|minute|hour|day|week|month|year)s?\b", re.IGNORECASE)


class SlotPlan(NamedTuple):
    query: str
    composed: Composed

    def missing(self, facts: Sequence[Result]) -> tuple[str, ...]:
        """The required slots that the facts do not fill."""
        dated = len({fact.citation for fact in facts if fact.valid_from})
        filled = {
            SOURCE: len({fact.citation for fact in facts}) >= self.composed.sources,
            NUMERIC: any(_NUMBER.search(fact.content) for fact in facts),
            TEMPORAL: dated > 1 or any(_DURATION.search(fact.content) for fact in facts),
        }
        return tuple(slot for slot in self.composed.required if not filled[slot])

    def suggested_queries(self, missing: Sequence[str]) -> list[str]:
        ends = {SOURCE: "every event about", NUMERIC: "figures and amounts of", TEMPORAL: "dates and times of"}
        return [f"{ends[slot]}: {self.query}"[:240] for slot in missing]

    def as_dict(self) -> dict[str, Any]:
        required = self.composed.required
        slots = [{"name": name, "strategy": _STRATEGIES[name], "required": name in required} for name in _STRATEGIES]
        kept = [slot for slot in slots if slot["required"] or slot["name"] in (EXACT, SEMANTIC)]
        return {
            "version": VERSION,
            "query": self.query[:240],
            "answer_type": self.composed.answer_type,
            "operation": self.composed.operation,
            "required_slots": list(required),
            "optional_slots": [EXACT, SEMANTIC],
            "slots": kept,
        }


_STRATEGIES = {
    SOURCE: "cited events, each once",
    NUMERIC: "events that hold a number",
    TEMPORAL: "events with their times",
    EXACT: "identifiers and names as they stand",
    SEMANTIC: "other words for the same",
}


def slot_plan(question: str) -> SlotPlan | None:
    """The plan of a composed question; None for a question that one event can answer."""
    composed = next((one for one in OPERATIONS if one.pattern.search(question)), None)
    return SlotPlan(question, composed) if composed else None
