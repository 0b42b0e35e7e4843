"""What the events of a mission are about, and how workers, findings, reviews and promotions relate."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zaxy.api import Closing, Edge, Entity, EntityRef, Event, Extraction, JsonObject, ProviderContext
from zaxy_coordinate.fields import beginning_of, kept, names, text

PENDING, ACCEPTED, REJECTED, CONFLICT = "pending_worker", "accepted_parent", "rejected", "conflict"
AUTHORITY_OF_REVIEW = {"rejected": REJECTED, "conflicted": CONFLICT}
"""An accepted finding is not part of the mission yet: only its promotion is."""
CLAIM = ("finding_id", "worker_id", "mission_id", "claim_key", "claim_value", "confidence")
SHARED = ("decision", "handoff")
"""Types of entities that the core has too. The names of those of a mission begin with the family."""


class Own(NamedTuple):
    """An event, and the thing that it is about."""

    event: Event
    payload: JsonObject
    ref: EntityRef

    @property
    def mission(self) -> EntityRef:
        """A mission is the session that it runs in, unless another is named."""
        return EntityRef("mission", names(self.payload.get("mission_id"), or_else=self.event.session)[0])

    @property
    def worker(self) -> EntityRef:
        return EntityRef("worker", names(self.payload.get("worker_id"), or_else=self.event.session)[0])

    def findings(self, field: str) -> list[EntityRef]:
        return [EntityRef("finding", name) for name in names(self.payload.get(field))]


# Relations


def of_mission(relation: str) -> Callable[[Own], list[Edge]]:
    return lambda own: [Edge(own.mission, own.ref, relation)]


def of_worker(relation: str) -> Callable[[Own], list[Edge]]:
    return lambda own: [Edge(own.worker, own.ref, relation)]


def reviewed(own: Own) -> list[Edge]:
    return [Edge(own.ref, finding, "coordinator_reviewed_finding") for finding in own.findings("finding_id")]


def promoted(own: Own) -> list[Edge]:
    """From the finding to its promotion, and to the mission that it is now part of."""
    relation = "finding_promoted_to_parent"
    edges = [Edge(one, to, relation) for one in own.findings("finding_id") for to in (own.ref, own.mission)]
    return [*edges, *(Edge(own.ref, older, "supersedes") for older in superseded(own))]


def superseded(own: Own) -> list[EntityRef]:
    """The promotions that a promotion takes the place of, by the ids of their findings."""
    found = (EntityRef("promotion", name) for name in names(own.payload.get("supersedes")))
    return [older for older in found if older.name.casefold() != own.ref.name.casefold()]


def conflict(own: Own) -> list[Edge]:
    """From the mission, and from the first finding to each of the others."""
    findings = own.findings("finding_ids")
    pairs = [Edge(findings[0], other, "finding_conflicts_with") for other in findings[1:]]
    return [Edge(own.mission, own.ref, "mission_has_conflict"), *pairs]


def linked(own: Own) -> list[Edge]:
    artifacts = (EntityRef("synthesis_artifact", name) for name in names(own.payload.get("artifact_id")))
    return [Edge(own.ref, artifact, "proof_links_synthesis_artifact") for artifact in artifacts]


# Rules


class Rule(NamedTuple):
    entity_type: str
    named_by: tuple[str, ...]
    """The fields that may hold the name; the first present one counts."""
    says: tuple[str, ...]
    """The fields that may hold the summary, likewise."""
    relate: Callable[[Own], list[Edge]]
    keeps: tuple[str, ...] = ()
    """The fields that become properties, besides those that name it: the most telling first."""
    properties: Callable[[JsonObject], dict[str, str]] = lambda payload: {}
    ends: Callable[[Own], list[EntityRef]] = lambda own: []
    is_living: bool = False


def judged(payload: JsonObject) -> dict[str, str]:
    return {"authority": AUTHORITY_OF_REVIEW.get(text(payload.get("status")), PENDING)}


PROOF = tuple(
    "mission_id artifact_id decision_scope handoff_id handoff_event_ref accepted_finding_ids pending_finding_ids "
    "conflict_ids handoff_refs non_authoritative_rows excluded_reasons promotion_refs review_refs "
    "worker_source_refs".split()
)
RULES = {
    "coordination.mission.created": Rule("mission", ("mission_id",), ("objective",), lambda own: [], is_living=True),
    "coordination.worker.created": Rule(
        "worker",
        ("worker_id",),
        ("role",),
        of_mission("mission_has_worker"),
        keeps=("mission_id", "worker_session_id", "role", "adopted"),
    ),
    "coordination.assignment.created": Rule(
        "assignment",
        ("assignment_id",),
        ("assignment",),
        of_worker("worker_has_assignment"),
        keeps=("mission_id", "worker_id"),
    ),
    "coordination.finding.reported": Rule(
        "finding",
        ("finding_id",),
        ("summary",),
        of_worker("worker_reported_finding"),
        keeps=(*CLAIM, "evidence"),
        properties=lambda payload: {"status": "pending", "authority": PENDING},
    ),
    "coordination.finding.reviewed": Rule(
        "finding_review",
        ("finding_id",),
        ("rationale", "status"),
        reviewed,
        keeps=("status", "worker_id", "mission_id", "finding_ref", "rationale"),
        properties=judged,
    ),
    "coordination.finding.promoted": Rule(
        "promotion",
        ("finding_id",),
        ("summary",),
        promoted,
        keeps=(*CLAIM, "citations", "evidence"),
        ends=superseded,
        properties=lambda payload: {"status": "accepted", "authority": ACCEPTED},
    ),
    "coordination.conflict.detected": Rule(
        "conflict",
        ("conflict_id", "claim_key"),
        ("claim_key",),
        conflict,
        keeps=("mission_id", "claim_key", "finding_ids", "finding_refs"),
    ),
    "coordination.conflict.settled": Rule(
        "conflict",
        ("conflict_id", "claim_key"),
        ("claim_key",),
        lambda own: [],
        keeps=("mission_id", "claim_key"),
        properties=lambda payload: {"status": "resolved"},
    ),
    "coordination.decision.recorded": Rule(
        "decision",
        ("decision_id",),
        ("decision",),
        of_mission("mission_has_decision"),
        keeps=("mission_id", "rationale", "finding_ids", "packet_id", "signed_by"),
    ),
    "coordination.handoff.created": Rule(
        "handoff",
        ("handoff_id",),
        ("summary",),
        of_mission("mission_has_handoff"),
        keeps=("mission_id", "next_steps", "risks"),
    ),
    "coordination.proof_packet.created": Rule(
        "coordination_proof_packet", ("proof_id", "artifact_id"), ("answer", "query"), linked, keeps=PROOF
    ),
}


class Coordination:
    version = "1"  # changes whenever the same event would give other rows: followers are then rebuilt

    def __init__(self, context: ProviderContext) -> None:
        pass

    def extract(self, event: Event) -> Extraction:
        rule = RULES.get(event.type)
        if rule is None or event.payload is None:
            return Extraction()
        own = Own(event, event.payload, EntityRef(rule.entity_type, _name(event, event.payload, rule)))
        closings = tuple(Closing(event.time, entity=older) for older in rule.ends(own))
        return Extraction((_entity(own, rule),), tuple(rule.relate(own)), closings)


def _name(event: Event, payload: JsonObject, rule: Rule) -> str:
    """What the event is about; where nothing names it, its place in the log does."""
    found = [name for field in rule.named_by for name in names(payload.get(field))]
    if not found and rule.is_living:
        found = [event.session]
    name = found[0] if found else f"{event.type}:{event.seq}"
    return f"coordination:{name}" if rule.entity_type in SHARED else name


def _entity(own: Own, rule: Rule) -> Entity:
    said = next((words for field in rule.says if (words := text(own.payload.get(field)))), "")
    fields = tuple(dict.fromkeys((*rule.named_by, *rule.keeps)))
    return Entity(
        own.ref.name,
        rule.entity_type,
        beginning_of(said or own.ref.name),
        {**kept(own.payload, fields), **rule.properties(own.payload)},
        merges=rule.is_living,
        default_summary=rule.is_living and not said,
        ids=(own.ref.name,) if rule.is_living else (),
    )
