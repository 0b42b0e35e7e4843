from __future__ import annotations

from pathlib import Path

import pytest

from zaxy.api import ZaxyError
from zaxy_mldsa.algorithms import MlDsa44, MlDsa65, MlDsa87
from zaxy_testkit import PluginSuite, SigningAlgorithmCase, SigningAlgorithmSuite, Workbench


class TestPlugin(PluginSuite):
    plugin = "mldsa"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestMlDsa44(SigningAlgorithmSuite):
    @pytest.fixture
    def case(self) -> SigningAlgorithmCase:
        return SigningAlgorithmCase(MlDsa44)


class TestMlDsa65(SigningAlgorithmSuite):
    @pytest.fixture
    def case(self) -> SigningAlgorithmCase:
        return SigningAlgorithmCase(MlDsa65)


class TestMlDsa87(SigningAlgorithmSuite):
    @pytest.fixture
    def case(self) -> SigningAlgorithmCase:
        return SigningAlgorithmCase(MlDsa87)


def test_a_key_of_another_parameter_set_is_refused(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    small, large = (bench.make(SigningAlgorithmCase(algorithm)) for algorithm in (MlDsa44, MlDsa87))
    keys = large.generate(b"")
    with pytest.raises(ZaxyError, match="ml-dsa-44"):
        small.sign(keys.private_pem, b"", b"message")
    with pytest.raises(ZaxyError, match="ml-dsa-44"):
        small.public_key(keys.public_pem)
    assert not small.verify(keys.public_key, b"message", large.sign(keys.private_pem, b"", b"message"))
