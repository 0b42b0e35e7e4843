"""What an erasure must leave as it was, and what it must not leave behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from zaxy.api.models import AsOf, EntityRef, EntityRow, Event, Extraction
from zaxy.eventloom.event_log import EventLog
from zaxy.extract.closings import closings_as_json, row_closings
from zaxy.extract.names import entity_key
from zaxy.extract.references import with_thing
from zaxy.follow.extraction import Extractors
from zaxy.security.paths import own_folder

AFTER_ALL = "9999-12-31T23:59:59.999999Z"
"""A moment after all that a log may say: what holds then has no end."""
Versions = Callable[[str, EntityRef, AsOf], list[EntityRow]]
"""The rows of an entity of a session that hold at a moment."""


def ended_by(
    event: Event, store: EventLog, versions: Versions, *, extractors: Extractors, about: EntityRef | None = None
) -> list[dict[str, object]]:
    """What an event has closed, by saying so or as the next version: it stays closed when the event is gone.

    `about` is the thing that the event refers to, if it does. Rows are named by their events and not by their names,
    which may say what is to be forgotten.
    """
    (rows,) = extractors.recorded([event])
    rows = with_thing(event, rows, about) if about else rows
    closings = [closing for closing in rows.closings if closing.seq is not None]
    at = {closing.entity: closing.at for closing in rows.closings if closing.entity is not None}
    for entity in rows.entities:
        at.setdefault(EntityRef(entity.entity_type, entity.name), entity.observed_at or event.time)
    ended = [*closings_as_json(closings), *map(dict, row_closings(event))]
    for ref, moment in at.items():
        held = [row for time in (event.time, AFTER_ALL) for row in versions(event.session, ref, AsOf(time, event.seq))]
        # Before the event the thing may have had no other name than the one that its rows have.
        known = EntityRef(ref.entity_type, held[0].entity.name) if held else ref
        for time in (event.time, AFTER_ALL):
            still = {(row.opened_seq, row.valid_to) for row in versions(event.session, known, AsOf(time, event.seq))}
            for row in versions(event.session, known, AsOf(time, event.seq - 1)):
                if (row.opened_seq, row.valid_to) not in still:
                    opened = store.get(event.session, row.opened_seq)
                    place = _place_of(row, extractors.recorded([opened] if opened else []))
                    ended.append({"at": moment, "entity": None, "seq": row.opened_seq, "row": place})
    return [closing for at_first, closing in enumerate(ended) if closing not in ended[:at_first]]


def _place_of(row: EntityRow, recorded: Sequence[Extraction]) -> int:
    """Which of the rows of the event that opened it a row is; -1 if no owner of the event's type wrote it."""
    entities = recorded[0].entities if recorded else ()
    refs = [entity_key(EntityRef(entity.entity_type, entity.name)) for entity in entities]
    own = entity_key(EntityRef(row.entity.entity_type, row.entity.name))
    if own in refs:
        return refs.index(own)
    # The event called it by another of its names.
    types = [entity.entity_type if entity.merges and (entity.ids or entity.titles) else "" for entity in entities]
    return types.index(row.entity.entity_type) if row.entity.entity_type in types else -1


def drop_unused(folder: Path, used: Collection[str]) -> Iterator[str]:
    """Delete what followers hold that are not in use, such as a graph that was chosen before.

    A warning for each that cannot be deleted.
    """
    if not folder.exists():
        return
    own_folder(str(folder), create=False)
    for unused in sorted(folder.glob("*-*")):
        if unused.name not in used:
            try:
                shutil.rmtree(unused)
            except OSError as error:
                yield f"{unused.name} may still hold it and cannot be deleted: {error.strerror}"
