"""A composed answer on record: a checkout is believed only where the log, read again as it was then, says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from zaxy.api.models import Draft, JsonObject
from zaxy.api.synthesis import (
    ARTIFACT_TYPE,
    EVIDENCE_TYPES,
    OUTCOME_TYPES,
    AnswerCandidate,
    LedgerRow,
    artifact_key,
    artifact_payload,
    checked_evidence_outcome,
    checked_outcome,
    matching_candidate,
    matching_row,
)
from zaxy.assemble.checkout import composed_again
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.synthesis.bundle import Synthesis
from zaxy.errors import InvalidRequest, shown
from zaxy.eventloom.grammar import SENSITIVITIES
from zaxy.extract.times import utc_text
from zaxy.retrieve.citations_in_text import real_citations_within
from zaxy.retrieve.snapshot import Snapshot

AS_IT_CAME = "Make the checkout again, and pass its whole reply as it came."
COMPARED = ("looked_at", "counted", "excluded", "complete", "missing")
"""What a checkout says of its synthesis besides candidates and rows."""


class GivenCheckout(NamedTuple):
    """The parts of a checkout's reply that name what was asked, and of which state of memory."""

    session: str
    query: str
    known_to_seq: int
    asked_at: str
    purpose: object
    synthesis: Mapping[str, Any]


class Recomputed(NamedTuple):
    """The same question, asked of the same state again."""

    artifact: dict[str, Any]
    """The payload of `memory.synthesis.artifact.created`."""
    shown: tuple[AnswerCandidate, ...]
    """The candidates as the checkout shows them."""
    sensitivity: str

    @property
    def candidates(self) -> tuple[AnswerCandidate, ...]:
        return tuple(map(AnswerCandidate.of, self.artifact["answer_candidates"]))

    @property
    def rows(self) -> tuple[LedgerRow, ...]:
        return tuple(map(LedgerRow.of, self.artifact["ledger_rows"]))

    def candidate(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The candidate that is meant, with all that it rests on."""
        rank = matching_candidate(self.shown, given).rank
        return next(one for one in self.candidates if one.rank == rank).as_dict()


def given_checkout(checkout: object) -> GivenCheckout:
    """What a caller passes as a checkout; `InvalidRequest` where a part is missing or malformed."""
    reply = _object(checkout, "checkout")
    synthesis = _object(_object(reply.get("diagnostics"), "diagnostics").get("synthesis"), "diagnostics.synthesis")
    known = _object(reply.get("retention"), "retention").get("known_to_seq")
    if type(known) is not int or known < 1:
        raise _not_a_checkout("its retention.known_to_seq is not the number of an event")
    for field in ("session_id", "query"):
        if not isinstance(reply.get(field), str) or not reply[field]:
            raise _not_a_checkout(f"it has no {field}")
    if not utc_text(synthesis.get("asked_at")):
        raise _not_a_checkout("its diagnostics.synthesis.asked_at is no time")
    moment = utc_text(synthesis["asked_at"])
    return GivenCheckout(reply["session_id"], reply["query"], known, moment, reply.get("purpose"), synthesis)


def recomputed(snapshot: Snapshot, given: GivenCheckout, purpose: Purpose) -> Recomputed:
    """The synthesis of the log as it was known then. A checkout that says anything else is refused."""
    if snapshot.head != given.known_to_seq:
        raise _not_a_checkout(f"{given.session} has no event {given.known_to_seq} that can be read")
    found = composed_again(snapshot, given.query, purpose, given.asked_at)
    if found is None:
        raise _not_a_checkout("its question is no composed one, or was cut")
    synthesis, quality = found
    judged = {"answerability": quality.answerability, "confidence": quality.confidence}
    top = synthesis.top
    bundle = synthesis.bundle(
        asked_at=given.asked_at,
        slot_plan=synthesis.plan.as_dict(),
        quality=judged,
        purpose=purpose.as_dict(),
        **({"answer": top.answer} if top else {}),
    )
    content = artifact_payload(bundle)
    shown_again = dict(real_citations_within({**synthesis.counts(), **_shown(synthesis)}, snapshot.resolves))
    _refuse_other(given.synthesis, shown_again, content["ledger_rows"])
    return Recomputed(
        content, tuple(map(AnswerCandidate.of, shown_again["answer_candidates"])), _sensitivity(synthesis)
    )


def _shown(synthesis: Synthesis) -> dict[str, Any]:
    return {"answer_candidates": synthesis.shown_candidates()}


def _refuse_other(given: Mapping[str, Any], known: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    for field in (*COMPARED, "answer_candidates"):
        if given.get(field) != known[field]:
            raise _altered(f"diagnostics.synthesis.{field}")
    own = {row["fact_id"]: row for row in rows}
    listed = given.get("ledger_rows") or []
    for row in listed if isinstance(listed, list) else [None]:
        if not isinstance(row, Mapping) or own.get(row.get("fact_id")) != row:
            raise _altered("a row of diagnostics.synthesis.ledger_rows")


def _altered(what: str) -> InvalidRequest:
    return InvalidRequest(
        f"{what} is not what memory says of this question, by what was known at the checkout", AS_IT_CAME
    )


def _sensitivity(synthesis: Synthesis) -> str:
    """The highest of what it was made of: its rows repeat words of them."""
    found = {entry.found.event.sensitivity for entry in synthesis.entries}
    return max(found, key=SENSITIVITIES.index, default="")


# What is appended


def artifact_draft(found: Recomputed, actor: str) -> Draft:
    return Draft(
        ARTIFACT_TYPE,
        actor,
        found.artifact,
        sensitivity=found.sensitivity,
        idempotency_key=artifact_key(found.artifact),
    )


def outcome_draft(
    found: Recomputed, candidate: object, outcome: str, *, reason: str, correction: str, actor: str
) -> Draft | None:
    """What became of a candidate; None where none is given."""
    kind = checked_outcome(outcome, has_candidate=candidate is not None, correction=correction)
    if not kind:
        return None
    chosen = found.candidate(_object(candidate, "candidate"))
    payload = {
        "artifact_id": found.artifact["artifact_id"],
        "candidate": chosen,
        "outcome": kind,
        **_given(reason=reason, correction=correction),
        **{name: found.artifact[name] for name in ("query", "purpose", "quality", "slot_plan")},
    }
    return _draft(OUTCOME_TYPES[kind], actor, payload, found)


def evidence_draft(
    found: Recomputed, row: object, outcome: str, *, candidate: object, reason: str, actor: str
) -> Draft:
    """What became of one row of the ledger."""
    kind = checked_evidence_outcome(outcome)
    chosen = matching_row(found.rows, _object(row, "row"))
    selected = found.candidate(_object(candidate, "candidate")) if candidate is not None else None
    support = selected["support_source_ids"] if selected else [chosen.source_group]
    payload = {
        "artifact_id": found.artifact["artifact_id"],
        "row": {**chosen.as_dict(), "support_source_ids": support},
        "outcome": kind,
        **({"candidate": selected} if selected else {}),
        **_given(reason=reason),
        **{name: found.artifact[name] for name in ("quality", "slot_plan")},
    }
    return _draft(EVIDENCE_TYPES[kind], actor, payload, found)


def _draft(type_: str, actor: str, payload: JsonObject, found: Recomputed) -> Draft:
    """The same said twice by one actor is recorded once."""
    from zaxy.eventloom.bulk import canonical_json

    said = sha256(canonical_json({"type": type_, "actor": actor, **payload})).hexdigest()
    return Draft(type_, actor, payload, sensitivity=found.sensitivity, idempotency_key=f"synthesis:{said}")


def _given(**texts: str) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidRequest(f"{what} is {shown(value)}, and no object", AS_IT_CAME)
    return value


def _not_a_checkout(why: str) -> InvalidRequest:
    return InvalidRequest(f"this is no checkout with a composed answer: {why}", AS_IT_CAME)
