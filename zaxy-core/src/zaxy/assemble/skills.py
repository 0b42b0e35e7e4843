"""Procedures that apply to a question, and what came of them before. Reading them changes none."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zaxy.api.models import EntityRow
from zaxy.assemble.features import coverages
from zaxy.assemble.standing import status_of
from zaxy.extract.texts import cut_each
from zaxy.retrieve.log_words import seqs_of
from zaxy.retrieve.question import Asked
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text import tokens

MAX_SKILLS = 3
LOOKBACK = 50
STEPS = 8
MAX_STEP = 160
USABLE = frozenset(("validated", "revised", "proposed"))
PROMOTED_BY, ROLLED_BACK_BY = 0.7, 0.4
"""Mean scores of outcomes from which a proposed skill may be validated, and below which one should be rolled back."""
ENOUGH_OUTCOMES = 2
FITS = 0.33
"""The share of the question, or of a case that the skill names, from which on it applies."""
SHARED = 2
"""Words of a case that the question must have: one alone is found by chance."""
FIELDS = ("skill_id", "name", "applicability", "task")
_CASES = re.compile(r"[,;.\n]|\bor\b")
"""What stands between the cases in which a skill applies."""
BEST_FIRST = ("validated", "revised", "proposed")


class Skill(NamedTuple):
    skill_id: str
    version: str
    status: str
    procedure: tuple[str, ...]
    citation: str

    def as_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "procedure": list(self.procedure)}


class Skills(NamedTuple):
    applicable: tuple[Skill, ...]
    analytics: dict[str, Any] | None
    """None where there is no history."""

    @property
    def is_known(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.applicable or self.analytics)

    def as_dict(self) -> dict[str, Any]:
        return {"count": len(self.applicable), "items": [skill.as_dict() for skill in self.applicable]}


NONE = Skills((), None)


def applicable_skills(asked: Asked, snapshot: Snapshot) -> Skills:
    """The skills that fit the question, the best fitting first; of equals, the best tried.

    The history is also that of skills which fit and may no longer be used, such as contradicted ones.
    """
    rows = snapshot.current(("skill",), LOOKBACK)
    fitting = [(fit, row) for row in rows if (fit := _fit(asked, row)) >= FITS]
    usable = [found for found in fitting if status_of(found[1].entity) in USABLE]
    usable.sort(key=lambda found: (-found[0], BEST_FIRST.index(status_of(found[1].entity)), -found[1].opened_seq))
    worded = [row for row, _ in snapshot.worded([row for _, row in usable[:MAX_SKILLS]])]
    applicable = tuple(_skill(snapshot, *cited) for cited in zip(worded, snapshot.cite(worded), strict=True))
    fitting.sort(key=lambda found: -found[0])
    ids = {skill.skill_id for skill in applicable} or {_skill_id(row) for _, row in fitting[:MAX_SKILLS]}
    if not ids:
        return NONE
    versions = [row for row in rows if _skill_id(row) in ids]
    outcomes = [row for row in snapshot.current(("skill_outcome",), LOOKBACK) if _skill_id(row) in ids]
    return Skills(applicable, _analytics(versions, outcomes, snapshot.cite))


def _skill(snapshot: Snapshot, row: EntityRow, citation: str) -> Skill:
    steps = tuple(cut_each(map(str, _procedure(snapshot, row)[:STEPS]), MAX_STEP))
    return Skill(_skill_id(row), _property(row, "version") or "1", status_of(row.entity), steps, citation)


def _procedure(snapshot: Snapshot, row: EntityRow) -> list[object]:
    """The steps as an event of the skill gives them. A graph that is not sealed is not believed without one."""
    kept = row.entity.properties.get("procedure")
    given = [event.payload.get("procedure") for event in snapshot.events(seqs_of(row)) if event.payload]
    if kept not in given and not snapshot.is_sealed:
        kept = next((one for one in given if one), None)
    return kept if isinstance(kept, list) else [kept] if kept else []


def _analytics(
    versions: Sequence[EntityRow], outcomes: Sequence[EntityRow], cite: Callable[[Sequence[EntityRow]], list[str]]
) -> dict[str, Any] | None:
    contradicted = [row for row in versions if status_of(row.entity) == "contradicted"]
    if not outcomes and not contradicted:
        return None
    scores: dict[str, list[float]] = defaultdict(list)
    for row in outcomes:
        score = row.entity.properties.get("success_score")
        if isinstance(score, int | float):
            scores[_version(row)].append(float(score))
    means = {name: sum(of) / len(of) for name, of in scores.items() if len(of) >= ENOUGH_OUTCOMES}
    status = {_version(row): status_of(row.entity) for row in versions}
    disputed = {_version(row) for row in contradicted}
    return {
        "outcome_count": len(outcomes),
        "contradiction_count": len(contradicted),
        "scores": {name: round(sum(of) / len(of), 2) for name, of in sorted(scores.items())},
        "promotion_candidates": sorted(
            name for name, mean in means.items() if mean >= PROMOTED_BY and status.get(name) == "proposed"
        ),
        "rollback_candidates": sorted({name for name, mean in means.items() if mean < ROLLED_BACK_BY} | disputed),
        "citations": cite([*contradicted, *outcomes])[:MAX_SKILLS],
    }


def _fit(asked: Asked, row: EntityRow) -> float:
    """The share of the question's weight that the skill has; or the share of a case in which it applies that the
    question has, if that is more."""
    own = frozenset(tokens.words(" ".join((row.entity.summary, *[_property(row, one) for one in FIELDS]))))
    stems = frozenset(stem for word in asked.words for stem in word.stems)
    if own.isdisjoint(stems):
        return 0.0
    cases = [frozenset(tokens.words(case)) for case in _CASES.split(_property(row, "applicability", "; "))]
    shares = [len(case & stems) / len(case) for case in cases if len(case & stems) >= SHARED]
    return round(max(*coverages(asked, [own]), *shares, 0.0), 2)


def _version(row: EntityRow) -> str:
    return f"{_skill_id(row)}@{_property(row, 'version') or '1'}"


def _skill_id(row: EntityRow) -> str:
    return _property(row, "skill_id") or row.entity.name.partition("@")[0]


def _property(row: EntityRow, field: str, between: str = " ") -> str:
    value = row.entity.properties.get(field, "")
    return between.join(map(str, value)) if isinstance(value, list) else str(value)
