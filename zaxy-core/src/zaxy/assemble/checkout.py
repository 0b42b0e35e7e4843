"""Memory Checkout: what is true now on a question, who says so, and whether that is enough to answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from zaxy.api.models import EntityRow
from zaxy.assemble import prompt
from zaxy.assemble.citations_in_text import real_citations_within
from zaxy.assemble.conflicts import Conflict, conflicts
from zaxy.assemble.context import MAX_QUERY_CHARS, Gathered, brief, check_request, gather
from zaxy.assemble.guidance import FEEDBACK_TOOL, guidance, pending_reminder, required_action
from zaxy.assemble.purpose import Purpose, purpose_of, suppressed, unmet
from zaxy.assemble.quality import Grounds, Quality, judge
from zaxy.assemble.reading import Reading
from zaxy.assemble.relevance import Asked, near, relevant, what_is_asked
from zaxy.assemble.skills import Skills, applicable_skills
from zaxy.assemble.slots import SlotPlan, slot_plan
from zaxy.assemble.token_budget import Costly, TokenBudget, cost_of, fitted, tokens_of
from zaxy.assemble.working_set import KINDS, NOTHING_OPEN, WorkingSet, open_rows
from zaxy.eventloom.citation import parse_citation
from zaxy.extract.texts import cut
from zaxy.retrieve.results import Result
from zaxy.text import tokens
from zaxy.text.passages import ORIGIN

MAX_FACTS = 8
MAX_EVIDENCE = 3
MAX_FACT_CHARS = 400
MAX_EVIDENCE_CHARS = 160
WORKING_SET_ITEMS = 3
FOR_HEADINGS = 100
SHORT_QUERY_CHARS = 80
BRIEF_FACT = 120
"""Characters of a question and of a fact, where there is little room."""
NO_FACTS = frozenset(("memory_feedback", "hook_checkpoint"))
"""Rows about the use of memory and about moments of a session: they say nothing of the world."""
REMINDER_LOOKBACK = 20
"""Events in which a reminder is looked for that nothing has answered yet."""
STATUS_TOKENS = 6
"""Rows that answer a question about where things stand."""
MEANT = {
    "goals": tokens.words("goal direction roadmap priority"),
    "decisions": tokens.words("decision"),
    "tasks": tokens.words("task action step next left remaining pending open"),
    "blockers": tokens.words("blocker blocked"),
}
"""Words of such a question, and the part of the working set that they mean."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A finished checkout. `as_dict` is what every surface shows."""

    reply: dict[str, Any]
    quality: Quality

    def as_dict(self) -> dict[str, Any]:
        return self.reply


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is told about the findings."""

    quality: Quality
    advice: dict[str, Any]
    warnings: list[str]
    ref: str

    @property
    def payloads(self) -> list[dict[str, Any]]:
        """What may be reported back, one for each of the first facts."""
        return list(self.advice.get("feedback", {}).get("payloads", ()))


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, sorted out."""

    gathered: Gathered
    purpose: Purpose
    facts: tuple[Result, ...]
    evidence: tuple[Result, ...]
    duplicates: int
    left_out: dict[str, str]
    """By citation, why the purpose does not let a row count."""
    superseded: int
    conflicts: tuple[Conflict, ...]
    skills: Skills
    plan: SlotPlan | None


def checkout(
    reading: Reading,
    query: str,
    limit: int | None,
    recent: int,
    from_seq: int | None,
    purpose: object,
    max_tokens: int,
    ref: str = "",
) -> Checkout:
    chosen = purpose_of(purpose)
    wide = chosen.recall_floor if limit is None else limit
    check_request(query, wide, recent, from_seq, max_tokens)
    gathered = gather(reading, query, wide, recent, from_seq, chosen)
    found = sort_out(reading, gathered, chosen, min(wide, MAX_FACTS))
    told = [*reading.warnings, *(conflict.warning for conflict in found.conflicts)]
    missing = found.plan.missing(found.facts) if found.plan and found.facts else ()
    cited = sum(bool(fact.citation) for fact in found.facts)
    grounds = Grounds(len(found.facts), cited, found.superseded, len(told), missing, unmet(chosen, found.facts))
    quality = judge(grounds, required_action(query, found.facts, found.plan, missing))
    reminder = pending_reminder(reading.events(reading.head - REMINDER_LOOKBACK + 1, reading.head))
    advice = guidance(query, quality, chosen, found.facts, bool(found.conflicts), reminder)
    verdict = Verdict(quality, advice, told, ref)
    return Checkout(fitted(lambda budget: _reply(reading, found, verdict, budget), max_tokens), quality)


def sort_out(reading: Reading, gathered: Gathered, purpose: Purpose, most: int) -> Findings:
    """Facts from what merely has some of the words, what may count from what may not, and copies from originals."""
    asked = what_is_asked(gathered.query, reading)
    left_out = suppressed(purpose, (*gathered.results, *gathered.passages), reading.newest)
    counted = [one for one in gathered.results if one.citation not in left_out and one.entity_type not in NO_FACTS]
    answering = _status(reading, gathered.query) if asked.status else relevant(asked, counted)
    facts = _standing(reading, _once(answering)[:most])
    cited = {fact.citation for fact in facts}
    rest = [
        one
        for one in (*counted, *gathered.passages)
        if one.citation not in cited and one.citation not in left_out and near(asked, one)
    ]
    return Findings(
        gathered,
        purpose,
        tuple(facts),
        tuple(one for one in _once(rest)[:MAX_EVIDENCE] if reading.resolves(one.citation)),
        len(answering) - len(_once(answering)),
        left_out,
        len(relevant(_without_names(asked), gathered.superseded)),
        tuple(conflicts(facts)),
        applicable_skills(gathered.query, reading.current, reading.cite),
        slot_plan(gathered.query),
    )


def _without_names(asked: Asked) -> Asked:
    return asked._replace(names=())


def _status(reading: Reading, query: str) -> list[Result]:
    """The rows that say where things stand: of the kinds that the question names, or of all."""
    asked = set(tokens.words(query))
    named = {kind for kind, words in MEANT.items() if not asked.isdisjoint(words)} or set(MEANT)
    wanted = [kind for kind in KINDS if kind.heading in named]
    each = max(STATUS_TOKENS // len(wanted), 1)
    return [_of_row(reading, row) for kind in wanted for row in open_rows(reading.current, kind.entity_types, each)]


def _of_row(reading: Reading, row: EntityRow) -> Result:
    entity = row.entity
    return Result(
        *(reading.shown(entity.summary), reading.cite(row), row.opened_seq, "exact", 1.0, (), "status", "", ""),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        entity_name=entity.name,
        entity_type=entity.entity_type,
        properties=entity.properties,
    )


def _standing(reading: Reading, facts: Sequence[Result]) -> list[Result]:
    """The facts whose events the log still holds, proven; if any does not, that is said."""
    standing = [fact for fact in facts if reading.resolves(fact.citation)]
    if len(standing) < len(facts):
        reading.warnings.append("the log no longer holds, intact, all that memory has followed")
    return standing


def _once(results: Iterable[Result]) -> list[Result]:
    """Each text once, the first one of it."""
    found: dict[str, Result] = {}
    for result in results:
        found.setdefault(" ".join(tokens.folded(result.told).split()), result)
    return list(found.values())


# The reply


def _reply(reading: Reading, found: Findings, verdict: Verdict, budget: int) -> dict[str, Any]:
    """All parts, in the order of their worth, as far as they fit. The best fact always comes."""
    frame = _frame(reading, found, verdict)
    advice: dict[str, Any] | None = verdict.advice
    diagnostics: dict[str, Any] | None = frame["diagnostics"]
    asked = (found.gathered.query, found.purpose, verdict.quality, verdict.warnings)
    left = budget - tokens_of(frame) - tokens_of(prompt.render(*asked, advice, diagnostics)) - FOR_HEADINGS
    payloads = verdict.payloads
    costly = _costly(found.facts, payloads, MAX_FACT_CHARS)
    if left < sum(cost_of(*parts) for _, parts in costly[:1]):
        costly = _costly(found.facts, payloads, BRIEF_FACT)
        frame, advice, diagnostics = _short_of_advice(frame), None, None
        asked = (cut(found.gathered.query, SHORT_QUERY_CHARS), *asked[1:])
        left = budget - tokens_of(frame) - tokens_of(prompt.render(*asked)) - FOR_HEADINGS
    room = TokenBudget(left)
    facts = room.fill(costly, at_least=1)
    clashes = room.fill((clash, (clash.as_dict(), prompt.conflict_line(clash))) for clash in found.conflicts)
    told = (found.skills.as_dict(), found.skills.analytics, prompt.skill_lines(found.skills))
    skills = found.skills if found.skills.is_known and room.takes(*told) else None
    working = WorkingSet.of(room.fill(found.gathered.working.ranked(WORKING_SET_ITEMS)))
    evidence = room.fill((one, (_evidence(one),)) for one in found.evidence)
    latest = [brief(event, reading.shown) for event in reversed(found.gathered.recent.events)]
    recent = room.fill((one, (one,)) for one in latest)[::-1]
    if skills is not None:
        frame["diagnostics"]["skills"] = skills.as_dict()
        if skills.analytics:
            frame["diagnostics"]["skill_analytics"] = skills.analytics
    if payloads:
        frame["guidance"]["feedback"]["payloads"] = payloads[: len(facts)]
    frame["prompt"] = prompt.render(
        *asked,
        advice,
        diagnostics,
        facts=[line for _, line, _ in facts],
        conflicts=clashes,
        working=working,
        skills=skills,
    )
    frame["current_facts"] = [fact for fact, _, _ in facts]
    frame["conflicts"] = [clash.as_dict() for clash in clashes]
    frame["evidence"] = [_evidence(one) for one in evidence]
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
    return dict(real_citations_within(frame, reading.may_show))


def _costly(
    facts: Sequence[Result], payloads: Sequence[dict[str, Any]], longest: int
) -> list[Costly[tuple[dict[str, Any], str, dict[str, Any]]]]:
    """Each fact as it is shown, its line in the prompt and its provenance; the first ones cost their payloads too."""
    shown = [(_fact(fact, longest), prompt.fact_line(fact, longest), _provenance(fact)) for fact in facts]
    return [(parts, (*parts, *payloads[rank : rank + 1])) for rank, parts in enumerate(shown)]


def _short_of_advice(frame: dict[str, Any]) -> dict[str, Any]:
    """The frame of a reply that has little room: the question briefly, and no advice beyond the verdict."""
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


def _frame(reading: Reading, found: Findings, verdict: Verdict) -> dict[str, Any]:
    """What a reply holds whatever was found; the lists are filled in as far as there is room."""
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
        "warning_count": len(verdict.warnings),
        "feedback_recommended": bool(found.facts),
        "feedback_tool": FEEDBACK_TOOL,
        "token_efficiency": {"prompt_tokens": 0, "facts_per_1k_tokens": 0.0, "evidence_count": 0, "fact_count": 0},
    }
    advice = verdict.advice
    if verdict.payloads:
        advice = {**advice, "feedback": {**advice["feedback"], "payloads": []}}
    retention: dict[str, Any] = {
        "known_to_seq": reading.head,
        "recent_from_seq": seqs[0] if seqs else None,
        "replay_bounded": gathered.recent.bounded,
    }
    if found.purpose.preset != "general" or found.purpose.told:
        diagnostics["purpose_retrieval_policy"] = found.purpose.retrieval_policy
        diagnostics["purpose_policy"] = retention["purpose_policy"] = policy
    if found.plan is not None:
        diagnostics["slot_plan"] = found.plan.as_dict()
    return {
        "session_id": gathered.session,
        "query": cut(gathered.query, MAX_QUERY_CHARS),
        **({"ref": verdict.ref} if verdict.ref else {}),
        "quality": verdict.quality.as_dict(),
        "current_facts": [],
        "conflicts": [],
        "evidence": [],
        "provenance": [],
        "working_set": NOTHING_OPEN.as_dict(),
        "recent": [],
        "warnings": list(verdict.warnings),
        "notices": list(dict.fromkeys(reading.notices)),
        "purpose": found.purpose.as_dict(),
        "retention": retention,
        "diagnostics": diagnostics,
        "guidance": advice,
        "truncated": False,
    }


def _fact(fact: Result, longest: int) -> dict[str, Any]:
    shown = {
        "content": cut(fact.told, longest),
        "citation": fact.citation,
        "source_lane": fact.source_lane,
        "entity_name": cut(fact.entity_name, 80),
        "entity_type": fact.entity_type,
        "actor": fact.actor,
        "valid_from": fact.valid_from[:19] + "Z",
        "metadata": {ORIGIN: fact.metadata[ORIGIN]} if ORIGIN in fact.metadata else None,
    }
    return {key: value for key, value in shown.items() if value}


def _evidence(result: Result) -> dict[str, Any]:
    return {
        "content": cut(" ".join(result.told.split()), MAX_EVIDENCE_CHARS),
        "citation": result.citation,
        "source_lane": result.source_lane,
        "event_type": result.event_type,
    }


def _provenance(result: Result) -> dict[str, Any]:
    cited = parse_citation(result.citation)
    return {"session_id": cited.session, "seq": cited.seq, "hash": cited.hash}
