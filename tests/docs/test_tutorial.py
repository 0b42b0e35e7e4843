"""Follow the tutorial as a reader would: save its files, run its commands, and see that they print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from page_examples import matches, steps

TREE = Path(__file__).parents[2]
PAGE = TREE / "docs" / "plugins" / "tutorial.md"
READER = "/home/ann"
END = "-- that was all of it --"
SAVED = re.compile(r"Save\s+as\s+`([^`]+)`:$")
SHOWN = re.compile(r"From\s+`([^`]+)`:$")
REPLACED = re.compile(r"In\s+`([^`]+)`,\s+replace$")
NOT_THE_READERS = re.compile(r"PYTEST|ZAXY|EVENTLOOM|MCP|VIRTUAL_ENV|PYTHON|CI$|BUILD_NUMBER|COLUMNS$")
"""Names in the environment of the tests."""


class Block(NamedTuple):
    before: str
    """What stands between it and the block above."""
    language: str
    body: str


def blocks(text: str) -> Iterator[Block]:
    end = 0
    for found in re.finditer(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        body = re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE)
        yield Block(text[end : found.start()].strip(), found[2], body)
        end = found.end()


class Reader:
    """Sits in one shell, in which `cd` and the environment that was activated last."""

    def __init__(self, home: Path) -> None:
        (home / "zaxy").symlink_to(TREE)
        self.home, self.folder = home, home / "work"
        self.folder.mkdir()
        self._replaces = ("", "")
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=self.folder,
            env=self._environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not NOT_THE_READERS.match(name)}
        cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
        return {**kept, "HOME": str(self.home), "PIP_CACHE_DIR": cache}

    def follows(self, block: Block) -> None:
        if not block.language:
            for command, shown in steps(block.body):
                printed = self.runs(command)
                assert matches(shown, printed), f"$ {command}\n{printed}"
        elif found := SAVED.search(block.before):
            (self.folder / found[1]).write_text(block.body, encoding="utf-8")
        elif found := SHOWN.search(block.before):
            assert block.body in (self.folder / found[1]).read_text(encoding="utf-8")
        elif found := REPLACED.search(block.before):
            self._replaces = found[1], block.body
        else:
            assert block.before == "by", f"what is a reader to do with this?\n{block.body}"
            self._replace(block.body)

    def _replace(self, new: str) -> None:
        file, old = self.folder / self._replaces[0], self._replaces[1]
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file.name} has {text.count(old)} places like\n{old}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def runs(self, command: str) -> str:
        """What the command prints. The exit code stays for the next one to see."""
        assert self._shell.stdin and self._shell.stdout
        line = f"{{ {command}\n}} </dev/null; code=$?; printf '\\n%s' '{END}'; pwd; (exit $code)\n"
        self._shell.stdin.write(line)
        self._shell.stdin.flush()
        printed = ""
        while not (found := re.search(rf"\n{END}(.+)\n\Z", printed)):
            line = self._shell.stdout.readline()
            assert line, f"the shell ended with:\n{printed}"
            printed += line
        self.folder = Path(found[1])
        return printed[: found.start()].replace(str(self.home), READER)

    def leaves(self) -> None:
        assert self._shell.stdin
        self._shell.stdin.close()
        self._shell.wait(timeout=300)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # it installs packages three times, on machines that do much else
def test_a_reader_who_follows_the_tutorial_sees_what_it_shows(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for block in blocks(PAGE.read_text(encoding="utf-8")):
            reader.follows(block)
    finally:
        reader.leaves()
