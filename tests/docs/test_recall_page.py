"""The page about recall says what the code says: weights and constants; its sums add up and its program runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from zaxy.retrieve.profiles import PROFILES, Profile

PAGE = (Path(__file__).parents[2] / "docs" / "recall.md").read_text(encoding="utf-8")


def table(first_column: str) -> list[list[str]]:
    """The rows of a table, its titles first, without code marks."""
    match = re.search(rf"^\| {re.escape(first_column)} \|.*\n\|[-|]+\|\n(?:\|.*\n)+", PAGE, re.MULTILINE)
    assert match, f"there is no table whose first column is {first_column!r}"
    titles, _, *rows = match[0].splitlines()
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in (titles, *rows)]


def explanation() -> dict[str, object]:
    """The JSON of the worked example."""
    found = re.search(r'^      "score_explanation": (\{.*?^      \})', PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def test_the_table_of_profiles_is_the_one_that_the_code_has() -> None:
    titles, *rows = table("profile")
    assert titles == ["profile", *Profile._fields]
    assert {name: tuple(map(float, weights)) for name, *weights in rows} == {k: tuple(v) for k, v in PROFILES.items()}


def test_the_constants_are_the_ones_that_the_code_has() -> None:
    _, *rows = table("constant")
    assert {name: float(value) for name, value in rows} == {name: constant(name) for name, _ in rows}


def constant(name: str) -> float:
    module, _, attribute = name.rpartition(".")
    return float(getattr(import_module(f"zaxy.{module}"), attribute))


def test_the_sums_of_the_worked_example_add_up() -> None:
    shown = explanation()
    steps, parts = shown["steps"], shown["words"]
    assert isinstance(steps, list) and isinstance(parts, dict)
    total = sum(step["normalised"] * step["weight"] for step in steps)
    assert abs(total - float(str(shown["weighted_score"]))) < 0.0001
    assert abs(sum(parts.values()) - steps[0]["raw"]) < 0.0001


def test_the_program_on_the_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    found = re.search(r"^```python\n(.*?)^```\n\n```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    program, shown = found.groups()
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == (shown, "")
