from __future__ import annotations

import pytest

from zaxy_testkit import ProjectionBackendCase, ProjectionBackendSuite
from zaxy_testkit.templates.projection_backends import Backend


class TestBackend(ProjectionBackendSuite):
    @pytest.fixture
    def case(self) -> ProjectionBackendCase:
        return ProjectionBackendCase(Backend)
