"""Short ways through a mission, for tests that begin in the middle of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zaxy import Memory
from zaxy.api import Event
from zaxy_coordinate import Missions

PASSED = {"kind": "test", "command": "pytest -k lock", "exit_code": 0}


def report(missions: Missions, summary: str, worker: str = "w1", **more: Any) -> str:
    return str(missions.report_finding("port", worker, summary, **more)["finding_id"])


def accept(missions: Missions, finding: str, actor: str = "ada") -> None:
    missions.review_finding("port", finding, "accepted", actor=actor)


def promoted(missions: Missions, summary: str, worker: str = "w1", **more: Any) -> str:
    """Report, accept and promote."""
    finding = report(missions, summary, worker, **more)
    accept(missions, finding)
    missions.promote("port", finding, actor="ada")
    return finding


def events(memory: Memory, session: str = "port") -> Sequence[Event]:
    return [event for event, _ in memory.lines(session)] if memory.head(session) else []


def all_events(memory: Memory) -> list[Event]:
    return [event for session in memory.sessions() for event in events(memory, session)]


def row(missions: Missions, finding: str) -> dict[str, Any]:
    """The finding as the brief shows it."""
    rows = missions.merge_brief("port", max_tokens=100_000)["findings"]
    return next(one for one in rows if one["finding_id"] == finding)


def words_of_parent(memory: Memory) -> str:
    return repr([event.payload for event in events(memory)])
