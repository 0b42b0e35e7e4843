"""The `console` blocks of the pages, run as written, print what is shown; a line of `...` stands for any lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from page_examples import matches, steps

TREE = Path(__file__).parents[2]
DEMO = "/tmp/demo"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = [
    pytest.param(match[1], id=f"{page.relative_to(TREE)}:{page.read_text()[: match.start()].count(chr(10)) + 1}")
    for page in (TREE / "README.md", *sorted(TREE.glob("docs/**/*.md")), *sorted(TREE.glob("plugins/*/README.md")))
    for match in BLOCK.finditer(page.read_text())
]


@pytest.mark.parametrize("block", BLOCKS)
def test_the_example_prints_what_the_page_shows(block: str, tmp_path: Path) -> None:
    here = tmp_path / "demo"  # the folder's name becomes that of the default session
    here.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "ZAXY_STATE_DIR": str(tmp_path / "state")}
    environ.pop("COLUMNS", None)  # rows are whole where nobody looks, however long the folder's name is
    for command, shown in steps(block):
        done = subprocess.run(
            ["bash", "-c", command.replace(DEMO, str(here))],
            cwd=here,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        printed = done.stdout.replace(str(here), DEMO)
        assert matches(shown, printed), f"$ {command}\n{printed}"
