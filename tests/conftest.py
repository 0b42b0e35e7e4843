from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from folders import made_folder
from servers.neo4j_server import neo4j_address as neo4j_address

Zaxy = Callable[..., subprocess.CompletedProcess[str]]
OURS = ("ZAXY_", "EVENTLOOM_", "MCP_", "NEO4J_", "PROJECTION_", "CLAUDE_PROJECT_DIR")


def missing_package(name: str) -> str:
    """Why a test cannot run here that needs `codex`, a package of this tree; empty if it is installed."""
    there = any(True for _ in distributions(name=f"zaxy-{name}"))
    return "" if there else f"needs zaxy-{name}, which is not installed"


def missing_module(name: str) -> str:
    """Why a module of tests cannot be imported. The kit may be on the path of the tests without being installed."""
    return "" if find_spec(f"zaxy_{name}") else f"needs zaxy-{name.replace('_', '-')}, which is not installed"


class NeedsPackage(pytest.Module):
    """A module of tests that imports a package of this tree which is not installed."""

    reason = ""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        pytest.skip(self.reason, allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Tell a package that is not installed, as where the core is alone, from an import that is wrong."""
    named = re.findall(r"^(?:from|import) zaxy_(\w+)", module_path.read_text(encoding="utf-8"), re.MULTILINE)
    reason = next(filter(None, map(missing_module, named)), "")
    if not reason:
        return None
    module: NeedsPackage = NeedsPackage.from_parent(parent, path=module_path)
    module.reason = reason
    return module


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs_package"):
        for name in mark.args:
            if reason := missing_package(name):
                pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> None:
    """A shell without job control starts what runs behind it deaf to it, and whatever that starts is deaf too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _nobody_looks() -> None:
    """Rows are whole where a program reads them. pytest-xdist tells its workers a width, as if a person looked."""
    os.environ.pop("COLUMNS", None)


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
    here = made_folder(tmp_path / "here")

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
