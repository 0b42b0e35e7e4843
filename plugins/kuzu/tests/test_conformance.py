from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from zaxy_kuzu.graph import KuzuGraph
from zaxy_testkit import PluginSuite, ProjectionBackendCase, ProjectionBackendSuite

HERE = Path(__file__).parent


class TestPlugin(PluginSuite):
    plugin = "kuzu"
    contract = HERE.parent / "zaxy-contract.json"


class TestKuzu(ProjectionBackendSuite):
    @pytest.fixture
    def case(self) -> ProjectionBackendCase:
        return ProjectionBackendCase(KuzuGraph)


@pytest.mark.skipif(find_spec("ladybug") is None, reason="ladybug is not installed")
def test_it_passes_the_same_checks_on_ladybug() -> None:
    """In a process of its own: the two engines cannot be loaded into one."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "on_ladybug.py")]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert finished.returncode == 0, finished.stdout
