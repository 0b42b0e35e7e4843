from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import Closing, EntityRef, Event, Extraction, ProviderContext
from zaxy_testkit.checks.extractors import ExtractorCase
from zaxy_testkit.templates.extractors import Extractor

RIGHT = Extractor

MENTION = Event(
    session="agent-1",
    seq=7,
    id="evt_7_9f3c1a7e",
    type="transcript.turn",
    actor="assistant",
    time="2026-06-15T00:00:00.000000Z",
    payload={"role": "assistant", "content": "ABC-123 waits for XY-9.", "tags": ["ABC-124"]},
    hash="7" * 64,
    prev="6" * 64,
)
SILENCE = replace(MENTION, seq=8, id="evt_8_9f3c1a7e", payload={"content": "no ticket"}, hash="8" * 64, prev="7" * 64)


def case(make: Callable[..., Any], scratch: Path) -> ExtractorCase:
    return ExtractorCase(make, events=(MENTION, SILENCE))


class VersionAsAMethod(Extractor):
    def version(self) -> str:  # type: ignore[override]
        return "1"


class VersionByTheFolder(Extractor):
    def __init__(self, context: ProviderContext) -> None:
        self.version = str(context.state_dir)


class Mute(Extractor):
    def extract(self, event: Event) -> Extraction:
        return Extraction()


class OnlyOnce(Extractor):
    def __init__(self, context: ProviderContext) -> None:
        self._seen: set[int] = set()

    def extract(self, event: Event) -> Extraction:
        known = event.seq in self._seen
        self._seen.add(event.seq)
        return Extraction() if known else super().extract(event)


class Dated(Extractor):
    def __init__(self, context: ProviderContext) -> None:
        self._clock = context.clock

    def extract(self, event: Event) -> Extraction:
        today = self._clock().date().isoformat()
        rows = super().extract(event)
        return replace(rows, entities=tuple(replace(e, properties={"seen": today}) for e in rows.entities))


class NumberedProperties(Extractor):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        return replace(rows, entities=tuple(replace(e, properties={"n": float("nan")}) for e in rows.entities))


class Overconfident(Extractor):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        return replace(rows, edges=tuple(replace(edge, confidence=100) for edge in rows.edges))


class Closer(Extractor):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        closings = tuple(Closing("", EntityRef("ticket", e.name)) for e in rows.entities)
        return replace(rows, closings=closings)


class Talkative(Extractor):
    def extract(self, event: Event) -> Extraction:
        return super().extract(replace(event, payload={**(event.payload or {}), "type": "SEEN-1"}))


class Trusting(Extractor):
    def extract(self, event: Event) -> Extraction:
        return super().extract(replace(event, payload=event.payload["content"]))  # type: ignore[index, arg-type]


class Consuming(Extractor):
    def extract(self, event: Event) -> Extraction:
        rows = super().extract(event)
        for value in (event.payload or {}).values():
            if isinstance(value, list):
                value.clear()
        return rows


WRONG = {
    "it_has_the_methods_of_its_protocol": VersionAsAMethod,
    "its_version_is_a_text_and_stays_the_same": VersionByTheFolder,
    "a_sample_yields_rows": Mute,
    "the_same_event_gives_the_same_rows_again": OnlyOnce,
    "another_instance_on_another_day_gives_the_same_rows": Dated,
    "its_entities_are_well_formed": NumberedProperties,
    "its_edges_are_well_formed": Overconfident,
    "its_closings_are_well_formed": Closer,
    "an_event_it_does_not_know_gives_no_rows": Talkative,
    "an_erased_event_is_no_error": Trusting,
    "it_leaves_the_payload_as_it_is": Consuming,
}
