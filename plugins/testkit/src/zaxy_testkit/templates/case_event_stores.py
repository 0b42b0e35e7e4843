from __future__ import annotations

import pytest

from zaxy_testkit import EventStoreCase, EventStoreSuite
from zaxy_testkit.templates.event_stores import Store


class TestStore(EventStoreSuite):
    @pytest.fixture
    def case(self) -> EventStoreCase:
        return EventStoreCase(Store)
