from __future__ import annotations

import pytest

from zaxy_testkit import HealthCheckCase, HealthCheckSuite
from zaxy_testkit.templates.doctor_checks import FOLDER, Health


class TestHealth(HealthCheckSuite):
    @pytest.fixture
    def case(self) -> HealthCheckCase:
        return HealthCheckCase(
            Health,
            capabilities=frozenset({"fix"}),
            well=lambda workspace: (workspace / FOLDER).mkdir(exist_ok=True),
        )
