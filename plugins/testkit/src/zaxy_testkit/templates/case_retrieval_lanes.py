from __future__ import annotations

import pytest

from zaxy_testkit import RetrievalLaneCase, RetrievalLaneSuite
from zaxy_testkit.templates.retrieval_lanes import Lane


class TestLane(RetrievalLaneSuite):
    @pytest.fixture
    def case(self) -> RetrievalLaneCase:
        return RetrievalLaneCase(Lane, capabilities=frozenset({"follower"}))
