"""A project's folder and its user's home folder, with the real command run in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from zaxy.eventloom.loom import Eventloom


class Project:
    """A project's folder and its user's home, with the real command run in it."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home

    def environ(self, **env: str | None) -> dict[str, str]:
        own = {**os.environ, "HOME": str(self.home), "PATH": "/usr/bin:/bin", "CODEX_HOME": None, **env}
        return {name: value for name, value in own.items() if value is not None}

    @property
    def eventloom(self) -> Path:
        return self.root / ".eventloom"

    def run(
        self, *words: str, before: tuple[str, ...] = (), stdin: str = "", **env: str | None
    ) -> subprocess.CompletedProcess[str]:
        return self.run_program(*before, sys.executable, "-m", "zaxy", *words, stdin=stdin, **env)

    def run_program(self, *words: str, stdin: str = "", **env: str | None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.root,
            env=self.environ(**env),
            capture_output=True,
            input=stdin,
            text=True,
            timeout=120,
        )

    def told(self, *words: str, code: int = 0, **env: str | None) -> dict[str, Any]:
        done = self.run(*words, "--json", **env)
        assert done.returncode == code, done.stdout + done.stderr
        told = json.loads(done.stdout)
        assert isinstance(told, dict)
        return told

    def files(self) -> dict[str, bytes]:
        """Every file of the project and the home, but for the memory itself."""
        return {
            str(path): path.read_bytes()
            for folder in (self.root, self.home)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".eventloom" not in path.parts and ".git" not in path.parts
        }

    def folders(self) -> list[str]:
        return sorted(
            str(path)
            for folder in (self.root, self.home)
            for path in folder.rglob("*")
            if path.is_dir() and ".eventloom" not in path.parts
        )

    def events(self) -> list[dict[str, Any]]:
        loom = Eventloom(str(self.root / ".eventloom"))
        found = [line.record for session in loom.sessions() for line in loom.read(session)]
        loom.close()
        return found
