"""Reviewing findings, and making accepted ones parent state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from zaxy.api import Conflict, Draft, Forbidden, InvalidRequest, ZaxyError, event_reply
from zaxy_coordinate.fold import (
    ACCEPTED,
    CONFLICT,
    DECISION,
    DEFERRED,
    PROMOTION,
    REJECTED,
    REVIEW,
    SETTLED,
    STATUSES,
    MissionState,
    PartialState,
    Ref,
)
from zaxy_coordinate.standing import open_conflicts
from zaxy_coordinate.workplace import Reply, Workplace

FINDING_FIELDS = ("summary", "evidence", "confidence", "claim_key", "claim_value")
"""What a promotion takes over from the finding."""
MAX_LISTED = 32
"""Findings that the record of a conflict names."""


class Decision(NamedTuple):
    """What somebody decided about a finding."""

    finding_id: str
    status: str
    rationale: str = ""
    promote: bool = False


def review(at: Workplace, mission_id: str, finding_id: str, status: str, *, rationale: str = "", actor: str) -> Reply:
    """Record what a finding is worth. It becomes parent state only by a promotion."""
    state = at.mission(mission_id)
    decision = checked(Decision(finding_id, status, rationale))
    if not _is_news(at, state, decision, actor):
        return _said_before(at, state, decision)
    draft = _review_draft(state, decision, actor)
    try:
        written = at.write(REVIEW, draft.payload, session=mission_id, actor=actor, key=_review_key(state, finding_id))
    except Conflict:
        now = at.mission(mission_id)
        if now.status(finding_id) == status != state.status(finding_id):
            return _said_before(at, now, decision)
        raise _reviewed_meanwhile(now, finding_id) from None
    return _reviewed(finding_id, status, written)


def _said_before(at: Workplace, state: MissionState, decision: Decision) -> Reply:
    """The review that says the same, or the promotion that it led to."""
    finding_id, status, *_ = decision
    reviews = [one.ref for one in state.reviews.get(finding_id, ()) if one.status == status]
    ref = reviews[-1] if reviews else state.promotions[finding_id].ref
    return _reviewed(finding_id, status, event_reply(at.event(ref), replayed=True))


def promote(at: Workplace, mission_id: str, finding_id: str, *, actor: str) -> Reply:
    """Make an accepted finding parent state. The second time this changes nothing."""
    state = at.mission(mission_id)
    at.finding(state, finding_id)
    if finding_id in state.promotions:
        return _promoted_before(at, state, finding_id)
    draft = _promotion_draft(at, state, finding_id, actor, review=_accepting_review(state, finding_id))
    key = _promotion_key(state, finding_id)
    try:
        written = at.write(
            PROMOTION, draft.payload, session=mission_id, actor=actor, key=key, sensitivity=draft.sensitivity
        )
    except Conflict:
        state = at.mission(mission_id)
        if finding_id not in state.promotions:
            raise
        return _promoted_before(at, state, finding_id)
    return {**written, "finding_id": finding_id, "status": "promoted"}


def _promoted_before(at: Workplace, state: MissionState, finding_id: str) -> Reply:
    event = at.event(state.promotions[finding_id].ref)
    return {**event_reply(event, replayed=True), "finding_id": finding_id, "status": "promoted"}


def decide(
    at: Workplace,
    mission_id: str,
    decisions: Sequence[Decision],
    *,
    actor: str,
    decision_id: str,
    details: Mapping[str, object],
) -> Reply:
    """Take several decisions at once: all of them or none. What is so already is left as it is, and what was decided
    under the same id before is not decided again."""
    state = at.mission(mission_id)
    for decision in map(checked, decisions):
        at.finding(state, decision.finding_id)
    new = [] if decision_id in state.decisions else decisions
    reviews = [one for one in new if _is_news(at, state, one, actor, by_anybody=True)]
    wanted = [one for one in new if one.promote and one.finding_id not in state.promotions]
    reviewing = {one.finding_id: _review_draft(state, one, actor) for one in reviews}
    drafts = list(reviewing.values())
    for one in wanted:
        decided = None if one.finding_id in reviewing else _accepting_review(state, one.finding_id)
        drafts.append(_promotion_draft(at, state, one.finding_id, actor, review=decided))
    result = {
        "mission_id": mission_id,
        "decision_id": decision_id,
        "reviewed": [one.finding_id for one in reviews],
        "promoted": [one.finding_id for one in wanted],
        "unchanged": [one.finding_id for one in decisions if one not in reviews and one not in wanted],
    }
    if not drafts:
        return {**result, "citations": [], "replayed": True}
    record = {
        "mission_id": mission_id,
        "decision_id": decision_id,
        "decision": _sentence(result),
        "finding_ids": [one.finding_id for one in decisions],
        **details,
    }
    drafts.append(Draft(DECISION, actor, record, idempotency_key=f"coordination:decision:{decision_id}"))
    try:
        events = at.memory.append_many(drafts, mission_id)
    except Conflict:
        now = at.mission(mission_id)
        for one in reviews:
            if len(now.reviews.get(one.finding_id, ())) != len(state.reviews.get(one.finding_id, ())):
                raise _reviewed_meanwhile(now, one.finding_id) from None
        raise
    return {**result, "citations": [event.citation for event in events]}


def record_conflicts(at: Workplace, mission_id: str, *, actor: str) -> list[str]:
    """Record in the parent's log which conflicts have come, without a word of the findings, and which are settled. What
    they are about is named only where a promotion has named it before. Returns those that are new."""
    state = at.mission(mission_id)
    if isinstance(state, PartialState):  # who cannot read all findings leaves it to those who can
        return []
    conflicts = {one.conflict_id: one for one in open_conflicts(state)}
    new = [one for name, one in conflicts.items() if name not in state.conflicts]
    for one in new:
        findings = [state.findings[name] for name in one.finding_ids]
        about = {
            "claim_key": _promoted_key(at, state, one.finding_ids),
            "finding_ids": list(one.finding_ids[:MAX_LISTED]),
            "finding_refs": [finding.ref.citation for finding in findings[:MAX_LISTED]],
        }
        _mark_conflict(at, state, CONFLICT, conflict_id=one.conflict_id, about=about, actor=actor)
    for name, ref in state.conflicts.items():
        if name not in conflicts:
            _mark_conflict(
                at, state, SETTLED, conflict_id=name, about={"claim_key": at.words(ref).get("claim_key")}, actor=actor
            )
    return [one.conflict_id for one in new]


def _mark_conflict(
    at: Workplace, state: MissionState, event_type: str, *, conflict_id: str, about: Mapping[str, object], actor: str
) -> None:
    payload = {"mission_id": state.id, "conflict_id": conflict_id, **about}
    key = f"conflict:{conflict_id}:{state.conflict_marks.get(conflict_id, 0) + 1}"
    with suppress(Conflict, Forbidden):  # somebody else has recorded it in the meantime, or will
        at.write(event_type, payload, session=state.id, actor=actor, key=key)


def _promoted_key(at: Workplace, state: MissionState, finding_ids: Sequence[str]) -> object:
    promoted = [state.promotions[name].ref for name in finding_ids if name in state.promotions]
    return at.words(promoted[0]).get("claim_key") if promoted else None


def checked(decision: Decision) -> Decision:
    if decision.status not in STATUSES:
        raise InvalidRequest(
            f"{decision.status!r:.40} is not what a review can say", f"Use one of {', '.join(STATUSES)}."
        )
    if decision.promote and decision.status != ACCEPTED:
        raise InvalidRequest(
            f"{decision.finding_id} cannot be {decision.status} and promoted", "Promote only what is accepted."
        )
    return decision


def _is_news(at: Workplace, state: MissionState, decision: Decision, actor: str, *, by_anybody: bool = False) -> bool:
    """Whether a review changes anything; `conflict` where somebody has decided otherwise."""
    at.finding(state, decision.finding_id)
    promotion = state.promotions.get(decision.finding_id)
    if promotion is not None:
        if decision.status == ACCEPTED:
            return False
        raise Conflict(
            f"{decision.finding_id} was promoted by {_who(promotion.ref)}",
            "It is parent state. End it with memory_invalidate, or promote a finding that replaces it.",
        )
    reviews = state.reviews.get(decision.finding_id)
    if not reviews:
        return True
    last = reviews[-1]
    is_final = last.status in (ACCEPTED, REJECTED)
    if last.status == decision.status and (by_anybody or is_final or last.ref.actor == actor):
        return False
    if is_final and decision.status != DEFERRED:
        raise _decided(decision.finding_id, last.status, last.ref)
    return True


def _review_draft(state: MissionState, decision: Decision, actor: str) -> Draft:
    finding = state.findings[decision.finding_id]
    payload: dict[str, object] = {
        "mission_id": state.id,
        "worker_id": finding.worker,
        "finding_id": decision.finding_id,
        "status": decision.status,
        "finding_ref": finding.ref.citation,
    }
    if decision.rationale:
        payload["rationale"] = decision.rationale
    key = f"coordination:{_review_key(state, decision.finding_id)}"
    return Draft(REVIEW, actor, payload, idempotency_key=key)


def _review_key(state: MissionState, finding_id: str) -> str:
    """The place of a review among those of its finding: of two at once, only one gets it."""
    return _unused(state, REVIEW, f"review:{finding_id}:{len(state.reviews.get(finding_id, ())) + 1}")


def _promotion_key(state: MissionState, finding_id: str) -> str:
    return _unused(state, PROMOTION, f"promotion:{finding_id}")


def _unused(state: MissionState, event_type: str, key: str) -> str:
    """An erased event still has its key: what comes after it gets another one."""
    erased = state.erased.get(event_type, 0)
    return f"{key}~{erased}" if erased else key


def _promotion_draft(at: Workplace, state: MissionState, finding_id: str, actor: str, *, review: Ref | None) -> Draft:
    """`review` is None where the accepting review is written in the same batch."""
    standing = at.standing(state, finding_id)
    if standing.stale:
        raise Conflict(
            f"what {finding_id} rests on has changed since it was reported",
            "Let the worker look again and report what is so now, or reject it.",
        )
    event = at.event(standing.finding.ref)
    said = event.payload or {}
    payload: dict[str, Any] = {
        "mission_id": state.id,
        "worker_id": standing.finding.worker,
        "finding_id": finding_id,
        **{field: said[field] for field in FINDING_FIELDS if field in said},
        "citations": [event.citation, *([review.citation] if review else [])],
    }
    replaced = _replaced(state, standing.finding.claim) if said.get("claim_key") else None
    if replaced is not None:
        payload["supersedes"] = [replaced]
    key = f"coordination:{_promotion_key(state, finding_id)}"
    return Draft(PROMOTION, actor, payload, sensitivity=event.sensitivity, idempotency_key=key)


def _replaced(state: MissionState, claim: str) -> str | None:
    """The finding whose promotion held on a claim until now."""
    names = [name for name, one in state.promotions.items() if one.claim == claim]
    return max(names, key=lambda name: state.promotions[name].ref.seq, default=None)


def _accepting_review(state: MissionState, finding_id: str) -> Ref:
    reviews = state.reviews.get(finding_id)
    if reviews and reviews[-1].status == ACCEPTED:
        return reviews[-1].ref
    raise Conflict(
        f"{finding_id} is {state.status(finding_id)}, and only an accepted finding is promoted",
        "Review it first: coordination_review_finding with status accepted.",
    )


def _reviewed_meanwhile(state: MissionState, finding_id: str) -> ZaxyError:
    reviews = state.reviews.get(finding_id)
    if not reviews:
        return Conflict(f"{finding_id} was reviewed in the meantime", "Look at the brief, and try again.")
    return _decided(finding_id, reviews[-1].status, reviews[-1].ref)


def _decided(finding_id: str, status: str, ref: Ref) -> ZaxyError:
    return Conflict(
        f"{finding_id} was {status} by {_who(ref)}",
        "Talk to them. To decide again, review it as deferred first; the log keeps both.",
    )


def _who(ref: Ref) -> str:
    return f"{ref.actor} at {ref.time[:16].replace('T', ' ')} UTC, event {ref.seq} of {ref.session}"


def _reviewed(finding_id: str, status: str, written: Reply) -> Reply:
    return {**written, "finding_id": finding_id, "status": status}


def _sentence(result: Mapping[str, Any]) -> str:
    parts = [f"{len(result[name])} {name}" for name in ("reviewed", "promoted") if result[name]]
    return f"Approval applied: {', '.join(parts)}"
