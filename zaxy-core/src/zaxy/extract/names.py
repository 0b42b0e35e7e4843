"""The key of an entity: one text for its type and for its name in the form in which names match."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import orjson

from zaxy.api.models import EntityRef
from zaxy.api.names import REMEMBERED, folded_name


def entity_keys(entities: Iterable[EntityRef]) -> list[str]:
    return list(map(entity_key, entities))


@lru_cache(REMEMBERED)
def entity_key(entity: EntityRef) -> str:
    return new_entity_key(*entity)


def new_entity_key(entity_type: str, name: str) -> str:
    """The same without remembering it, for what comes up once."""
    return orjson.dumps((entity_type, folded_name(name))).decode()
