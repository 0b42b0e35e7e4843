from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # for the modules that the tests share

if find_spec("zaxy_sentence_transformers") is None:  # as in the environment of all other tests
    collect_ignore_glob = ["test_*.py"]
else:
    from stand_in import WordHashes

    from zaxy_sentence_transformers import engines


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ZAXY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "user"))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> WordHashes:
    """The model that stands in for a real one, for all lanes of a test."""
    made = WordHashes()
    monkeypatch.setattr(engines, "open_engine", lambda folder, settings: made)
    return made


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if what runs models were installed; nothing of it is imported."""
    monkeypatch.setattr(engines, "is_installed", lambda engine: True)
