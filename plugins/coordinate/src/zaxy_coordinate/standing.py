"""Where each finding of a mission stands: its authority, whether it repeats or contradicts others, and whether what it
rests on has changed since. A pure function of the state."""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property
from typing import NamedTuple

from zaxy_coordinate.digests import digest, event_source
from zaxy_coordinate.fold import ACCEPTED, CONFLICTED, REJECTED, MissionState, ReportedFinding

ACCEPTED_PARENT, PENDING_WORKER, STALE, CONFLICT = "accepted_parent", "pending_worker", "stale", "conflict"
AUTHORITIES = (ACCEPTED_PARENT, PENDING_WORKER, REJECTED, STALE, CONFLICT)
"""Only the first is parent state."""
PROMOTED = "promoted"


class Standing(NamedTuple):
    """Where a finding stands."""

    finding_id: str
    finding: ReportedFinding
    status: str
    """What the last review said, or `promoted`."""
    authority: str
    duplicate_of: str
    """The first finding that says the same; empty for that one itself."""
    stale: bool
    conflict_id: str
    """Of the conflict in which it takes part, as long as nobody has decided; else empty."""

    @property
    def waits_for_review(self) -> bool:
        return self.status not in (ACCEPTED, REJECTED, PROMOTED)


class OpenConflict(NamedTuple):
    """Findings that say different things of the same. Its id is made of what they say: another word makes another."""

    conflict_id: str
    finding_ids: tuple[str, ...]
    """All that count, also those that were accepted or promoted, in the order in which they were reported."""


class Claim:
    """All findings on one claim, in the order in which they were reported."""

    def __init__(self, claim: str) -> None:
        self.claim = claim
        self.first_of_value: dict[str, str] = {}
        self.counting: dict[str, str] = {}
        """Those that can contradict others, with what they say: not what was rejected, or is parent state no longer."""

    @property
    def conflict_id(self) -> str:
        """Empty where all say the same."""
        values = set(self.counting.values())
        return digest("conflict", self.claim, *sorted(values)) if len(values) > 1 else ""


class Standings:
    """All findings of a mission, in the order in which they were reported; or those on some claims."""

    def __init__(self, state: MissionState, claims: Container[str] | None = None) -> None:
        self._state = state
        self._newest_promotion = _newest_promotions(state)
        self._claims: dict[str, Claim] = {}
        chosen = [name for name, one in state.findings.items() if claims is None or one.claim in claims]
        ordered = sorted(chosen, key=lambda name: _place(state.findings[name]))
        for name in ordered:
            self._take(name)
        self._conflict_of = {claim: one.conflict_id for claim, one in self._claims.items()}
        self.by_id = {name: self._standing(name) for name in ordered}

    @cached_property
    def all(self) -> list[Standing]:
        return list(self.by_id.values())

    def of_authority(self, *authorities: str) -> list[Standing]:
        return [one for one in self.all if one.authority in authorities]

    @cached_property
    def conflicts(self) -> list[OpenConflict]:
        """The open ones, the oldest first."""
        claims = {one.conflict_id: one.finding.claim for one in self.all if one.conflict_id}
        return [OpenConflict(name, tuple(self._claims[claim].counting)) for name, claim in claims.items()]

    def _take(self, name: str) -> None:
        finding = self._state.findings[name]
        claim = self._claims.setdefault(finding.claim, Claim(finding.claim))
        claim.first_of_value.setdefault(finding.value, name)
        if self._counts(name):
            claim.counting[name] = finding.value

    def _counts(self, name: str) -> bool:
        if name in self._state.promotions:
            return not self._is_replaced(name) and not _has_ended(self._state, name)
        return self._state.status(name) != REJECTED

    def _is_replaced(self, name: str) -> bool:
        return self._newest_promotion[self._state.promotions[name].claim] != name

    def _standing(self, name: str) -> Standing:
        finding, reviewed = self._state.findings[name], self._state.status(name)
        promoted = name in self._state.promotions
        decided = promoted or reviewed in (ACCEPTED, REJECTED)
        conflict_id = "" if decided else self._conflict_of[finding.claim]
        stale = _rests_on_changed(self._state, name)
        if promoted:
            ended = stale or self._is_replaced(name) or _has_ended(self._state, name)
            authority = STALE if ended else ACCEPTED_PARENT
        elif reviewed == REJECTED:
            authority = REJECTED
        elif conflict_id or reviewed == CONFLICTED:
            authority = CONFLICT
        else:
            authority = STALE if stale else PENDING_WORKER
        first = self._claims[finding.claim].first_of_value[finding.value]
        status = PROMOTED if promoted else reviewed
        return Standing(name, finding, status, authority, "" if first == name else first, stale, conflict_id)


def open_conflicts(state: MissionState) -> list[OpenConflict]:
    """The open ones, without working out where the findings stand on which nobody disagrees."""
    said: dict[str, str] = {}
    contested = {one.claim for one in state.findings.values() if said.setdefault(one.claim, one.value) != one.value}
    return Standings(state, contested).conflicts if contested else []


def _rests_on_changed(state: MissionState, name: str) -> bool:
    finding = state.findings[name]
    return any(state.changed.get(source, "") > finding.ref.time for source in finding.sources)


def _has_ended(state: MissionState, name: str) -> bool:
    """Whether what was promoted was erased, invalidated or replaced by name."""
    ref = state.promotions[name].ref
    return event_source(ref.session, ref.seq) in state.changed


def _newest_promotions(state: MissionState) -> dict[str, str]:
    """The finding that was last promoted on each claim."""
    ordered = sorted(state.promotions, key=lambda name: state.promotions[name].ref.seq)
    return {state.promotions[name].claim: name for name in ordered}


def _place(finding: ReportedFinding) -> tuple[str, str, int]:
    return finding.ref.time, finding.ref.session, finding.ref.seq
