from __future__ import annotations

import pytest

from zaxy.api.checks.event_stores import EventStoreCase
from zaxy.plugins.templates.event_stores import Store
from zaxy_testkit import EventStoreSuite


class TestStore(EventStoreSuite):
    @pytest.fixture
    def case(self) -> EventStoreCase:
        return EventStoreCase(Store)
