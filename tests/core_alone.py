"""An environment with zaxy-core and what it requires, and no other package of this tree: links, so it costs nothing.

As a program it runs pytest there: `hatch run test:alone tests/test_doctor.py`. The kit's checks are on the path of the
tests alone: the commands that they start do not find it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

TREE = Path(__file__).parents[1]
CORE = TREE / "zaxy-core" / "src"
PYTEST = ("pytest", "_pytest")


class CoreAlone:
    """Runs commands in it."""

    def __init__(self, folder: Path, without: tuple[str, ...] = PYTEST) -> None:
        """`without`: how the names of more packages begin that are left out."""
        venv.create(folder / "venv", symlinks=os.name == "posix")
        base = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
        packages = Path(sysconfig.get_path("purelib", "venv", vars=base))
        for installed in Path(sysconfig.get_path("purelib")).iterdir():
            if not installed.name.startswith(("zaxy_", *without)) and installed.suffix != ".pth":
                (packages / installed.name).symlink_to(installed)
        (packages / "core.pth").write_text(f"{CORE}\n", encoding="utf-8")
        self.python_file = Path(sysconfig.get_path("scripts", "venv", vars=base), Path(sys.executable).name)

    def run(self, *words: str, cwd: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
        return self._start("-m", "zaxy", *words, cwd=cwd, site=site)

    def python(self, program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return self._start("-c", program, cwd=cwd)

    def _start(self, *words: str, cwd: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python_file, *words],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(site or "")},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        alone = CoreAlone(Path(folder), without=())
        paths = ("-o", "pythonpath=tests plugins/testkit/src")
        return subprocess.run([alone.python_file, "-m", "pytest", *paths, *arguments], cwd=TREE).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
