"""What a purpose does to the rows that were found: which it lifts or lowers, and which it holds to a floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from zaxy.assemble.evidence import is_pending
from zaxy.assemble.features import Weighed
from zaxy.assemble.judgement import in_order, order_sum
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.purpose_fields import SHORT
from zaxy.assemble.row_kinds import kind_of

LIFTED, LOWERED, LEFT_OUT, FOUND = "lifted", "lowered", "left_out", "found_by_emphasis"
BELOW_FLOOR = "below_floor"
RECENT_WEIGHT, HALF_LIFE_DAYS = 2.0, 7.0
"""What a short horizon adds to the newest row, and after how many days half of that."""
WORTH_SHOWING = 0.05
"""Of a lift: the order hardly depends on less."""
DAY = 86_400.0


class RowAction(NamedTuple):
    """What was done to one row."""

    citation: str
    action: str
    why: str
    by: float = 0.0
    """What was added to the sum that orders the rows."""

    def as_dict(self) -> dict[str, Any]:
        shown = {"citation": self.citation, "action": self.action, "why": self.why}
        return {**shown, "by": round(self.by, 2)} if self.by else shown


def below_floors(purpose: Purpose, rows: Sequence[Weighed]) -> dict[str, str]:
    """The rows that share less with the question than the purpose asks of their kind, by citation."""
    if not purpose.floors:
        return {}
    below = [row.result for row in rows if row.features.coverage < purpose.floors.get(kind_of(row.result), 0.0)]
    return {result.citation: BELOW_FLOOR for result in below}


def in_order_for(purpose: Purpose, rows: Sequence[Weighed], newest: str) -> tuple[list[Weighed], dict[str, RowAction]]:
    """The rows that fit best first, and by citation what the purpose added to them."""
    if not purpose.is_given:
        return in_order(rows), {}
    actions = {action.citation: action for row in rows if (action := _emphasised(purpose, row, newest))}
    return sorted(rows, key=lambda row: order_sum(row) + _added(actions, row), reverse=True), actions


def _added(actions: Mapping[str, RowAction], row: Weighed) -> float:
    action = actions.get(row.result.citation)
    return action.by if action else 0.0


def _emphasised(purpose: Purpose, row: Weighed, newest: str) -> RowAction | None:
    """What a row gains grows with the share of the question that it has: an emphasis alone answers nothing. What nobody
    has settled yet is not lifted."""
    kind = kind_of(row.result)
    parts = [(f"{one.name}: {kind}", one.weights[kind]) for one in purpose.emphases if one.weights.get(kind)]
    if purpose.horizon == SHORT:
        parts.append(("short horizon", RECENT_WEIGHT * _recency(row.result.valid_from, newest)))
    by = row.features.coverage * sum(weight for _, weight in parts)
    if abs(by) < WORTH_SHOWING or (by > 0 and is_pending(row.result)):
        return None
    why = ", ".join(name for name, _ in parts)
    return RowAction(row.result.citation, LIFTED if by > 0 else LOWERED, why, by)


def _recency(time: str, newest: str) -> float:
    """1 for the newest event, and half of it for every week before that."""
    if not time or not newest:
        return 0.0
    passed = datetime.fromisoformat(newest).timestamp() - datetime.fromisoformat(time).timestamp()
    return float(0.5 ** (max(passed, 0.0) / DAY / HALF_LIFE_DAYS))
