"""Proofs: what an answer of a mission rested on, recorded with it, and taken apart again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from zaxy.api import Conflict, Draft, Event, InvalidRequest, NotFound, canonical_json, event_reply, short_citation
from zaxy.api.synthesis import (
    ARTIFACT_TYPE,
    OUTCOME_TYPES,
    AnswerCandidate,
    Bundle,
    LedgerRow,
    artifact_key,
    artifact_payload,
    checked_outcome,
    matching_candidate,
)
from zaxy_coordinate.checkout import OPERATION, bundle_of, why_not
from zaxy_coordinate.fold import PROOF, MissionState, Proof, Ref
from zaxy_coordinate.standing import ACCEPTED_PARENT, Standing, Standings
from zaxy_coordinate.workplace import Reply, Workplace

SCOPES = ("accepted_checkout", "merge_brief", "approval_packet", "handoff")
MAX_LISTED = 200
"""Ids and rows of one kind in a proof."""


def record_synthesis_artifact(
    at: Workplace,
    mission_id: str,
    checkout: Mapping[str, Any],
    *,
    decision_scope: str = SCOPES[0],
    handoff_id: str = "",
    candidate: Mapping[str, Any] | None = None,
    outcome: str = "",
    reason: str = "",
    correction: str = "",
    actor: str,
) -> Reply:
    """Record a checkout's composed answer in the parent's log, and the proof of what it rested on."""
    state = at.mission(mission_id)
    handoff = _handoff(state, decision_scope, handoff_id)
    said = Said(
        candidate,
        checked_outcome(outcome, has_candidate=candidate is not None, correction=correction),
        reason,
        correction,
    )
    is_own = "mission_id" in checkout
    recorded = (_record_mission if is_own else _record_composed)(at, state, checkout, said=said, actor=actor)
    proof = _proof_payload(at, state, recorded, scope=decision_scope, handoff=handoff)
    written = at.write(PROOF, proof, session=mission_id, actor=actor, key=proof["proof_id"], whole=True)
    reply: Reply = {
        "mission_id": mission_id,
        "artifact_id": recorded.artifact_id,
        "artifact": recorded.artifact,
        "proof_id": proof["proof_id"],
        "proof": written,
    }
    if recorded.outcome is not None:
        reply["outcome"] = {**recorded.outcome, "outcome": outcome}
    if handoff is not None:
        ref = handoff[1]
        reply["handoff_event_ref"] = {"citation": ref.citation, "seq": ref.seq, "hash": ref.hash}
    return reply


def proof_trace(
    at: Workplace, mission_id: str, *, artifact_id: str = "", handoff_id: str = "", proof_seq: int | None = None
) -> Reply:
    """A recorded answer, taken apart: the proof, the artifact, the handoff, and every event that they cite."""
    state = at.mission(mission_id)
    if sum((bool(artifact_id), bool(handoff_id), proof_seq is not None)) != 1:
        raise InvalidRequest("name one of artifact_id, handoff_id and proof_seq", "Take it from the recorded proof.")
    proof = _find_proof(state, artifact_id, handoff_id, proof_seq)
    event = at.event(proof.ref)
    said = at.words(proof.ref)
    artifact = state.artifacts.get(proof.artifact_id)
    recorded = at.words(artifact) if artifact else {}
    handoff = state.handoffs.get(proof.handoff_id)
    kinds = ("promotion_refs", "review_refs", "worker_source_refs", "handoff_refs")
    return {
        "mission_id": mission_id,
        "proof": _shown(event),
        "artifact": _shown(at.event(artifact)) if artifact else None,
        "handoff": _shown(at.event(handoff)) if handoff else None,
        "refs": {kind: [_resolved(at, ref) for ref in said.get(kind, ())] for kind in kinds},
        "answer_candidates": recorded.get("answer_candidates", []),
        "ledger_rows": recorded.get("ledger_rows", []),
        "diagnostics": {
            name: said.get(name, [])
            for name in ("pending_finding_ids", "conflict_ids", "excluded_reasons", "non_authoritative_rows")
        },
    }


# What is recorded


class Said(NamedTuple):
    """What became of a candidate; all is empty where none was chosen."""

    candidate: Mapping[str, Any] | None
    outcome: str
    reason: str
    correction: str


class Recorded(NamedTuple):
    """An answer that stands in the parent's log."""

    artifact_id: str
    artifact: Reply
    outcome: Reply | None
    query: str
    answer: str
    accepted: list[str]
    """The findings that it rests on."""


def _record_mission(
    at: Workplace, state: MissionState, checkout: Mapping[str, Any], *, said: Said, actor: str
) -> Recorded:
    """The answer of a mission's own checkout: artifact and outcome in one append."""
    bundle = bundle_of_mission(at, state, checkout)
    artifact = artifact_payload(bundle)
    chosen = matching_candidate(bundle.answer_candidates, said.candidate) if said.candidate is not None else None
    drafts = [Draft(ARTIFACT_TYPE, actor, artifact, idempotency_key=artifact_key(artifact))]
    if chosen is not None:
        drafts.append(_outcome_draft(artifact, chosen, said, actor))
    before = at.memory.head(state.id)
    events = at.memory.append_many(drafts, state.id)
    replies = [event_reply(event, replayed=event.seq <= before) for event in events]
    accepted = [row.fact_id for row in bundle.ledger_rows if row.counted]
    answer = chosen.answer if chosen else ""
    last = replies[1] if chosen else None
    return Recorded(artifact["artifact_id"], replies[0], last, bundle.query, answer, accepted)


def _record_composed(
    at: Workplace, state: MissionState, checkout: Mapping[str, Any], *, said: Said, actor: str
) -> Recorded:
    """The composed answer of a `memory_checkout` in the mission's session, which memory itself works out again."""
    if checkout.get("session_id") != state.id:
        raise InvalidRequest(
            f"the checkout is not one of {state.id}",
            "Pass the whole reply of coordination_checkout, or of memory_checkout with the mission as session_id.",
        )
    record = at.memory.synthesis_artifact(
        checkout, said.candidate, outcome=said.outcome, reason=said.reason, correction=said.correction, actor=actor
    )
    payload = at.memory.get(int(record.artifact["seq"]), state.id).payload or {}
    rows: Any = payload.get("ledger_rows") or ()
    cited = {short_citation(str(row.get("citation"))) for row in rows if not row.get("exclude_reason")}
    promoted = at.standings(at.mission(state.id)).of_authority(ACCEPTED_PARENT)
    accepted = [
        one.finding_id for one in promoted if short_citation(state.promotions[one.finding_id].ref.citation) in cited
    ]
    answer = str((record.candidate or {}).get("answer") or "")
    query = str(payload.get("query") or "")
    return Recorded(record.artifact_id, dict(record.artifact), record.outcome, query, answer, accepted)


def bundle_of_mission(at: Workplace, state: MissionState, checkout: Mapping[str, Any]) -> Bundle:
    """What the checkout said, worked out again from the log: what differs was changed, or is no longer so."""
    if checkout.get("mission_id") != state.id:
        raise InvalidRequest(
            f"the checkout is not one of {state.id}", "Pass the whole reply of coordination_checkout for this mission."
        )
    said = _part(_part(checkout, "diagnostics"), "synthesis")
    rows, standings = _parts(said, "ledger_rows"), at.standings(state)
    named = [_standing(standings, row) for row in rows]
    if len({one.finding_id for one in named}) < len(named):
        raise Conflict("the checkout has a finding twice", "Pass it as coordination_checkout returned it.")
    shown = [one for one, row in zip(named, rows, strict=True) if row.get("authority") == ACCEPTED_PARENT]
    others = [one for one, row in zip(named, rows, strict=True) if row.get("authority") != ACCEPTED_PARENT]
    for one, row in zip(named, rows, strict=True):
        if one.authority != row.get("authority"):
            raise Conflict(
                f"{one.finding_id} is {one.authority} now, and not {row.get('authority')!r:.40}",
                "The mission has moved on: call coordination_checkout again.",
            )
    query = str(checkout.get("query") or "")
    bundle = bundle_of(at, state, shown=shown, others=others, query=query)
    candidates = tuple(AnswerCandidate.of(one) for one in _parts(said, "answer_candidates"))
    same = candidates == bundle.answer_candidates and _in_short(map(LedgerRow.of, rows)) == _in_short(
        bundle.ledger_rows
    )
    if said.get("operation") != OPERATION or not same:
        raise Conflict(
            "the checkout says other things than the mission's log", "Pass it as coordination_checkout returned it."
        )
    return bundle


def _in_short(rows: Iterable[LedgerRow]) -> list[LedgerRow]:
    """Rows as they are compared: a model has seen short citations, a program whole ones."""
    return [row._replace(citation=short_citation(str(row.citation))) for row in rows]


def _proof_payload(
    at: Workplace,
    state: MissionState,
    recorded: Recorded,
    *,
    scope: str,
    handoff: tuple[str, Ref] | None,
) -> dict[str, Any]:
    standings, accepted = at.standings(state), recorded.accepted
    others = [one for one in standings.all if one.authority != ACCEPTED_PARENT][:MAX_LISTED]
    content: dict[str, Any] = {
        "mission_id": state.id,
        "artifact_id": recorded.artifact_id,
        "decision_scope": scope,
        "accepted_finding_ids": accepted,
        "review_refs": [review.ref.citation for name in accepted for review in state.reviews.get(name, ())],
        "promotion_refs": [state.promotions[name].ref.citation for name in accepted],
        "worker_source_refs": [state.findings[name].ref.citation for name in accepted],
        "handoff_refs": [handoff[1].citation] if handoff else [],
        "pending_finding_ids": [one.finding_id for one in standings.all if one.waits_for_review][:MAX_LISTED],
        "conflict_ids": [one.conflict_id for one in standings.conflicts][:MAX_LISTED],
        "excluded_reasons": [{"finding_id": one.finding_id, "reason": why_not(one)} for one in others],
        "non_authoritative_rows": [
            {"finding_id": one.finding_id, "authority": one.authority, "citation": one.finding.ref.citation}
            for one in others
        ],
        "query": recorded.query,
    }
    if recorded.answer:
        content["answer"] = recorded.answer
    if handoff is not None:
        name, ref = handoff
        content["handoff_id"] = name
        content["handoff_event_ref"] = ref.citation
    return {"proof_id": f"proof:{sha256(canonical_json(content)).hexdigest()[:32]}", **content}


def _outcome_draft(artifact: Mapping[str, Any], chosen: AnswerCandidate, said: Said, actor: str) -> Draft:
    payload = {
        "artifact_id": artifact["artifact_id"],
        "candidate": chosen.as_dict(),
        "outcome": said.outcome,
        "query": artifact["query"],
        **{name: text for name, text in (("reason", said.reason), ("correction", said.correction)) if text},
    }
    key = f"{artifact_key(artifact)}:{said.outcome}:{chosen.rank}"
    return Draft(OUTCOME_TYPES[said.outcome], actor, payload, idempotency_key=key)


def _handoff(state: MissionState, scope: str, handoff_id: str) -> tuple[str, Ref] | None:
    if scope not in SCOPES:
        raise InvalidRequest(f"{scope!r:.40} is no decision_scope", f"Use one of {', '.join(SCOPES)}.")
    if scope == "handoff" and not handoff_id:
        raise InvalidRequest(
            "decision_scope is handoff, and there is no handoff_id", "Name what coordination_handoff returned."
        )
    if not handoff_id:
        return None
    ref = state.handoffs.get(handoff_id)
    if ref is None:
        raise NotFound(f"{state.id} has no handoff {handoff_id!r:.80}", "Name what coordination_handoff returned.")
    return handoff_id, ref


# What is traced


def _find_proof(state: MissionState, artifact_id: str, handoff_id: str, proof_seq: int | None) -> Proof:
    found = [
        proof
        for proof in state.proofs.values()
        if (artifact_id and proof.artifact_id == artifact_id)
        or (handoff_id and proof.handoff_id == handoff_id)
        or proof.ref.seq == proof_seq
    ]
    if not found:
        raise NotFound(f"{state.id} has no such proof", "Record one with coordination_record_synthesis_artifact first.")
    return max(found, key=lambda proof: proof.ref.seq)


def _resolved(at: Workplace, citation: str) -> Reply:
    event = at.memory.resolve(citation)
    payload = event.payload or {}
    named = {name: payload[name] for name in ("finding_id", "status", "rationale", "summary") if name in payload}
    return {"citation": citation, "type": event.type, "actor": event.actor, "time": event.time, **named}


def _shown(event: Event) -> Reply:
    shown = {"citation": event.citation, "seq": event.seq, "type": event.type, "actor": event.actor, "time": event.time}
    return {**shown, "payload": event.payload}


def _standing(standings: Standings, row: Mapping[str, Any]) -> Standing:
    found = standings.by_id.get(str(row.get("fact_id")))
    if found is None:
        raise Conflict(
            f"the mission has no finding {row.get('fact_id')!r:.80}",
            "Pass the checkout as coordination_checkout returned it.",
        )
    return found


def _part(reply: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = reply.get(name)
    if not isinstance(part, Mapping):
        raise InvalidRequest(f"the checkout has no {name}", "Pass the whole reply of coordination_checkout.")
    return part


def _parts(reply: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = reply.get(name)
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidRequest(f"the checkout's {name} are no list of objects", "Pass the reply as it was returned.")
    return rows
