"""An environment with zaxy-core and what it requires, and no other package of this tree: links, so it costs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

CORE = Path(__file__).parents[1] / "zaxy-core" / "src"


class CoreAlone:
    """Runs commands in it. Each process starts without `site`, so that no editable install is found."""

    def __init__(self, folder: Path) -> None:
        self.packages = folder / "packages"
        self.packages.mkdir()
        for installed in Path(sysconfig.get_path("purelib")).iterdir():
            if not installed.name.startswith(("zaxy_", "pytest", "_pytest")) and installed.suffix != ".pth":
                (self.packages / installed.name).symlink_to(installed)

    def run(self, *words: str, cwd: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
        return self._start("-m", "zaxy", *words, cwd=cwd, site=site)

    def python(self, program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return self._start("-c", program, cwd=cwd)

    def _start(self, *words: str, cwd: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
        paths = [CORE, self.packages, *([site] if site else [])]
        return subprocess.run(
            [sys.executable, "-S", *words],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )
