"""Which rows may not count for a purpose, and why. Superseded rows are left out for every purpose."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from zaxy.assemble.evidence import PENDING, is_pending, is_supported, status_of
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.row_kinds import CHECK, DECISION, FACT, FINDING, ISSUE, SOURCE, TALK, kind_of
from zaxy.retrieve.results import Result

STALE_DAYS = 30
TRUSTED = 0.5
"""Below this confidence, a purpose may ignore what was inferred."""

_SAFE = re.compile(r"\b(?:safe|secure|saniti[sz]ed|harmless|not vulnerable|no vulnerabilit\w+)\b", re.IGNORECASE)
_SWEEPING = re.compile(r"\b(?:always|never|all|every|proves?|proven|guarantees?d?|certainly)\b", re.IGNORECASE)
_RELEASE = re.compile(r"\b(?:releas\w+|ship\w*|ready|green|passed|approved)\b", re.IGNORECASE)

Suppressing = Callable[[Result, str], bool]
"""Whether to leave a result out, given the time of the newest event."""


def _low_trust(result: Result, newest: str) -> bool:
    confidence = result.properties.get("confidence")
    inferred = bool(result.properties.get("inferred"))
    return inferred or (isinstance(confidence, int | float) and confidence < TRUSTED)


def _stale(result: Result, newest: str) -> bool:
    return _day(newest) - _day(result.valid_from) > STALE_DAYS


def _day(time: str) -> int:
    """A number for a day, exact enough for the distance between two days."""
    year, month, day = (int(part) if part.isdigit() else 1 for part in (time[:4], time[5:7], time[8:10]))
    return year * 372 + month * 31 + day


def _claims(kinds: Sequence[str], pattern: re.Pattern[str] | None = None) -> Suppressing:
    def suppressing(result: Result, newest: str) -> bool:
        claims = kind_of(result) in kinds and (pattern is None or bool(pattern.search(result.content)))
        return claims and not is_supported(result)

    return suppressing


def _stale_of(kind: str) -> Suppressing:
    return lambda result, newest: kind_of(result) == kind and _stale(result, newest)


def _pending(result: Result, newest: str) -> bool:
    return is_pending(result)


def _worker_local(result: Result, newest: str) -> bool:
    return kind_of(result) == FINDING and status_of(result) in ("", *PENDING)


def _rejected(result: Result, newest: str) -> bool:
    return status_of(result) == "rejected"


ASSERTED = (FACT, ISSUE, TALK, FINDING)
RULES: dict[str, Suppressing] = {
    "uncited_claim": _claims((FINDING,)),
    "pending_claim": _pending,
    "low_trust_inference": _low_trust,
    "draft": _pending,
    "uncited_release_claim": _claims((TALK, FINDING), _RELEASE),
    "stale_gate_result": _stale_of(CHECK),
    "uncited_safe_claim": _claims((*ASSERTED, DECISION), _SAFE),
    "stale_mitigation": _stale_of(ISSUE),
    "single_source_overclaim": _claims(ASSERTED, _SWEEPING),
    "stale_source": _stale_of(SOURCE),
    "worker_local_pending": _worker_local,
    "rejected": _rejected,
    "stale_unpromoted": _stale_of(FINDING),
}
"""Why a row may be left out, by the name that replies report."""


def suppressed(purpose: Purpose, found: Sequence[Result], newest: str) -> dict[str, str]:
    """Why results may not count for the purpose, by citation."""
    reasons = {}
    for result in found:
        reason = next((rule for rule in purpose.suppresses if RULES[rule](result, newest)), "")
        if reason:
            reasons[result.citation] = reason
    return reasons
