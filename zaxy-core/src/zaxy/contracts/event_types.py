"""The event types that Zaxy knows: who may write each, whether it is housekeeping, and what the rules make of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zaxy.api.models import Event
from zaxy.eventloom.admission import OWN_ACTOR, RESERVED_FAMILIES, RESERVED_TYPES, is_reserved
from zaxy.extract import (
    coordination,
    feedback,
    housekeeping,
    knowledge,
    observations,
    rules,
    skills,
    synthesis,
    transcripts,
    work,
    workspaces,
)
from zaxy.extract.rule import entity_types, relation_types

FAMILIES = (
    work,
    knowledge,
    transcripts,
    observations,
    skills,
    feedback,
    synthesis,
    coordination,
    workspaces,
)
"""Each module of rules is a family of event types."""
WITHOUT_RULE = {
    **dict.fromkeys((*housekeeping.TYPES, *RESERVED_TYPES), "housekeeping"),
    **dict.fromkeys((rules.INVALIDATED, rules.ERASED, housekeeping.IMPORTED_ERASED), "closings"),
}
"""The types that give no rows, or only end something, with their families."""
OWN_ACTORS = (OWN_ACTOR, housekeeping.HOOK_ACTOR, housekeeping.IMPORT_ACTOR)


def known_types() -> dict[str, str]:
    """Every event type that Zaxy knows, with its family."""
    ruled = {name: module.__name__.rpartition(".")[2] for module in FAMILIES for name in module.RULES}
    return dict(sorted({**WITHOUT_RULE, **ruled}.items()))


def described_types() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each type as the contract has it; the contract adds stability and version."""
    for name, family in known_types().items():
        rule = rules.RULES.get(name)
        yield (
            f"event {name}",
            {
                "family": family,
                "reserved": is_reserved(name),
                "housekeeping_by": [actor for actor in OWN_ACTORS if _is_housekeeping(name, actor)],
                "entities": list(entity_types(rule)) if rule else [],
                "relations": list(relation_types(rule)) if rule else [],
                "status": rule.status if rule else "",
            },
        )
    for prefix in RESERVED_FAMILIES:
        yield f"prefix {prefix}", {"reserved": True}


def _is_housekeeping(event_type: str, actor: str) -> bool:
    return housekeeping.is_housekeeping(Event("", 1, "", event_type, actor, "", {}, "", ""))
