from __future__ import annotations

import pytest

from zaxy.api.checks.signing_algorithms import SigningAlgorithmCase
from zaxy.plugins.templates.signing_algorithms import Algorithm
from zaxy_testkit import SigningAlgorithmSuite


class TestAlgorithm(SigningAlgorithmSuite):
    @pytest.fixture
    def case(self) -> SigningAlgorithmCase:
        return SigningAlgorithmCase(Algorithm)
