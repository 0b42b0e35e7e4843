"""`zaxy capture-soak`: proof that capture is alive, kind by kind, good enough to rely on."""

from __future__ import annotations

from collections.abc import Callable, Set
from datetime import UTC, datetime
from typing import Any, NamedTuple

from zaxy.eventloom.citation import Citation
from zaxy.eventloom.event_log import EventLog
from zaxy.extract.observations import OBSERVATIONS
from zaxy.observe.readiness import Coverage, Seen, Watching, age_seconds, coverage

WINDOW_S = 30 * 60
FRESH, STALE, MISSING, OPTIONAL = "fresh", "stale", "missing", "optional"
"""`optional`: it is not there, and the clients that are in use need not give it."""
PASS, FAIL = "pass", "fail"
TO_SEE = {
    "command.completed": "let the agent run a command",
    "file.edit.applied": "let the agent edit a file",
    "tool.call.completed": "let the agent call a tool",
    "transcript.turn": "let the agent answer",
}
TO_WIRE = "install hooks with 'zaxy hooks CLIENT --output FILE' or start 'zaxy capture start'"


class ObservationKind(NamedTuple):
    """One kind of observation."""

    type: str
    status: str
    seen: Seen | None
    age_s: float | None

    @property
    def remediation(self) -> str:
        if self.status in (FRESH, OPTIONAL):
            return ""
        if self.status == STALE:
            return f"Nothing new for {(self.age_s or 0) / 60:.0f} minutes: {TO_SEE[self.type]}, and look again."
        return f"Never seen: {TO_WIRE}; then {TO_SEE[self.type]}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "status": self.status,
            "last_seen": self.seen.time if self.seen else None,
            "age_seconds": round(self.age_s, 1) if self.age_s is not None else None,
            "citation": self.seen.citation if self.seen else None,
            "remediation": self.remediation,
        }


class SelfTest(NamedTuple):
    session: str
    seq: int
    hash: str
    lanes: tuple[ObservationKind, ...]
    watching: Watching

    @property
    def passed(self) -> bool:
        return all(lane.status in (FRESH, OPTIONAL) for lane in self.lanes) and not self._waits_for_watcher

    @property
    def _waits_for_watcher(self) -> bool:
        return self.watching.configured and not self.watching.running

    @property
    def remediation(self) -> list[str]:
        stopped = [f"Capture is configured but does not run: {self.watching.resume}"] if self._waits_for_watcher else []
        return [*stopped, *(f"{lane.type}: {lane.remediation}" for lane in self.lanes if lane.remediation)]

    def as_dict(self) -> dict[str, Any]:
        latest = None
        if self.seq:
            citation = str(Citation(self.session, self.seq, self.hash))
            latest = {"seq": self.seq, "hash": self.hash, "citation": citation}
        return {
            "session_id": self.session,
            "beta_criteria": PASS if self.passed else FAIL,
            "window_minutes": WINDOW_S // 60,
            "latest": latest,
            "lanes": [lane.as_dict() for lane in self.lanes],
            "stale_lanes": [lane.type for lane in self.lanes if lane.status == STALE],
            "missing_lanes": [lane.type for lane in self.lanes if lane.status == MISSING],
            "watcher": self.watching.as_dict(),
            "remediation": self.remediation,
        }

    def page(self) -> str:
        """The same for people."""
        rows = [f"{lane.type:<20} {lane.status:<8} {lane.seen.time[:19] if lane.seen else '-'}" for lane in self.lanes]
        last = Citation(self.session, self.seq, self.hash).short if self.seq else "no events"
        return "\n".join(
            [
                f"{'latest event':<20} {last}",
                *rows,
                f"{'watcher':<20} {self.watching.state}",
                *(f"  {said}" for said in self.remediation),
                f"beta criteria: {PASS if self.passed else FAIL}",
            ]
        )


Expected = Callable[[Set[str]], Set[str]]
"""Which kinds the clients with these sources give everybody who works with them."""


def everything(_: Set[str]) -> Set[str]:
    return set(OBSERVATIONS)


def self_test(
    log: EventLog,
    session: str,
    watching: Watching,
    now: datetime | None = None,
    *,
    expected: Expected = everything,
) -> SelfTest:
    """Each kind that the clients in use give was seen within the last 30 minutes, and a watcher that is configured
    runs. In use are those that something was seen of in that time."""
    now = now or datetime.now(UTC)
    head = log.head(session)
    covered = coverage(log, [session]) if head else Coverage({}, None, 0)
    seen = [*covered.observed.values(), *([covered.latest_hook] if covered.latest_hook else [])]
    kinds = expected({each.source for each in seen if age_seconds(each.time, now) <= WINDOW_S})
    lanes = tuple(_lane(type_, covered.observed.get(type_), now, is_expected=type_ in kinds) for type_ in OBSERVATIONS)
    return SelfTest(session, head.seq if head else 0, head.hash if head else "", lanes, watching)


def _lane(type_: str, seen: Seen | None, now: datetime, *, is_expected: bool) -> ObservationKind:
    age = age_seconds(seen.time, now) if seen else None
    if age is not None and age <= WINDOW_S:
        return ObservationKind(type_, FRESH, seen, age)
    absent = STALE if seen else MISSING
    return ObservationKind(type_, absent if is_expected else OPTIONAL, seen, age)
