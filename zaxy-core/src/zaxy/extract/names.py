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
    return orjson.dumps([entity.entity_type, folded_name(entity.name)]).decode()
