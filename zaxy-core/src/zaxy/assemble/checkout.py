"""Memory Checkout: what memory holds on a question, the events that say so, and whether that is enough to answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from zaxy.api.synthesis import LedgerRow
from zaxy.assemble import prompt
from zaxy.assemble.context import MAX_QUERY_CHARS, check_request, gather, in_brief
from zaxy.assemble.evidence import MissingEvidence, missing_evidence
from zaxy.assemble.findings import Findings, Row, sort_out
from zaxy.assemble.guidance import FEEDBACK_TOOL, composed_advice, guidance, pending_reminder, required_action
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.quality import Grounds, Quality, judge
from zaxy.assemble.token_budget import Candidate, TokenBudget, fitted, tokens_of
from zaxy.assemble.working_set import NOTHING_OPEN, WorkingSet
from zaxy.extract.texts import cut, cut_each
from zaxy.retrieve.citations_in_text import real_citations_within
from zaxy.retrieve.results import Result, source_lanes
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text.passages import ORIGIN

if TYPE_CHECKING:
    from zaxy.assemble.synthesis.bundle import Synthesis

CANDIDATES = 11
"""Rows that are read at least: what recall puts first need not answer best."""
MAX_FACTS = 8
MAX_FACT_CHARS = 400
MAX_EVIDENCE_CHARS = 60
"""The prompt has more of it: `evidence` says which row it is."""
SURE_EVIDENCE = 3
"""Rows that are listed as `evidence` whenever the prompt has them; the others as far as there is room. A row of the
prompt tells a reader more than the same row a second time."""
WORKING_SET_ITEMS = 3
LEDGER_SHARE = 0.4
"""The share of the room that the rows of a composed answer take before all other rows."""
MAX_ACTIONS = 12
"""Rows of which a reply says what the purpose did to them."""
HEADING_TOKENS = 100
SHORT_QUERY_CHARS = 80
SHORT_FACT_CHARS = 120
"""The length of a question and of a fact where the budget is small."""
LEAST_QUERY_CHARS, LEAST_HEADING_TOKENS = 40, 20
"""The length of a question where it is smallest, and the tokens of a heading."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A finished checkout. `as_dict` is what every surface shows."""

    reply: dict[str, Any]
    quality: Quality

    @classmethod
    def of(cls, reply: dict[str, Any]) -> Self:
        """The checkout that `as_dict` describes."""
        quality = reply["quality"]
        return cls(reply, Quality(**{**quality, "reasons": tuple(quality["reasons"])}))

    @property
    def prompt(self) -> str:
        return str(self.reply["prompt"])

    @property
    def current_facts(self) -> list[dict[str, Any]]:
        return list(self.reply["current_facts"])

    @property
    def warnings(self) -> list[str]:
        return list(self.reply["warnings"])

    @property
    def known_to_seq(self) -> int:
        """The last event that it takes into account; 0 where the session holds nothing."""
        return int(self.reply["retention"]["known_to_seq"])

    @property
    def tokens_used(self) -> int:
        return int(self.reply["tokens_used"])

    def as_dict(self) -> dict[str, Any]:
        return self.reply


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a reply says about the findings."""

    quality: Quality
    advice: dict[str, Any]
    warnings: list[str]
    ref: str
    lacking: MissingEvidence
    synthesis: Synthesis | None = None
    """What follows from all rows, where a question needs several."""

    @property
    def payloads(self) -> list[dict[str, Any]]:
        """Ready-made arguments for `memory_feedback`, one for each of the first facts."""
        return list(self.advice.get("feedback", {}).get("payloads", ()))


def checkout(
    snapshot: Snapshot,
    query: str,
    *,
    limit: int | None,
    recent: int,
    from_seq: int | None,
    purpose: Purpose,
    max_tokens: int,
    ref: str = "",
) -> Checkout:
    wide = purpose.recall_floor if limit is None else limit
    check_request(query, wide, recent=recent, from_seq=from_seq, max_tokens=max_tokens)
    found = _findings(snapshot, query, wide=wide, recent=recent, from_seq=from_seq, purpose=purpose)
    assessment = _assessed(snapshot, query, found, ref=ref)
    reply = fitted(
        lambda budget: _reply(snapshot, found, assessment, budget),
        max_tokens,
        least=lambda budget: _least(snapshot, found, assessment, budget),
        what="a checkout",
    )
    return Checkout(reply, assessment.quality)


def composed_again(snapshot: Snapshot, query: str, purpose: Purpose, asked_at: str) -> tuple[Synthesis, Quality] | None:
    """What a checkout of this state makes of a composed question asked at that moment; None for any other question."""
    found = _findings(snapshot, query, wide=purpose.recall_floor, recent=0, from_seq=None, purpose=purpose)
    assessment = _assessed(snapshot, query, found, asked_at=asked_at)
    return (assessment.synthesis, assessment.quality) if assessment.synthesis else None


def _findings(
    snapshot: Snapshot, query: str, *, wide: int, recent: int, from_seq: int | None, purpose: Purpose
) -> Findings:
    gathered = gather(
        snapshot,
        query,
        limit=max(wide, CANDIDATES),
        recent=recent,
        from_seq=from_seq,
        purpose=purpose,
        working=WORKING_SET_ITEMS,
    )
    return sort_out(snapshot, gathered, purpose, min(wide, MAX_FACTS))


def _assessed(snapshot: Snapshot, query: str, found: Findings, *, ref: str = "", asked_at: str = "") -> Assessment:
    synthesis = _synthesis(snapshot, found, asked_at) if found.plan else None
    warnings = [*snapshot.warnings, *(one.warning for one in found.disagreements)]
    unfilled = found.plan.missing(found.facts) if found.plan and found.facts else ()
    missing = _missing_slots(found, synthesis)
    lacking = missing_evidence(found.purpose, found.facts)
    grounds = Grounds(
        len(found.facts),
        sum(bool(fact.citation) for fact in found.facts),
        found.superseded,
        len(warnings),
        unfilled,
        lacking.required,
        lacking.preferred,
        len(found.skills.applicable),
        found.not_counted,
        synthesis.top.confidence if synthesis is not None and synthesis.top else 0.0,
    )
    quality = judge(grounds, required_action(query, snapshot.session, found, missing), found.judgement)
    reminder = pending_reminder(snapshot.log)
    disputed = bool(found.disagreements)
    advice = guidance(query, quality, session=snapshot.session, found=found, disputed=disputed, reminder=reminder)
    if synthesis is not None and synthesis.is_sure:
        advice |= composed_advice()
    return Assessment(quality, advice, warnings, ref, lacking, synthesis)


def _synthesis(snapshot: Snapshot, found: Findings, asked_at: str) -> Synthesis:
    from zaxy.assemble.synthesis.bundle import synthesise  # a plain question needs none of it

    assert found.plan is not None
    return synthesise(snapshot, found.plan, found.purpose, asked_at)


def _missing_slots(found: Findings, synthesis: Synthesis | None) -> tuple[str, ...]:
    """The slots of a composed question that neither the facts nor all rows fill."""
    if synthesis is None or found.plan is None:
        return ()
    of_facts = () if synthesis.candidates or not found.facts else found.plan.missing(found.facts)
    return tuple(slot for slot in found.plan.composed.required if slot in (*of_facts, *synthesis.missing_slots))


# The reply


def _reply(snapshot: Snapshot, found: Findings, assessment: Assessment, budget: int) -> dict[str, Any]:
    """All parts, the most useful first, as far as the budget goes. The best fact always has its place."""
    frame = _frame(snapshot, found, assessment)
    advice: dict[str, Any] | None = assessment.advice
    diagnostics: dict[str, Any] | None = frame["diagnostics"]
    asked = (cut(found.gathered.query, prompt.MAX_QUERY_CHARS), found.purpose, assessment.quality, assessment.warnings)
    bare = prompt.render(*asked, advice=advice, diagnostics=diagnostics)
    left = budget - tokens_of(frame, bare) - HEADING_TOKENS
    payloads = assessment.payloads
    candidates = _candidates(found.rows, payloads, MAX_FACT_CHARS, session=snapshot.session)
    if left < tokens_of(*(candidates[0][1] if candidates else ())):
        payloads = [_with_name_of_purpose(payload) for payload in payloads]
        candidates = _candidates(found.rows, payloads, SHORT_FACT_CHARS, session=snapshot.session)
        frame, advice, diagnostics = _without_advice(frame), None, None
        asked = (cut(found.gathered.query, SHORT_QUERY_CHARS), *asked[1:])
        left = budget - tokens_of(frame, prompt.render(*asked)) - HEADING_TOKENS
    room = TokenBudget(left)
    composed = assessment.synthesis
    synthesis = _shown_synthesis(composed, room) if composed and composed.candidates else None
    disputed = [(one, (one.as_dict(), prompt.disagreement_line(one))) for one in found.disagreements]
    first = room.fill(disputed[:1]) if candidates and left > tokens_of(*candidates[0][1]) else []
    rows = room.fill(candidates, at_least=1)
    if composed is not None and not composed.candidates:
        synthesis = _shown_synthesis(composed, room)
    disputes = [*first, *room.fill(disputed[len(first) :])]
    skill_parts = (found.skills.as_dict(), found.skills.analytics, prompt.skill_lines(found.skills))
    skills = found.skills if found.skills.is_known and room.takes(*skill_parts) else None
    actions = room.fill((one.as_dict(), (one.as_dict(),)) for one in found.actions[:MAX_ACTIONS])
    if actions and "purpose_retrieval_policy" in frame["diagnostics"]:
        frame["diagnostics"]["purpose_retrieval_policy"]["rows"] = actions
    working = WorkingSet.of(room.fill(found.gathered.working.ranked(WORKING_SET_ITEMS)))
    evidence = [row.evidence for row in rows if row.evidence is not None]
    evidence[SURE_EVIDENCE:] = room.fill((one, (one,)) for one in evidence[SURE_EVIDENCE:])
    latest = in_brief(snapshot, found.gathered.recent.events[::-1])
    recent = room.fill((one, (one,)) for one in latest)[::-1]
    facts = [row for row in rows if row.fact is not None]
    if synthesis is not None and composed is not None:
        _add_ledger(synthesis, composed, room)
        frame["diagnostics"]["synthesis"] = synthesis
    if skills is not None:
        frame["diagnostics"]["skills"] = skills.as_dict()
        if skills.analytics:
            frame["diagnostics"]["skill_analytics"] = skills.analytics
    if payloads:
        frame["guidance"]["feedback"]["payloads"] = payloads[: len(facts)]
    frame["prompt"] = prompt.render(
        *asked,
        advice=advice,
        diagnostics=diagnostics,
        rows=[row.line for row in rows],
        composed=prompt.composed_lines(composed) if synthesis and composed else (),
        composed_first=bool(composed and composed.is_sure),
        disagreements=disputes,
        working=working,
        skills=skills,
    )
    frame["current_facts"] = [row.fact for row in facts]
    frame["conflicts"] = [one.as_dict() for one in disputes]
    frame["evidence"] = evidence
    frame["provenance"] = [row.provenance for row in facts]
    frame["working_set"] = working.as_dict()
    frame["recent"] = recent
    frame["truncated"] = room.short or advice is None
    prompt_tokens = tokens_of(frame["prompt"])
    frame["diagnostics"]["token_efficiency"] = {
        "prompt_tokens": prompt_tokens,
        "facts_per_1k_tokens": round(1000 * len(facts) / prompt_tokens, 1),
        "evidence_count": len(evidence),
        "fact_count": len(facts),
    }
    return dict(real_citations_within(frame, snapshot.resolves))


def _shown_synthesis(synthesis: Synthesis, room: TokenBudget) -> dict[str, Any] | None:
    """The candidates and what was looked at; its rows come later. None where there is no room."""
    shown = {**synthesis.counts(), "answer_candidates": synthesis.shown_candidates(), "ledger_rows": []}
    shown["truncated"] = True
    if not room.takes(shown, *prompt.composed_lines(synthesis)):
        return None
    if not synthesis.is_sure:  # a reader judges by the rows of the prompt, so these come before the ledger
        return shown
    part = TokenBudget(int(room.left * LEDGER_SHARE))
    before = part.left
    _add_ledger(shown, synthesis, part)
    room.left -= before - part.left
    return shown


def _add_ledger(shown: dict[str, Any], synthesis: Synthesis, room: TokenBudget) -> None:
    """The rows that counted, then those that did not, as far as there is room."""
    rows = islice(synthesis.rows(), len(shown["ledger_rows"]), None)
    shown["ledger_rows"] += room.fill((row, (row,)) for row in map(LedgerRow.as_dict, rows))
    shown["truncated"] = len(shown["ledger_rows"]) < len(synthesis.entries)


def _least(snapshot: Snapshot, found: Findings, assessment: Assessment, budget: int) -> dict[str, Any]:
    """The verdict and the first rows, each only as its text with its citation: the least that is still of use."""
    quality = _least_quality(assessment.quality)
    first = [cut(warning, SHORT_FACT_CHARS) for warning in assessment.warnings[:1]]
    more = len(assessment.warnings) - 1
    warnings = [f"{warning} ({more} more)" if more else warning for warning in first]
    query = cut(found.gathered.query, LEAST_QUERY_CHARS)
    frame: dict[str, Any] = {
        "session_id": snapshot.session,
        "query": query,
        **({"ref": assessment.ref} if assessment.ref else {}),
        "quality": quality.as_dict(),
        **{name: [] for name in ("current_facts", "conflicts", "evidence", "provenance", "recent", "notices")},
        "warnings": warnings,
        **{name: {} for name in ("working_set", "purpose", "diagnostics", "guidance")},
        "retention": {"known_to_seq": snapshot.head},
        "truncated": True,
    }
    asked = (query, found.purpose, quality, warnings)
    room = TokenBudget(budget - tokens_of(frame, prompt.render(*asked)) - LEAST_HEADING_TOKENS)
    texts = cut_each([" ".join(row.text.split()) for row in found.rows], SHORT_FACT_CHARS)
    candidates = [_least_row(row, text) for row, text in zip(found.rows, texts, strict=True)]
    rows = room.fill(candidates, at_least=1)
    frame["prompt"] = prompt.render(*asked, rows=[line for line, _, _ in rows])
    frame["current_facts"] = [shown for _, shown, answers in rows if answers]
    frame["evidence"] = [shown for _, shown, answers in rows if not answers]
    return dict(real_citations_within(frame, snapshot.resolves))


def _least_row(row: Row, text: str) -> Candidate[tuple[str, dict[str, Any], bool]]:
    line, foreign = prompt.row_line(row, text), {"foreign": True} if row.result.foreign else {}
    shown = {"content": text, "citation": row.result.citation, **foreign}
    return (line, shown, row.answers), (line, shown)


def _least_quality(quality: Quality) -> Quality:
    """The verdict with one reason, and the call to make without what else could be asked."""
    action = quality.required_action
    kept = {key: cut(str(action[key]), SHORT_QUERY_CHARS) for key in ("tool", "query", "reason")} if action else None
    return replace(quality, reasons=quality.reasons[:1], required_action=kept)


class ShownRow(NamedTuple):
    """A row in all places of a reply."""

    line: str
    fact: dict[str, Any] | None
    evidence: dict[str, Any] | None
    provenance: dict[str, Any]


def _candidates(
    rows: Sequence[Row], payloads: Sequence[dict[str, Any]], max_chars: int, *, session: str
) -> list[Candidate[ShownRow]]:
    """Each row with all that it adds. The first facts cost their feedback payloads too, the first others their place
    in `evidence`."""
    candidates: list[Candidate[ShownRow]] = []
    left, sure = list(payloads), SURE_EVIDENCE
    texts = [" ".join(row.text.split()) for row in rows]
    if any(len(text) > max_chars for text in texts):
        texts = cut_each(texts, max_chars)
    short = cut_each(texts, MAX_EVIDENCE_CHARS)
    lanes = source_lanes([row.result for row in rows])
    for row, text, in_short, lane in zip(rows, texts, short, lanes, strict=True):
        line, provenance = prompt.row_line(row, text), _provenance(session, row.result)
        if row.answers:
            shown = ShownRow(line, _fact(row.result, text, lane), None, provenance)
            candidates.append((shown, (line, shown.fact, provenance, *left[:1])))
            left = left[1:]
        else:
            shown = ShownRow(line, None, _evidence(row, in_short, lane), provenance)
            candidates.append((shown, (line, shown.evidence) if sure > 0 else (line,)))
            sure -= 1
    return candidates


def _without_advice(frame: dict[str, Any]) -> dict[str, Any]:
    """The frame of a reply with a small budget: a short question, and no advice beyond the quality."""
    quality, diagnostics = frame["quality"], frame["diagnostics"]
    action = quality["required_action"]
    if action is not None:
        kept = {key: value for key, value in action.items() if key != "suggested_queries"}
        kept["query"] = cut(action["query"], SHORT_QUERY_CHARS)
        quality = {**quality, "required_action": _with_name_of_purpose(kept)}
    left_out = ("purpose", "purpose_retrieval_policy", "judgement")
    diagnostics = {key: value for key, value in diagnostics.items() if key not in left_out}
    if "slot_plan" in diagnostics:
        plan = {key: diagnostics["slot_plan"][key] for key in ("version", "operation", "required_slots")}
        diagnostics = {**diagnostics, "slot_plan": plan}
    guidance = {key: value for key, value in frame["guidance"].items() if key in ("answer", "feedback")}
    purpose = {key: frame["purpose"][key] for key in ("preset", "evidence_policy")}
    shortened = {"quality": quality, "diagnostics": diagnostics, "guidance": guidance, "purpose": purpose}
    return {**frame, **shortened, "query": cut(frame["query"], SHORT_QUERY_CHARS)}


def _with_name_of_purpose(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with the preset instead of a whole profile."""
    given = arguments.get("purpose")
    return {**arguments, "purpose": given["preset"]} if isinstance(given, dict) else arguments


def _frame(snapshot: Snapshot, found: Findings, assessment: Assessment) -> dict[str, Any]:
    """What every reply holds. Its lists are empty here; they are filled as far as the budget goes."""
    gathered = found.gathered
    policy = {"excluded": len(found.left_out), "by_reason": dict(Counter(found.left_out.values()))}
    lanes = Counter(source_lanes([row.result for row in found.rows]))
    seqs = [event.seq for event in gathered.recent.events]
    diagnostics: dict[str, Any] = {
        "source_lanes": dict(lanes),
        "citation_count": len({one.citation for one in (*found.facts, *found.evidence)}),
        "current_citation_count": len({fact.citation for fact in found.facts}),
        "current_fact_count": len(found.facts),
        "superseded_contexts_excluded": found.superseded,
        "duplicates_removed": found.duplicates,
        "warning_count": len(assessment.warnings),
        "feedback_recommended": bool(found.facts),
        "feedback_tool": FEEDBACK_TOOL,
        "judgement": found.judgement.as_dict(),
        "token_efficiency": {"prompt_tokens": 0, "facts_per_1k_tokens": 0.0, "evidence_count": 0, "fact_count": 0},
    }
    advice = assessment.advice
    if assessment.payloads:
        advice = {**advice, "feedback": {**advice["feedback"], "payloads": []}}
    retention: dict[str, Any] = {
        "known_to_seq": snapshot.head,
        "recent_from_seq": seqs[0] if seqs else None,
        "replay_bounded": gathered.recent.bounded,
    }
    if found.purpose.is_given:
        diagnostics["purpose"] = found.purpose.as_dict()
        diagnostics["purpose_retrieval_policy"] = _retrieval_policy(found.purpose, assessment.lacking)
        diagnostics["purpose_policy"] = retention["purpose_policy"] = policy
    if found.plan is not None:
        diagnostics["slot_plan"] = found.plan.as_dict()
    return {
        "session_id": gathered.session,
        "query": cut(gathered.query, MAX_QUERY_CHARS),
        **({"ref": assessment.ref} if assessment.ref else {}),
        "quality": assessment.quality.as_dict(),
        "current_facts": [],
        "conflicts": [],
        "evidence": [],
        "provenance": [],
        "working_set": NOTHING_OPEN.as_dict(),
        "recent": [],
        "warnings": list(assessment.warnings),
        "notices": list(dict.fromkeys(snapshot.notices)),
        "purpose": found.purpose.as_dict(),
        "retention": retention,
        "diagnostics": diagnostics,
        "guidance": advice,
        "truncated": False,
    }


def _retrieval_policy(purpose: Purpose, lacking: MissingEvidence) -> dict[str, Any]:
    """What the purpose asks for. What it did to each row is filled in as far as the budget goes."""
    evidence = {"policy": purpose.evidence_policy, "missing": lacking.required}
    more = {"stated": purpose.stated_policy, "preferred": lacking.preferred}
    evidence |= {name: value for name, value in more.items() if value}
    return {**purpose.retrieval_policy, "evidence": evidence, "rows": []}


def _fact(fact: Result, text: str, lane: str) -> dict[str, Any]:
    shown = {
        "content": text,
        "citation": fact.citation,
        "source_lane": lane,
        "entity_name": cut(fact.entity_name, 80),
        "entity_type": fact.entity_type,
        "actor": fact.actor,
        "valid_from": fact.valid_from[:19] + "Z",
        "metadata": {ORIGIN: fact.metadata[ORIGIN]} if ORIGIN in fact.metadata else None,
        "foreign": fact.foreign,
        "derived": list(fact.derived),
    }
    return {key: value for key, value in shown.items() if value}


def _evidence(row: Row, text: str, lane: str) -> dict[str, Any]:
    shown = {
        "content": text,
        "citation": row.result.citation,
        "source_lane": lane,
        "event_type": row.result.event_type,
        "replaced_by" if row.has_ended else "maybe_replaced_by": row.replaced_by,
        "foreign": row.result.foreign,
        "derived": list(row.result.derived),
    }
    return {key: value for key, value in shown.items() if value}


def _provenance(session: str, result: Result) -> dict[str, Any]:
    return {"session_id": session, "seq": result.seq, "hash": result.citation.rpartition("#")[2]}
