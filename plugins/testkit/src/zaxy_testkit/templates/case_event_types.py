from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from zaxy.api import Event
from zaxy_testkit import EventFamilyCase, EventFamilySuite, described_types
from zaxy_testkit.templates.event_types import Family

MANIFEST = Path(inspect.getfile(Family)).with_name("zaxy-plugin.json")
WANTED, DONE = described_types(MANIFEST)


def event(seq: int, event_type: str, payload: dict[str, object]) -> Event:
    time = f"2026-06-15T00:00:{seq:02}.000000Z"
    return Event("agent-1", seq, f"evt_{seq}_9f3c1a7e", event_type, "assistant", time, payload, f"{seq}" * 64, "0" * 64)


class TestFamily(EventFamilySuite):
    @pytest.fixture
    def case(self) -> EventFamilyCase:
        wanted = event(1, WANTED, {"id": "R-1", "subject": "The crane", "why": "It squeaks."})
        again = event(2, WANTED, {"subject": "The crane", "why": None})
        done = event(3, DONE, {"id": "R-1", "outcome": "oiled"})
        return EventFamilyCase(Family, manifest=MANIFEST, events=(wanted, again, done))
