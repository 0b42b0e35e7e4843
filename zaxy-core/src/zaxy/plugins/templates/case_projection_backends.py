from __future__ import annotations

import pytest

from zaxy.api.checks.projection_backends import ProjectionBackendCase
from zaxy.plugins.templates.projection_backends import Backend
from zaxy_testkit import ProjectionBackendSuite


class TestBackend(ProjectionBackendSuite):
    @pytest.fixture
    def case(self) -> ProjectionBackendCase:
        return ProjectionBackendCase(Backend)
