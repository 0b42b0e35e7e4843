from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from servers.neo4j_server import neo4j_address as neo4j_address

Zaxy = Callable[..., subprocess.CompletedProcess[str]]
OURS = ("ZAXY_", "EVENTLOOM_", "MCP_", "NEO4J_", "PROJECTION_", "CLAUDE_PROJECT_DIR")


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the user's key that is not the user's own, also for fixtures that many tests share."""
    folder = tmp_path_factory.mktemp("user-state")
    os.environ["ZAXY_STATE_DIR"] = str(folder)
    return folder


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, state_folder: Path) -> None:
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ZAXY_STATE_DIR", str(state_folder))


@pytest.fixture
def zaxy(tmp_path: Path) -> Zaxy:
    """Run the real command in a process of its own, in an empty folder, with extra folders on the path."""
    here = tmp_path / "here"
    here.mkdir()

    def run(
        *arguments: str, site: Path | None = None, cwd: Path = here, **env: str
    ) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, **env}
        if site is not None:
            environ["PYTHONPATH"] = str(site)
        return subprocess.run(
            [sys.executable, "-m", "zaxy", *arguments],
            cwd=cwd,
            env=environ,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )

    return run
