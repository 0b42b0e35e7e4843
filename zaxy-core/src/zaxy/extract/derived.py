"""Rows that extractors of plugins made: marked with the extractor's name, and found by the words that they add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zaxy.api.models import Entity, Extraction
from zaxy.api.versions import EXTRACTOR as EXTRACTOR
from zaxy.extract.rules import ENTITY_TYPES
from zaxy.extract.texts import cut

FORMAT = 2
"""Changes whenever the core keeps such rows in another way: followers that extractors fed are then rebuilt."""
MAX_DERIVED_CHARS = 400
"""Characters of what one row adds to the words of its event."""
MAX_DERIVED_ROWS = 20
"""Rows of one event that add words to it."""


def marked_rows(rows: Extraction, extractor: str) -> Extraction:
    """The rows with the name of the extractor that made them: entities as a property, closings as their bound."""
    return Extraction(
        tuple([replace(one, properties={**one.properties, EXTRACTOR: extractor}) for one in rows.entities]),
        rows.edges,
        tuple([replace(one, extractor=extractor) for one in rows.closings]),
    )


def extractor_of(entity: Entity) -> str:
    """The extractor of a plugin that made an entity; empty for one of the built-in rules."""
    return "" if entity.entity_type in ENTITY_TYPES else str(entity.properties.get(EXTRACTOR, ""))


def derived_of(rows: Extraction) -> list[Entity]:
    """The entities that extractors of plugins made. They stand behind those of the built-in rules."""
    if not rows.entities or EXTRACTOR not in rows.entities[-1].properties:
        return []
    return [entity for entity in rows.entities if extractor_of(entity)]


def derived_texts(entities: Sequence[Entity]) -> list[str]:
    """What each row adds to the words by which its event is found."""
    return [
        cut(f"{entity.entity_type.replace('_', ' ')} {entity.name} {entity.summary}", MAX_DERIVED_CHARS)
        for entity in entities[:MAX_DERIVED_ROWS]
    ]
