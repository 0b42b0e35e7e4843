from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from zaxy import Memory
from zaxy_coordinate import Missions

sys.path.append(str(Path(__file__).parent))  # for the modules that the tests share


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ZAXY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "user"))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(here: Path) -> Iterator[Memory]:
    with Memory.open(here) as memory:
        yield memory


@pytest.fixture
def missions(memory: Memory) -> Missions:
    """A workspace with the mission `port`, on which w1 and w2 work."""
    missions = Missions(memory)
    missions.start("port", "Port it to Windows", actor="ada")
    for worker in ("w1", "w2"):
        missions.create_worker("port", worker, actor="ada")
    return missions
