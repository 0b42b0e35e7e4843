"""Whether a memory was of use: every answer counts, so none replaces another."""

from __future__ import annotations

from zaxy.api.models import Edge, EntityRef, Event, Extraction, JsonObject
from zaxy.extract.properties import small
from zaxy.extract.rule import Own, Rule, bare, edge, ref_to
from zaxy.extract.texts import cut, entity_name, first_text, text_of

ABOUT_MEMORY = "feedback_about_memory"
KEEPS = (
    "entity_name",
    "entity_type",
    "feedback",
    "outcome",
    "importance",
    "query",
    "score",
    "citation",
    "reason",
    "authority",
    "mission_id",
    "expected_action",
    "evidence_policy",
)
PROFILE = (
    "preset",
    "role",
    "task",
    "risk",
    "time_horizon",
    "expected_action",
    "evidence_policy",
    "retention_policy",
    "ontology_lens",
)


def purpose(payload: JsonObject) -> dict[str, object]:
    """The purpose that the memory served: its name, and of a profile the fields that it is made of."""
    given = payload.get("purpose")
    if not isinstance(given, dict):
        return {"purpose": cut(text, 240)} if (text := text_of(given)) else {}
    fields = {f"purpose_{field}": small(given[field], 240) for field in PROFILE if field in given}
    return {field: value for field, value in fields.items() if value not in (None, "", [])}


def feedback_text(payload: JsonObject) -> str:
    """`helpful: decision ship it`."""
    judged = first_text(payload, ("feedback", "outcome")) or "feedback"
    about = " ".join(first_text(payload, (field,)) for field in ("entity_type", "entity_name")).strip()
    reason = first_text(payload, ("reason",))
    return f"{judged}: {about}" + (f" ({reason})" if reason else "") if about else ""


def about_memory(own: Own) -> Extraction:
    """What it is about, which has events of its own, and who reinforced it."""
    actor = entity_name(own.event.actor)
    entity_type, name = (entity_name(first_text(own.payload, (field,))) for field in ("entity_type", "entity_name"))
    if not entity_type or not name:
        return Extraction((bare("actor", actor),))
    edges = feedback_edges(own.event, own.ref, EntityRef(entity_type, name), since=own.since)
    return Extraction((bare("actor", actor),), tuple(edges))


def feedback_edges(event: Event, own: EntityRef, memory: EntityRef, *, since: str) -> list[Edge]:
    """From feedback, and from who reinforced it, to the memory that is meant."""
    edges = [edge(own, ABOUT_MEMORY, memory, since)]
    if event.type == "memory.reinforced":
        edges.append(edge(ref_to("actor", event.actor), "reinforced_memory", memory, since))
    return edges


def _feedback(*relations: str) -> Rule:
    return Rule(
        "memory_feedback",
        named_by=("key", "id"),
        texts=("summary",),
        keeps=KEEPS,
        describe=feedback_text,
        properties=purpose,
        more=about_memory,
        also=("actor",),
        relations=relations,
    )


RULES = {
    "memory.reinforced": _feedback(ABOUT_MEMORY, "reinforced_memory"),
    "memory.feedback": _feedback(ABOUT_MEMORY),
}
