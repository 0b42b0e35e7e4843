"""Events that agents record through tools of their own: feedback, and what happens to skills."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from zaxy.api.models import Draft
from zaxy.assemble.purpose import PackagePresets, purpose_of
from zaxy.errors import InvalidRequest, shown
from zaxy.eventloom.citation import SCHEME

POSITIVE = ("used", "helpful")
NEGATIVE = ("irrelevant",)
SKILL_ACTIONS = {
    "propose": "skill.proposed",
    "validate": "skill.validated",
    "revise": "skill.revised",
    "deprecate": "skill.deprecated",
    "contradict": "skill.contradicted",
    "apply": "skill.applied",
    "record_outcome": "skill.outcome_recorded",
}
OF_MISSION = ("authority", "mission_id")
NEEDS = {"skill.proposed": ("procedure", "summary"), "skill.outcome_recorded": ("success_score", "feedback")}
"""An action needs at least one of these fields."""


class FeedbackDetails(TypedDict, total=False):
    """What may be said besides of a memory that was used."""

    importance: float
    query: str
    source: str
    score: float
    citation: str
    reason: str
    purpose: object
    outcome: str
    metadata: Mapping[str, object]


class SkillDetails(TypedDict, total=False):
    """What may be said of a skill; which of it counts depends on the action."""

    version: str
    name: str
    summary: str
    procedure: Sequence[str]
    applicability: str
    citations: Sequence[str]
    task: str
    success_score: float
    feedback: str
    evidence: str
    reason: str
    supersedes_version: str


FEEDBACK_DETAILS, SKILL_DETAILS = tuple(FeedbackDetails.__annotations__), tuple(SkillDetails.__annotations__)


def feedback_draft(
    entity_name: str,
    entity_type: str,
    *,
    feedback: str,
    actor: str,
    details: Mapping[str, Any],
    presets: PackagePresets,
) -> Draft:
    """`used` and `helpful` reinforce a fact. `irrelevant` is kept for audit and changes nothing."""
    if feedback not in (*POSITIVE, *NEGATIVE):
        raise InvalidRequest(
            f"{shown(feedback)} is not a kind of feedback", f"It is one of {', '.join((*POSITIVE, *NEGATIVE))}."
        )
    for what, value in (("entity_name", entity_name), ("entity_type", entity_type)):
        # A citation says by itself what it is about.
        if what == "entity_type" and value == "" and entity_name.startswith(SCHEME):
            continue
        if not isinstance(value, str) or not value.strip():
            raise InvalidRequest(f"{what} is empty", "Use one of the payloads that a checkout's guidance lists.")
    given = purpose_of(details["purpose"], presets).kept(details) if details.get("purpose") else details
    payload = _with_details(
        {"entity_name": entity_name, "entity_type": entity_type, "feedback": feedback}, given, FEEDBACK_DETAILS
    )
    payload |= _of_mission(details.get("metadata"))
    _check_number(payload, "importance", 0, 1)
    _check_number(payload, "score", -math.inf, math.inf)
    return Draft("memory.reinforced" if feedback in POSITIVE else "memory.feedback", actor, payload)


def _of_mission(metadata: object) -> dict[str, str]:
    """The authority of a memory and its mission, if the metadata says them: what is reinforced keeps both."""
    given = metadata if isinstance(metadata, Mapping) else {}
    return {name: given[name] for name in OF_MISSION if isinstance(given.get(name), str) and given[name]}


def skill_draft(action: str, skill_id: str, actor: str, details: Mapping[str, Any]) -> Draft:
    """One event in the life of a skill. Nothing else changes a skill."""
    types = {**SKILL_ACTIONS, **{type_.removeprefix("skill."): type_ for type_ in SKILL_ACTIONS.values()}}
    if action not in types:
        raise InvalidRequest(
            f"{shown(action)} is not an action on a skill", f"It is one of {', '.join(SKILL_ACTIONS)}."
        )
    if not isinstance(skill_id, str) or not skill_id.strip():
        raise InvalidRequest("skill_id is empty", "Name the skill, such as deploy-to-staging.")
    payload = _with_details({"skill_id": skill_id}, details, SKILL_DETAILS)
    needed = NEEDS.get(types[action], ())
    if needed and not any(payload.get(field) not in (None, "", []) for field in needed):
        raise InvalidRequest(f"to {action.replace('_', ' ')} a skill needs {' or '.join(needed)}", "Give one of them.")
    _check_number(payload, "success_score", 0, 1)
    return Draft(types[action], actor, payload)


def _with_details(payload: dict[str, Any], details: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    unknown = [key for key in details if key not in known]
    if unknown:
        raise InvalidRequest(f"there is no field {shown(unknown[0])}", f"There are {', '.join(known)}.")
    return {**payload, **{key: value for key, value in details.items() if value is not None}}


def _check_number(payload: Mapping[str, Any], field: str, minimum: float, maximum: float) -> None:
    value = payload.get(field)
    if value is not None and (type(value) not in (int, float) or not minimum <= value <= maximum):
        bounds = f" from {minimum} to {maximum}" if math.isfinite(minimum) else ""
        raise InvalidRequest(f"{field} is not a number{bounds}", "Give a number, or leave the field out.")
