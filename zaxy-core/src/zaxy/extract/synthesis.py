"""Composed answers: the artifact, its candidates, the rows of its ledger, and the sources that they rest on."""

from __future__ import annotations

from collections.abc import Mapping

from zaxy.api.models import Edge, Entity, EntityRef, Event, Extraction, JsonObject
from zaxy.extract.properties import kept
from zaxy.extract.rule import Own, Rule, bare, edge, named, objects, once, part_name
from zaxy.extract.texts import MAX_SUMMARY_CHARS, cut, entity_name, first_text, readable_text

ARTIFACT_ID = ("artifact_id", "key", "id")
MAX_CANDIDATES = 16
MAX_ROWS = 100
CANDIDATE = ("rank", "type", "answer", "value", "unit", "confidence", "support_source_ids", "excluded_source_ids")
ROW = (
    "fact_id",
    "source_group",
    "citation",
    "kind",
    "entity",
    "value",
    "unit",
    "time",
    "label",
    "include_reason",
    "exclude_reason",
    "authority",
)


def artifact(own: Own) -> Extraction:
    """An artifact with its candidates, its ledger's rows and their source groups."""
    candidates = objects(own.payload.get("answer_candidates"), MAX_CANDIDATES)
    rows = objects(own.payload.get("ledger_rows"), MAX_ROWS)
    group_of = {first_text(row, ("fact_id",)): first_text(row, ("source_group",)) for row in rows}
    entities: list[Entity] = []
    edges: list[Edge] = []
    for position, candidate in enumerate(candidates, 1):
        name = candidate_name(own.ref.name, candidate) or part_name(own.ref.name, "candidate", position)
        ref = EntityRef("synthesis_answer_candidate", name)
        entities.append(Entity(name, ref.entity_type, candidate_text(candidate), kept(candidate, CANDIDATE), own.since))
        edges.append(edge(own.ref, "artifact_has_answer_candidate", ref, own.since))
        _support(ref, candidate, group_of=group_of, since=own.since, entities=entities, edges=edges)
    for position, row in enumerate(rows, 1):
        name = part_name(own.ref.name, "row", row.get("fact_id")) or part_name(own.ref.name, "row", position)
        ref = EntityRef("synthesis_ledger_row", name)
        entities.append(Entity(name, ref.entity_type, row_text(row), kept(row, ROW), own.since))
        edges.append(edge(own.ref, "artifact_has_ledger_row", ref, own.since))
        _cite(ref, row, since=own.since, entities=entities, edges=edges)
    return Extraction(once(entities), tuple(dict.fromkeys(edges)))


def candidate_outcome(own: Own) -> Extraction:
    """The artifact that the candidate belongs to, which other events describe, and what supports it."""
    candidate = _candidate(own.payload)
    entities: list[Entity] = []
    edges: list[Edge] = []
    whole = entity_name(first_text(own.payload, ("artifact_id",)))
    if whole:
        ref = EntityRef("synthesis_artifact", whole)
        edges.append(edge(ref, "artifact_has_answer_candidate", own.ref, own.since))
    _support(own.ref, candidate, group_of={}, since=own.since, entities=entities, edges=edges)
    return Extraction(once(entities), tuple(edges))


def evidence(own: Own) -> Extraction:
    entities: list[Entity] = []
    edges: list[Edge] = []
    _cite(own.ref, _row(own.payload), since=own.since, entities=entities, edges=edges)
    return Extraction(tuple(entities), tuple(edges))


def candidate_name(whole: str, candidate: JsonObject) -> str:
    return part_name(whole, "candidate", candidate.get("rank"))


def candidate_text(candidate: JsonObject) -> str:
    """`42 hours (sum)`."""
    answer = first_text(candidate, ("answer",)) or " ".join(first_text(candidate, (f,)) for f in ("value", "unit"))
    kind = first_text(candidate, ("type",))
    said = f"{answer.strip()} ({kind})" if answer.strip() and kind else answer.strip() or kind
    return cut(said or readable_text(candidate) or "an answer without content", MAX_SUMMARY_CHARS)


def row_text(row: JsonObject) -> str:
    """`hours worked: 8 h`."""
    label = first_text(row, ("label", "entity", "fact_id"))
    value = " ".join(first_text(row, (field,)) for field in ("value", "unit")).strip()
    said = f"{label}: {value}" if label and value else label or value
    return cut(said or readable_text(row) or "a row without content", MAX_SUMMARY_CHARS)


def outcome_name(event: Event, payload: JsonObject) -> str:
    return candidate_name(entity_name(first_text(payload, ("artifact_id",))), _candidate(payload))


def outcome_text(payload: JsonObject) -> str:
    return candidate_text(_candidate(payload)) if _candidate(payload) else ""


def outcome_properties(payload: JsonObject) -> dict[str, object]:
    return kept(_candidate(payload), CANDIDATE)


def evidence_name(event: Event, payload: JsonObject) -> str:
    return first_text(_row(payload), ("fact_id",)) or outcome_name(event, payload)


def evidence_text(payload: JsonObject) -> str:
    row = _row(payload)
    known = any(field in row for field in ROW)
    said, reason = row_text(row) if known else outcome_text(payload), first_text(payload, ("reason",))
    return f"{said} ({reason})" if said and reason else said or reason


def evidence_properties(payload: JsonObject) -> dict[str, object]:
    return kept(_row(payload), (*ROW, "support_source_ids"))


def _candidate(payload: JsonObject) -> JsonObject:
    candidate = payload.get("candidate")
    return candidate if isinstance(candidate, dict) else {}


def _row(payload: JsonObject) -> JsonObject:
    """The ledger row: under `row`, or its fields in the payload itself."""
    row = payload.get("row")
    return row if isinstance(row, dict) else payload


def _support(
    ref: EntityRef,
    candidate: JsonObject,
    *,
    group_of: Mapping[str, str],
    since: str,
    entities: list[Entity],
    edges: list[Edge],
) -> None:
    """A supporting source is a source group, or a fact whose row names the group."""
    for source in named(candidate.get("support_source_ids")):
        group = entity_name(group_of.get(source) or source)
        entities.append(bare("source_group", group))
        edges.append(edge(ref, "candidate_supported_by_source_group", EntityRef("source_group", group), since))


def _cite(ref: EntityRef, row: JsonObject, *, since: str, entities: list[Entity], edges: list[Edge]) -> None:
    if group := entity_name(first_text(row, ("source_group",))):
        entities.append(bare("source_group", group))
        edges.append(edge(ref, "cites_source_group", EntityRef("source_group", group), since))


def _outcome(status: str) -> Rule:
    return Rule(
        "synthesis_answer_candidate",
        named_by=("artifact_id", "candidate.rank"),
        texts=("summary",),
        keeps=("artifact_id", "outcome", "correction", "reason", "query", "purpose", "quality"),
        status=status,
        name=outcome_name,
        describe=outcome_text,
        properties=outcome_properties,
        more=candidate_outcome,
        also=("source_group",),
        relations=("artifact_has_answer_candidate", "candidate_supported_by_source_group"),
    )


def _evidence(status: str) -> Rule:
    return Rule(
        "synthesis_evidence",
        named_by=("row.fact_id", "artifact_id", "candidate.rank"),
        texts=("summary",),
        keeps=("artifact_id", "outcome", "reason", "candidate", "quality", "slot_plan"),
        status=status,
        name=evidence_name,
        describe=evidence_text,
        properties=evidence_properties,
        more=evidence,
        also=("source_group",),
        relations=("cites_source_group",),
    )


RULES = {
    "memory.synthesis.artifact.created": Rule(
        "synthesis_artifact",
        named_by=ARTIFACT_ID,
        texts=("summary", "answer", "query"),
        keeps=("artifact_id", "query", "answer_type", "operation", "purpose", "quality", "slot_plan"),
        heading="artifacts",
        more=artifact,
        also=("synthesis_answer_candidate", "synthesis_ledger_row", "source_group"),
        relations=(
            "artifact_has_answer_candidate",
            "candidate_supported_by_source_group",
            "artifact_has_ledger_row",
            "cites_source_group",
        ),
    ),
    "memory.synthesis.used": _outcome("used"),
    "memory.synthesis.rejected": _outcome("rejected"),
    "memory.synthesis.corrected": _outcome("corrected"),
    "memory.evidence.reinforced": _evidence("reinforced"),
    "memory.evidence.excluded": _evidence("excluded"),
}
