"""What a question is for: how many rows are read, which kinds come first, which do not count, what is evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from zaxy.assemble import purpose_fields
from zaxy.assemble.row_kinds import (
    ACCEPTED,
    CHANGE,
    CHECK,
    DECISION,
    FACT,
    FINDING,
    ISSUE,
    PLAN,
    SKILL,
    SOURCE,
    TALK,
)
from zaxy.errors import InvalidRequest, shown
from zaxy.plugins.roster import purposes_of

if TYPE_CHECKING:
    from zaxy.plugins.roster import Roster

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


class Emphasis(NamedTuple):
    """What each kind of row gains, times the share of the question's weight that the row has."""

    name: str
    """What asks for it: a preset, a role, a horizon or a lens."""
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Purpose:
    preset: str
    recall_floor: int
    """The least number of rows to read."""
    scoring_profile: str
    evidence_policy: str
    """The one that is enforced."""
    suppresses: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    """Further words to search for. What they find comes behind what the question finds."""
    emphases: tuple[Emphasis, ...] = ()
    floors: Mapping[str, float] = field(default_factory=dict)
    """The least share of the question's weight that a row must have to be shown, by kind."""
    fields: tuple[tuple[str, str], ...] = ()
    """The fields that the caller gave."""
    stated_policy: str = ""
    """An evidence policy in words of the caller's own: shown, and not enforced."""
    replaced_policy: str = ""
    """The preset's own evidence policy, where the caller named another one."""

    def as_dict(self) -> dict[str, Any]:
        """The profile. `purpose_of` makes the same purpose of it."""
        policy = self.stated_policy or self.evidence_policy
        return {"preset": self.preset, **dict(self.fields), "evidence_policy": policy}

    @property
    def as_argument(self) -> str | dict[str, Any]:
        """As a call takes it: the name alone where that says all."""
        return self.as_dict() if self.fields or self.stated_policy or self.replaced_policy else self.preset

    @property
    def is_given(self) -> bool:
        """Whether it asks for anything."""
        return self != GENERAL

    @property
    def is_high_risk(self) -> bool:
        return purpose_fields.is_high_risk(self._field("risk"))

    @property
    def horizon(self) -> str:
        return purpose_fields.horizon_of(self._field("time_horizon"))

    @property
    def weights(self) -> dict[str, float]:
        """What each kind of row gains in all."""
        kinds = dict.fromkeys(kind for one in self.emphases for kind in one.weights)
        return {kind: sum(one.weights.get(kind, 0.0) for one in self.emphases) for kind in kinds}

    @property
    def retrieval_policy(self) -> dict[str, Any]:
        policy: dict[str, Any] = {
            "emphasis_terms": list(self.terms),
            "recall_floor": self.recall_floor,
            "scoring_profile": self.scoring_profile,
        }
        more = {"floors": dict(self.floors), "horizon": self.horizon}
        return policy | {name: value for name, value in more.items() if value}

    def kept(self, details: Mapping[str, Any]) -> dict[str, Any]:
        """What feedback for this purpose writes down of its details: nothing in words if its retention says so."""
        if purpose_fields.keeps_words(self._field("retention_policy")):
            return {**details, "purpose": self.as_dict()}
        profile = {"preset": self.preset, "evidence_policy": self.evidence_policy}
        without_words = {key: value for key, value in details.items() if key not in WORDS_OF_FEEDBACK}
        return {**without_words, "purpose": {**profile, "retention_policy": self._field("retention_policy")}}

    def _field(self, name: str) -> str:
        return dict(self.fields).get(name, "")


WORDS_OF_FEEDBACK = ("query", "reason", "outcome", "metadata")
"""Details of feedback that say what the work was about."""
SAID = {TALK: 0.15}
"""Where precision counts, what somebody said must share this much of the question to be shown."""
PRESETS = {
    purpose.preset: purpose
    for purpose in (
        Purpose("general", 10, "balanced", "cited_current_facts_preferred"),
        Purpose(
            "coding",
            16,
            "recall",
            "current_facts_and_verification_cited",
            suppresses=("uncited_claim",),
            terms=("implementation", "test", "verification", "command"),
            emphases=(Emphasis("coding", {CHECK: 1.5, CHANGE: 1.0, SKILL: 1.0, DECISION: 0.5, TALK: -1.0}),),
        ),
        Purpose(
            "review",
            16,
            "precision",
            "cited_current_facts_required",
            suppresses=("pending_claim", "low_trust_inference"),
            terms=("review", "finding", "issue", "change"),
            emphases=(Emphasis("review", {ISSUE: 2.0, FINDING: 2.0, CHANGE: 1.0, TALK: -1.0}),),
            floors=SAID,
        ),
        Purpose(
            "release",
            24,
            "temporal",
            "gate_evidence_required",
            suppresses=("draft", "uncited_release_claim", "stale_gate_result"),
            terms=("release", "gate", "verification", "blocker"),
            emphases=(Emphasis("release", {CHECK: 2.0, ISSUE: 1.5, PLAN: 0.5, TALK: -1.5}),),
            floors=SAID,
        ),
        Purpose(
            "security",
            24,
            "precision",
            "cited_security_evidence_required",
            suppresses=("uncited_safe_claim", "low_trust_inference", "stale_mitigation"),
            terms=("security", "vulnerability", "credential", "mitigation"),
            emphases=(Emphasis("security", {ISSUE: 2.0, FINDING: 1.5, CHECK: 1.0, TALK: -1.0}),),
            floors=SAID,
        ),
        Purpose(
            "research",
            20,
            "recall",
            "several_sources_preferred",
            suppresses=("single_source_overclaim", "stale_source"),
            terms=("source", "evidence", "finding", "document"),
            emphases=(Emphasis("research", {SOURCE: 2.0, FINDING: 1.0, FACT: 1.0, CHANGE: -1.0}),),
        ),
        Purpose(
            "coordinate",
            24,
            "recall",
            "accepted_parent_state_required",
            suppresses=("worker_local_pending", "rejected", "stale_unpromoted"),
            terms=("mission", "finding", "assignment", "handoff"),
            emphases=(Emphasis("coordinate", {ACCEPTED: 2.0, DECISION: 1.5, PLAN: 1.0, TALK: -1.0}),),
            floors=SAID,
        ),
    )
}
GENERAL = PRESETS["general"]
POLICIES = tuple(purpose.evidence_policy for purpose in PRESETS.values())
PackagePresets = Callable[[], Mapping[str, Purpose]]
"""Gives the presets of packages. It is asked only for a name that is none of the core's own."""


def purpose_profile(given: object) -> dict[str, object]:
    """A purpose as replies show it: a built-in preset, or an object with checked fields."""
    return purpose_of(given).as_dict()


def presets_of(roster: Roster) -> dict[str, Purpose]:
    """The presets that installed packages bring."""
    return {
        facts.name: Purpose(
            facts.name,
            facts.recall_floor,
            facts.scoring_profile,
            facts.evidence_policy,
            suppresses=facts.suppresses,
            terms=facts.terms,
            emphases=(Emphasis(facts.name, dict(facts.emphases)),) if facts.emphases else (),
            floors=dict(facts.floors),
        )
        for facts in purposes_of(roster)
    }


def _no_packages() -> dict[str, Purpose]:
    return {}


def purpose_of(given: object, more: PackagePresets = _no_packages) -> Purpose:
    """The purpose that a caller names: a preset, or an object with checked fields.

    An object without a preset has the one that its role names. What `as_dict` returns makes the same purpose.
    """
    if given is None or given == "":
        return GENERAL
    if isinstance(given, str):
        return _preset(given, more)
    if not isinstance(given, Mapping):
        raise InvalidRequest(f"a purpose is not a {type(given).__name__}", _listed(more))
    texts = _checked(given)
    role = purpose_fields.preset_of_role(texts.get("role", ""))
    chosen = _preset(given.get("preset", role or GENERAL.preset), more)
    policy = texts.get("evidence_policy", chosen.evidence_policy)
    named = policy in POLICIES
    return replace(
        chosen,
        evidence_policy=policy if named else chosen.evidence_policy,
        stated_policy="" if named else policy,
        replaced_policy=chosen.evidence_policy if named and policy != chosen.evidence_policy else "",
        terms=_terms(chosen, texts),
        emphases=(*chosen.emphases, *_emphases(chosen, role, texts)),
        fields=tuple((name, text) for name, text in texts.items() if name != "evidence_policy"),
    )


def _checked(given: Mapping[str, object]) -> dict[str, str]:
    """The fields that are not empty."""
    unknown = [key for key in given if key not in ("preset", *FIELDS)]
    if unknown:
        raise InvalidRequest(f"a purpose has no field {shown(unknown[0])}", f"It may have preset, {', '.join(FIELDS)}.")
    texts: dict[str, str] = {}
    for name in FIELDS:
        value = given.get(name, "")
        if not isinstance(value, str) or len(value) > MAX_FIELD_CHARS:
            raise InvalidRequest(
                f"the purpose's {name} is not a text of at most {MAX_FIELD_CHARS} characters",
                "Shorten it, or leave it out.",
            )
        if value:
            texts[name] = value
    return texts


def _terms(chosen: Purpose, texts: Mapping[str, str]) -> tuple[str, ...]:
    more = purpose_fields.looked_for_too(texts.get("task", ""), texts.get("ontology_lens", ""))
    return tuple(dict.fromkeys((*chosen.terms, *more)))


def _emphases(chosen: Purpose, role: str, texts: Mapping[str, str]) -> list[Emphasis]:
    """What role, horizon and lens ask for besides the preset."""
    found = []
    if role and role != chosen.preset:
        weights = PRESETS[role].weights
        found.append(Emphasis("role", {kind: purpose_fields.ROLE_SHARE * one for kind, one in weights.items()}))
    if purpose_fields.horizon_of(texts.get("time_horizon", "")) == purpose_fields.LONG:
        found.append(Emphasis("long horizon", purpose_fields.LONG_WEIGHTS))
    if lens := purpose_fields.lens_weights(texts.get("ontology_lens", "")):
        found.append(Emphasis("lens", lens))
    return found


def _preset(name: object, more: PackagePresets) -> Purpose:
    if isinstance(name, str) and name in PRESETS:
        return PRESETS[name]
    packages = more()
    if isinstance(name, str) and name in packages:
        return packages[name]
    raise InvalidRequest(f"there is no purpose {shown(name)}", _listed(more))


def _listed(more: PackagePresets) -> str:
    return f"The presets are {', '.join((*PRESETS, *more()))}."
