"""What the page about capture adapters shows of an adapter at work is what it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from page_examples import matches, steps
from zaxy_testkit.scaffold import plugin_files, write_files

PAGE = Path(__file__).parents[2] / "docs" / "plugins" / "capture_adapters.md"


def test_the_adapter_reads_what_the_page_shows(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8").partition("### See what it reads\n")[2]
    program, session = re.findall(r"^```(?:python)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[:2]
    write_files(tmp_path / "package", plugin_files("acme-notes", "capture_adapters"))
    (tmp_path / "try_it.py").write_text(program, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "PYTHONPATH": str(tmp_path / "package" / "src")}
    for command, shown in steps(session):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert matches(shown, done.stdout), f"$ {command}\n{done.stdout}{done.stderr}"
