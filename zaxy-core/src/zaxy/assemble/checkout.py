"""Memory Checkout: what memory holds on a question, the events that say so, and whether that is enough to answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zaxy.api.models import Entity, EntityRow
from zaxy.assemble import prompt
from zaxy.assemble.conflicts import Disagreement, disagreements
from zaxy.assemble.context import MAX_QUERY_CHARS, Gathered, check_request, gather, in_brief, passages
from zaxy.assemble.guidance import FEEDBACK_TOOL, guidance, pending_reminder, required_action
from zaxy.assemble.purpose import Purpose, purpose_of, suppressed, unmet
from zaxy.assemble.quality import Grounds, Quality, judge
from zaxy.assemble.relevance import near, relevant, what_is_asked, words_of, would_answer
from zaxy.assemble.skills import Skills, applicable_skills
from zaxy.assemble.slots import SlotPlan, slot_plan
from zaxy.assemble.token_budget import Candidate, TokenBudget, fitted, tokens_of
from zaxy.assemble.working_set import KINDS, NOTHING_OPEN, WorkingSet, open_rows
from zaxy.extract.texts import cut, cut_each
from zaxy.retrieve.citations_in_text import real_citations_within
from zaxy.retrieve.results import Result
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text import tokens
from zaxy.text.passages import ORIGIN

MAX_FACTS = 8
MAX_EVIDENCE = 3
MAX_FACT_CHARS = 400
MAX_EVIDENCE_CHARS = 160
WORKING_SET_ITEMS = 3
HEADING_TOKENS = 100
SHORT_QUERY_CHARS = 80
SHORT_FACT_CHARS = 120
"""The length of a question and of a fact where the budget is small."""
NO_FACTS = frozenset(("memory_feedback", "hook_checkpoint"))
"""Rows about the use of memory itself. They are not facts about the work."""
STATUS_ROWS = 6
"""How many rows answer a question about where things stand."""
STATUS_WORDS = {
    "goals": tokens.words("goal direction roadmap priority"),
    "decisions": tokens.words("decision"),
    "tasks": tokens.words("task action step next left remaining pending open"),
    "blockers": tokens.words("blocker blocked"),
}
"""Words in such a question, by the part of the working set that they mean."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A finished checkout. `as_dict` is what every surface shows."""

    reply: dict[str, Any]
    quality: Quality

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

    @property
    def payloads(self) -> list[dict[str, Any]]:
        """Ready-made arguments for `memory_feedback`, one for each of the first facts."""
        return list(self.advice.get("feedback", {}).get("payloads", ()))


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, sorted into facts, evidence and what is left out."""

    gathered: Gathered
    purpose: Purpose
    facts: tuple[Result, ...]
    evidence: tuple[Result, ...]
    duplicates: int
    left_out: dict[str, str]
    """Why the purpose does not let a row count, by the citation of the row."""
    superseded: int
    disagreements: tuple[Disagreement, ...]
    skills: Skills
    plan: SlotPlan | None


def checkout(
    snapshot: Snapshot,
    query: str,
    *,
    limit: int | None,
    recent: int,
    from_seq: int | None,
    purpose: object,
    max_tokens: int,
    ref: str = "",
) -> Checkout:
    chosen = purpose_of(purpose)
    wide = chosen.recall_floor if limit is None else limit
    check_request(query, wide, recent=recent, from_seq=from_seq, max_tokens=max_tokens)
    gathered = gather(
        snapshot,
        query,
        limit=wide,
        recent=recent,
        from_seq=from_seq,
        purpose=chosen,
        working=WORKING_SET_ITEMS,
    )
    found = sort_out(snapshot, gathered, chosen, min(wide, MAX_FACTS))
    warnings = [*snapshot.warnings, *(one.warning for one in found.disagreements)]
    missing = found.plan.missing(found.facts) if found.plan and found.facts else ()
    cited = sum(bool(fact.citation) for fact in found.facts)
    grounds = Grounds(len(found.facts), cited, found.superseded, len(warnings), missing, unmet(chosen, found.facts))
    quality = judge(grounds, required_action(query, found.facts, found.plan, missing))
    reminder = pending_reminder(snapshot.log)
    disputed = bool(found.disagreements)
    advice = guidance(query, quality, purpose=chosen, facts=found.facts, disputed=disputed, reminder=reminder)
    assessment = Assessment(quality, advice, warnings, ref)
    return Checkout(fitted(lambda budget: _reply(snapshot, found, assessment, budget), max_tokens), quality)


def sort_out(snapshot: Snapshot, gathered: Gathered, purpose: Purpose, max_facts: int) -> Findings:
    """Separate facts from near misses, rows that may count from those that may not, and copies from originals."""
    asked = what_is_asked(gathered.query, snapshot)
    left_out = suppressed(purpose, gathered.results, snapshot.newest)
    counted = [one for one in gathered.results if one.citation not in left_out and one.entity_type not in NO_FACTS]
    words = words_of(counted)
    answering = _status(snapshot, gathered.query) if asked.status else relevant(asked, counted, words)
    originals = _once(answering)
    facts = originals[:max_facts]
    cited = {fact.citation for fact in facts}
    rest = [one for one in counted if one.citation not in cited]
    beside = near(asked, [words[one.citation] for one in rest])
    evidence = _once([one for one, is_near in zip(rest, beside, strict=True) if is_near])
    if len(evidence) < MAX_EVIDENCE:
        more = passages(snapshot, gathered, lambda texts: near(asked, [set(text.words.split()) for text in texts]))
        left_out |= suppressed(purpose, more, snapshot.newest)
        evidence = _once([*evidence, *(one for one in more if one.citation not in left_out)])
    return Findings(
        gathered,
        purpose,
        tuple(facts),
        tuple(evidence[:MAX_EVIDENCE]),
        len(answering) - len(originals),
        left_out,
        0 if asked.status else sum(would_answer(asked, gathered.superseded)),
        tuple(disagreements(facts)),
        applicable_skills(gathered.query, snapshot),
        slot_plan(gathered.query),
    )


def _status(snapshot: Snapshot, query: str) -> list[Result]:
    """The rows that say where things stand: of the kinds that the question names, or of every kind."""
    asked = set(tokens.words(query))
    named = {kind for kind, words in STATUS_WORDS.items() if not asked.isdisjoint(words)} or set(STATUS_WORDS)
    wanted = [kind for kind in KINDS if kind.heading in named]
    each = max(STATUS_ROWS // len(wanted), 1)
    rows = open_rows(snapshot.current_of_each, [kind.entity_types for kind in wanted], each)
    worded = snapshot.worded([row for of_kind in rows for row in of_kind])
    texts = snapshot.shown([entity.summary for _, entity in worded])
    cited = snapshot.cite([row for row, _ in worded])
    return [_of_row(*parts, text, citation) for parts, text, citation in zip(worded, texts, cited, strict=True)]


def _of_row(row: EntityRow, entity: Entity, text: str, citation: str) -> Result:
    return Result(
        content=text,
        citation=citation,
        seq=row.opened_seq,
        lane="exact",
        score=1.0,
        steps=(),
        profile="status",
        event_type="",
        actor="",
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        entity_name=entity.name,
        entity_type=entity.entity_type,
        properties=entity.properties,
    )


def _once(results: Sequence[Result]) -> list[Result]:
    """The results without later ones that have the same text."""
    if len(results) < 2:
        return list(results)
    texts = tokens.folded_each([result.statement for result in results])
    found: dict[str, Result] = {}
    for result, text in zip(results, texts, strict=True):
        found.setdefault(" ".join(text.split()), result)
    return list(found.values())


# The reply


def _reply(snapshot: Snapshot, found: Findings, assessment: Assessment, budget: int) -> dict[str, Any]:
    """All parts, the most useful first, as far as the budget goes. The best fact always has its place."""
    frame = _frame(snapshot, found, assessment)
    advice: dict[str, Any] | None = assessment.advice
    diagnostics: dict[str, Any] | None = frame["diagnostics"]
    asked = (found.gathered.query, found.purpose, assessment.quality, assessment.warnings)
    bare = prompt.render(*asked, advice=advice, diagnostics=diagnostics)
    left = budget - tokens_of(frame, bare) - HEADING_TOKENS
    payloads = assessment.payloads
    candidates = _fact_candidates(found, payloads, MAX_FACT_CHARS)
    if left < tokens_of(*(candidates[0][1] if candidates else ())):
        candidates = _fact_candidates(found, payloads, SHORT_FACT_CHARS)
        frame, advice, diagnostics = _without_advice(frame), None, None
        asked = (cut(found.gathered.query, SHORT_QUERY_CHARS), *asked[1:])
        left = budget - tokens_of(frame, prompt.render(*asked)) - HEADING_TOKENS
    room = TokenBudget(left)
    facts = room.fill(candidates, at_least=1)
    disputes = room.fill((one, (one.as_dict(), prompt.disagreement_line(one))) for one in found.disagreements)
    skill_parts = (found.skills.as_dict(), found.skills.analytics, prompt.skill_lines(found.skills))
    skills = found.skills if found.skills.is_known and room.takes(*skill_parts) else None
    working = WorkingSet.of(room.fill(found.gathered.working.ranked(WORKING_SET_ITEMS)))
    evidence = room.fill((one, (one,)) for one in _evidence(found.evidence))
    latest = in_brief(snapshot, found.gathered.recent.events[::-1])
    recent = room.fill((one, (one,)) for one in latest)[::-1]
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
        facts=[line for _, line, _ in facts],
        disagreements=disputes,
        working=working,
        skills=skills,
    )
    frame["current_facts"] = [fact for fact, _, _ in facts]
    frame["conflicts"] = [one.as_dict() for one in disputes]
    frame["evidence"] = evidence
    frame["provenance"] = [provenance for _, _, provenance in facts]
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


def _fact_candidates(
    found: Findings, payloads: Sequence[dict[str, Any]], max_chars: int
) -> list[Candidate[tuple[dict[str, Any], str, dict[str, Any]]]]:
    """Each fact with its line in the prompt and its provenance. The first ones cost their feedback payloads too."""
    session = found.gathered.session
    statements = cut_each([fact.statement for fact in found.facts], max_chars)
    shown = [
        (_fact(fact, statement), prompt.fact_line(fact, statement), _provenance(session, fact))
        for fact, statement in zip(found.facts, statements, strict=True)
    ]
    return [(parts, (*parts, *payloads[rank : rank + 1])) for rank, parts in enumerate(shown)]


def _without_advice(frame: dict[str, Any]) -> dict[str, Any]:
    """The frame of a reply with a small budget: a short question, and no advice beyond the quality."""
    quality, diagnostics = frame["quality"], frame["diagnostics"]
    action = quality["required_action"]
    if action is not None:
        kept = {key: value for key, value in action.items() if key != "suggested_queries"}
        quality = {**quality, "required_action": {**kept, "query": cut(action["query"], SHORT_QUERY_CHARS)}}
    diagnostics = {key: value for key, value in diagnostics.items() if key != "purpose_retrieval_policy"}
    if "slot_plan" in diagnostics:
        plan = {key: diagnostics["slot_plan"][key] for key in ("version", "operation", "required_slots")}
        diagnostics = {**diagnostics, "slot_plan": plan}
    guidance = {key: value for key, value in frame["guidance"].items() if key in ("answer", "feedback")}
    purpose = {key: frame["purpose"][key] for key in ("preset", "evidence_policy")}
    shortened = {"quality": quality, "diagnostics": diagnostics, "guidance": guidance, "purpose": purpose}
    return {**frame, **shortened, "query": cut(frame["query"], SHORT_QUERY_CHARS)}


def _frame(snapshot: Snapshot, found: Findings, assessment: Assessment) -> dict[str, Any]:
    """What every reply holds. Its lists are empty here; they are filled as far as the budget goes."""
    gathered = found.gathered
    policy = {"excluded": len(found.left_out), "by_reason": dict(Counter(found.left_out.values()))}
    lanes = Counter(fact.source_lane for fact in (*found.facts, *found.evidence))
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
    if found.purpose.preset != "general" or found.purpose.fields:
        diagnostics["purpose_retrieval_policy"] = found.purpose.retrieval_policy
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


def _fact(fact: Result, statement: str) -> dict[str, Any]:
    shown = {
        "content": statement,
        "citation": fact.citation,
        "source_lane": fact.source_lane,
        "entity_name": cut(fact.entity_name, 80),
        "entity_type": fact.entity_type,
        "actor": fact.actor,
        "valid_from": fact.valid_from[:19] + "Z",
        "metadata": {ORIGIN: fact.metadata[ORIGIN]} if ORIGIN in fact.metadata else None,
    }
    return {key: value for key, value in shown.items() if value}


def _evidence(results: Sequence[Result]) -> list[dict[str, Any]]:
    texts = cut_each([" ".join(result.statement.split()) for result in results], MAX_EVIDENCE_CHARS)
    return [
        {
            "content": text,
            "citation": result.citation,
            "source_lane": result.source_lane,
            "event_type": result.event_type,
        }
        for result, text in zip(results, texts, strict=True)
    ]


def _provenance(session: str, result: Result) -> dict[str, Any]:
    return {"session_id": session, "seq": result.seq, "hash": result.citation.rpartition("#")[2]}
