"""Composed answers as plain data: the ledger of what counted, the candidates, and the events that record both.

A package builds a `Bundle` of its own rows and records it as the core records that of a checkout:
`artifact_payload` is what `memory.synthesis.artifact.created` holds. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Self

from zaxy.errors import InvalidRequest, shown

ARTIFACT_TYPE = "memory.synthesis.artifact.created"
OUTCOME_TYPES = {
    "used": "memory.synthesis.used",
    "rejected": "memory.synthesis.rejected",
    "corrected": "memory.synthesis.corrected",
    "excluded": "memory.evidence.excluded",
}
"""What became of a candidate, and the type of the event that says so."""
EVIDENCE_TYPES = {
    "used": "memory.evidence.reinforced",
    "helpful": "memory.evidence.reinforced",
    "excluded": "memory.evidence.excluded",
}
"""What became of one row of a ledger."""
AUTHORITIES = ("accepted_parent", "pending_worker", "rejected", "stale", "conflict")
KEY_PREFIX = "synthesis:"
"""An artifact's idempotency key is this and its id: the same content is recorded once."""


class LedgerRow(NamedTuple):
    """One row that took part, or nearly did. It has an `include_reason` or an `exclude_reason`, never both."""

    fact_id: str
    source_group: str
    """What rests on the same statement has the same one: copies count once."""
    citation: str
    kind: str = ""
    """The type of what it tells of, such as `fact` or `task`."""
    entity: str = ""
    value: int | float | str | None = None
    unit: str = ""
    time: str = ""
    label: str = ""
    include_reason: str = ""
    exclude_reason: str = ""
    authority: str = ""
    """One of `AUTHORITIES`; empty where the row does not say."""

    @property
    def counted(self) -> bool:
        return not self.exclude_reason

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value not in ("", None)}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The row that `as_dict` describes; what it does not know is left out."""
        return cls(**{name: given.get(name, "" if name != "value" else None) for name in cls._fields})


class AnswerCandidate(NamedTuple):
    """One answer that the counted rows give."""

    rank: int
    type: str
    """The operation: `count`, `sum`, `average`, `extreme`, `difference`, `duration`, `order` or `comparison`."""
    answer: str
    value: int | float | str | None = None
    unit: str = ""
    confidence: float = 0.0
    support_source_ids: tuple[str, ...] = ()
    """The source groups that it rests on."""
    excluded_source_ids: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        lists = {name: list(getattr(self, name)) for name in ("support_source_ids", "excluded_source_ids")}
        return {**{name: value for name, value in self._asdict().items() if value not in ("", None)}, **lists}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The candidate that `as_dict` describes; what it does not know is left out."""
        lists = {name: tuple(given.get(name) or ()) for name in ("support_source_ids", "excluded_source_ids")}
        values: dict[str, Any] = {name: given[name] for name in cls._fields if name in given}
        return cls(**{"rank": 0, "type": "", "answer": "", **values, **lists})


class Bundle(NamedTuple):
    """A composed answer, whole: what was asked, all rows, and what follows from them."""

    session_id: str
    query: str
    operation: str
    answer_type: str
    answer_candidates: tuple[AnswerCandidate, ...]
    ledger_rows: tuple[LedgerRow, ...]
    known_to_seq: int = 0
    """The last event that it takes into account."""
    looked_at: int = 0
    """How many rows were looked at."""
    complete: bool = False
    """Whether these were all that bear on the question."""
    missing: tuple[str, ...] = ()
    """Why they were not, in sentences."""
    details: Mapping[str, Any] = {}
    """What else the artifact keeps: `slot_plan`, `quality`, `purpose`, `summary`."""


def artifact_payload(bundle: Bundle) -> dict[str, Any]:
    """The payload of `memory.synthesis.artifact.created`. Its `artifact_id` is the SHA-256 of all the rest, in the
    canonical form: the same content has the same id."""
    content = {
        "session_id": bundle.session_id,
        "query": bundle.query,
        "operation": bundle.operation,
        "answer_type": bundle.answer_type,
        "known_to_seq": bundle.known_to_seq,
        "looked_at": bundle.looked_at,
        "complete": bundle.complete,
        "missing": list(bundle.missing),
        "answer_candidates": [candidate.as_dict() for candidate in bundle.answer_candidates],
        "ledger_rows": [row.as_dict() for row in bundle.ledger_rows],
        **bundle.details,
    }
    return {"artifact_id": artifact_id(content), **content}


def artifact_id(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a payload without its `artifact_id`."""
    from zaxy.api import canonical_json

    return sha256(canonical_json({name: content[name] for name in content if name != "artifact_id"})).hexdigest()


def artifact_key(artifact: Mapping[str, Any]) -> str:
    """The idempotency key under which an artifact is appended."""
    return f"{KEY_PREFIX}{artifact['artifact_id']}"


def matching_candidate(
    candidates: Sequence[AnswerCandidate], given: AnswerCandidate | Mapping[str, Any]
) -> AnswerCandidate:
    """The candidate that is meant, as the bundle has it: `given` names it by its rank, its answer, or all its fields.

    `InvalidRequest` where none has these values, or several have.
    """
    if not isinstance(given, AnswerCandidate | Mapping):
        raise InvalidRequest(f"{shown(given)} is no candidate", HOW_TO_NAME_ONE)
    named = _named(given, AnswerCandidate._fields)
    if not any(name in named for name in ("rank", "answer", "value")):
        raise InvalidRequest("the candidate has neither rank nor answer", HOW_TO_NAME_ONE)
    found = [one for one in candidates if _has(one.as_dict(), named)]
    if len(found) != 1:
        what = "no answer candidate of this checkout has" if not found else "several answer candidates have"
        raise InvalidRequest(f"{what} {_in_words(named)}", HOW_TO_NAME_ONE)
    return found[0]


def matching_row(rows: Sequence[LedgerRow], given: LedgerRow | Mapping[str, Any]) -> LedgerRow:
    """The row of the ledger that is meant: by its `fact_id`, and by whatever else is given."""
    if not isinstance(given, LedgerRow | Mapping):
        raise InvalidRequest(f"{shown(given)} is no row of a ledger", HOW_TO_NAME_A_ROW)
    named = _named(given, LedgerRow._fields)
    if not named.get("fact_id"):
        raise InvalidRequest("the row has no fact_id", HOW_TO_NAME_A_ROW)
    found = [one for one in rows if _has(one.as_dict(), named)]
    if len(found) != 1:
        raise InvalidRequest(f"no ledger row of this checkout has {_in_words(named)}", HOW_TO_NAME_A_ROW)
    return found[0]


HOW_TO_NAME_ONE = "Pass one of diagnostics.synthesis.answer_candidates as it stands, or its rank."
HOW_TO_NAME_A_ROW = "Pass one of diagnostics.synthesis.ledger_rows as it stands, or its fact_id."


def checked_outcome(outcome: str, *, has_candidate: bool, correction: str = "") -> str:
    """The outcome of a candidate; empty where neither is given. One without the other is `InvalidRequest`."""
    kinds = ", ".join(OUTCOME_TYPES)
    if outcome and outcome not in OUTCOME_TYPES:
        raise InvalidRequest(f"{shown(outcome)} is no outcome of a candidate", f"It is one of {kinds}.")
    if has_candidate and not outcome:
        raise InvalidRequest("a candidate is given without its outcome", f"Say what became of it: one of {kinds}.")
    if outcome and not has_candidate:
        raise InvalidRequest(f"the outcome {outcome!r} is given without a candidate", HOW_TO_NAME_ONE)
    if correction and outcome != "corrected":
        raise InvalidRequest("a correction is given, and the outcome is another", "Give the outcome 'corrected'.")
    if outcome == "corrected" and not correction:
        raise InvalidRequest("the outcome is 'corrected', and there is no correction", "Say what is right.")
    return outcome


def checked_evidence_outcome(outcome: str) -> str:
    """What became of a row: `used`, `helpful` or `excluded`."""
    if outcome not in EVIDENCE_TYPES:
        raise InvalidRequest(f"{shown(outcome)} is no outcome of a row", f"It is one of {', '.join(EVIDENCE_TYPES)}.")
    return outcome


def _named(given: tuple[Any, ...] | Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    values = given if isinstance(given, Mapping) else given.as_dict()  # type: ignore[attr-defined]
    unknown = [name for name in values if name not in fields]
    if unknown:
        raise InvalidRequest(f"there is no field {shown(unknown[0])}", f"There are {', '.join(fields)}.")
    return {name: value for name, value in values.items() if value not in ("", None)}


def _has(own: Mapping[str, Any], named: Mapping[str, Any]) -> bool:
    return all(own.get(name) == (list(value) if isinstance(value, tuple) else value) for name, value in named.items())


def _in_words(named: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value!r:.60}" for name, value in list(named.items())[:3])
