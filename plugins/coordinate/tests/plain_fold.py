"""A mission by its events alone, in the slowest and plainest way: no digests, no state, no order of reading. What the
package says of a mission is compared with this."""

from __future__ import annotations

from collections import Counter
from typing import Any

from zaxy import Memory
from zaxy.api import Event

ORDER = ("conflict", "pending", "deferred", "accepted", "stale", "accepted_parent", "rejected")


class PlainMission:
    def __init__(self, memory: Memory, mission: str = "port") -> None:
        self.events: dict[str, list[Event]] = {
            session: list(memory.replay(session, limit=100_000, include_housekeeping=True))
            for session in memory.sessions()
            if session == mission or session.startswith(f"{mission}.")
        }
        self.all = [event for events in self.events.values() for event in events]
        self.parent = self.events[mission]
        found = [event for event in self.all if event.type == "coordination.finding.reported"]
        self.findings = {said(event)["finding_id"]: event for event in sorted(found, key=place)}
        self.promotions = {
            said(event)["finding_id"]: event for event in self.parent if event.type == "coordination.finding.promoted"
        }

    # What was made of a finding

    def status(self, name: str) -> str:
        if name in self.promotions:
            return "promoted"
        reviews = [
            one for one in self.parent if one.type.endswith("finding.reviewed") and said(one)["finding_id"] == name
        ]
        return str(said(reviews[-1])["status"]) if reviews else "pending"

    def authority(self, name: str) -> str:
        status = self.status(name)
        if status == "promoted":
            return "stale" if self.is_stale(name) or not self.is_held(name) else "accepted_parent"
        if status == "rejected":
            return "rejected"
        if status == "conflicted" or self.is_in_conflict(name):
            return "conflict"
        return "stale" if self.is_stale(name) else "pending_worker"

    def is_held(self, name: str) -> bool:
        """Whether nothing was promoted in its place, and nobody has ended it."""
        mine = self.promotions[name]
        later = [one for one in self.promotions.values() if one.seq > mine.seq and about(one) == about(mine)]
        ended = [
            one
            for one in self.parent
            if one.type == "memory.invalidated" and one.seq > mine.seq and said(one).get("entity_name") == name
        ]
        return not later and not ended

    def is_in_conflict(self, name: str) -> bool:
        if self.status(name) in ("promoted", "accepted", "rejected") or not said(self.findings[name]).get("claim_key"):
            return False
        return any(value(self.findings[other]) != value(self.findings[name]) for other in self.rivals(name)) or (
            len({value(self.findings[other]) for other in self.rivals(name)}) > 1
        )

    def rivals(self, name: str) -> list[str]:
        """All findings on the same claim that count."""
        same = [other for other in self.findings if about(self.findings[other]) == about(self.findings[name])]
        return [
            other
            for other in same
            if (self.is_held(other) if other in self.promotions else self.status(other) != "rejected")
        ]

    def duplicate_of(self, name: str) -> str:
        """The first that says the same, if that is another one."""
        mine = (about(self.findings[name]), value(self.findings[name]))
        first = next(other for other, one in self.findings.items() if (about(one), value(one)) == mine)
        return "" if first == name else first

    def is_stale(self, name: str) -> bool:
        event = self.findings[name]
        later = [one for one in self.all if one.time > event.time]
        return any(self.changes(one, item) for one in later for item in said(event).get("evidence", ()))

    def changes(self, event: Event, item: dict[str, Any]) -> bool:
        """Whether an event changes what an item of evidence rests on."""
        named = str(item.get("reference") or item.get("path") or "")
        if event.type == "file.edit.applied":
            path = said(event)["path"]
            return bool(named) and (path == named or ("/" in named and path.endswith(f"/{named}")))
        if named.startswith("eventloom://"):
            return named in str(said(event).get("supersedes", ""))
        return False

    # What is shown

    def ledger(self, worker: str = "") -> dict[str, int]:
        mine = [name for name, one in self.findings.items() if not worker or said(one)["worker_id"] == worker]
        items = {name: said(self.findings[name]).get("evidence", []) for name in mine}
        return {
            "reported": len(mine),
            "accepted": sum(self.status(name) in ("accepted", "promoted") for name in mine),
            "promoted": sum(self.status(name) == "promoted" for name in mine),
            "rejected": sum(self.status(name) == "rejected" for name in mine),
            "duplicate": sum(self.duplicate_of(name) != "" for name in mine),
            "missing_evidence": sum(not items[name] for name in mine),
            "test_backed": sum(any(passed(item) for item in items[name]) for name in mine),
            "stale": sum(self.is_stale(name) for name in mine),
        }

    def urgency(self, name: str) -> int:
        authority, status = self.authority(name), self.status(name)
        if authority in ("conflict", "accepted_parent", "rejected"):
            return ORDER.index(authority)
        return ORDER.index(status) if status in ORDER else ORDER.index("stale")

    def brief(self) -> list[str]:
        return sorted(self.findings, key=self.urgency)

    def conflicts(self) -> int:
        return len({about(self.findings[name]) for name in self.findings if self.is_in_conflict(name)})

    def authorities(self) -> Counter[str]:
        return Counter(map(self.authority, self.findings))

    def accepted(self) -> list[str]:
        """Parent state, the newest first."""
        newest = sorted(self.promotions, key=lambda name: -self.promotions[name].seq)
        return [name for name in newest if self.authority(name) == "accepted_parent"]


def said(event: Event) -> dict[str, Any]:
    return dict(event.payload or {})


def place(event: Event) -> tuple[str, str, int]:
    return event.time, event.session, event.seq


def about(event: Event) -> tuple[str, str]:
    key = said(event).get("claim_key")
    return ("claim", plain(key)) if key else ("words", plain(said(event)["summary"]))


def value(event: Event) -> str:
    own = said(event)
    return plain(own.get("claim_value") or own["summary"]) if own.get("claim_key") else ""


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def passed(item: dict[str, Any]) -> bool:
    return "pytest" in item.get("command", "") and item.get("exit_code") == 0
