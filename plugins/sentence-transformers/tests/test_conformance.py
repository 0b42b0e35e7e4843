from __future__ import annotations

from pathlib import Path

import pytest
from stand_in import WordHashes, settings

from zaxy_sentence_transformers.doctor import ModelCheck
from zaxy_sentence_transformers.follower import SentenceLane
from zaxy_testkit import HealthCheckCase, HealthCheckSuite, PluginSuite, RetrievalLaneCase, RetrievalLaneSuite


class TestPlugin(PluginSuite):
    """The package as a whole."""


class TestLane(RetrievalLaneSuite):
    @pytest.fixture
    def case(self, model: WordHashes, tmp_path: Path) -> RetrievalLaneCase:
        return RetrievalLaneCase(
            SentenceLane,
            settings=settings(tmp_path / "model"),
            capabilities=frozenset({"follower", "background", "rerank"}),
            scale="cosine",
        )


class TestDoctorRows(HealthCheckSuite):
    @pytest.fixture
    def case(self, installed: None, tmp_path: Path) -> HealthCheckCase:
        return HealthCheckCase(
            ModelCheck,
            settings=settings(tmp_path / "model"),
            broken_settings={"ZAXY_SENTENCE_MODEL": str(tmp_path / "empty")},
        )
