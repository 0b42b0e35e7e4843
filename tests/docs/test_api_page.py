"""The page on the Python API has every public method with its exact signature, and its program prints what it shows."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from zaxy.api import Event
from zaxy.memory import Memory
from zaxy.retrieve.results import Answer

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PUBLIC = [name for name in vars(Memory) if not name.startswith("_")]
METHODS = [name for name in PUBLIC if name != "session"]
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def signature(name: str) -> str:
    told = inspect.signature(getattr(Memory, name))
    own = [parameter for parameter in told.parameters.values() if parameter.name != "self"]
    parameters = [
        f"{parameter.name}: {parameter.annotation}"
        + ("" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"'))
        for parameter in own
    ]
    return f"Memory.{name}({', '.join(parameters)}) -> {told.return_annotation}"


def test_the_page_has_a_section_for_every_public_name_and_for_nothing_else() -> None:
    assert sorted(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)) == sorted(PUBLIC)


@pytest.mark.parametrize("name", METHODS)
def test_a_methods_section_shows_its_exact_signature(name: str) -> None:
    section = re.search(rf"^### {name}\n\n```\n(.*?)```\n\n\S", PAGE, re.MULTILINE | re.DOTALL)
    assert section
    shown = re.sub(r"\s+", " ", section[1]).strip().replace("( ", "(").replace(" )", ")")
    assert shown == signature(name)


def test_the_fields_of_what_comes_back_are_named() -> None:
    after = PAGE[PAGE.index("## What comes back") :]
    rows = {*Event.__dataclass_fields__, "citation"}, {*Answer.__dataclass_fields__, "as_dict()"}
    for name, expected in zip(("Event", "Answer"), rows, strict=True):
        row = re.search(rf"^\| `{name}` \| .* \| (.*) \|$", after, re.MULTILINE)
        assert row
        assert set(re.findall(r"`([^`]+)`", row[1])) == expected


def test_the_program_of_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    examples = EXAMPLE.findall(PAGE)
    program = "".join(code for code, _ in examples)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("".join(shown for _, shown in examples), "")
