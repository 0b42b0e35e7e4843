"""What counts as evidence, and what evidence a purpose needs before memory may answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from zaxy.api.models import Event
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.row_kinds import ACCEPTED, CHECK, DECISION, PLAN, SKILL, SOURCE, kind_of
from zaxy.retrieve.results import Result

OWN_EVIDENCE = ("evidence", "citations", "verification")
OUTCOMES = ("status", "result", "outcome")
PASSED = frozenset("pass passed ok success succeeded successful green verified".split())
FAILED = frozenset("fail failed failing failure error errored red broken".split())
PENDING = frozenset(("pending", "proposed", "draft", "deferred", "conflicted"))
ACCEPTED_PARENT = "accepted_parent"
_WORKS = re.compile(r"\b(?:fixed|works|pass(?:es|ed)|green|verified|tested|resolved)\b", re.IGNORECASE)
_FAILS = re.compile(r"(?<!\b0 )(?<!\bno )\b(?:fail(?:s|ed|ing|ures?)?|did not pass|broken)\b", re.IGNORECASE)


def with_payloads(results: Sequence[Result], events: Iterable[Event]) -> list[Result]:
    """The results with all that their events say: the graph keeps only a few fields of each."""
    payloads = {event.seq: event.payload or {} for event in events}
    return [replace(one, properties=_all_fields(one, payloads.get(one.seq, {}))) for one in results]


def _all_fields(result: Result, payload: Mapping[str, Any]) -> dict[str, Any]:
    """What the graph says of its present state comes first; items of evidence are whole only in the event."""
    items = {"evidence": payload["evidence"]} if payload.get("evidence") else {}
    return {**payload, **result.properties, **items}


def has_passed(result: Result) -> bool | None:
    """Whether a check passed: by its exit code, else by its outcome, and a verification also by its words. None where
    nothing says so."""
    fields = result.properties
    items = [one for one in _listed(fields.get("evidence")) if isinstance(one, Mapping)]
    codes = [one["exit_code"] for one in (fields, *items) if one.get("exit_code") not in (None, "")]
    if codes:
        return all(str(code) == "0" for code in codes)
    outcomes = {str(one[name]).casefold() for one in (fields, *items) for name in OUTCOMES if one.get(name)}
    if not outcomes.isdisjoint(FAILED):
        return False
    if not outcomes.isdisjoint(PASSED):
        return True
    is_stated = kind_of(result) == CHECK and result.entity_type != "command_run"
    return not _FAILS.search(result.content) if is_stated else None


def is_supported(result: Result) -> bool:
    """Whether it has evidence of its own: something that it names, or a check that passed."""
    passed = has_passed(result)
    return passed or (passed is None and any(result.properties.get(name) for name in OWN_EVIDENCE))


def is_pending(result: Result) -> bool:
    """Whether nobody has settled it yet. A task or a skill that is proposed claims nothing."""
    return status_of(result) in PENDING and kind_of(result) not in (PLAN, SKILL)


def status_of(result: Result) -> str:
    return str(result.properties.get("status", "")).lower()


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


# What a policy needs

Needed = Callable[[Sequence[Result]], str]
"""What the facts lack; empty if nothing is missing."""


class MissingEvidence(NamedTuple):
    required: str = ""
    """What the purpose requires and the facts lack; empty if nothing is missing."""
    preferred: str = ""
    """What it would rather have."""


def _gate(facts: Sequence[Result]) -> str:
    checks = [one for one in facts if kind_of(one) == CHECK or "exit_code" in one.properties]
    latest = {str(one.properties.get("command") or one.entity_name): one for one in sorted(checks, key=_when)}
    failed = [one for one in latest.values() if has_passed(one) is False]
    if failed:
        return f"a check among the facts failed ({failed[0].citation})"
    passed = any(has_passed(one) for one in latest.values())
    return "" if passed else "no verification or command result that passed is among the facts"


def _works(facts: Sequence[Result]) -> str:
    claims = any(_WORKS.search(fact.content) for fact in facts if not is_supported(fact))
    return _gate(facts) if claims else ""


def _own_evidence(facts: Sequence[Result]) -> str:
    return "" if any(map(is_supported, facts)) else "none of the facts has evidence of its own"


def _accepted(facts: Sequence[Result]) -> str:
    accepted = any(
        fact.properties.get("authority") == ACCEPTED_PARENT
        or (kind_of(fact) in (ACCEPTED, DECISION) and not is_pending(fact))
        for fact in facts
    )
    return "" if accepted else "nothing that was accepted into the mission is among the facts"


def _all_cited(facts: Sequence[Result]) -> str:
    return "" if all(fact.citation for fact in facts) else "one of the facts has no citation"


def _several_sources(facts: Sequence[Result]) -> str:
    return "" if len(set(map(_source, facts))) > 1 else "all facts have one source"


def _witness(facts: Sequence[Result]) -> str:
    if not _own_evidence(facts) or not _several_sources(facts):
        return ""
    return "the risk is high, and the facts have one source and no evidence of their own"


def _source(fact: Result) -> str:
    """The document that it stands in, else who said it."""
    document = fact.properties.get("path") or fact.properties.get("source") if kind_of(fact) == SOURCE else ""
    return str(document or fact.actor)


def _when(fact: Result) -> tuple[str, int]:
    return (fact.valid_from, fact.seq)


REQUIRED: dict[str, Needed] = {
    "current_facts_and_verification_cited": _works,
    "cited_current_facts_required": _all_cited,
    "gate_evidence_required": _gate,
    "cited_security_evidence_required": _own_evidence,
    "accepted_parent_state_required": _accepted,
}
PREFERRED: dict[str, Needed] = {"several_sources_preferred": _several_sources}
"""What the other policies ask for, every fact has: a citation."""


def missing_evidence(purpose: Purpose, facts: Sequence[Result]) -> MissingEvidence:
    """What the purpose's evidence policy and its risk ask for, and the facts lack. Where there are no facts nothing is
    asked of them."""
    if not facts:
        return MissingEvidence()
    needed = REQUIRED.get(purpose.evidence_policy)
    required = needed(facts) if needed else ""
    if purpose.is_high_risk and not required:
        required = _witness(facts)
    preferred = PREFERRED.get(purpose.evidence_policy)
    return MissingEvidence(required, preferred(facts) if preferred and not required else "")
