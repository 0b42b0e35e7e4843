"""The event types that Zaxy or a plugin knows: who may write each, which are housekeeping, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zaxy.api.event_types import CORE_TYPES, KEPT_FAMILIES, PACKAGE, EventType, family_of
from zaxy.api.models import Event
from zaxy.contracts.own_events import own_payloads
from zaxy.eventloom.admission import IMPORTED_FROM, OWN_ACTOR, RESERVED_FAMILIES, is_reserved
from zaxy.extract import housekeeping, rules
from zaxy.extract.rule import Rule, entity_types, relation_types
from zaxy.observe.hook_events import fields_of_type

CLOSINGS = (rules.INVALIDATED, rules.ERASED, housekeeping.IMPORTED_ERASED)
"""The types that give no rows and only end something."""
OWN_ACTORS = (OWN_ACTOR, housekeeping.HOOK_ACTOR, housekeeping.IMPORT_ACTOR)


def known_types() -> dict[str, str]:
    """Every event type that Zaxy knows, with its family."""
    others = {one.name: "closings" if one.name in CLOSINGS else "housekeeping" for one in CORE_TYPES}
    ruled = {name: module.__name__.rpartition(".")[2] for module in rules.MODULES for name in module.RULES}
    return dict(sorted({**others, **ruled}.items()))


def described_types() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each type as the contract has it; the contract adds stability and version."""
    written = own_payloads()
    for name, family in known_types().items():
        rule = rules.RULES.get(name)
        payload = fields_of_rule(name, rule) if rule else written.get(name, set())
        yield (
            f"event {name}",
            {
                "family": family,
                "reserved": is_reserved(name),
                "housekeeping_by": [actor for actor in OWN_ACTORS if _is_housekeeping(name, actor)],
                "entities": list(entity_types(rule)) if rule else [],
                "relations": list(relation_types(rule)) if rule else [],
                "status": rule.status if rule else "",
                **({"heading": rule.heading} if rule and rule.heading else {}),
                "payload": sorted({*payload, *fields_of_type(name)}),
            },
        )
    for prefix in RESERVED_FAMILIES:
        yield f"prefix {prefix}", {"reserved": True}
    for kept, package in KEPT_FAMILIES.items():
        yield f"prefix {kept}.", {"reserved": True, "package": package}


def described_type(declared: EventType) -> tuple[str, dict[str, Any]]:
    """A type of a package's family, likewise."""
    reserved = declared.written_by == PACKAGE
    return (
        f"event {declared.name}",
        {
            "family": family_of(declared.name),
            "reserved": reserved,
            "housekeeping": declared.housekeeping,
            "sentence": declared.sentence,
            **({"heading": declared.heading} if declared.heading else {}),
            "entities": list(declared.entities),
            **({"living": list(declared.living)} if declared.living else {}),
            **({"quiet": True} if declared.quiet else {}),
            "relations": list(declared.relations),
            "fields": [{"name": name, "type": kind, "required": False} for name, kind in declared.fields],
        },
    )


def fields_of_rule(event_type: str, rule: Rule) -> set[str]:
    """The payload fields that a rule reads: those that it names, and those that its functions ask for.

    `a.b` is the field `b` of the object `a`. In an empty payload every field is looked for, as none ends the search.
    """
    payload = _Asked()
    rules.extract(_event(event_type, "ada", payload))
    named = (*rule.named_by, *rule.texts, *rule.keeps, *rule.ids, *rule.titles)
    mentioned = (field for mention in rule.mentions for field in mention.fields)
    return {*named, *mentioned, *payload.fields, "supersedes"} - {IMPORTED_FROM}


class _Asked(dict[str, object]):
    """An empty payload that notes which fields it is asked for."""

    def __init__(self) -> None:
        self.fields: set[str] = set()

    def get(self, key: str, default: object = None) -> Any:
        self.fields.add(key)
        return default

    def __contains__(self, key: object) -> bool:
        self.fields.add(str(key))
        return False


def _is_housekeeping(event_type: str, actor: str) -> bool:
    return housekeeping.is_housekeeping(_event(event_type, actor, {}))


def _event(event_type: str, actor: str, payload: dict[str, object]) -> Event:
    return Event("", 1, "", event_type, actor, "", payload, "", "")
