"""The conformance checks on the engine Ladybug; `test_conformance` runs them in a process of their own."""

from __future__ import annotations

import pytest

from zaxy_kuzu.graph import KuzuGraph
from zaxy_testkit import ProjectionBackendCase, ProjectionBackendSuite


class TestLadybug(ProjectionBackendSuite):
    @pytest.fixture
    def case(self) -> ProjectionBackendCase:
        return ProjectionBackendCase(KuzuGraph, settings={"ZAXY_KUZU_ENGINE": "ladybug"})
