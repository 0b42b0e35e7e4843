"""What a question is for. A purpose sets how many rows are read, how they are scored, and what counts as evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zaxy.errors import InvalidRequest, shown
from zaxy.retrieve.results import Result

MAX_FIELD_CHARS = 240
FIELDS = (
    "role",
    "task",
    "risk",
    "time_horizon",
    "expected_action",
    "evidence_policy",
    "retention_policy",
    "ontology_lens",
)
"""What the object form of a purpose may hold besides `preset`."""
PENDING = frozenset(("pending", "proposed", "draft", "deferred", "conflicted"))
STALE_DAYS = 30
TRUSTED = 0.5
"""Below this confidence, a purpose may ignore what was inferred."""

_SAFE = re.compile(r"\b(?:safe|secure|saniti[sz]ed|harmless|not vulnerable|no vulnerabilit\w+)\b", re.IGNORECASE)
_SWEEPING = re.compile(r"\b(?:always|never|all|every|proves?|proven|guarantees?d?|certainly)\b", re.IGNORECASE)
_RELEASE = re.compile(r"\b(?:releas\w+|ship\w*|ready|green|passed|approved)\b", re.IGNORECASE)
_SUPPORT = ("evidence", "citations", "command", "exit_code", "verification")

Suppressing = Callable[[Result, str], bool]
"""Whether to leave a result out, given the time of the newest event."""


def _unsupported(result: Result) -> bool:
    return not any(result.properties.get(field) for field in _SUPPORT)


def _status(result: Result) -> str:
    return str(result.properties.get("status", "")).lower()


def _low_trust(result: Result, newest: str) -> bool:
    confidence = result.properties.get("confidence")
    inferred = bool(result.properties.get("inferred"))
    return inferred or (isinstance(confidence, int | float) and confidence < TRUSTED)


def _stale(result: Result, newest: str) -> bool:
    return _day(newest) - _day(result.valid_from) > STALE_DAYS


def _day(time: str) -> int:
    """A number for a day, exact enough for the distance between two days."""
    year, month, day = (int(part) if part.isdigit() else 1 for part in (time[:4], time[5:7], time[8:10]))
    return year * 372 + month * 31 + day


def _claims(kinds: Sequence[str], pattern: re.Pattern[str] | None = None) -> Suppressing:
    def suppressing(result: Result, newest: str) -> bool:
        claims = result.entity_type in kinds and (pattern is None or bool(pattern.search(result.content)))
        return claims and _unsupported(result)

    return suppressing


def _stale_of(kinds: Sequence[str]) -> Suppressing:
    return lambda result, newest: result.entity_type in kinds and _stale(result, newest)


def _pending(result: Result, newest: str) -> bool:
    return _status(result) in PENDING


def _worker_local(result: Result, newest: str) -> bool:
    return result.entity_type == "finding" and _status(result) in ("", *PENDING)


def _rejected(result: Result, newest: str) -> bool:
    return _status(result) == "rejected"


CLAIMS = ("finding",)
ASSERTED = ("fact", "issue", "transcript_turn", *CLAIMS)
RULES: dict[str, Suppressing] = {
    "uncited_claim": _claims(CLAIMS),
    "pending_claim": _pending,
    "low_trust_inference": _low_trust,
    "draft": _pending,
    "uncited_release_claim": _claims(("transcript_turn", *CLAIMS), _RELEASE),
    "stale_gate_result": _stale_of(("verification", "command_run")),
    "uncited_safe_claim": _claims((*ASSERTED, "decision"), _SAFE),
    "stale_mitigation": _stale_of(("issue",)),
    "single_source_overclaim": _claims(ASSERTED, _SWEEPING),
    "stale_source": _stale_of(("document",)),
    "worker_local_pending": _worker_local,
    "rejected": _rejected,
    "stale_unpromoted": lambda result, newest: result.entity_type == "finding" and _stale(result, newest),
}
"""Why a row may be left out, by the name that replies report. Superseded rows are left out for every purpose."""


@dataclass(frozen=True, slots=True)
class Purpose:
    preset: str
    recall_floor: int
    """The least number of rows to read."""
    scoring_profile: str
    evidence_policy: str
    suppresses: tuple[str, ...] = ()
    emphasis: tuple[str, ...] = ()
    """Further words to search for. What they find comes behind what the question finds."""
    fields: tuple[tuple[str, str], ...] = ()
    """The fields that the caller gave."""

    def as_dict(self) -> dict[str, Any]:
        return {"preset": self.preset, **dict(self.fields), "evidence_policy": self.evidence_policy}

    @property
    def retrieval_policy(self) -> dict[str, Any]:
        return {
            "emphasis_terms": list(self.emphasis),
            "recall_floor": self.recall_floor,
            "scoring_profile": self.scoring_profile,
        }


PRESETS = {
    purpose.preset: purpose
    for purpose in (
        Purpose("general", 10, "balanced", "cited_current_facts_preferred"),
        Purpose(
            "coding",
            16,
            "recall",
            "current_facts_and_verification_cited",
            ("uncited_claim",),
            ("implementation", "test", "verification", "command"),
        ),
        Purpose(
            "review",
            16,
            "precision",
            "cited_current_facts_required",
            ("pending_claim", "low_trust_inference"),
            ("review", "finding", "issue", "change"),
        ),
        Purpose(
            "release",
            24,
            "temporal",
            "gate_evidence_required",
            ("draft", "uncited_release_claim", "stale_gate_result"),
            ("release", "gate", "verification", "blocker"),
        ),
        Purpose(
            "security",
            24,
            "precision",
            "cited_security_evidence_required",
            ("uncited_safe_claim", "low_trust_inference", "stale_mitigation"),
            ("security", "vulnerability", "credential", "mitigation"),
        ),
        Purpose(
            "research",
            20,
            "recall",
            "several_sources_preferred",
            ("single_source_overclaim", "stale_source"),
            ("source", "evidence", "finding", "document"),
        ),
        Purpose(
            "coordinate",
            24,
            "recall",
            "accepted_parent_state_required",
            ("worker_local_pending", "rejected", "stale_unpromoted"),
            ("mission", "finding", "assignment", "handoff"),
        ),
    )
}
GENERAL = PRESETS["general"]
POLICIES = tuple(purpose.evidence_policy for purpose in PRESETS.values())


def purpose_of(given: object) -> Purpose:
    """The purpose that a caller names: a preset, or an object with checked fields."""
    if given is None or given == "":
        return GENERAL
    if isinstance(given, str):
        return _preset(given)
    if not isinstance(given, Mapping):
        raise InvalidRequest(f"a purpose is not a {type(given).__name__}", PRESETS_LISTED)
    unknown = [key for key in given if key not in ("preset", *FIELDS)]
    if unknown:
        raise InvalidRequest(f"a purpose has no field {shown(unknown[0])}", f"It may have preset, {', '.join(FIELDS)}.")
    for field in FIELDS:
        value = given.get(field, "")
        if not isinstance(value, str) or len(value) > MAX_FIELD_CHARS:
            raise InvalidRequest(
                f"the purpose's {field} is not a text of at most {MAX_FIELD_CHARS} characters",
                "Shorten it, or leave it out.",
            )
    chosen = _preset(given.get("preset", "general"))
    policy = str(given.get("evidence_policy") or chosen.evidence_policy)
    if policy not in POLICIES:
        raise InvalidRequest(f"there is no evidence policy {shown(policy)}", f"There are {', '.join(POLICIES)}.")
    fields = tuple((field, str(given[field])) for field in FIELDS if field != "evidence_policy" and given.get(field))
    return replace(chosen, evidence_policy=policy, fields=fields)


def suppressed(purpose: Purpose, found: Sequence[Result], newest: str) -> dict[str, str]:
    """Why results may not count for the purpose, by citation."""
    reasons = {}
    for result in found:
        reason = next((rule for rule in purpose.suppresses if RULES[rule](result, newest)), "")
        if reason:
            reasons[result.citation] = reason
    return reasons


def unmet(purpose: Purpose, facts: Sequence[Result]) -> str:
    """The evidence that the purpose requires and the facts lack; empty if nothing is missing."""
    kinds = {fact.entity_type for fact in facts}
    policy = purpose.evidence_policy
    if not facts:
        return ""
    if policy == "gate_evidence_required" and kinds.isdisjoint(("verification", "command_run")):
        return "no verification or command result is among the facts"
    if policy == "cited_security_evidence_required" and all(map(_unsupported, facts)):
        return "none of the facts has evidence of its own"
    if policy == "accepted_parent_state_required" and kinds.isdisjoint(("promotion", "decision", "handoff", "mission")):
        return "nothing that was accepted into the mission is among the facts"
    return ""


def _preset(name: object) -> Purpose:
    if isinstance(name, str) and name in PRESETS:
        return PRESETS[name]
    raise InvalidRequest(f"there is no purpose {shown(name)}", PRESETS_LISTED)


PRESETS_LISTED = f"The presets are {', '.join(PRESETS)}."
