"""Follow the tutorial as a reader would: make its edits, run its commands, and compare what they print with the page.

What needs an installer or an index (venv, pip, twine and the script for CI) is left out here; `test_fresh_install.py`
covers installing. A package on the path with its metadata beside it is as good as installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "plugins" / "tutorial.md").read_text(encoding="utf-8")
NEEDS_INSTALLER = ("pip ", "python3 -m venv ", "python -m zipfile ", "/tmp/try-acme/", "ZAXY=")
MAKES_PYTEST_VERBOSE = ("CI", "BUILD_NUMBER")
DEPENDS_ON_WHAT_IS_INSTALLED = ("zaxy plugins list", "ACME_NOTES_FOLDER=drafts zaxy config list")


def blocks(*languages: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [body for language, body in fenced if language in languages]


def block(language: str, start: str) -> str:
    """The one block of the page that begins so."""
    (found,) = [body for body in blocks(language) if body.startswith(start)]
    return found


def steps() -> list[tuple[str, str]]:
    """Every command of the page with what is shown for it."""
    found: list[tuple[str, str]] = []
    for line in "".join(blocks("console", "")).splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether that is what was printed; `...` stands for anything, and how long tests take does not matter."""
    first, *middle, last = _without_times(shown).split("...") if "..." in shown else (_without_times(shown), "")
    rest = _without_times(printed)
    if not rest.startswith(first) or not rest.endswith(last):
        return False
    position, end = len(first), len(rest) - len(last)
    for part in middle:
        position = rest.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return position <= end and ("..." in shown or rest == first)


def _without_times(text: str) -> str:
    """Also without what installed the command, which is not pip in every environment."""
    text = re.sub(r"(?<=&& )\S.* install .*?(?=-e '\.\[test\]')", "pip install ", text)
    return re.sub(r" in \d+\.\d+s( \(\d+:\d+:\d+\))?", " in a while", text)


class Reader:
    """Goes through the page's commands in order, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._waiting = steps()
        self._exit = 0
        self._environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_") and name not in MAKES_PYTEST_VERBOSE
        }
        self._environ |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder / "acme-notes" / "src"),
            "COLUMNS": "100",
        }

    def reads_on_to(self, last: str) -> None:
        """Run the commands up to this one, it included."""
        while True:
            command, shown = self._waiting.pop(0)
            if command.startswith("cd "):
                self.folder /= command.removeprefix("cd ")
            elif not command.startswith(NEEDS_INSTALLER):
                self._runs(command, shown)
            if command == last:
                return

    def reads_to_the_end(self) -> None:
        self.reads_on_to(self._waiting[-1][0])

    def _runs(self, command: str, shown: str) -> None:
        previous = f"(exit {self._exit}); " if command == "echo $?" else ""
        done = subprocess.run(
            ["bash", "-c", previous + command],
            cwd=self.folder,
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        self._exit = done.returncode
        if command not in DEPENDS_ON_WHAT_IS_INSTALLED:
            assert matches(shown, done.stdout), f"$ {command}\n{done.stdout}"

    def changes(self, file: str, old: str, new: str) -> None:
        """Put `new` in place of what the pattern `old` finds, once."""
        path = self.folder / file
        text, times = re.subn(old, lambda _: new, path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert times == 1, f"{file} has {times} places like {old!r}"
        path.write_text(text, encoding="utf-8")

    def writes(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text, encoding="utf-8")


def put_metadata_beside(source: Path) -> None:
    """What an installer would have written."""
    info = source / "acme_notes-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-notes\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[zaxy.plugins]\nacme-notes = acme_notes\n")


def test_a_reader_who_follows_the_tutorial_sees_what_it_shows(tmp_path: Path) -> None:
    adapter, manifest = "src/acme_notes/__init__.py", "src/acme_notes/zaxy-plugin.json"
    conformance = "tests/test_conformance.py"
    reader = Reader(tmp_path)
    reader.reads_on_to("zaxy plugins new acme-notes --point capture_adapters")
    put_metadata_beside(tmp_path / "acme-notes" / "src")
    reader.reads_on_to("zaxy plugins list")

    for file, language, start in (
        (manifest, "json", "{\n"),
        (adapter, "python", "    def sources("),
        (adapter, "python", "    def read("),
        ("pyproject.toml", "toml", "[project.entry-points"),
    ):
        shown = next(body for body in blocks(language) if body.startswith(start))
        assert shown in (reader.folder / file).read_text(encoding="utf-8"), f"{file} is not what the page shows"

    reader.changes(adapter, r"^class Adapter:.*?(?=^    def read)", block("python", "class Adapter:") + "\n")
    reader.reads_on_to("zaxy plugins check acme-notes")
    reader.writes(manifest, blocks("json")[1])
    reader.reads_on_to("zaxy plugins check acme-notes")
    reader.changes(conformance, r"^            notes = .*?\n", block("python", "            notes ="))
    reader.changes(
        conformance, r"^            write_unknown=.*?^        \)\n", block("python", "            write_unknown=")
    )
    reader.reads_on_to("pytest -q")

    one_line = block("python", "            record = _parsed")
    reader.changes(adapter, r"^            note = _parsed.*?(?=^            offset \+=)", one_line)
    wrong = block("python", "def _link(link: Mapping[str, object], source: Source) ->")
    reader.changes(adapter, r"^(?=def _utc)", wrong + "\n\n")
    reader.writes(conformance, block("python", "from __future__ import annotations\n\nfrom pathlib"))
    reader.reads_on_to("pytest -q --tb=long")
    reader.changes(
        adapter, r"^ +observations.append\(_link.*?\n", block("python", " " * 16 + "observations.append(_link")
    )
    right = block("python", "def _link(link: Mapping[str, object], source: Source, offset")
    reader.changes(adapter, r"^def _link.*?(?=^def _utc)", right + "\n\n")
    reader.reads_on_to("pytest -q")

    reader.writes("try_it.py", block("python", "from pathlib import Path\nfrom tempfile"))
    reader.writes("pretend.py", block("python", "import json\n"))
    reader.reads_to_the_end()
