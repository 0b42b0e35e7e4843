"""Missions in Python: what the tools and the commands do, as methods.

with Memory.open() as memory:
    missions = Missions(memory)
    missions.start("port", "Port it to Windows")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zaxy_coordinate import brief, checkout, packets, proofs, reviews, steps
from zaxy_coordinate.adoption import adopt
from zaxy_coordinate.workplace import DEFAULT_ACTOR, Reply, Workplace


class Missions(Workplace):
    """The missions of a workspace. Each method returns what the tool of that name returns."""

    def start(self, mission_id: str, objective: str, *, actor: str = DEFAULT_ACTOR) -> Reply:
        return steps.start(self, mission_id, objective, actor=actor)

    def create_worker(self, mission_id: str, worker_id: str, *, role: str = "", actor: str = DEFAULT_ACTOR) -> Reply:
        return steps.create_worker(self, mission_id, worker_id, role=role, actor=actor)

    def adopt(
        self, session: str, mission_id: str, *, worker_id: str = "", role: str = "", actor: str = DEFAULT_ACTOR
    ) -> Reply:
        """Take a session that is there already, such as a captured subagent's, as a worker."""
        reply = adopt(self, session, mission_id, worker_id=worker_id, role=role, actor=actor)
        self._record_conflicts(mission_id, actor)
        return reply

    def assign(
        self,
        mission_id: str,
        worker_id: str,
        assignment: str,
        *,
        actor: str = DEFAULT_ACTOR,
        idempotency_key: str = "",
    ) -> Reply:
        return steps.assign(self, mission_id, worker_id, assignment, actor=actor, request_key=idempotency_key)

    def report_finding(
        self,
        mission_id: str,
        worker_id: str,
        summary: str,
        *,
        evidence: Sequence[Mapping[str, Any]] = (),
        confidence: float | None = None,
        claim_key: str = "",
        claim_value: str = "",
        actor: str = "",
        idempotency_key: str = "",
    ) -> Reply:
        reply = steps.report_finding(
            self,
            mission_id,
            worker_id,
            summary,
            evidence=evidence,
            confidence=confidence,
            claim_key=claim_key,
            claim_value=claim_value,
            actor=actor,
            request_key=idempotency_key,
        )
        conflicts = self._record_conflicts(mission_id, actor or worker_id)
        return {**reply, "conflict_ids": conflicts} if conflicts else reply

    def merge_brief(self, mission_id: str, *, max_tokens: int = brief.BRIEF_TOKENS, cursor: str = "") -> Reply:
        return brief.merge_brief(self, mission_id, max_tokens=max_tokens, cursor=cursor)

    def checkout(
        self,
        mission_id: str,
        query: str = "",
        *,
        include_diagnostics: bool = False,
        max_tokens: int = checkout.CHECKOUT_TOKENS,
    ) -> Reply:
        return checkout.mission_checkout(
            self, mission_id, query=query, include_diagnostics=include_diagnostics, max_tokens=max_tokens
        )

    def performance_ledger(self, mission_id: str) -> Reply:
        return brief.performance_ledger(self, mission_id)

    def approval_packet(self, mission_id: str) -> Reply:
        return packets.approval_packet(self, mission_id)

    def apply_approval(
        self, mission_id: str, decisions: object, *, actor: str = DEFAULT_ACTOR, expect_public_key: str = ""
    ) -> Reply:
        """`decisions` is a list of decisions, or a whole packet."""
        reply = packets.apply_approval(self, mission_id, decisions, actor=actor, expect_public_key=expect_public_key)
        self._record_conflicts(mission_id, actor)
        return reply

    def review_finding(
        self, mission_id: str, finding_id: str, status: str, *, rationale: str = "", actor: str = DEFAULT_ACTOR
    ) -> Reply:
        reply = reviews.review(self, mission_id, finding_id, status, rationale=rationale, actor=actor)
        self._record_conflicts(mission_id, actor)
        return reply

    def promote(self, mission_id: str, finding_id: str, *, actor: str = DEFAULT_ACTOR) -> Reply:
        reply = reviews.promote(self, mission_id, finding_id, actor=actor)
        self._record_conflicts(mission_id, actor)
        return reply

    def handoff(
        self,
        mission_id: str,
        summary: str,
        *,
        next_steps: Sequence[str] = (),
        risks: Sequence[str] = (),
        actor: str = DEFAULT_ACTOR,
        idempotency_key: str = "",
    ) -> Reply:
        return steps.hand_off(
            self, mission_id, summary, next_steps=next_steps, risks=risks, actor=actor, request_key=idempotency_key
        )

    def record_synthesis_artifact(
        self,
        mission_id: str,
        checkout: Mapping[str, Any],
        *,
        decision_scope: str = proofs.SCOPES[0],
        handoff_id: str = "",
        candidate: Mapping[str, Any] | None = None,
        outcome: str = "",
        reason: str = "",
        correction: str = "",
        actor: str = DEFAULT_ACTOR,
    ) -> Reply:
        return proofs.record_synthesis_artifact(
            self,
            mission_id,
            checkout,
            decision_scope=decision_scope,
            handoff_id=handoff_id,
            candidate=candidate,
            outcome=outcome,
            reason=reason,
            correction=correction,
            actor=actor,
        )

    def proof_trace(
        self, mission_id: str, *, artifact_id: str = "", handoff_id: str = "", proof_seq: int | None = None
    ) -> Reply:
        return proofs.proof_trace(self, mission_id, artifact_id=artifact_id, handoff_id=handoff_id, proof_seq=proof_seq)

    def _record_conflicts(self, mission_id: str, actor: str) -> list[str]:
        return reviews.record_conflicts(self, mission_id, actor=actor)
