"""Procedures that an agent learns: each version is a thing of its own, and so is each use and each outcome."""

from __future__ import annotations

from zaxy.api.models import Closing, EntityRef, Event, Extraction, JsonObject
from zaxy.extract.properties import MAX_ITEM_CHARS, MAX_ITEMS
from zaxy.extract.rule import Own, Rule, edge, named
from zaxy.extract.texts import cut, entity_name, first_text

IDS, NAMES = ("key", "skill_id", "id"), ("name",)
SKILL_ID = (*IDS, *NAMES)
FIRST = "1"
KEEPS = (
    "skill_id",
    "version",
    "name",
    "procedure",
    "applicability",
    "citations",
    "success_score",
    "feedback",
    "evidence",
    "reason",
    "supersedes_version",
)


def version_name(payload: JsonObject, field: str = "version") -> str:
    """`deploy@2`; a skill without a version is its first."""
    return _versioned(payload, first_text(payload, SKILL_ID), field)


def _versioned(payload: JsonObject, skill: str, field: str = "version") -> str:
    version = first_text(payload, (field,)) or FIRST
    return f"{skill[:120]}@{version[:32]}" if skill else ""


def skill_name(event: Event, payload: JsonObject) -> str:
    return version_name(payload)


def steps(payload: JsonObject) -> dict[str, object]:
    """The procedure as a list of steps, also if it came as lines of text."""
    procedure = payload.get("procedure")
    lines = procedure.splitlines() if isinstance(procedure, str) else []
    found = [cut(line.strip(), MAX_ITEM_CHARS) for line in lines if line.strip()]
    return {"procedure": found[:MAX_ITEMS]} if found else {}


def family(own: Own) -> Extraction:
    """The version's skill, and the version that it takes the place of; a proposal only says which one it would."""
    skill = EntityRef("skill", entity_name(first_text(own.payload, SKILL_ID)))
    if not skill.name:
        return Extraction()
    edges = [edge(own.ref, "version_of", skill, own.since)]
    if not first_text(own.payload, ("supersedes_version",)):
        return Extraction(edges=tuple(edges))
    older = EntityRef("skill", entity_name(version_name(own.payload, "supersedes_version")))
    if older.name.casefold() == own.ref.name.casefold():
        return Extraction(edges=tuple(edges))
    edges.append(edge(own.ref, "supersedes", older, own.since))
    ends = own.event.type != "skill.proposed"
    closings = (Closing(own.since or own.event.time, entity=older),) if ends else ()
    return Extraction(edges=tuple(edges), closings=closings)


def use(own: Own) -> Extraction:
    """From the skill's version to its use, and on to the task."""
    version = EntityRef("skill", entity_name(version_name(own.payload)))
    edges = [edge(version, "applied_to_task", own.ref, own.since)] if version.name else []
    tasks = (EntityRef("task", name) for name in named(own.payload.get("task")))
    edges += [edge(own.ref, "applied_to_task", task, own.since) for task in tasks]
    return Extraction(edges=tuple(edges))


def outcome(own: Own) -> Extraction:
    version = EntityRef("skill", entity_name(version_name(own.payload)))
    return Extraction(edges=(edge(version, "recorded_outcome", own.ref, own.since),) if version.name else ())


def _version(status: str) -> Rule:
    return Rule(
        "skill",
        named_by=SKILL_ID,
        texts=("summary", "description"),
        keeps=KEEPS,
        status=status,
        name=skill_name,
        properties=steps,
        more=family,
        relations=("version_of",),
        merges=True,
        ids=IDS,
        titles=NAMES,
        qualified=_versioned,
    )


USE = ("skill_id", "version", "task", "success_score", "feedback", "outcome", "evidence", "reason", "citations")

RULES = {
    "skill.proposed": _version("proposed"),
    "skill.validated": _version("validated"),
    "skill.revised": _version("revised"),
    "skill.deprecated": _version("deprecated"),
    "skill.contradicted": _version("contradicted"),
    "skill.applied": Rule(
        "skill_application", (), ("summary", "task", "reason"), USE, more=use, relations=("applied_to_task",)
    ),
    "skill.outcome_recorded": Rule(
        "skill_outcome", (), ("summary", "feedback", "reason"), USE, more=outcome, relations=("recorded_outcome",)
    ),
}
