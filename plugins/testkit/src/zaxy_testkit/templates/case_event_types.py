from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from zaxy.api import Event
from zaxy_testkit import EventFamilyCase, EventFamilySuite, described_types, sample_event
from zaxy_testkit.templates.event_types import Family

MANIFEST = Path(inspect.getfile(Family)).with_name("zaxy-plugin.json")
WANTED, DONE = described_types(MANIFEST)


def event(seq: int, event_type: str, payload: dict[str, object]) -> Event:
    return sample_event("agent-1", seq, event_type=event_type, payload=payload)


class TestFamily(EventFamilySuite):
    @pytest.fixture
    def case(self) -> EventFamilyCase:
        wanted = event(1, WANTED, {"id": "R-1", "subject": "The crane", "why": "It squeaks."})
        again = event(2, WANTED, {"subject": "The crane", "why": None})
        done = event(3, DONE, {"id": "R-1", "outcome": "oiled"})
        return EventFamilyCase(Family, manifest=MANIFEST, events=(wanted, again, done))
