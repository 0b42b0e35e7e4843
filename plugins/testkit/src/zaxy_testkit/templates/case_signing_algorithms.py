from __future__ import annotations

import pytest

from zaxy_testkit import SigningAlgorithmCase, SigningAlgorithmSuite
from zaxy_testkit.templates.signing_algorithms import Algorithm


class TestAlgorithm(SigningAlgorithmSuite):
    @pytest.fixture
    def case(self) -> SigningAlgorithmCase:
        return SigningAlgorithmCase(Algorithm)
