from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import Closing, EntityRef, Event, Extraction, ProviderContext
from zaxy_testkit.checks.event_types import EventFamilyCase
from zaxy_testkit.templates.event_types import Family

RIGHT = Family
MANIFEST = Path(inspect.getfile(Family)).with_name("zaxy-plugin.json")

WANTED = Event(
    session="agent-1",
    seq=7,
    id="evt_7_9f3c1a7e",
    type="acme-review.wanted",
    actor="assistant",
    time="2026-06-15T00:00:00.000000Z",
    payload={"subject": "The crane", "why": "It squeaks."},
    hash="7" * 64,
    prev="6" * 64,
)
DONE = replace(WANTED, seq=8, type="acme-review.done", payload={"subject": "The crane", "outcome": "oiled"})


def case(make: Callable[..., Any], scratch: Path) -> EventFamilyCase:
    events = getattr(make, "events", (WANTED, DONE))
    return EventFamilyCase(make, manifest=MANIFEST, events=events)


class VersionAsAMethod(Family):
    def version(self) -> str:  # type: ignore[override]
        return "1"


class VersionByTheFolder(Family):
    def __init__(self, context: ProviderContext) -> None:
        self.version = str(context.state_dir)


class Mute(Family):
    def extract(self, event: Event) -> Extraction:
        return Extraction()


class OnlyOnce(Family):
    def __init__(self, context: ProviderContext) -> None:
        self._seen: set[int] = set()

    def extract(self, event: Event) -> Extraction:
        known = event.seq in self._seen
        self._seen.add(event.seq)
        return Extraction() if known else super().extract(event)


class Dated(Family):
    def __init__(self, context: ProviderContext) -> None:
        self._clock = context.clock

    def extract(self, event: Event) -> Extraction:
        today = self._clock().date().isoformat()
        rows = super().extract(event)
        return replace(rows, entities=tuple(replace(e, properties={"seen": today}) for e in rows.entities))


class NumberedProperties(Family):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        return replace(rows, entities=tuple(replace(e, properties={"n": float("nan")}) for e in rows.entities))


class Overconfident(Family):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        return replace(rows, edges=tuple(replace(edge, confidence=100) for edge in rows.edges))


class Trusting(Family):
    def extract(self, event: Event) -> Extraction:
        assert event.payload is not None
        return super().extract(event)


class Demanding(Family):
    def extract(self, event: Event) -> Extraction:
        if event.payload is not None:
            assert event.payload["subject"]
        return super().extract(event)


class Consuming(Family):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        if isinstance(event.payload, dict):
            event.payload.clear()
        return rows


class Undescribed(Family):
    events = (WANTED, replace(DONE, payload={"subject": "The crane", "outcome": 7}))


class OfAnotherType(Family):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        return replace(rows, entities=tuple(replace(e, entity_type="decision") for e in rows.entities))


class Meddling(Family):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        return replace(rows, closings=(*rows.closings, Closing(event.time, EntityRef("decision", "oil"))))


class NamedOtherwise(Family):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        return replace(rows, entities=tuple(replace(e, name=f"review of {e.name}") for e in rows.entities))


WRONG = {
    "it_has_the_methods_of_its_protocol": VersionAsAMethod,
    "its_version_is_a_text_and_stays_the_same": VersionByTheFolder,
    "a_sample_yields_rows": Mute,
    "the_same_event_gives_the_same_rows_again": OnlyOnce,
    "another_instance_on_another_day_gives_the_same_rows": Dated,
    "its_entities_are_well_formed": NumberedProperties,
    "its_edges_are_well_formed": Overconfident,
    "an_erased_event_is_no_error": Trusting,
    "it_leaves_the_payload_as_it_is": Consuming,
    "the_manifest_describes_the_samples": Undescribed,
    "its_rows_are_of_types_that_the_manifest_names": OfAnotherType,
    "it_ends_nothing_but_its_own": Meddling,
    "ids_and_titles_name_what_lives": NamedOtherwise,
    "a_payload_without_its_fields_is_no_error": Demanding,
}
