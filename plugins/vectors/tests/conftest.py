from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # for the modules that the tests share

if find_spec("zaxy_vectors") is None:  # as in the environment of all other tests, whose answers it would change
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ZAXY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "user"))
