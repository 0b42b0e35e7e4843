"""What work stands open by the end of a log: goals, tasks, decisions, blockers and handoffs that nothing has ended.

The events are read in their order by the rules that the graph is made with. What ends a thing comes after it, so an end
of the log is enough to know of each thing in it whether it still holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from zaxy.api.names import folded_name, folded_names
from zaxy.assemble.standing import DROPPED, PENDING, is_open, status_of
from zaxy.extract.closings import ends_at, row_closings
from zaxy.extract.references import INVALIDATED, reference_of
from zaxy.extract.rules import RULES, extract

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zaxy.api.models import Closing, Entity, Event

KINDS = {"handoff": "handoff", "goal": "goal", "task": "task", "issue": "blocker", "decision": "decision"}
"""The types of things that are shown, in their order, and what each is called."""
TYPES = tuple(name for name, rule in RULES.items() if rule.entity_type in KINDS)
ENDING = (INVALIDATED, "event.erased", "imported.erased")
NOT_REVIEWED = frozenset(("pending_worker", "rejected", "conflict"))
"""Authorities of what somebody else found, and nobody with the right to it has accepted."""


@dataclass
class OpenThing:
    """A thing as the last event that tells of it leaves it."""

    entity: Entity
    """Of the last event; what earlier ones said of it too is in `text` and `properties`."""
    text: str
    properties: dict[str, object]
    event: Event
    since: str
    ids: set[str]
    names: set[str]
    seqs: set[int] = field(default_factory=set)

    @property
    def kind(self) -> str:
        return self.entity.entity_type

    @property
    def status(self) -> str:
        return str(self.properties.get("status") or "")

    def is_same(self, entity: Entity, ids: set[str], names: set[str]) -> bool:
        """Whether it is the thing that another event tells of: ids count more than titles."""
        if self.kind != entity.entity_type:
            return False
        if entity.merges and ids and self.ids:
            return not ids.isdisjoint(self.ids)
        return not names.isdisjoint(self.names)


def open_work(events: Iterable[Event], now: str) -> list[OpenThing]:
    """What holds at a moment and is not finished, newest first. The events come oldest first."""
    things: list[OpenThing] = []
    for event in events:
        things = _without_ended(things, event, now)
        entities = extract(event).entities if event.type in TYPES else ()
        if entities and (event.payload or {}).get("authority") not in NOT_REVIEWED:
            _put(things, entities[0], event, now)
    return sorted((thing for thing in things if _stands(thing)), key=lambda thing: -thing.event.seq)


def _stands(thing: OpenThing) -> bool:
    entity = replace(thing.entity, properties=thing.properties)
    if thing.kind == "decision":
        return status_of(entity) not in DROPPED | PENDING
    return is_open(entity)


def _put(things: list[OpenThing], entity: Entity, event: Event, now: str) -> None:
    ids, names = folded_names(entity.ids), folded_names((entity.name, *entity.ids, *entity.titles))
    since = entity.observed_at or event.time
    if since > now:
        return  # it does not hold yet
    known = next((thing for thing in things if thing.is_same(entity, ids, names)), None)
    if known is None:
        kept = {name: value for name, value in entity.properties.items() if value is not None}
        things.append(OpenThing(entity, entity.summary, kept, event, since, ids, names, {event.seq}))
        return
    if known.since > since:
        return  # it tells how things stood before
    if not entity.merges:
        known.properties, known.ids, known.names = {}, set(), set()
    if not (entity.merges and entity.default_summary):
        known.text = entity.summary
    together = {**known.properties, **entity.properties}
    known.properties = {name: value for name, value in together.items() if value is not None}
    known.entity, known.event, known.since = entity, event, since
    known.ids |= ids
    known.names |= names
    known.seqs.add(event.seq)


def _without_ended(things: list[OpenThing], event: Event, now: str) -> list[OpenThing]:
    """The things that an event leaves standing."""
    closings = [closing for closing in extract(event).closings if closing.at <= now]
    seqs = {item["seq"] for item in row_closings(event) if type(item.get("seq")) is int}
    referred = reference_of(event) if event.type == INVALIDATED else None
    if referred is not None and ends_at(event, event.payload or {}) <= now:
        seqs.add(referred.cited.seq)
    if not closings and not seqs:
        return things
    return [thing for thing in things if seqs.isdisjoint(thing.seqs) and not _ended_by(thing, closings)]


def _ended_by(thing: OpenThing, closings: Iterable[Closing]) -> bool:
    return any(
        closing.seq == thing.event.seq
        if closing.entity is None
        else closing.entity.entity_type == thing.kind and folded_name(closing.entity.name) in thing.names
        for closing in closings
    )
