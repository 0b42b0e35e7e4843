"""What a coordinator looks at: the merge brief, and the performance of each worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from zaxy.api import InvalidRequest, one_line
from zaxy_coordinate.fold import ACCEPTED, DEFERRED, PENDING, REJECTED, MissionState
from zaxy_coordinate.rows import MAX_IDS, MAX_SUMMARY_CHARS, Room, finding_row, tokens_of
from zaxy_coordinate.standing import (
    ACCEPTED_PARENT,
    AUTHORITIES,
    CONFLICT,
    PROMOTED,
    OpenConflict,
    Standing,
    Standings,
)
from zaxy_coordinate.workplace import Reply, Workplace

BRIEF_TOKENS = 6000
FRAME_TOKENS = 30
"""The fields that say where the page ends."""
MAX_CURSOR_CHARS = 12
MAX_CONFLICTS = 20
MAX_HANDOFF_CHARS = 2000
MAX_LISTED = 8
"""Next steps and risks of a handoff; all of them stand in the event that is cited."""


def merge_brief(at: Workplace, mission_id: str, *, max_tokens: int = BRIEF_TOKENS, cursor: str = "") -> Reply:
    """Everything that waits for the coordinator, the most urgent first, with citations. Counts are of all there is."""
    state = at.mission(mission_id)
    standings = at.standings(state)
    reply: Reply = {
        "mission_id": mission_id,
        "objective": one_line(str(at.words(_created(state)).get("objective") or ""), MAX_SUMMARY_CHARS),
        "started_by": _created(state).actor,
        "citation": _created(state).citation,
        "counts": counts(state, standings),
        "workers": [],
        "conflicts": [],
        "findings": [],
        "next_steps": next_steps(standings),
        "known_to_seq": state.cursors[mission_id][0],
    }
    handoff = last_handoff(at, state)
    if handoff:
        reply["handoff"] = handoff
    room = Room(max_tokens - tokens_of(reply) - FRAME_TOKENS)
    if not cursor:
        reply["workers"] = Room(room.left // 4).fill(workers_of(at, state, standings), at_least=1)
        room.left -= tokens_of(reply["workers"])
        conflicts = islice(standings.conflicts, MAX_CONFLICTS)
        reply["conflicts"] = room.fill(conflict_row(at, state, one) for one in conflicts)
    waiting = in_order_of_urgency(standings)
    first = _place_of(cursor, len(waiting))
    reply["findings"] = room.fill((finding_row(at, state, one) for one in waiting[first:]), at_least=1)
    last = first + len(reply["findings"])
    reply["truncated"] = last < len(waiting)
    reply["next_cursor"] = str(last) if last < len(waiting) else None
    return {**reply, "tokens_used": tokens_of(reply)}


def performance_ledger(at: Workplace, mission_id: str) -> Reply:
    """How the findings of each worker fared: counts, and rates of what was reported."""
    state = at.mission(mission_id)
    standings = at.standings(state)
    of_worker: dict[str, list[Standing]] = {worker: [] for worker in state.workers}
    for one in standings.all:
        of_worker.setdefault(one.finding.worker, []).append(one)
    return {
        "mission_id": mission_id,
        "workers": [{"worker_id": worker, **performance(found)} for worker, found in sorted(of_worker.items())],
        "total": performance(standings.all),
        "rows": dict(Counter(one.authority for one in standings.all)),
        "known_to_seq": state.cursors[mission_id][0],
    }


def performance(found: list[Standing]) -> Reply:
    """Counts and rates of some findings. A rate is None where nothing was reported."""
    tallies = {
        "accepted": sum(one.status in (ACCEPTED, PROMOTED) for one in found),
        "promoted": sum(one.status == PROMOTED for one in found),
        "rejected": sum(one.status == REJECTED for one in found),
        "duplicate": sum(bool(one.duplicate_of) for one in found),
        "missing_evidence": sum(not one.finding.has_evidence for one in found),
        "test_backed": sum(one.finding.test_backed for one in found),
        "stale": sum(one.stale for one in found),
    }
    total = len(found)
    rates = {f"{name}_rate": round(count / total, 3) if total else None for name, count in tallies.items()}
    return {"reported": total, **tallies, **rates}


def counts(state: MissionState, standings: Standings) -> Reply:
    by_authority = Counter(one.authority for one in standings.all)
    by_status = Counter(one.status for one in standings.all)
    return {
        "workers": len(state.workers),
        "assignments": len(state.assignments),
        "findings": len(state.findings),
        "authority": {name: by_authority.get(name, 0) for name in AUTHORITIES},
        "status": {name: by_status[name] for name in sorted(by_status)},
        "duplicates": sum(bool(one.duplicate_of) for one in standings.all),
        "conflicts": len(standings.conflicts),
        "handoffs": len(state.handoffs),
    }


def workers_of(at: Workplace, state: MissionState, standings: Standings) -> Iterator[Reply]:
    """Who takes part, what each was last asked to do, and what waits of it; those with most that waits first."""
    last = {one.worker: one.ref for one in state.assignments.values()}
    waiting = Counter(one.finding.worker for one in standings.all if one.waits_for_review)
    reported = Counter(one.finding.worker for one in standings.all)
    for name in sorted(state.workers, key=lambda one: (-waiting[one], one)):
        worker = state.workers[name]
        row: Reply = {"worker_id": name, "session_id": worker.session}
        if role := at.words(worker.ref).get("role"):
            row["role"] = one_line(str(role), MAX_SUMMARY_CHARS)
        if name in last:
            row["assignment"] = one_line(str(at.words(last[name]).get("assignment") or ""), MAX_SUMMARY_CHARS)
        yield {**row, "findings": reported[name], "waiting_for_review": waiting[name]}


def conflict_row(at: Workplace, state: MissionState, conflict: OpenConflict) -> Reply:
    """A conflict with what each side says, one line for each that says something of its own."""
    standings = at.standings(state)
    sides: dict[str, Standing] = {}
    for one in map(standings.by_id.__getitem__, conflict.finding_ids):
        sides.setdefault(one.finding.value, one)
    return {
        "conflict_id": conflict.conflict_id,
        "claim_key": at.words(state.findings[conflict.finding_ids[0]].ref).get("claim_key", ""),
        "finding_ids": list(conflict.finding_ids[:MAX_IDS]),
        "sides": [_side(at, one) for one in islice(sides.values(), MAX_IDS)],
    }


def _side(at: Workplace, one: Standing) -> Reply:
    said = at.words(one.finding.ref)
    value = said.get("claim_value") or said.get("summary") or ""
    return {
        "finding_id": one.finding_id,
        "value": one_line(str(value), MAX_SUMMARY_CHARS),
        "authority": one.authority,
        "test_backed": one.finding.test_backed,
        "citation": one.finding.ref.citation,
    }


def in_order_of_urgency(standings: Standings) -> list[Standing]:
    """Conflicts first, then what nobody has reviewed, what was put off, what only waits for its promotion, and what
    rests on something that has changed; then parent state, and what was rejected."""
    rank = {CONFLICT: 0, PENDING: 1, DEFERRED: 2, ACCEPTED: 3, "stale": 4, ACCEPTED_PARENT: 5, REJECTED: 6}

    def urgency(one: Standing) -> int:
        if one.authority in (CONFLICT, ACCEPTED_PARENT, REJECTED):
            return rank[one.authority]
        return rank.get(one.status, rank["stale"])

    return sorted(standings.all, key=urgency)


def next_steps(standings: Standings) -> list[str]:
    """What the coordinator does next, in the order in which it helps."""
    found = standings.all
    conflicts = len(standings.conflicts)
    ready = sum(one.status == ACCEPTED for one in found)
    waiting = sum(one.waits_for_review and not one.conflict_id for one in found)
    steps = []
    if conflicts:
        steps.append(f"Decide {_count(conflicts, 'conflict')}: review the findings of each.")
    if waiting:
        steps.append(f"Review {_count(waiting, 'finding')}: coordination_review_finding.")
    if ready:
        steps.append(f"Promote {_count(ready, 'accepted finding')}: coordination_promote.")
    return steps or ["Nothing waits. Record a handoff when the work changes hands: coordination_handoff."]


def last_handoff(at: Workplace, state: MissionState) -> Reply:
    if not state.handoffs:
        return {}
    name, ref = max(state.handoffs.items(), key=lambda item: item[1].seq)
    said = at.words(ref)
    shown: dict[str, Any] = {
        field: [one_line(str(item), MAX_SUMMARY_CHARS) for item in said[field][:MAX_LISTED]]
        for field in ("next_steps", "risks")
        if field in said
    }
    shown["summary"] = one_line(str(said.get("summary") or ""), MAX_HANDOFF_CHARS)
    return {"handoff_id": name, "citation": ref.citation, "by": ref.actor, "at": ref.time, **shown}


def _created(state: MissionState) -> Any:
    assert state.created is not None  # `mission` has looked
    return state.created


def _place_of(cursor: str, end: int) -> int:
    if not cursor:
        return 0
    if not cursor.isdecimal() or len(cursor) > MAX_CURSOR_CHARS or not 0 < int(cursor) <= end:
        raise InvalidRequest(f"{cursor!r:.40} is no cursor of this brief", "Pass next_cursor as it came.")
    return int(cursor)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
