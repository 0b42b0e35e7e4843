from __future__ import annotations

from pathlib import Path

import pytest

from zaxy_testkit import PluginSuite, ProjectionBackendCase, ProjectionBackendSuite

HERE = Path(__file__).parent


class TestPlugin(PluginSuite):
    plugin = "neo4j"
    contract = HERE.parent / "zaxy-contract.json"


@pytest.mark.xdist_group("neo4j")
class TestNeo4j(ProjectionBackendSuite):
    @pytest.fixture
    def case(self, case: ProjectionBackendCase) -> ProjectionBackendCase:
        return case
