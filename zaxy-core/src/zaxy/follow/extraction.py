"""What all extractors together make of an event: the built-in rules, and the rows that plugins add."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import orjson

from zaxy.api.models import Closing, Cursor, Edge, Entity, EntityRef, Event, ExtractedEvent, Extraction
from zaxy.errors import ZaxyError
from zaxy.eventloom.event_log import EventLog
from zaxy.extract import rules
from zaxy.extract.closings import closings_from_json
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.extract.references import REFERRING, reference_of, with_thing
from zaxy.extract.times import utc_text

if TYPE_CHECKING:
    from zaxy.plugins.host import BoundProvider

SECONDS_FOR_EACH = 2.0
MAX_ROWS = 1000
"""Rows that one extractor may add to one event."""
READ_AT_ONCE = 1000
MAX_TEXT_CHARS = 10_000
"""Characters of any text in such a row, and of all its properties together."""


class Extractors:
    """A plugin that raises, hangs or lies loses its own rows, and `notices` says so; the event is followed anyway."""

    def __init__(self, plugins: Iterable[BoundProvider] = ()) -> None:
        self.notices: list[str] = []
        self._plugins: dict[str, BoundProvider] = {}
        fed_by = [f"built-in@{rules.VERSION}"]
        for plugin in sorted(plugins, key=lambda plugin: plugin.name):
            try:
                version = plugin.value("version")
            except ZaxyError as error:
                self._notice(f"{plugin.name} adds nothing: {error.message}")
                continue
            if not _is_text(version):
                self._notice(f"{plugin.name} adds nothing: its version is not a text")
                continue
            fed_by.append(f"{plugin.name}@{version}")
            self._plugins[plugin.name] = plugin
        self.fed_by = " ".join(fed_by).replace("|", "/")
        """Which extractors in which versions: rows that others made are not mixed with theirs."""

    def extract(
        self,
        events: Sequence[Event],
        ended: Mapping[int, tuple[Closing, ...]] | None = None,
        *,
        things: Mapping[int, EntityRef] | None = None,
    ) -> tuple[ExtractedEvent, ...]:
        """The rows of events. `ended` is what erased ones had closed: that stays closed, from their own place on.

        `things` is what those are about that only refer to another event.
        """
        built_in = rules.extract_each(events)
        for place, event in enumerate(events) if things else ():
            if things and event.seq in things:
                built_in[place] = with_thing(event, built_in[place], things[event.seq])
        rows_of = zip(events, built_in, strict=True)
        return tuple([ExtractedEvent(event, self._all(event, rows, ended or {})) for event, rows in rows_of])

    def _all(self, event: Event, built_in: Extraction, ended: Mapping[int, tuple[Closing, ...]]) -> Extraction:
        if event.payload is None:
            return Extraction(closings=ended.get(event.seq, ()))
        if event.type == rules.ERASED:
            return rules.NOTHING
        if not self._plugins or is_housekeeping(event):
            return built_in
        entities, edges = list(built_in.entities), list(built_in.edges)
        for name, plugin in list(self._plugins.items()):
            try:
                added = plugin.call("extract", event, budget=SECONDS_FOR_EACH)
                fitting = _fitting(added)
            except ZaxyError as error:
                self._notice(f"{name} adds nothing to event {event.seq} of {event.session}: {error.message}")
                if error.code == "unavailable":
                    del self._plugins[name]  # it hangs, and would do so at every event
                continue
            if fitting is None:
                self._notice(f"{name} returned rows that are not its own to write, or none at all; they are left out")
                continue
            entities += fitting.entities
            edges += fitting.edges
        return Extraction(tuple(entities), tuple(edges), built_in.closings)

    def _notice(self, notice: str) -> None:
        if notice not in self.notices and len(self.notices) < 100:
            self.notices.append(notice)


def things_cited(store: EventLog, extractors: Extractors, events: Sequence[Event]) -> dict[int, EntityRef]:
    """What those events of a page are about that only refer to an earlier one; nothing where that was erased."""
    found = {}
    for event in events:
        if event.type in REFERRING and (reference := reference_of(event)):
            here = reference.cited.seq - events[0].seq
            cited = events[here] if here >= 0 else store.get(event.session, reference.cited.seq)
            if cited and cited.payload is not None and reference.cited.names(cited.hash):
                (extracted,) = extractors.extract([cited])
                if thing := reference.thing(extracted.rows.entities):
                    found[event.seq] = thing
    return found


def ended_by_erased(store: EventLog, session: str, after: Cursor | None) -> dict[int, tuple[Closing, ...]]:
    """What each erased event had closed, as the records of the erasures behind a place in the log tell."""
    found: dict[int, tuple[Closing, ...]] = {}
    while (page := store.read(session, after, READ_AT_ONCE)).events:
        after = page.cursor
        for event in page.events:
            seq = event.payload.get("seq") if event.type == rules.ERASED and event.payload else None
            if event.payload and type(seq) is int:
                recorded = event.payload.get("closings")
                items = recorded if isinstance(recorded, list) else []
                found[seq] = tuple(closing for item in items for closing in _recorded(store, session, item))
    return found


def _recorded(store: EventLog, session: str, item: object) -> Sequence[Closing]:
    """A closing in the record of an erasure. One that has a `row` closes only that row of the event that it names."""
    closings = closings_from_json([item])
    row = item.get("row") if isinstance(item, dict) else None
    if row is None or not closings or closings[0].seq is None:
        return closings
    event = store.get(session, closings[0].seq)
    entities = rules.extract(event).entities if event else ()
    if type(row) is not int or not 0 <= row < len(entities):
        return ()
    return (Closing(closings[0].at, entity=EntityRef(entities[row].entity_type, entities[row].name)),)


def _fitting(added: object) -> Extraction | None:
    """The rows, if all of them are what they should be: of types that the built-in rules do not write, and bounded."""
    if not isinstance(added, Extraction) or added.closings != ():
        return None
    rows: tuple[object, object] = (added.entities, added.edges)
    if not all(isinstance(kind, tuple) for kind in rows):
        return None
    if len(added.entities) + len(added.edges) > MAX_ROWS:
        return None
    if all(map(_is_entity, added.entities)) and all(map(_is_edge, added.edges)):
        return added
    return None


def _is_entity(row: object) -> bool:
    return (
        isinstance(row, Entity)
        and _is_ref((row.entity_type, row.name))
        and row.entity_type not in rules.ENTITY_TYPES
        and _is_text(row.summary)
        and _is_time(row.observed_at)
        and _is_json_object(row.properties)
        and isinstance(row.merges, bool)
        and isinstance(row.default_summary, bool)
        and row.ids == row.titles == ()  # of things that the built-in rules write
    )


def _is_edge(row: object) -> bool:
    return (
        isinstance(row, Edge)
        and _is_ref(row.source)
        and _is_ref(row.target)
        and _is_text(row.relation_type)
        and row.relation_type not in ("", *rules.RELATION_TYPES)
        and type(row.confidence) in (int, float)
        and math.isfinite(row.confidence)
        and isinstance(row.inferred, bool)
        and _is_text(row.inference_method)
        and _is_text(row.evidence)
        and _is_time(row.valid_from)
        and _is_time(row.valid_to)
    )


def _is_ref(ref: object) -> bool:
    return isinstance(ref, tuple) and len(ref) == 2 and all(_is_text(part) and part.strip() for part in ref)


def _is_text(value: object) -> bool:
    """Whether it is a text that any store can keep: bounded, and without half characters."""
    return isinstance(value, str) and len(value) <= MAX_TEXT_CHARS and not any("\ud800" <= c <= "\udfff" for c in value)


def _is_time(value: object) -> bool:
    """Whether it is a moment as the log writes it, or none."""
    return value == "" or (isinstance(value, str) and utc_text(value) == value)


def _is_json_object(value: object) -> bool:
    """Whether a store can keep it. orjson would let NaN pass, and `json` large numbers, which orjson cannot write."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
        return isinstance(value, dict) and _is_text(text) and bool(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return False
