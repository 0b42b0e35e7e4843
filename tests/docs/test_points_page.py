"""The page about plugins shows every extension point: its sentence, tested code of one screen, and who uses it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from zaxy.api.catalog import POINTS

TREE = Path(__file__).parents[2]
PAGE = (TREE / "docs" / "plugins" / "README.md").read_text(encoding="utf-8")
PACKAGES = (TREE / "plugins" / "README.md").read_text(encoding="utf-8")
TEMPLATES = TREE / "plugins" / "testkit" / "src" / "zaxy_testkit" / "templates"
SCREEN = 40


def section(point: str) -> str:
    match = re.search(rf"^### {point}\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert match, f"docs/plugins/README.md has no section '### {point}'"
    return match[1]


def test_the_page_has_every_point_in_the_order_of_the_catalog() -> None:
    shown = PAGE.partition("## One screen for each point\n")[2]
    assert re.findall(r"^### (\w+)$", shown, re.MULTILINE) == list(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_a_point_is_shown_by_its_sentence_tested_code_and_its_users(point: str) -> None:
    text, summary = section(point), POINTS[point].summary
    assert f"\n{summary[0].upper()}{summary[1:]}.\n[All of it]({point}.md)" in text
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert code in (TEMPLATES / f"{point}.py").read_text(encoding="utf-8"), (
        f"copy it from templates/{point}.py, as it is there now"
    )
    assert len(code.splitlines()) <= SCREEN
    assert "**Who uses it:** " in text


def test_the_table_names_the_packages_that_provide_each_point() -> None:
    manifests = {"zaxy-core": TREE / "zaxy-core" / "src" / "zaxy" / "plugins" / "zaxy-plugin.json"}
    manifests |= {f"zaxy-{path.parts[-4]}": path for path in sorted(TREE.glob("plugins/*/src/*/zaxy-plugin.json"))}
    provided = {
        package: {one["point"] for one in json.loads(path.read_text(encoding="utf-8"))["provides"]}
        for package, path in manifests.items()
    }
    listed = re.findall(r"^\| \[(\w+)\]\(\S+/README\.md#\1\) \| (.*) \|$", PACKAGES, re.MULTILINE)
    assert listed == [
        (point, ", ".join(f"`{package}`" for package in provided if point in provided[package]) or "none yet")
        for point in POINTS
    ]
