"""The checkout as a model reads it: sections of short lines, with all recorded text between quotation marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zaxy.api.models import JsonObject
from zaxy.assemble.conflicts import Disagreement
from zaxy.assemble.context import DATA
from zaxy.assemble.findings import Row
from zaxy.assemble.purpose import Purpose
from zaxy.assemble.quality import Quality
from zaxy.assemble.quoting import name_in_line, quoted
from zaxy.assemble.skills import NONE, Skills
from zaxy.assemble.working_set import WorkingSet
from zaxy.extract.texts import cut

if TYPE_CHECKING:
    from zaxy.assemble.synthesis.bundle import Synthesis

MAX_QUERY_CHARS = 240


def render(
    query: str,
    purpose: Purpose,
    quality: Quality,
    warnings: Sequence[str],
    *,
    advice: dict[str, Any] | None = None,
    diagnostics: dict[str, Any] | None = None,
    rows: Sequence[str] = (),
    composed: Sequence[str] = (),
    composed_first: bool = False,
    disagreements: Sequence[Disagreement] = (),
    working: WorkingSet | None = None,
    skills: Skills | None = None,
) -> str:
    """All sections that are not empty. `rows` are finished lines. `composed_first`: whether the composed answer is
    sure, and not only one more thing to weigh."""
    lines = ["# Memory Checkout", f"Question: {quoted(query)}", DATA]
    lines += ["", "## Quality", f"{quality.answerability}, confidence {quality.confidence:.2f}."]
    lines += [f"- {reason}" for reason in quality.reasons]
    sections = [("## Composed Answer", composed), ("## What Memory Holds", rows)]
    for heading, said in sections if composed_first else reversed(sections):
        lines += ["", heading, *said] if said else []
    if disagreements:
        lines += ["", "## Conflicts", *map(disagreement_line, disagreements)]
    if warnings:
        lines += ["", "## Warnings", *(f"- {warning}" for warning in warnings)]
    if working is not None and (state := working.lines()):
        lines += ["", "## Working Set", *state]
    if skills is not None and skills.is_known:
        lines += ["", skill_lines(skills)]
    if advice is not None:
        lines += ["", "## Guidance", *_guidance(advice, purpose)]
    if diagnostics is not None:
        lines += ["", "## Diagnostics", _counts(diagnostics)]
    return "\n".join(lines)


def _guidance(advice: dict[str, Any], purpose: Purpose) -> list[str]:
    lines = [f"- {advice[what]}" for what in ("answer", "trust", "ignore")]
    if purpose.is_given:
        fields = "".join(f", {field} {quoted(cut(value, 80))}" for field, value in purpose.fields)
        lines.append(f"- Purpose: {purpose.preset} ({purpose.evidence_policy}{fields}).")
        if purpose.stated_policy:
            lines.append(f"- Evidence asked for, which memory cannot check: {quoted(purpose.stated_policy)}.")
    return lines + ([f"- Reminder: {advice['reminder']}"] if "reminder" in advice else [])


def row_line(row: Row, text: str) -> str:
    """A row with its mark, who said it and when, and its citation."""
    result = row.result
    mark = "answers" if row.answers else "may bear on it"
    if row.replaced_by:
        mark = "was so before" if row.has_ended else "perhaps replaced"
    kind = name_in_line(result.entity_type or result.event_type)
    whose = f"{kind} by {name_in_line(result.actor)}" if result.actor else kind
    mark += ", foreign" if result.foreign else ""
    seen = "".join([_derived(one) for one in result.derived]) if result.derived else ""
    return f"- {mark}: {quoted(text)} ({whose}, {result.valid_from[:10]}{seen}) [{result.citation}]"


def _derived(row: JsonObject) -> str:
    """What an extractor of a plugin sees in an event: the extractor's word, and not the log's."""
    kind, name, extractor = (name_in_line(str(row[field])) for field in ("entity_type", "entity_name", "extractor"))
    return f"; {kind} {name} by the extractor {extractor}"


def composed_lines(synthesis: Synthesis) -> list[str]:
    """The first candidate with its citations, and how complete it is; or why there is none."""
    counts = synthesis.counts()
    looked = f"{counts['looked_at']} rows were looked at, {counts['counted']} count"
    whole = f"{looked}; these are all." if synthesis.complete else f"{looked}; not everything is there."
    lines = [" ".join([f"- {whole}", *[f"{cut(reason, 120)}." for reason in synthesis.missing[:2]]])]
    top = synthesis.top
    if top is None:
        return lines
    cited = " ".join(f"[{citation}]" for citation in synthesis.citations())
    return [f"- {top.type}: {quoted(cut(top.answer, 400))}, confidence {top.confidence:.2f} {cited}", *lines]


def disagreement_line(one: Disagreement) -> str:
    return f"- {quoted(cut(one.about, 120))}: [{one.first.citation}] against [{one.second.citation}]"


def skill_lines(skills: Skills) -> str:
    lines = ["## Applicable Skills"] if skills.applicable else []
    for skill in skills.applicable:
        version = name_in_line(skill.version)
        lines.append(f"- {quoted(cut(skill.skill_id, 80))} version {version}, {skill.status} [{skill.citation}]")
        lines += [f"  {number}. {quoted(step)}" for number, step in enumerate(skill.procedure, 1)]
    analytics = skills.analytics
    if analytics:
        scores = ", ".join(f"{name_in_line(name)} {score}" for name, score in analytics["scores"].items()) or "none"
        lines += [""] if lines else []
        lines += ["## Skill Analytics", f"- {analytics['outcome_count']} outcomes, scores: {scores}"]
        lines.append(f"- contradicted {analytics['contradiction_count']} times")
        for name in ("promotion_candidates", "rollback_candidates"):
            if analytics[name]:
                lines.append(f"- {name.replace('_', ' ')}: {', '.join(map(name_in_line, analytics[name]))}")
        lines += [f"- [{citation}]" for citation in analytics["citations"]]
    return "\n".join(lines) if skills is not NONE else ""


def _counts(diagnostics: dict[str, Any]) -> str:
    lanes = ", ".join(f"{lane} {count}" for lane, count in diagnostics["source_lanes"].items()) or "none"
    return (
        f"facts {diagnostics['current_fact_count']}, citations {diagnostics['current_citation_count']}, "
        f"superseded left out {diagnostics['superseded_contexts_excluded']}, warnings {diagnostics['warning_count']}, "
        f"lanes: {lanes}"
    )
