"""Memory Checkout: what is true now on a question, who says so, and whether that is enough to answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from zaxy.api.models import EntityRow
from zaxy.assemble import prompt
from zaxy.assemble.conflicts import Conflict, conflicts
from zaxy.assemble.context import Gathered, brief, gather
from zaxy.assemble.guidance import FEEDBACK_TOOL, guidance, pending_reminder, required_action
from zaxy.assemble.purpose import Purpose, purpose_of, suppressed, unmet
from zaxy.assemble.quality import Grounds, Quality, judge
from zaxy.assemble.reading import Reading
from zaxy.assemble.relevance import Asked, near, relevant, what_is_asked
from zaxy.assemble.room import Room, tokens_of
from zaxy.assemble.skills import Skills, applicable_skills
from zaxy.assemble.slots import SlotPlan, slot_plan
from zaxy.assemble.working_set import KINDS, LOOKED_AT, WorkingSet
from zaxy.eventloom.citation import parse_citation
from zaxy.extract.texts import cut
from zaxy.follow import tokens
from zaxy.retrieve.results import Result

MOST_FACTS = 8
MOST_EVIDENCE = 3
LONGEST_FACT = 400
LONGEST_EVIDENCE = 160
OF_THE_WORKING_SET = 3
NO_FACTS = frozenset(("memory_feedback", "hook_checkpoint"))
"""Rows about the use of memory and about moments of a session: they say nothing of the world."""
LOOKED_BACK = 20
"""Events in which a reminder is looked for that nothing has answered yet."""
FOR_A_STATUS = 6
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
    gathered = gather(reading, query, limit or chosen.recall_floor, recent, from_seq, chosen)
    found = sort_out(reading, gathered, chosen, min(limit or MOST_FACTS, MOST_FACTS))
    told = [*reading.warnings, *(conflict.warning for conflict in found.conflicts)]
    missing = found.plan.missing(found.facts) if found.plan and found.facts else ()
    cited = sum(bool(fact.citation) for fact in found.facts)
    grounds = Grounds(len(found.facts), cited, found.superseded, len(told), missing, unmet(chosen, found.facts))
    quality = judge(grounds, required_action(query, found.facts, found.plan, missing))
    reminder = pending_reminder(reading.events(reading.head - LOOKED_BACK + 1, reading.head))
    advice = guidance(query, quality, chosen, found.facts, bool(found.conflicts), reminder)
    return Checkout(_reply(reading, found, quality, advice, told, max_tokens, ref), quality)


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
        tuple(one for one in _once(rest)[:MOST_EVIDENCE] if reading.resolves(one.citation)),
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
    each = max(FOR_A_STATUS // len(wanted), 1)
    return [
        _of_row(reading, row)
        for kind in wanted
        for row in [row for row in reading.current(kind.entity_types, LOOKED_AT) if not _is_done(row)][:each]
    ]


def _is_done(row: EntityRow) -> bool:
    return row.entity.entity_type == "task" and row.entity.properties.get("status") == "completed"


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


def _reply(
    reading: Reading,
    found: Findings,
    quality: Quality,
    advice: dict[str, Any],
    warnings: Sequence[str],
    max_tokens: int,
    ref: str,
) -> dict[str, Any]:
    """All parts, in the order of their worth, as far as they fit."""
    frame = _frame(reading, found, quality, advice, warnings, ref)
    bare = prompt.render(found.gathered.query, found.purpose, quality, advice, warnings, frame["diagnostics"])
    room = Room(max_tokens - tokens_of(frame) - tokens_of(bare))
    facts = room.fill((fact, (_fact(fact), _provenance(fact), prompt.fact_line(fact))) for fact in found.facts)
    clashes = room.fill((clash, (clash.as_dict(), prompt.conflict_line(clash))) for clash in found.conflicts)
    skills = room.takes(found.skills.as_dict(), prompt.skill_lines(found.skills)) and found.skills
    working = _fitting(room, found.gathered.working)
    evidence = room.fill((one, (_evidence(one),)) for one in found.evidence)
    latest = [brief(event, reading.shown) for event in reversed(found.gathered.recent.events)]
    recent = room.fill((one, (one,)) for one in latest)[::-1]
    if skills and found.skills.applicable:
        frame["diagnostics"]["skills"] = found.skills.as_dict()
        if found.skills.analytics:
            frame["diagnostics"]["skill_analytics"] = found.skills.analytics
    frame["prompt"] = prompt.render(
        *(found.gathered.query, found.purpose, quality, advice, warnings, frame["diagnostics"]),
        facts=facts,
        conflicts=clashes,
        working=working,
        skills=found.skills if skills else None,
    )
    frame["current_facts"] = [_fact(fact) for fact in facts]
    frame["conflicts"] = [clash.as_dict() for clash in clashes]
    frame["evidence"] = [_evidence(one) for one in evidence]
    frame["provenance"] = [_provenance(fact) for fact in facts]
    frame["working_set"] = working.as_dict()
    frame["recent"] = recent
    frame["truncated"] = room.short
    counted = frame["diagnostics"]["token_efficiency"]
    counted["prompt_tokens"] = prompt_tokens = tokens_of(frame["prompt"])
    counted["facts_per_1k_tokens"] = round(1000 * len(facts) / max(prompt_tokens, 1), 1)
    counted["evidence_count"] = len(evidence)
    return {**frame, "tokens_used": tokens_of(frame)}


def _frame(
    reading: Reading,
    found: Findings,
    quality: Quality,
    advice: dict[str, Any],
    warnings: Sequence[str],
    ref: str,
) -> dict[str, Any]:
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
        "warning_count": len(warnings),
        "feedback_recommended": bool(found.facts),
        "feedback_tool": FEEDBACK_TOOL,
        "token_efficiency": {
            "prompt_tokens": 0,
            "facts_per_1k_tokens": 0.0,
            "evidence_count": 0,
            "fact_count": len(found.facts),
        },
    }
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
        "query": cut(gathered.query, 480),
        **({"ref": ref} if ref else {}),
        "quality": quality.as_dict(),
        "current_facts": [],
        "conflicts": [],
        "evidence": [],
        "provenance": [],
        "working_set": {},
        "recent": [],
        "warnings": list(warnings),
        "notices": list(dict.fromkeys(reading.notices)),
        "purpose": found.purpose.as_dict(),
        "retention": retention,
        "diagnostics": diagnostics,
        "guidance": advice,
        "truncated": False,
    }


def _fitting(room: Room, working: WorkingSet) -> WorkingSet:
    kept: dict[str, list[Any]] = {}
    for name, items in working.fewer(OF_THE_WORKING_SET).items.items():
        kept[name] = room.fill((item, (item.as_dict(), f"- {name}: {item.text} {item.citation}")) for item in items)
    return WorkingSet(kept)


def _fact(fact: Result) -> dict[str, Any]:
    shown = {
        "content": cut(fact.told, LONGEST_FACT),
        "citation": fact.citation,
        "source_lane": fact.source_lane,
        "entity_name": cut(fact.entity_name, 80),
        "entity_type": fact.entity_type,
        "actor": fact.actor,
        "valid_from": fact.valid_from[:19] + "Z",
    }
    return {key: value for key, value in shown.items() if value}


def _evidence(result: Result) -> dict[str, Any]:
    return {
        "content": cut(" ".join(result.told.split()), LONGEST_EVIDENCE),
        "citation": result.citation,
        "source_lane": result.source_lane,
        "event_type": result.event_type,
    }


def _provenance(result: Result) -> dict[str, Any]:
    cited = parse_citation(result.citation)
    return {"session_id": cited.session, "seq": cited.seq, "hash": cited.hash}
