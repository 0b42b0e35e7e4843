"""Checks of `event_types`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from zaxy.api.event_types import ANYBODY, EventType
from zaxy.api.models import EntityRef, Event, Extraction
from zaxy_testkit.checks import Case, Workbench, check, expect, extractors
from zaxy_testkit.checks.extractors import extracted
from zaxy_testkit.checks.shape import check_shape

POINT = "event_types"
KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
}


@dataclass(frozen=True)
class EventFamilyCase(Case):
    manifest: Path
    """The package's `zaxy-plugin.json`."""
    events: tuple[Event, ...]
    """Samples, at least one of which yields rows, of types that the manifest describes."""


def described_types(manifest: Path) -> dict[str, EventType]:
    """The event types that a manifest describes, by name."""
    items = json.loads(manifest.read_text(encoding="utf-8")).get("event_types", [])
    found = (
        EventType(
            item["type"],
            item.get("written_by", ANYBODY),
            item.get("housekeeping", False),
            item.get("sentence", ""),
            item.get("heading", ""),
            tuple(item.get("entities", ())),
            tuple(item.get("relations", ())),
            tuple(item.get("fields", {}).items()),
            tuple(item.get("living", ())),
            item.get("quiet", False),
        )
        for item in items
    )
    return {declared.name: declared for declared in found}


check_shape(POINT)
for _shared in (
    extractors.its_version_is_a_text_and_stays_the_same,
    extractors.a_sample_yields_rows,
    extractors.the_same_event_gives_the_same_rows_again,
    extractors.another_instance_on_another_day_gives_the_same_rows,
    extractors.its_entities_are_well_formed,
    extractors.its_edges_are_well_formed,
    extractors.an_erased_event_is_no_error,
    extractors.it_leaves_the_payload_as_it_is,
):
    check(POINT)(_shared)


@check(POINT)
def the_manifest_describes_the_samples(case: EventFamilyCase, bench: Workbench) -> None:
    """Describe every type in `event_types` of the manifest, with all fields of its payload and their kinds."""
    types = described_types(case.manifest)
    for event in case.events:
        expect(event.type in types, f"{event.type} is not among the event_types of {case.manifest.name}")
        fields = dict(types[event.type].fields)
        for name, value in (event.payload or {}).items():
            kind = fields.get(name, "")
            expect(kind != "", f"the field {name!r} of {event.type} is not described")
            fits = isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
            expect(fits or value is None, f"{name!r} of {event.type} is described as {kind} and holds {value!r}")


@check(POINT)
def its_rows_are_of_types_that_the_manifest_names(case: EventFamilyCase, bench: Workbench) -> None:
    """Name what the rule gives in `entities` and `relations` of its type. An edge has a thing of its own at one end."""
    own = _own_types(case)
    for declared, rows in _rows_by_type(case, bench):
        for entity in rows.entities:
            named = entity.entity_type in declared.entities
            expect(named, f"{declared.name} gave a {entity.entity_type!r}, which its entities do not name")
        for edge in rows.edges:
            named = edge.relation_type in declared.relations
            expect(named, f"{declared.name} gave {edge.relation_type!r}, which its relations do not name")
            ends = {edge.source.entity_type, edge.target.entity_type}
            expect(bool(ends & own), f"neither end of {edge} is of a type that the family owns")


@check(POINT)
def it_ends_nothing_but_its_own(case: EventFamilyCase, bench: Workbench) -> None:
    """A closing names an entity of a type that the family owns, and a moment; it names no event by its number."""
    own = _own_types(case)
    for _, rows in _rows_by_type(case, bench):
        for closing in rows.closings:
            named = isinstance(closing.entity, EntityRef) and closing.entity.entity_type in own
            expect(named and closing.seq is None, f"{closing} is not of an entity that the family owns")
            expect(bool(closing.at), f"{closing} does not say from when on")


@check(POINT)
def ids_and_titles_name_what_lives(case: EventFamilyCase, bench: Workbench) -> None:
    """Name the type in `living`. The entity's name is one of its ids or titles; an event has one such thing a type."""
    for declared, rows in _rows_by_type(case, bench):
        named = [entity for entity in rows.entities if entity.ids or entity.titles]
        for entity in named:
            expect(entity.entity_type in declared.living, f"{declared.name} does not say that {entity} is living")
            names = [name.strip().casefold() for name in (*entity.ids, *entity.titles)]
            expect(all(names), f"{entity} has an id or a title that is empty")
            expect(entity.name.strip().casefold() in names, f"the name of {entity} is neither an id nor a title of it")
        types = [entity.entity_type for entity in named]
        expect(len(types) == len(set(types)), f"{declared.name} gave two things of one type with ids or titles")


@check(POINT)
def a_payload_without_its_fields_is_no_error(case: EventFamilyCase, bench: Workbench) -> None:
    """Events stay in the log for ever: older ones, and those of anybody, may lack a field that the rule knows."""
    family = bench.make(case)
    for event in case.events:
        extracted(family, replace(event, payload={}))


def _own_types(case: EventFamilyCase) -> frozenset[str]:
    return frozenset(kind for declared in described_types(case.manifest).values() for kind in declared.entities)


def _rows_by_type(case: EventFamilyCase, bench: Workbench) -> Iterator[tuple[EventType, Extraction]]:
    family, types = bench.make(case), described_types(case.manifest)
    for event in case.events:
        if event.type in types:
            yield types[event.type], extracted(family, event)
