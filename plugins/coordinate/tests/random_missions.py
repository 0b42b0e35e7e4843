"""Missions that take any course, each the same for the same seed."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

from zaxy import Memory
from zaxy.api import Conflict, NotFound
from zaxy_coordinate import Missions

WORKERS = ("w1", "w2", "w3")
FILES = ("src/a.py", "src/b.py", "docs/c.md")
STATUSES = ("accepted", "accepted", "rejected", "deferred", "conflicted")


class RandomMission:
    def __init__(self, memory: Memory, seed: int) -> None:
        self.memory, self.random = memory, Random(seed)
        self.missions = Missions(memory)
        self.findings: list[str] = []
        self.citations: list[str] = []
        self.missions.start("port", "Port it", actor="ada")
        for worker in WORKERS:
            self.missions.create_worker("port", worker)

    def step(self) -> None:
        """Do something; what is refused is a step too."""
        steps = (self.report,) * 5 + (self.review,) * 4 + (self.promote,) * 3 + (self.edit, self.note, self.end)
        with suppress(Conflict, NotFound):
            self.random.choice(steps)()

    def report(self) -> None:
        pick, more = self.random, dict[str, Any]()
        if pick.random() < 0.7:
            more["claim_key"] = pick.choice(("lock", "Lock", " lock  ", "printer", "screen"))
            more["claim_value"] = pick.choice(("holds", "HOLDS", "breaks", ""))
        reply = self.missions.report_finding(
            "port", pick.choice(WORKERS), f"It is fact {pick.randrange(6)}", evidence=self.evidence(), **more
        )
        self.findings.append(reply["finding_id"])

    def evidence(self) -> list[dict[str, Any]]:
        pick = self.random
        items: list[dict[str, Any]] = [
            {"command": "pytest -q", "exit_code": pick.choice((0, 0, 1))},
            {"kind": "file", "reference": pick.choice(FILES)},
            {"path": pick.choice(FILES)},
        ]
        if self.citations:
            items.append({"kind": "event", "reference": pick.choice(self.citations)})
        return pick.sample(items, pick.randrange(3))

    def review(self) -> None:
        if self.findings:
            actor = self.random.choice(("ada", "grace"))
            status = self.random.choice(STATUSES)
            self.missions.review_finding("port", self.random.choice(self.findings), status, actor=actor)

    def promote(self) -> None:
        if self.findings:
            self.missions.promote("port", self.random.choice(self.findings), actor="ada")

    def edit(self) -> None:
        path = self.random.choice(("", "/repo/")) + self.random.choice(FILES)
        self.memory.append("file.edit.applied", {"path": path}, session=f"port.{self.random.choice(WORKERS)}")

    def note(self) -> None:
        """Say something that evidence may cite, and sometimes take back what was said before."""
        payload: dict[str, Any] = {"text": f"Note {len(self.citations)}"}
        if self.citations and self.random.random() < 0.5:
            payload["supersedes"] = self.random.choice(self.citations)
        session = self.random.choice(("port", "port.w1", "port.w2"))
        self.citations.append(self.memory.append("memory.fact.recorded", payload, session=session).citation)

    def end(self) -> None:
        if self.findings:
            name = self.random.choice(self.findings)
            self.memory.invalidate(name, "promotion", session="port")
