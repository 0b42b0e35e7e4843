"""Which rows the rule of a package's family may make: of the types that its manifest names, and of nobody else's."""

from __future__ import annotations

from collections.abc import Container, Sequence

from zaxy.api.event_types import EventType, family_of
from zaxy.api.models import Entity, EntityRef, Extraction
from zaxy.api.names import folded_name
from zaxy.api.versions import EXTRACTOR
from zaxy.extract import rules
from zaxy.follow.row_shapes import is_extraction
from zaxy.plugins.families import Family


class OwnThings:
    """The things that are a family's own: by their type, or by the beginning of their name where others have the type
    too. So it neither replaces nor ends what is somebody else's."""

    def __init__(self, family: Family, shared: Container[str]) -> None:
        """`shared`: the types of entities that the core writes too, or another family."""
        self._types = family.entity_types
        self._shared = shared
        self._begins = f"{family.name}:"

    def __contains__(self, ref: EntityRef) -> bool:
        kind, name = ref
        return kind in self._types and (kind not in self._shared or name.startswith(self._begins))


def fitting_rows(made: object, declared: EventType, own: OwnThings) -> Extraction | None:
    """The rows, if all of them are what the family may make of an event of that type."""
    if not isinstance(made, Extraction) or not is_extraction(made):
        return None
    entities = all(
        row.entity_type in declared.entities
        and EntityRef(row.entity_type, row.name) in own
        and EXTRACTOR not in row.properties  # the mark of what extractors see
        and ((not row.ids and not row.titles) or _is_named(row, declared, own))
        for row in made.entities
    )
    living = [row.entity_type for row in made.entities if row.ids or row.titles]
    edges = all(
        row.relation_type in declared.relations and (row.source in own or row.target in own) for row in made.edges
    )
    closings = all(row.entity is not None and row.entity in own and not row.extractor for row in made.closings)
    return made if entities and edges and closings and len(living) == len(set(living)) else None


def _is_named(row: Entity, declared: EventType, own: OwnThings) -> bool:
    """Whether a row may have its ids and titles: all of them are names of the family's own, and its name is one."""
    names = (*row.ids, *row.titles)
    known = folded_name(row.name) in [folded_name(name) for name in names]
    return (
        known and row.entity_type in declared.living and all(EntityRef(row.entity_type, name) in own for name in names)
    )


def rows_problem(made: object, declared: EventType, types: Sequence[EventType]) -> str:
    """Why what a family made of an event is left out, where no other package is installed; empty if it is not."""
    family = Family(family_of(declared.name), "", {one.name: one for one in types})
    if not isinstance(made, Extraction):
        return f"returned {type(made).__name__}, which is no Extraction"
    fits = fitting_rows(made, declared, OwnThings(family, rules.ENTITY_TYPES))
    return "" if fits is not None else "gave rows that are malformed, or not its own to write"
