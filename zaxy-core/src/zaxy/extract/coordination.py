"""Missions: workers, what they were given, what they found, and what the coordinator made of it."""

from __future__ import annotations

from zaxy.api.models import EntityRef, Extraction, JsonObject
from zaxy.extract.rule import MISSION, TEXTS, Mention, Own, Rule, edge, named, ref_to, the_mission

FINDING = Mention(("finding_id",), "finding", "coordinator_reviewed_finding")
ARTIFACT = Mention(("artifact_id",), "synthesis_artifact", "proof_links_synthesis_artifact")
CLAIM = ("finding_id", "worker_id", "mission_id", "claim_key", "value", "evidence", "citations")
AUTHORITY = {"accepted": "accepted_parent", "rejected": "rejected", "conflicted": "conflict", "stale": "stale"}


def pending(payload: JsonObject) -> dict[str, object]:
    return {"authority": "pending_worker"}


def accepted(payload: JsonObject) -> dict[str, object]:
    return {"authority": "accepted_parent"}


def reviewed(payload: JsonObject) -> dict[str, object]:
    """An accepted finding is not parent state yet: only its promotion is."""
    decision = payload.get("decision")
    judged = decision if isinstance(decision, str) else ""
    return {"authority": "pending_worker" if judged == "accepted" else AUTHORITY.get(judged, "pending_worker")}


def promotion(own: Own) -> Extraction:
    """From the finding to its promotion and to the mission that it is now part of."""
    mission = ref_to("mission", the_mission(own.event, own.payload))
    findings = [EntityRef("finding", name) for name in named(own.payload.get("finding_id"))]
    return Extraction(
        edges=tuple(
            edge(finding, "finding_promoted_to_parent", target, own.since)
            for finding in findings
            for target in (own.ref, mission)
        )
    )


def conflict(own: Own) -> Extraction:
    """From the first finding of a conflict to each of the others."""
    values = [own.payload.get(field) for field in ("finding_id", "finding_ids", "conflicts_with")]
    names = list(dict.fromkeys(name for value in values for name in named(value)))
    first, others = names[:1], names[1:]
    return Extraction(
        edges=tuple(
            edge(EntityRef("finding", name), "finding_conflicts_with", EntityRef("finding", other), own.since)
            for name in first
            for other in others
        )
    )


def _rule(
    entity_type: str,
    ids: tuple[str, ...],
    *,
    texts: tuple[str, ...],
    keeps: tuple[str, ...],
    teller: str = "",
    relation: str = "",
    heading: str = "",
) -> Rule:
    return Rule(
        entity_type,
        named_by=(*ids, "key", "name", "title", "id", *texts),
        texts=("summary", *texts, *TEXTS),
        keeps=(*ids, *keeps),
        teller=teller,
        relation=relation,
        heading=heading,
    )


MISSION_RULE = _rule(
    "mission", ("mission_id",), texts=("mission", "goal", "objective"), keeps=("status", "coordinator")
)._replace(
    named_by=MISSION,
    texts=("summary", "goal", "objective", *TEXTS),
    name=the_mission,
    merges=True,
    ids=MISSION,
    titles=("name", "title", "mission"),
)
PROOF_PACKET = (
    "mission_id",
    "decision_scope",
    "handoff_id",
    "handoff_event_ref",
    "accepted_finding_ids",
    "review_refs",
    "promotion_refs",
    "worker_source_refs",
    "handoff_refs",
    "pending_finding_ids",
    "conflict_ids",
    "excluded_reasons",
    "non_authoritative_rows",
)

RULES = {
    "coordination.mission.created": MISSION_RULE,
    "coordination.worker.created": _rule(
        "worker",
        ("worker_id",),
        texts=("worker",),
        keeps=("mission_id", "role", "worker_session_id"),
        teller="mission",
        relation="mission_has_worker",
    ),
    "coordination.assignment.created": _rule(
        "assignment",
        ("assignment_id",),
        texts=("assignment", "task"),
        keeps=("mission_id", "worker_id", "task", "status"),
        teller="worker",
        relation="worker_has_assignment",
        heading="tasks",
    ),
    "coordination.finding.reported": _rule(
        "finding",
        ("finding_id",),
        texts=("finding", "claim"),
        keeps=CLAIM[1:],
        teller="worker",
        relation="worker_reported_finding",
    )._replace(status="pending", properties=pending),
    "coordination.finding.reviewed": _rule(
        "finding_review", ("finding_id",), texts=("reason",), keeps=("decision", "reviewer", "reason", "mission_id")
    )._replace(mentions=(FINDING,), properties=reviewed),
    "coordination.finding.promoted": _rule(
        "promotion", ("finding_id",), texts=("finding", "claim"), keeps=CLAIM[1:]
    )._replace(status="accepted", properties=accepted, more=promotion, relations=("finding_promoted_to_parent",)),
    "coordination.conflict.detected": _rule(
        "conflict",
        ("conflict_id", "claim_key"),
        texts=("conflict", "reason"),
        keeps=("mission_id", "finding_ids", "values", "status", "reason"),
        teller="mission",
        relation="mission_has_conflict",
        heading="blockers",
    )._replace(more=conflict, relations=("finding_conflicts_with",)),
    "coordination.decision.recorded": _rule(
        "decision",
        ("decision_id",),
        texts=("decision",),
        keeps=("mission_id", "rationale", "reason", "finding_ids"),
        teller="mission",
        relation="mission_has_decision",
        heading="decisions",
    ),
    "coordination.handoff.created": _rule(
        "handoff",
        ("handoff_id",),
        texts=("handoff",),
        keeps=("mission_id", "to", "next_steps", "risks"),
        teller="mission",
        relation="mission_has_handoff",
        heading="artifacts",
    ),
    "coordination.proof_packet.created": _rule(
        "coordination_proof_packet",
        ("packet_id", "proof_id", "artifact_id"),
        texts=("answer", "query"),
        keeps=PROOF_PACKET,
    )._replace(mentions=(ARTIFACT,)),
}
