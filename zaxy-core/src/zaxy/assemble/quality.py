"""How far a checkout answers its question: a sum that a person can redo, and the verdict that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zaxy.assemble.judgement import Judgement

ANSWER, REFRESH, ASK = "answer_from_memory", "refresh_recommended", "ask_user"
CITED = "Retrieved current facts with Eventloom citations."
UNCITED = "Retrieved current facts, but they lack Eventloom citations."
WARNED = "Checkout contains warnings that reduce confidence."
NOTHING = "No current fact in memory bears on this question."
NOT_CERTAIN = "What is recorded may bear on this question, and no row is certain to answer it."
ONLY_NOT_COUNTED = "What memory holds on this question does not count for the purpose."
ONLY_SUPERSEDED = "All that memory holds on this question was superseded or invalidated."
SUPERSEDED_LEFT_OUT = "Superseded context was left out."
SLOTS_UNMET = "The question needs evidence that was not found."
POLICY_UNMET = "The purpose asks for evidence that was not found."
PREFERENCE_UNMET = "The purpose prefers more evidence."
COMPOSED = "All rows that the question needs were found, and an answer follows from them."
PROCEDURE = "No current fact bears on this question, and a recorded procedure applies to it."

START, PER_FACT, PER_CITATION, FOR_SUPERSEDED, MAX_CONFIDENCE = 0.25, 0.22, 0.28, 0.07, 0.95
PER_WARNING, MAX_FOR_WARNINGS, FOR_SLOTS, FOR_POLICY = 0.18, 0.35, 0.25, 0.30
"""What facts and citations add to the confidence, and what doubts take away."""
ENOUGH = 0.75


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the verdict depends on."""

    facts: int
    """Current facts that bear on the question."""
    citations: int
    """How many of them have a citation that resolves."""
    superseded: int = 0
    """Rows on the question that were left out because they no longer hold."""
    warnings: int = 0
    missing_slots: tuple[str, ...] = ()
    policy_unmet: str = ""
    """The evidence that the purpose requires and the facts lack; empty if nothing is missing."""
    preference_unmet: str = ""
    """The evidence that it would rather have. It costs nothing."""
    skills: int = 0
    """Procedures that apply to the question."""
    not_counted: int = 0
    """Rows on the question that the purpose does not let count."""
    composed: float = 0.0
    """How sure the first candidate of a composed answer is; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class Quality:
    answerability: str
    confidence: float
    reasons: tuple[str, ...]
    required_action: dict[str, Any] | None = field(default=None)

    def as_dict(self) -> dict[str, Any]:
        return {
            "answerability": self.answerability,
            "confidence": self.confidence,
            "reasons": list(self.reasons),
            "required_action": self.required_action,
        }


def judge(
    grounds: Grounds, required_action: dict[str, Any] | None = None, judgement: Judgement | None = None
) -> Quality:
    """`required_action`: what to do when memory alone does not answer. Without a judgement the sum over facts and
    citations is all that counts; with one that is the gate, and how sure it is that they answer decides."""
    total = seed_sum(grounds)
    bears = bool(grounds.facts) if judgement is None else judgement.bears
    bears = bears or bool(grounds.skills) or grounds.composed >= ENOUGH
    if not bears:
        verdict = ASK
    elif grounds.composed >= ENOUGH and not grounds.warnings and not grounds.policy_unmet:
        return Quality(ANSWER, grounds.composed, tuple(_reasons(grounds, bears)))
    elif (judgement is None or judgement.answers) and total >= ENOUGH and not grounds.warnings and grounds.citations:
        verdict = ANSWER
    else:
        verdict = REFRESH
    if judgement is not None:
        total = round(max(min(judgement.answer, MAX_CONFIDENCE) - _deductions(grounds), 0.0), 2)
    asks_for_more = required_action is not None and "missing_slots" in required_action
    action = required_action if verdict != ANSWER or asks_for_more else None
    return Quality(verdict, total, tuple(_reasons(grounds, bears)), action)


def seed_sum(grounds: Grounds) -> float:
    """The sum over facts and citations that opens the gate to `answer_from_memory`."""
    total = START + PER_FACT * min(grounds.facts, 2) + PER_CITATION * min(grounds.citations, 2)
    total = min(total + (FOR_SUPERSEDED if grounds.superseded else 0.0), MAX_CONFIDENCE)
    return round(max(total - _deductions(grounds), 0.0), 2)


def _deductions(grounds: Grounds) -> float:
    total = min(PER_WARNING * grounds.warnings, MAX_FOR_WARNINGS)
    total += FOR_SLOTS if grounds.missing_slots else 0.0
    return total + (FOR_POLICY if grounds.policy_unmet else 0.0)


def _reasons(grounds: Grounds, bears: bool) -> list[str]:
    if grounds.composed >= ENOUGH:
        reasons = [COMPOSED]
    elif not grounds.facts and grounds.skills:
        reasons = [PROCEDURE]
    elif not grounds.facts and bears:
        reasons = [NOT_CERTAIN]
    elif not grounds.facts:
        reasons = [ONLY_NOT_COUNTED if grounds.not_counted else ONLY_SUPERSEDED if grounds.superseded else NOTHING]
    else:
        reasons = [CITED if grounds.citations else UNCITED]
        reasons += [SUPERSEDED_LEFT_OUT] if grounds.superseded else []
        reasons += [f"{SLOTS_UNMET[:-1]}: {', '.join(grounds.missing_slots)}."] if grounds.missing_slots else []
        reasons += [f"{POLICY_UNMET[:-1]}: {grounds.policy_unmet}."] if grounds.policy_unmet else []
        reasons += [f"{PREFERENCE_UNMET[:-1]}: {grounds.preference_unmet}."] if grounds.preference_unmet else []
    return reasons + ([WARNED] if grounds.warnings else [])
