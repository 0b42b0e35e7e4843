from __future__ import annotations

import pytest

from zaxy.api.checks.retrieval_lanes import RetrievalLaneCase
from zaxy.plugins.templates.retrieval_lanes import Lane
from zaxy_testkit import RetrievalLaneSuite


class TestLane(RetrievalLaneSuite):
    @pytest.fixture
    def case(self) -> RetrievalLaneCase:
        return RetrievalLaneCase(Lane, capabilities=frozenset({"follower"}))
