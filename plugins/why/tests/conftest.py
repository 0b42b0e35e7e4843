from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # for the modules that the tests share


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("ZAXY_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "user"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
