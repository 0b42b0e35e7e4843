from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from zaxy_testkit import EventFamilyCase, EventFamilySuite, described_types, sample_event
from zaxy_testkit.templates.event_types import Family

MANIFEST = Path(inspect.getfile(Family)).with_name("zaxy-plugin.json")
WANTED, DONE = described_types(MANIFEST)


class TestFamily(EventFamilySuite):
    @pytest.fixture
    def case(self) -> EventFamilyCase:
        wanted = sample_event("agent-1", 1, event_type=WANTED, payload={"subject": "The crane", "why": "It squeaks."})
        done = sample_event("agent-1", 2, event_type=DONE, payload={"subject": "The crane", "outcome": "oiled"})
        return EventFamilyCase(Family, manifest=MANIFEST, events=(wanted, done))
