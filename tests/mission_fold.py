"""A mission as its log tells it, folded by plain code that shares nothing with the package: a second opinion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Told = Mapping[str, Any]
TALLIES = ("accepted", "promoted", "rejected", "duplicate", "missing_evidence", "test_backed", "stale")


class SecondFold:
    """Of the events of all sessions of one mission, as `zaxy replay --json` prints them. Nothing in it gets stale."""

    def __init__(self, events: Iterable[Told]) -> None:
        self.events = sorted(events, key=lambda event: (event["time"], event["thread"], event["seq"]))
        self.findings = {event["payload"]["finding_id"]: event for event in self._of("finding.reported")}
        self.promoted = {event["payload"]["finding_id"]: event for event in self._of("finding.promoted")}
        self.reviews = {event["payload"]["finding_id"]: event for event in self._of("finding.reviewed")}
        self.workers = [event["payload"]["worker_id"] for event in self._of("worker.created")]

    def _of(self, name: str) -> list[Told]:
        return [event for event in self.events if event["type"] == f"coordination.{name}"]

    def count(self, name: str) -> int:
        return len(self._of(name))

    def status(self, name: str) -> str:
        if name in self.promoted:
            return "promoted"
        return str(self.reviews[name]["payload"]["status"]) if name in self.reviews else "pending"

    def duplicate_of(self, name: str) -> str:
        """The first that says the same, if it is another one."""
        same = [other for other in self.findings if self._said(other) == self._said(name)]
        return "" if same[0] == name else same[0]

    def conflicts(self) -> list[set[str]]:
        """Findings under one key that say different things, as long as one of them waits for somebody to decide."""
        keys = {self._said(name)[0] for name in self.findings} - {""}
        sides = [
            {name for name in self.findings if self._said(name)[0] == key and self.status(name) != "rejected"}
            for key in sorted(keys)
        ]
        return [side for side in sides if self._is_open(side)]

    def _is_open(self, side: set[str]) -> bool:
        undecided = [name for name in side if self.status(name) in ("pending", "deferred", "conflicted")]
        return bool(undecided) and len({self._said(name) for name in side}) > 1

    def authority(self, name: str) -> str:
        status = self.status(name)
        if status in ("promoted", "rejected"):
            return "accepted_parent" if status == "promoted" else "rejected"
        contested = any(name in side for side in self.conflicts())
        return "conflict" if status == "conflicted" or (contested and status != "accepted") else "pending_worker"

    def counts(self) -> dict[str, Any]:
        """As the brief has them."""
        kinds = ("accepted_parent", "pending_worker", "rejected", "stale", "conflict")
        authority = Counter(map(self.authority, self.findings))
        return {
            "workers": len(self.workers),
            "assignments": self.count("assignment.created"),
            "findings": len(self.findings),
            "authority": {kind: authority[kind] for kind in kinds},
            "status": dict(sorted(Counter(map(self.status, self.findings)).items())),
            "duplicates": sum(bool(self.duplicate_of(name)) for name in self.findings),
            "conflicts": len(self.conflicts()),
            "handoffs": self.count("handoff.created"),
        }

    def performance(self, worker: str = "") -> dict[str, Any]:
        """As a row of the ledger has it; of all workers where none is named."""
        names = [name for name in self.findings if not worker or name.startswith(f"{worker}:")]
        tallies = dict.fromkeys(TALLIES, 0)
        for name in names:
            for tally in self._tallies_of(name):
                tallies[tally] += 1
        rates = {f"{tally}_rate": round(count / len(names), 3) for tally, count in tallies.items()} if names else {}
        return {"reported": len(names), **tallies, **rates}

    def _tallies_of(self, name: str) -> Iterable[str]:
        evidence = self.findings[name]["payload"].get("evidence", [])
        if self.status(name) in ("accepted", "rejected", "promoted"):
            yield self.status(name)
        if self.status(name) == "promoted":
            yield "accepted"
        if self.duplicate_of(name):
            yield "duplicate"
        if not evidence:
            yield "missing_evidence"
        if any("pytest" in item.get("command", "") and item.get("exit_code") == 0 for item in evidence):
            yield "test_backed"

    def _said(self, name: str) -> tuple[str, str]:
        said = self.findings[name]["payload"]
        key, value = said.get("claim_key", ""), said.get("claim_value", "") or said["summary"]
        return (key.casefold(), value.casefold()) if key else ("", said["summary"].casefold())
