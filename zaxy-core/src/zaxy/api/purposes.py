"""What a preset for the purpose of a checkout may say, as plain data: manifests are held against it."""

from __future__ import annotations

BUILT_IN = ("general", "coding", "review", "release", "security", "research", "coordinate")
SCORING_PROFILES = ("balanced", "recall", "precision", "temporal")
POLICIES = (
    "cited_current_facts_preferred",
    "current_facts_and_verification_cited",
    "cited_current_facts_required",
    "gate_evidence_required",
    "cited_security_evidence_required",
    "several_sources_preferred",
    "accepted_parent_state_required",
)
"""The evidence policies that are enforced."""
SUPPRESSIONS = (
    "uncited_claim",
    "pending_claim",
    "low_trust_inference",
    "draft",
    "uncited_release_claim",
    "stale_gate_result",
    "uncited_safe_claim",
    "stale_mitigation",
    "single_source_overclaim",
    "stale_source",
    "worker_local_pending",
    "rejected",
    "stale_unpromoted",
)
"""Reasons for which rows may be left out."""
KINDS = (
    "check",
    "change",
    "decision",
    "plan",
    "issue",
    "finding",
    "accepted",
    "fact",
    "preference",
    "source",
    "talk",
    "skill",
)
"""The kinds of rows that a purpose lifts or lowers."""
MAX_RECALL_FLOOR = 24
MAX_TERMS = 4
MAX_TERM_CHARS = 32
MAX_WEIGHT = 2.0
MAX_FLOOR = 0.15
"""No preset of a package goes beyond what the built-in ones do."""
MAX_PURPOSES = 8
"""Of one package."""
