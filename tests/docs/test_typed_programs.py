"""A user's program is checked by `mypy --strict` against what is installed: right uses pass, and wrong ones do not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from page_examples import python_examples
from zaxy import AsyncMemory, AsyncModelTools, Memory, ModelTools

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PROGRAM = (Path(__file__).parent / "typed_program.py").read_text(encoding="utf-8")
MISTAKES = {
    "memory.append(5, {})": "arg-type",
    'memory.append("note.taken", {}, aktor="ann")': "call-arg",
    'memory.feedback("cache", "decision", feedback="used", reasn="x")': "call-arg",
    'memory.tools("gemini")': "arg-type",
    'memory.quarry("cache")': "attr-defined",
    'memory.replay("work", 1, 10)': "call-arg",
}


def mistaken() -> str:
    lines = ["from zaxy import AsyncMemory, Memory", "", "", "def use(memory: Memory) -> None:"]
    lines += [f"    {mistake}" for mistake in MISTAKES]
    lines += ["", "", "async def use_async(memory: AsyncMemory) -> None:"]
    return "\n".join([*lines, *(f"    await {mistake}" for mistake in MISTAKES), ""])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says of the programs, checked together: most of its time goes to what they import."""
    here = tmp_path_factory.mktemp("typed")
    programs = {"page.py": "".join(code for code, _ in python_examples(PAGE)), "program.py": PROGRAM}
    for name, text in {**programs, "mistaken.py": mistaken()}.items():
        (here / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(here / "cache"), "."],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def said_of(found: str, file: str) -> list[str]:
    return [line for line in found.splitlines() if line.startswith(f"{file}:")]


def test_the_program_of_the_page_is_clean(found: str) -> None:
    assert said_of(found, "page.py") == []


def test_a_program_that_uses_everything_gets_the_types_that_are_promised(found: str) -> None:
    assert said_of(found, "program.py") == []


def test_a_mistake_is_found_in_both_faces(found: str) -> None:
    kinds = [line.rpartition("[")[2].rstrip("]") for line in said_of(found, "mistaken.py") if ": error:" in line]
    assert kinds == 2 * list(MISTAKES.values()), found


@pytest.mark.parametrize("kind", [Memory, AsyncMemory, ModelTools, AsyncModelTools], ids=lambda kind: kind.__name__)
def test_every_method_is_used(kind: type) -> None:
    halves = PROGRAM.partition("async def use_async")
    used = set(re.findall(r"\.(\w+)", halves[2] if kind.__name__.startswith("Async") else halves[0]))
    assert {name for name in dir(kind) if not name.startswith("_")} <= used
