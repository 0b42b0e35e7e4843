"""What extractors of plugins see in the events that were found, as far as it bears on the question and still holds.

The rows are made again from the proven events. The graph says only which of them hold: an edited index or graph can
take one away, and cannot put words into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zaxy.api.models import AsOf, Entity, EntityRef, EntityRow, JsonObject
from zaxy.errors import ZaxyError
from zaxy.extract.derived import EXTRACTOR, derived_texts, extractor_of
from zaxy.extract.texts import cut
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text.tokens import words

MAX_SHOWN = 3
"""Of one event."""
MAX_SHOWN_CHARS = 120

DerivedRows = Mapping[int, tuple[JsonObject, ...]]
"""By the seq of an event."""


def derived_rows(snapshot: Snapshot, seqs: Iterable[int], question: str, *, as_of: AsOf) -> DerivedRows:
    """By event what is to be shown with it; events without such rows are left out."""
    made = {seq: entities for seq in seqs if (entities := snapshot.words.derived(seq))}
    if not made or snapshot.graph is None:
        return {}
    asked = set(words(question))
    bearing = {seq: _bearing(entities, asked) for seq, entities in made.items()}
    refs = [EntityRef(one.entity_type, one.name) for entities in bearing.values() for one in entities]
    if not refs:
        return {}
    try:
        rows = iter(snapshot.graph.version_of_each(snapshot.session, refs, as_of))
    except ZaxyError as error:
        snapshot.notices.append(f"what extractors see in events is left out: {error.message}")
        return {}
    found = {}
    for seq, entities in bearing.items():
        held = [one for one in entities if _is_of(one, next(rows))]
        if held:
            found[seq] = tuple(map(_shown, held))
    return found


def _is_of(entity: Entity, row: EntityRow | None) -> bool:
    """Whether the row that holds under its name is of the extractor that made it."""
    return row is not None and row.entity.properties.get(EXTRACTOR) == extractor_of(entity)


def _bearing(entities: list[Entity], asked: set[str]) -> list[Entity]:
    """Those that have a word of the question, the most of them first."""
    shared = [len(asked.intersection(words(text))) for text in derived_texts(entities)]
    best = sorted(zip(shared, range(len(shared)), strict=True), key=lambda one: (-one[0], one[1]))
    return [entities[place] for count, place in best[:MAX_SHOWN] if count]


def _shown(entity: Entity) -> JsonObject:
    return {
        "entity_name": cut(entity.name, MAX_SHOWN_CHARS),
        "entity_type": cut(entity.entity_type, MAX_SHOWN_CHARS),
        "summary": cut(entity.summary, MAX_SHOWN_CHARS),
        "extractor": extractor_of(entity),
    }
