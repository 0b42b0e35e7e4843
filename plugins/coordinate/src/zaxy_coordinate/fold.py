"""The state of a mission: a fold over the log of its parent and those of its workers.

It does not matter in which order the logs of the workers are read, nor how far each was read before. What an event
says is not kept, only where it stands, who wrote it, and digests of what is compared. Words are read from the log when
they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

from zaxy.api import Event, JsonObject
from zaxy_coordinate.digests import (
    claim_of,
    digest,
    event_source,
    evidence_items,
    is_test_backed,
    names_of_file,
    source_of,
    sources_of,
)

MISSION, WORKER = "coordination.mission.created", "coordination.worker.created"
ASSIGNMENT, FINDING = "coordination.assignment.created", "coordination.finding.reported"
REVIEW, PROMOTION = "coordination.finding.reviewed", "coordination.finding.promoted"
CONFLICT, SETTLED = "coordination.conflict.detected", "coordination.conflict.settled"
DECISION = "coordination.decision.recorded"
HANDOFF, PROOF = "coordination.handoff.created", "coordination.proof_packet.created"
ARTIFACT = "memory.synthesis.artifact.created"
PENDING, ACCEPTED, REJECTED, DEFERRED, CONFLICTED = "pending", "accepted", "rejected", "deferred", "conflicted"
STATUSES = (ACCEPTED, REJECTED, DEFERRED, CONFLICTED)


class Ref(NamedTuple):
    """Where an event stands, and who wrote it when."""

    session: str
    seq: int
    hash: str
    time: str
    actor: str

    @property
    def citation(self) -> str:
        return f"eventloom://{self.session}/events/{self.seq}#{self.hash}"


class Worker(NamedTuple):
    ref: Ref
    session: str


class Assignment(NamedTuple):
    ref: Ref
    worker: str


class ReportedFinding(NamedTuple):
    ref: Ref
    worker: str
    claim: str
    value: str
    has_evidence: bool
    test_backed: bool
    sources: tuple[str, ...]


class Review(NamedTuple):
    ref: Ref
    status: str


class Promotion(NamedTuple):
    ref: Ref
    claim: str


class Proof(NamedTuple):
    ref: Ref
    artifact_id: str
    handoff_id: str


class MissionState:
    """What the logs say of a mission, as far as they were folded."""

    def __init__(self, mission_id: str) -> None:
        self.id = mission_id
        self.cursors: dict[str, tuple[int, str]] = {}
        """The last event that was folded of each session: its seq and hash."""
        self.created: Ref | None = None
        self.workers: dict[str, Worker] = {}
        self.assignments: dict[str, Assignment] = {}
        self.findings: dict[str, ReportedFinding] = {}
        self.reviews: dict[str, tuple[Review, ...]] = {}
        self.promotions: dict[str, Promotion] = {}
        self.conflicts: dict[str, Ref] = {}
        """Those that were recorded, and not recorded as settled since."""
        self.conflict_marks: dict[str, int] = {}
        """How often something was recorded of each."""
        self.decisions: dict[str, Ref] = {}
        self.handoffs: dict[str, Ref] = {}
        self.proofs: dict[str, Proof] = {}
        self.artifacts: dict[str, Ref] = {}
        self.requests: dict[str, Ref] = {}
        """What was done under an idempotency key."""
        self.changed: dict[str, str] = {}
        """When an event or a file, on which evidence may rest, was last changed."""
        self.keyed: dict[str, str] = {}
        """The event that last spoke under a key."""
        self.last_number: dict[str, int] = {}
        """Of the findings of each worker."""
        self.erased: dict[str, int] = {}
        """How many reviews and promotions were erased: what they were about cannot be known any more."""
        self.version = 0
        """Grows with every event that changed something here."""
        self.outdated = False
        """An event that was folded has been erased: only a fold from the beginning is right again."""

    def copy(self) -> Self:
        """One that can be folded further while somebody still looks at this one."""
        other = type(self)(self.id)
        for name, value in vars(self).items():
            setattr(other, name, dict(value) if isinstance(value, dict) else value)
        return other

    @property
    def sessions(self) -> list[str]:
        """The parent first."""
        return list(dict.fromkeys([self.id, *(worker.session for worker in self.workers.values())]))

    def status(self, finding_id: str) -> str:
        """What the last review made of a finding."""
        reviews = self.reviews.get(finding_id)
        return reviews[-1].status if reviews else PENDING

    def apply(self, event: Event) -> None:
        """Take the next event of one of the sessions."""
        self.cursors[event.session] = (event.seq, event.hash)
        payload = event.payload
        if payload is None:
            if event.session == self.id and event.type in (REVIEW, PROMOTION):
                self.erased[event.type] = self.erased.get(event.type, 0) + 1
            return
        ref = Ref(event.session, event.seq, event.hash, event.time, event.actor)
        fold = _OF_PARENT.get(event.type) if event.session == self.id else _OF_WORKER.get(event.type)
        if fold is not None:
            self.version += 1
            fold(self, ref, payload)
            request = _text(payload, "request_key")
            if request:
                self.requests[request] = min(self.requests.get(request, ref), ref, key=_place)
        self._note_changes(event.type, ref, payload)

    def _note_changes(self, event_type: str, ref: Ref, payload: JsonObject) -> None:
        """Remember what the event replaces: evidence that rested on it is stale from then on."""
        if event_type == "file.edit.applied":
            for name in names_of_file(_text(payload, "path")):
                self._change(name, ref.time)
        elif event_type == "event.erased" and isinstance(payload.get("seq"), int):
            self._change(event_source(ref.session, int(str(payload["seq"]))), ref.time)
            self.outdated = True
        for cited in _texts(payload.get("supersedes")):
            self._change(source_of(cited), ref.time)
        if event_type == "memory.invalidated":
            self._end(ref, payload)
        key = _text(payload, "key")
        if key:
            self._say_under_key(digest(ref.session, event_type, key), ref)

    def _end(self, ref: Ref, payload: JsonObject) -> None:
        """Of a promotion the name may be given instead of the event."""
        self._change(source_of(_text(payload, "entity_citation") or _text(payload, "citation")), ref.time)
        promotion = self.promotions.get(_text(payload, "entity_name"))
        if promotion is not None and ref.session == self.id and _text(payload, "entity_type") == "promotion":
            self._change(event_source(ref.session, promotion.ref.seq), ref.time)

    def _say_under_key(self, key: str, ref: Ref) -> None:
        self._change(self.keyed.get(key, ""), ref.time)
        self.keyed[key] = event_source(ref.session, ref.seq)

    def _change(self, source: str, time: str) -> None:
        if source:
            self.version += 1
            self.changed[source] = max(time, self.changed.get(source, ""))


class PartialState(MissionState):
    """Of one who may not read the logs of all workers. What was promoted is parent state for them too: of a finding
    that they may not read they know what its promotion says."""

    def __init__(self, mission_id: str) -> None:
        super().__init__(mission_id)
        self._by_promotion: dict[str, ReportedFinding] = {}

    def apply(self, event: Event) -> None:
        super().apply(event)
        if event.type == PROMOTION and event.session == self.id and event.payload:
            ref = Ref(event.session, event.seq, event.hash, event.time, event.actor)
            self._by_promotion.setdefault(_text(event.payload, "finding_id"), _reported(ref, event.payload))

    def fill_in(self) -> None:
        """Once the logs are folded: what is not known from a worker's own log."""
        self.findings = {**self._by_promotion, **self.findings}


# Events of the parent


def _mission(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    if _text(payload, "mission_id") == state.id:
        state.created = state.created or ref


def _worker(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    worker, session = _text(payload, "worker_id"), _text(payload, "worker_session_id")
    if worker and session:
        state.workers.setdefault(worker, Worker(ref, session))


def _review(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    finding, status = _text(payload, "finding_id"), _text(payload, "status")
    if finding and status in STATUSES:
        state.reviews[finding] = (*state.reviews.get(finding, ()), Review(ref, status))


def _promotion(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    if finding := _text(payload, "finding_id"):
        state.promotions.setdefault(finding, Promotion(ref, claim_of(payload)[0]))


def _proof(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    if proof := _text(payload, "proof_id"):
        state.proofs.setdefault(proof, Proof(ref, _text(payload, "artifact_id"), _text(payload, "handoff_id")))


def _conflict(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    name = _text(payload, "conflict_id")
    state.conflicts[name] = ref
    state.conflict_marks[name] = state.conflict_marks.get(name, 0) + 1


def _settled(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    name = _text(payload, "conflict_id")
    state.conflicts.pop(name, None)
    state.conflict_marks[name] = state.conflict_marks.get(name, 0) + 1


def _named(field: str, table: Callable[[MissionState], dict[str, Ref]]) -> Fold:
    def fold(state: MissionState, ref: Ref, payload: JsonObject) -> None:
        if name := _text(payload, field):
            table(state).setdefault(name, ref)

    return fold


# Events of a worker


def _assignment(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    name, worker = _text(payload, "assignment_id"), _text(payload, "worker_id")
    if name and _is_of(state, ref, payload):
        state.assignments.setdefault(name, Assignment(ref, worker))


def _finding(state: MissionState, ref: Ref, payload: JsonObject) -> None:
    finding = _text(payload, "finding_id")
    if not finding or not _is_of(state, ref, payload):
        return
    reported = _reported(ref, payload)
    state.findings.setdefault(finding, reported)
    number = finding.rpartition(":")[2]
    if number.isdecimal():
        state.last_number[reported.worker] = max(state.last_number.get(reported.worker, 0), int(number))


def _reported(ref: Ref, payload: JsonObject) -> ReportedFinding:
    items = evidence_items(payload)
    return ReportedFinding(
        ref, _text(payload, "worker_id"), *claim_of(payload), bool(items), is_test_backed(items), sources_of(items)
    )


def _is_of(state: MissionState, ref: Ref, payload: JsonObject) -> bool:
    """Whether a worker says it in the session that it has for this mission."""
    worker = state.workers.get(_text(payload, "worker_id"))
    return worker is not None and worker.session == ref.session and _text(payload, "mission_id") == state.id


Fold = Callable[[MissionState, Ref, JsonObject], None]
_OF_PARENT: Mapping[str, Fold] = {
    MISSION: _mission,
    WORKER: _worker,
    REVIEW: _review,
    PROMOTION: _promotion,
    PROOF: _proof,
    CONFLICT: _conflict,
    SETTLED: _settled,
    DECISION: _named("decision_id", lambda state: state.decisions),
    HANDOFF: _named("handoff_id", lambda state: state.handoffs),
    ARTIFACT: _named("artifact_id", lambda state: state.artifacts),
}
_OF_WORKER: Mapping[str, Fold] = {ASSIGNMENT: _assignment, FINDING: _finding}


def _place(ref: Ref) -> tuple[str, str, int]:
    return ref.time, ref.session, ref.seq


def _text(payload: JsonObject, field: str) -> str:
    value = payload.get(field)
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return [item for item in items if isinstance(item, str)]
