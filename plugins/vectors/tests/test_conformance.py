from __future__ import annotations

from pathlib import Path

import pytest

from zaxy_testkit import HealthCheckCase, HealthCheckSuite, PluginSuite, RetrievalLaneCase, RetrievalLaneSuite
from zaxy_vectors.doctor import VectorsCheck
from zaxy_vectors.lane import VectorLane
from zaxy_vectors.weights import SETTING

HERE = Path(__file__).parent


class TestPlugin(PluginSuite):
    plugin = "vectors"
    contract = HERE.parent / "zaxy-contract.json"


class TestLane(RetrievalLaneSuite):
    @pytest.fixture
    def case(self) -> RetrievalLaneCase:
        abilities = frozenset({"follower", "word-similarity"})
        return RetrievalLaneCase(VectorLane, settings={SETTING: ""}, capabilities=abilities, scale="cosine")


class TestDoctor(HealthCheckSuite):
    @pytest.fixture
    def case(self) -> HealthCheckCase:
        return HealthCheckCase(VectorsCheck, settings={SETTING: ""}, broken_settings={SETTING: "/nowhere"})
