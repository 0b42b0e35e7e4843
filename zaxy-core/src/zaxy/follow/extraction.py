"""What all extractors together make of an event: the built-in rules, and the rows that plugins add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from zaxy.api.event_types import family_of
from zaxy.api.models import Closing, Cursor, EntityRef, Event, ExtractedEvent, Extraction
from zaxy.errors import ZaxyError
from zaxy.eventloom.event_log import EventLog
from zaxy.extract import rules
from zaxy.extract.closings import closings_from_json, row_closings
from zaxy.extract.derived import FORMAT, marked_rows
from zaxy.extract.housekeeping import is_housekeeping
from zaxy.extract.references import INVALIDATED, REFERRING, reference_of, with_thing
from zaxy.extract.sentences import sentence_of
from zaxy.follow.family_rows import OwnThings, fitting_rows
from zaxy.follow.row_shapes import is_extraction, is_text
from zaxy.plugins.families import NO_FAMILIES, Families

if TYPE_CHECKING:
    from zaxy.plugins.host import BoundProvider

SECONDS_FOR_EACH = 2.0
READ_AT_ONCE = 1000
NOT_OWN = "rows that are not its own to write, or none at all"


class Extractors:
    """A plugin that raises, hangs or lies loses its own rows, and `notices` says so; the event is followed anyway."""

    def __init__(
        self,
        plugins: Iterable[BoundProvider] = (),
        *,
        owners: Iterable[BoundProvider] = (),
        families: Families = NO_FAMILIES,
    ) -> None:
        """`plugins`: extractors. `owners`: the rules of the families that packages own."""
        self.notices: list[str] = []
        self.families = families
        self._plugins, versions = self._with_versions(plugins)
        self._owners, of_owners = self._with_versions(owners)
        declared = Counter(kind for family in families.owned.values() for kind in family.entity_types)
        shared = {*rules.ENTITY_TYPES, *(kind for kind, count in declared.items() if count > 1)}
        self._own = {name: OwnThings(family, shared) for name, family in families.owned.items()}
        self._taken = rules.ENTITY_TYPES.union(declared)
        self.adds_rows = bool(self._plugins)
        fed_by = [f"built-in@{rules.VERSION}", *(f"{name}@{version}/{FORMAT}" for name, version in versions.items())]
        for name, family in sorted(families.owned.items()):
            fed_by.append(f"{name}.*@{of_owners.get(name, '')}/{family.fingerprint}")
        self.fed_by = " ".join(fed_by).replace("|", "/")
        """Which extractors and owners in which versions: rows that others made are not mixed with theirs."""

    def _with_versions(self, plugins: Iterable[BoundProvider]) -> tuple[dict[str, BoundProvider], dict[str, str]]:
        """The plugins that say which version they are, by name, and these versions."""
        found: dict[str, BoundProvider] = {}
        versions: dict[str, str] = {}
        for plugin in sorted(plugins, key=lambda plugin: plugin.name):
            try:
                version = plugin.value("version", stage="make")
            except ZaxyError as error:
                self._notice(f"{plugin.name} adds nothing: {error.message}")
                continue
            if not is_text(version):
                self._notice(f"{plugin.name} adds nothing: its version is not a text")
                continue
            found[plugin.name], versions[plugin.name] = plugin, version
        return found, versions

    def extract(
        self,
        events: Sequence[Event],
        ended: Mapping[int, tuple[Closing, ...]] | None = None,
        *,
        things: Mapping[int, EntityRef] | None = None,
    ) -> tuple[ExtractedEvent, ...]:
        """The rows of events. `ended` is what erased ones had closed, and those that refer to erased ones: that stays
        closed, from their own place on.

        `things` is what those are about that only refer to another event.
        """
        built_in = self.recorded(events)
        for place, event in enumerate(events) if things else ():
            if things and event.seq in things:
                built_in[place] = with_thing(event, built_in[place], things[event.seq])
        rows_of = zip(events, built_in, strict=True)
        return tuple([self._extracted(event, rows, ended or {}) for event, rows in rows_of])

    def recorded(self, events: Sequence[Event]) -> list[Extraction]:
        """The rows of events by the rules of those who own their types: the core's, or a package's."""
        rows = rules.extract_each(events)
        for place, event in enumerate(events) if self._own else ():
            if event.type.partition(".")[0] in self._own:  # asked for each event: `family_of` would be a call
                rows[place] = self._by_owner(event, rows[place])
        return rows

    def _by_owner(self, event: Event, unknown: Extraction) -> Extraction:
        """The rows of an event of a package's family; those of an unknown type where its rule cannot give any."""
        family = self.families.owned.get(family_of(event.type))
        declared = family.types.get(event.type) if family else None
        if family is None or declared is None or event.payload is None:
            return unknown
        if declared.housekeeping:
            return rules.NOTHING
        fits = partial(fitting_rows, declared=declared, own=self._own[family.name])
        made = self._made(self._owners, family.name, event, fits=fits) if family.name in self._owners else None
        return unknown if made is None else made

    def _extracted(
        self, event: Event, built_in: Extraction, ended: Mapping[int, tuple[Closing, ...]]
    ) -> ExtractedEvent:
        if event.payload is None:
            return ExtractedEvent(event, Extraction(closings=ended.get(event.seq, ())))
        if event.type == rules.ERASED:
            return ExtractedEvent(event, rules.NOTHING, housekeeping=True)
        if event.seq in ended:  # it refers to one that was erased
            built_in = Extraction(built_in.entities, built_in.edges, (*built_in.closings, *ended[event.seq]))
        if not built_in.entities and is_housekeeping(event, self.families.housekeeping):
            return ExtractedEvent(event, built_in, housekeeping=True)
        template = self.families.sentences.get(event.type)
        sentence = sentence_of(template, event.payload) if template else ""
        rows = self._with_added(event, built_in) if self._plugins else built_in
        return ExtractedEvent(event, rows, sentence, housekeeping=event.type in self.families.quiet)

    def _with_added(self, event: Event, recorded: Extraction) -> Extraction:
        """The rows of an event with those that extractors add."""
        entities, edges, closings = list(recorded.entities), list(recorded.edges), list(recorded.closings)
        for name in list(self._plugins):
            if added := self._made(self._plugins, name, event, fits=self._fitting):
                marked = marked_rows(added, name)
                entities += marked.entities
                edges += marked.edges
                closings += marked.closings
        return Extraction(tuple(entities), tuple(edges), tuple(closings))

    def _made(
        self,
        plugins: dict[str, BoundProvider],
        name: str,
        event: Event,
        *,
        fits: Callable[[object], Extraction | None],
    ) -> Extraction | None:
        """What one of the plugins makes of an event, if it fits; else a notice says why it is left out."""
        try:
            made = fits(plugins[name].call("extract", event, budget=SECONDS_FOR_EACH))
        except ZaxyError as error:
            self._notice(f"{name} adds nothing to event {event.seq} of {event.session}: {error.message}")
            if error.code == "unavailable":
                del plugins[name]  # it hangs, and would do so at every event
            return None
        if made is None:
            self._notice(f"{name} ({plugins[name].row.package}) returned {NOT_OWN}; they are left out")
        return made

    def _fitting(self, added: object) -> Extraction | None:
        """The rows, if all of them are what they should be, and of types that neither the core nor an owner writes."""
        if not isinstance(added, Extraction) or not is_extraction(added):
            return None
        if any(row.ids or row.titles for row in added.entities):
            return None  # names are learned from what was recorded, not from what somebody believes to see
        kinds = [row.entity_type for row in added.entities]
        kinds += [row.entity.entity_type for row in added.closings if row.entity is not None]
        if any(kind in self._taken for kind in kinds):
            return None
        return None if any(row.relation_type in rules.RELATION_TYPES for row in added.edges) else added

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


def ended_by_erased(
    store: EventLog, extractors: Extractors, session: str, *, after: Cursor | None
) -> dict[int, tuple[Closing, ...]]:
    """What each erased event had closed, as the records of the erasures behind a place in the log tell.

    What another event had closed that referred to an erased one, which `by` names, stands there too.
    """
    found: dict[int, tuple[Closing, ...]] = {}
    while (page := store.read(session, after, READ_AT_ONCE)).events:
        after = page.cursor
        for event in page.events:
            seq = event.payload.get("seq") if event.type == rules.ERASED and event.payload else None
            if event.payload and type(seq) is int:
                recorded = event.payload.get("closings")
                items = recorded if isinstance(recorded, list) else []
                for item in items:
                    other = item.get("by") if isinstance(item, dict) else None
                    by = other if type(other) is int else seq
                    found[by] = (*found.get(by, ()), *_recorded(store, extractors, session, item=item))
    return found


def ended_elsewhere(store: EventLog, extractors: Extractors, events: Iterable[Event]) -> dict[int, tuple[Closing, ...]]:
    """What events ended where they came from, as an import has written it: rows of events that came with them, and of
    nobody else, whatever has their names here."""
    found = {}
    for event in events:
        items = row_closings(event)
        recorded = [one for item in items for one in _recorded(store, extractors, event.session, item=item)]
        if recorded:
            found[event.seq] = tuple(recorded)
    return found


def refers_to_erased(event: Event, things: Mapping[int, EntityRef]) -> bool:
    """Whether it refers to an event that does not say any more what it is about."""
    return event.type == INVALIDATED and event.seq not in things and reference_of(event) is not None


def _recorded(store: EventLog, extractors: Extractors, session: str, *, item: object) -> Sequence[Closing]:
    """A closing in the record of an erasure. One that has a `row` closes what that row of the event is about; with
    `only`, no more of it than what that event opened."""
    closings = closings_from_json([item])
    row, only = (item.get("row"), item.get("only")) if isinstance(item, dict) else (None, None)
    if row is None or not closings or closings[0].seq is None:
        return closings
    event = store.get(session, closings[0].seq)
    entities = extractors.recorded([event])[0].entities if event else ()
    if type(row) is not int or not 0 <= row < len(entities):
        return ()
    thing = EntityRef(entities[row].entity_type, entities[row].name)
    return (Closing(closings[0].at, thing, closings[0].seq if only is True else None),)
