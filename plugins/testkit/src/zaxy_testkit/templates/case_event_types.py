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
        wanted = {"id": "R-1", "subject": "The crane", "why": "It squeaks."}
        again = {"subject": "The crane", "why": None}
        done = {"id": "R-1", "outcome": "oiled"}
        events = [
            sample_event("agent-1", seq, event_type=event_type, payload=payload)
            for seq, (event_type, payload) in enumerate(((WANTED, wanted), (WANTED, again), (DONE, done)), 1)
        ]
        return EventFamilyCase(Family, manifest=MANIFEST, events=tuple(events))
