"""The key of an entity: one text for its type and for its name in the form in which names match."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from zaxy.api.models import EntityRef
from zaxy.api.names import folded_name


def entity_keys(entities: Iterable[EntityRef]) -> list[str]:
    return list(map(entity_key, entities))


def entity_key(entity: EntityRef) -> str:
    return key_of(*entity)


def key_of(entity_type: str, name: str) -> str:
    return orjson.dumps((entity_type, folded_name(name))).decode()
