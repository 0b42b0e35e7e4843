"""A mission whose findings have made-up words, and reads of every kind that must not show them to others.

A finding has a word to ask by, which replies may repeat, and a word that nobody asks by: where that is shown, what the
finding says was shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

MISSION = "m"
WORKERS = ("w1", "w2", "w3")
STATUSES = ("pending", "accepted", "rejected", "deferred", "conflicted", "promoted")
PURPOSES = ("general", "coding", "review", "release", "security", "research", "coordinate", "onboarding", "")
READS = (
    "memory_bootstrap",
    "memory_capabilities",
    "memory_checkout",
    "memory_query",
    "memory_verbatim",
    "memory_replay",
    "memory_export",
    "context_assemble",
    "coordination_checkout",
    "coordination_performance_ledger",
    "coordination_proof_trace",
)
"""What anybody may read. The brief and the packet are for the coordinator, who must see what waits."""
Call = Callable[..., dict[str, Any]]


class Hidden(NamedTuple):
    worker: str
    status: str
    asked: str
    said: str
    finding_id: str = ""


def made_up(rng: Random) -> str:
    """A word that stands in no text by chance."""
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(5))


def findings(rng: Random) -> list[Hidden]:
    """Of every worker one of each status."""
    return [Hidden(worker, status, made_up(rng), made_up(rng)) for worker in WORKERS for status in STATUSES]


def set_up(call: Call, hidden: list[Hidden]) -> list[Hidden]:
    """Start the mission, report, review and promote, and record a proof with rows that are no facts."""
    call("coordination_start", mission_id=MISSION, objective="Find out what the valves hold")
    for worker in WORKERS:
        call("coordination_worker_create", mission_id=MISSION, worker_id=worker)
    reported = [one._replace(finding_id=report(call, one)) for one in hidden]
    for one in reported:
        decide(call, one)
    checkout = call("coordination_checkout", mission_id=MISSION, include_diagnostics=True, max_tokens=20_000)
    call("coordination_record_synthesis_artifact", mission_id=MISSION, checkout=checkout)
    return reported


def report(call: Call, one: Hidden) -> str:
    given = {
        "summary": f"The {one.asked} valve holds {one.said} now",
        "evidence": [{"reference": f"src/{one.said}.py", "summary": f"I read {one.said}"}],
        "claim_key": f"valve of {one.worker if one.status == 'promoted' else one.status}",
        "claim_value": f"{one.asked} {one.said}",
    }
    reply = call("coordination_report_finding", mission_id=MISSION, worker_id=one.worker, **given)
    return str(reply["finding_id"])


def decide(call: Call, one: Hidden) -> None:
    named = {"mission_id": MISSION, "finding_id": one.finding_id}
    if one.status != "pending":
        status = "accepted" if one.status == "promoted" else one.status
        call("coordination_review_finding", **named, status=status, rationale="I looked at it.")
    if one.status == "promoted":
        call("coordination_promote", **named)


def shown(reply: Mapping[str, Any], hidden: list[Hidden]) -> list[Hidden]:
    """The findings whose words are in a reply."""
    text = json.dumps(reply).casefold()
    return [one for one in hidden if one.said in text]


def may_see(one: Hidden, session: str) -> bool:
    """As a fact, or as one's own: what was promoted, and what one has reported oneself."""
    return one.status == "promoted" or session == f"{MISSION}.{one.worker}"


# Reads


def reads(rng: Random, hidden: list[Hidden], sessions: tuple[str, ...]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Endless reads: the tool, the session of the one who reads, and what is asked."""
    while True:
        tool, session = rng.choice(READS), rng.choice(sessions)
        given = _ARGUMENTS[tool](rng, hidden, session)
        yield tool, session, {name: value for name, value in given.items() if value is not None}


def _question(rng: Random, hidden: list[Hidden]) -> str:
    one = rng.choice(hidden)
    return rng.choice(
        (
            f"What does the {one.asked} valve hold?",
            one.asked,
            f'"{one.asked} valve"',
            f"{one.worker} {one.finding_id}",
            f"src {one.asked} valve of {one.status}",
            f"coordination finding reported by {one.worker}",
            f"eventloom://{MISSION}.{one.worker}/events/1#000000000000",
            "*" if rng.random() < 0.5 else "valve " * 200,
        )
    )


def _some(rng: Random, *values: Any) -> Any:
    return rng.choice((None, *values))


def _of_memory(*names: str) -> Callable[[Random, list[Hidden], str], dict[str, Any]]:
    choices: dict[str, Callable[[Random], Any]] = {
        "limit": lambda rng: _some(rng, 1, 50, 0, -1),
        "max_tokens": lambda rng: _some(rng, 100, 600, 20_000),
        "max_recent_events": lambda rng: _some(rng, 0, 1, 100),
        "replay_from_seq": lambda rng: _some(rng, 1, 5, 10_000),
        "from_seq": lambda rng: _some(rng, 1, 3),
        "purpose": lambda rng: _some(rng, *PURPOSES),
        "ref": lambda rng: _some(rng, "HEAD", "nowhere"),
        "temporal_filter": lambda rng: _some(rng, "2099-01-01T00:00:00Z", "yesterday"),
        "known_at": lambda rng: _some(rng, 1, 3, 9_999),
        "profile": lambda rng: _some(rng, "balanced", "odd"),
        "cursor": lambda rng: _some(rng, "x", "5"),
        "include_housekeeping": lambda rng: _some(rng, True, False),
    }

    def arguments(rng: Random, hidden: list[Hidden], session: str) -> dict[str, Any]:
        given = {"session_id": session}
        for name in names:
            rare = name in ("ref", "cursor", "profile", "known_at") and rng.random() < 0.7
            made = _question(rng, hidden) if name in ("query", "current_task") else choices[name](rng)
            given |= {} if rare else {name: made}
        return given

    return arguments


def _of_missions(*names: str) -> Callable[[Random, list[Hidden], str], dict[str, Any]]:
    def arguments(rng: Random, hidden: list[Hidden], session: str) -> dict[str, Any]:
        choices: dict[str, Any] = {
            "query": _some(rng, _question(rng, hidden)),
            "include_diagnostics": _some(rng, False),
            "max_tokens": _some(rng, 600, 50_000),
            "proof_seq": rng.randrange(1, 80),
        }
        mission = rng.choice((MISSION,) * 9 + (session,))
        return {"mission_id": mission, **{name: choices[name] for name in names}}

    return arguments


_ARGUMENTS = {
    "memory_bootstrap": _of_memory("current_task"),
    "memory_capabilities": _of_memory("current_task"),
    "memory_checkout": _of_memory(
        "query", "ref", "replay_from_seq", "limit", "max_recent_events", "purpose", "max_tokens"
    ),
    "memory_query": _of_memory("query", "temporal_filter", "known_at", "limit", "profile", "max_tokens", "cursor"),
    "memory_verbatim": _of_memory("query", "limit", "max_tokens", "cursor"),
    "memory_replay": _of_memory("from_seq", "limit", "max_tokens", "cursor", "include_housekeeping"),
    "memory_export": _of_memory(),
    "context_assemble": _of_memory("query", "replay_from_seq", "limit", "max_recent_events", "max_tokens"),
    "coordination_checkout": _of_missions("query", "include_diagnostics", "max_tokens"),
    "coordination_performance_ledger": _of_missions(),
    "coordination_proof_trace": _of_missions("proof_seq"),
}
