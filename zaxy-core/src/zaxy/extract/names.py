"""The key of an entity: one text for its type and for its name in the form in which names match."""

from __future__ import annotations

import orjson

from zaxy.api.names import folded_name


def entity_key(entity: tuple[str, str]) -> str:
    """Of a type and a name, such as an `EntityRef` is."""
    entity_type, name = entity
    return orjson.dumps((entity_type, folded_name(name))).decode()
