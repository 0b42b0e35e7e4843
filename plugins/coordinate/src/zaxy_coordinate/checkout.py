"""The accepted state of a mission, ready to act on: only what was promoted, cited, with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zaxy.api import InvalidRequest, ZaxyError, one_line, parse_citation, purpose_profile, short_citation
from zaxy.api.synthesis import AnswerCandidate, Bundle, LedgerRow
from zaxy_coordinate.brief import conflict_row, counts, last_handoff
from zaxy_coordinate.digests import digest
from zaxy_coordinate.fold import ACCEPTED, REJECTED, MissionState
from zaxy_coordinate.rows import ERASED, MAX_SUMMARY_CHARS, Room, finding_row, shown_evidence, tokens_of
from zaxy_coordinate.standing import ACCEPTED_PARENT, CONFLICT, PENDING_WORKER, STALE, Standing, Standings
from zaxy_coordinate.workplace import Reply, Workplace

PURPOSE = "coordinate"
CHECKOUT_TOKENS = 3000
LEAST_TOKENS = 600
FRAME_TOKENS = 300
"""What every reply has besides its rows and its beginning: quality, guidance, headings."""
MAX_FACTS = 40
MAX_DIAGNOSTIC_ROWS = 40
CHOSEN = 100
"""How many events are looked at for a question."""
NOT_STATED = 0.75
"""The confidence of an accepted finding whose worker stated none."""
OPERATION, ANSWER_TYPE = "accepted_findings", "finding"
WHY_NOT = {
    PENDING_WORKER: "nobody has promoted it",
    REJECTED: "it was rejected",
    STALE: "what it rests on has changed, or another finding replaced it",
    CONFLICT: "another finding contradicts it",
}
ACCEPTED_WAITS = "it was accepted, and waits for its promotion"


def mission_checkout(
    at: Workplace,
    mission_id: str,
    *,
    query: str = "",
    include_diagnostics: bool = False,
    max_tokens: int = CHECKOUT_TOKENS,
) -> Reply:
    """What the mission holds to be true. Of findings that were not promoted no word is in it, unless diagnostics are
    asked for; these are labelled, and are no facts."""
    if max_tokens < LEAST_TOKENS:
        raise InvalidRequest(f"max_tokens is below {LEAST_TOKENS}", f"Give at least {LEAST_TOKENS}.")
    state = at.mission(mission_id)
    standings = at.standings(state)
    objective = str(at.words(_created(state)).get("objective") or "")
    asked = query or objective
    judged, notices = _judged(at, mission_id, query) if query else ({}, [])
    reply: Reply = {
        "mission_id": mission_id,
        "session_id": mission_id,
        "query": one_line(asked, MAX_SUMMARY_CHARS),
        "objective": one_line(objective, MAX_SUMMARY_CHARS),
        "purpose": purpose_profile(PURPOSE),
        "counts": counts(state, standings),
        "retention": {"known_to_seq": state.cursors[mission_id][0]},
        "warnings": [*judged.get("warnings", ()), *at.memory.doubts(mission_id)],
        "notices": notices,
    }
    handoff = last_handoff(at, state)
    if handoff:
        reply["handoff"] = handoff
    left = max_tokens - tokens_of(reply) - FRAME_TOKENS
    room = Room(left // 2 if include_diagnostics else left)
    chosen = _chosen(at, state, standings, query=query, judged=judged)
    facts = room.fill(
        (_fact(at, state, one) for one in chosen[:MAX_FACTS]),
        at_least=1,
        cost=lambda fact: _cost_of_fact(at, state, standings.by_id[fact["finding_id"]], fact),
    )
    shown = [standings.by_id[fact["finding_id"]] for fact in facts]
    room.left += left - left // 2 if include_diagnostics else 0
    rows = _labelled(at, state, standings, room) if include_diagnostics else []
    others = [standings.by_id[row["finding_id"]] for row in rows]
    bundle = bundle_of(at, state, shown=shown, others=others, query=reply["query"])
    reply |= {
        "current_facts": facts,
        "quality": _quality(facts, standings, judged, query),
        "diagnostics": _diagnostics(bundle),
        "guidance": _guidance(facts),
    }
    if include_diagnostics:
        conflicts = room.fill(conflict_row(at, state, one) for one in standings.conflicts)
        reply["diagnostics"] |= {"non_authoritative": rows, "conflicts": conflicts}
    reply |= {"truncated": len(facts) < len(chosen) or room.short, "prompt": _prompt(reply)}
    return {**reply, "tokens_used": tokens_of(reply)}


def bundle_of(
    at: Workplace, state: MissionState, *, shown: Sequence[Standing], others: Sequence[Standing], query: str
) -> Bundle:
    """The proof of what was shown: accepted rows that count, and rows that do not, each with its authority."""
    rows = [_counted_row(at, state, one) for one in shown]
    rows += [_other_row(one) for one in others]
    accepted = len(at.standings(state).of_authority(ACCEPTED_PARENT))
    complete = len(shown) == accepted
    missing = () if complete else (f"{accepted - len(shown)} more accepted findings were not shown",)
    return Bundle(
        session_id=state.id,
        query=query,
        operation=OPERATION,
        answer_type=ANSWER_TYPE,
        answer_candidates=tuple(_candidate(rank, row) for rank, row in enumerate(rows[: len(shown)], 1)),
        ledger_rows=tuple(rows),
        looked_at=len(state.findings),
        complete=complete,
        missing=missing,
    )


def why_not(one: Standing) -> str:
    """Why a finding does not count."""
    return ACCEPTED_WAITS if one.status == ACCEPTED and one.authority == PENDING_WORKER else WHY_NOT[one.authority]


# Which facts


def _chosen(at: Workplace, state: MissionState, standings: Standings, *, query: str, judged: Reply) -> list[Standing]:
    """Parent state: what memory's own checkout shows of it for the question, else what has words of the question, else
    all of it, the newest first."""
    accepted = {state.promotions[one.finding_id].ref.seq: one for one in standings.of_authority(ACCEPTED_PARENT)}
    if query and accepted:
        found = _accepted_among(_shown_seqs(judged), accepted)
        found = found or _accepted_among(_fitting_seqs(at, state.id, query), accepted)
        if found:
            return found
    return [accepted[seq] for seq in sorted(accepted, reverse=True)]


def _accepted_among(seqs: Sequence[int], accepted: Mapping[int, Standing]) -> list[Standing]:
    return [accepted[seq] for seq in dict.fromkeys(seqs) if seq in accepted]


def _shown_seqs(judged: Reply) -> list[int]:
    cited = [row["citation"] for part in ("current_facts", "evidence") for row in judged.get(part, ())]
    return [parse_citation(citation).seq for citation in cited]


def _fitting_seqs(at: Workplace, mission_id: str, query: str) -> Sequence[int]:
    try:
        return at.memory.fitting(query, mission_id, limit=CHOSEN)
    except ZaxyError:  # no index, or not all of it
        return ()


def _judged(at: Workplace, mission_id: str, query: str) -> tuple[Reply, list[str]]:
    """What memory makes of the question in the parent's session; nothing where it cannot be asked."""
    try:
        return at.memory.checkout(query, mission_id).as_dict(), []
    except ZaxyError as error:
        return {}, [f"memory could not be asked, and what follows comes from the log alone: {error.message}"]


def _others(standings: Standings) -> list[Standing]:
    return standings.of_authority(CONFLICT, PENDING_WORKER, STALE, REJECTED)[:MAX_DIAGNOSTIC_ROWS]


# Parts of the reply


def _fact(at: Workplace, state: MissionState, one: Standing) -> Reply:
    promotion = state.promotions[one.finding_id].ref
    said = at.words(promotion)
    fact: Reply = {
        "content": one_line(str(said.get("summary") or ERASED), MAX_SUMMARY_CHARS),
        "citation": promotion.citation,
        "finding_id": one.finding_id,
        "worker_id": one.finding.worker,
        "authority": one.authority,
        "promoted_by": promotion.actor,
        "valid_from": promotion.time,
        "finding_citation": one.finding.ref.citation,
    }
    optional = {field: said.get(field) for field in ("claim_key", "claim_value", "confidence")}
    evidence = shown_evidence(said.get("evidence"))
    optional |= {"evidence": evidence, "test_backed": one.finding.test_backed}
    return fact | {name: value for name, value in optional.items() if value not in (None, "", [], False)}


def _counted_row(at: Workplace, state: MissionState, one: Standing) -> LedgerRow:
    promotion = state.promotions[one.finding_id].ref
    said = at.words(promotion)
    summary = one_line(str(said.get("summary") or ERASED), MAX_SUMMARY_CHARS)
    return LedgerRow(
        fact_id=one.finding_id,
        source_group=_group(one),
        citation=promotion.citation,
        kind="finding",
        entity=str(said.get("claim_key") or ""),
        value=str(said.get("claim_value") or "") or None,
        time=promotion.time,
        label=summary,
        include_reason=f"promoted by {promotion.actor}",
        authority=one.authority,
    )


def _other_row(one: Standing) -> LedgerRow:
    """Without a word of what it says: an artifact with this row stands in the parent's log."""
    return LedgerRow(
        fact_id=one.finding_id,
        source_group=_group(one),
        citation=one.finding.ref.citation,
        kind="finding",
        time=one.finding.ref.time,
        label=one.finding_id,
        exclude_reason=why_not(one),
        authority=one.authority,
    )


def _candidate(rank: int, row: LedgerRow) -> AnswerCandidate:
    answer = f"{row.entity}: {row.value}" if row.entity and row.value else row.label
    return AnswerCandidate(rank, ANSWER_TYPE, answer, row.value, "", NOT_STATED, (row.source_group,))


def _group(one: Standing) -> str:
    return f"group:{digest(one.finding.claim, one.finding.value)}"


def _quality(facts: Sequence[Reply], standings: Standings, judged: Reply, query: str) -> Reply:
    """The verdict of memory's own checkout, if the facts that it rests on are parent state; never more than that."""
    found: dict[str, Any] = judged.get("quality") or {}
    verdict, reasons = found.get("answerability", "refresh_recommended"), list(found.get("reasons", ()))
    cited = {short_citation(fact["citation"]) for fact in facts}
    rests = any(short_citation(fact["citation"]) in cited for fact in judged.get("current_facts", ()))
    if not facts:
        verdict, reasons = "ask_user", ["Nothing was promoted into this mission yet."]
    elif not query:
        verdict, reasons = "answer_from_memory", [f"{len(facts)} accepted findings with citations."]
    elif verdict == "answer_from_memory" and not rests:
        verdict, reasons = "refresh_recommended", ["What answers the question was not promoted by a review."]
    confidence = found.get("confidence", 0.5) if facts else 0.0
    conflicts = len(standings.conflicts)
    if conflicts:
        reasons.append(f"{conflicts} open conflicts among unpromoted findings.")
    return {"answerability": verdict, "confidence": confidence, "reasons": reasons, "required_action": None}


def _diagnostics(bundle: Bundle) -> Reply:
    return {
        "fact_count": len(bundle.answer_candidates),
        "synthesis": {
            "operation": bundle.operation,
            "looked_at": bundle.looked_at,
            "complete": bundle.complete,
            "missing": list(bundle.missing),
            "answer_candidates": [one.as_dict() for one in bundle.answer_candidates],
            "ledger_rows": [row.as_dict() for row in bundle.ledger_rows],
        },
    }


def _labelled(at: Workplace, state: MissionState, standings: Standings, room: Room) -> list[Reply]:
    """What does not count, each with its reason, as many as there is room for."""

    def cost(row: Reply) -> int:
        shown = (row, _other_row(standings.by_id[row["finding_id"]]).as_dict(), _line_of_other(row))
        return sum(map(tokens_of, shown))

    rows = (
        {**finding_row(at, state, one), "authoritative": False, "exclude_reason": why_not(one)}
        for one in _others(standings)
    )
    return room.fill(rows, cost=cost)


def _cost_of_fact(at: Workplace, state: MissionState, one: Standing, fact: Reply) -> int:
    """A fact is shown as such, as a row of the proof, as a candidate, and in the prompt."""
    row = _counted_row(at, state, one)
    return sum(map(tokens_of, (fact, row.as_dict(), _candidate(1, row).as_dict(), _line_of_fact(fact))))


def _guidance(facts: Sequence[Reply]) -> Reply:
    return {
        "trust": "Only rows with authority accepted_parent are the mission's state. All others are claims of workers.",
        "next": "When one of the candidates shapes a decision, record it: coordination_record_synthesis_artifact."
        if facts
        else "Review and promote findings: coordination_merge_brief shows what waits.",
    }


def _prompt(reply: Reply) -> str:
    lines = [f"# Mission Checkout: {reply['mission_id']}", "", f"Objective: {reply['objective']}", "", "## Accepted"]
    lines += map(_line_of_fact, reply["current_facts"])
    if not reply["current_facts"]:
        lines.append("- nothing yet")
    rows = reply["diagnostics"].get("non_authoritative", ())
    if rows:
        lines += ["", "## Not accepted: claims of workers, not facts"]
        lines += map(_line_of_other, rows)
    handoff = reply.get("handoff")
    if handoff:
        lines += ["", "## Last handoff", f"- {handoff.get('summary', '')} [{handoff['citation']}]"]
    return "\n".join(lines)


def _line_of_fact(fact: Reply) -> str:
    tested = ", backed by a test" if fact.get("test_backed") else ""
    return f"- {fact['content']} ({fact['worker_id']}{tested}) [{fact['citation']}]"


def _line_of_other(row: Reply) -> str:
    return f"- [{row['authority']}] {row['summary']} ({row['finding_id']})"


def _created(state: MissionState) -> Any:
    return state.created
