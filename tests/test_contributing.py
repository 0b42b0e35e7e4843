"""CONTRIBUTING's lists of files are true: each is compared with what the tree says about an example."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

TREE = Path(__file__).parents[1]
PAGE = TREE / ".github" / "CONTRIBUTING.md"
SECTION = re.compile(r"^## Add an? (?P<change>[\w ]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
LISTED = re.compile(r"^- `([^`]+)`:", re.MULTILINE)
EXAMPLE = re.compile(r"Copy from `([^`]+)`(?:, in Python `([^`]+)`)?")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
SOURCE = ("zaxy-core/src/", "plugins/", "pyproject.toml")
OTHER_TESTS = re.compile(r"plugins/[^/]+/tests/")
CLASSES = {"docs": "docs/", "tests": "tests/"}


class Change(NamedTuple):
    """One section of the page: the example to copy from, and the files that it lists."""

    example: str
    attribute: str
    files: tuple[str, ...]


def change_of(text: str) -> Change:
    example = EXAMPLE.search(text)
    assert example, f"no example to copy from in {text[:80]!r}"
    return Change(example[1], example[2] or "", tuple(LISTED.findall(text)))


CHANGES = {match["change"]: change_of(match["text"]) for match in SECTION.finditer(PAGE.read_text(encoding="utf-8"))}
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@pytest.fixture(scope="module")
def tracked() -> dict[str, str]:
    """Every file of the tree that is text, by its path."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=TREE, capture_output=True, check=True).stdout.decode().split("\0")
    paths = [TREE / name for name in listed if name]
    return {
        path.relative_to(TREE).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.is_file()
    }


def code_that_names(change: Change, tracked: dict[str, str]) -> set[str]:
    """Files of the source that hold the example as a value: in quotes, as an extra, or as a setting's attribute."""
    written = [f'"{re.escape(change.example)}"', rf"^{re.escape(change.example)} = \["]
    if change.attribute:
        written.append(rf"\.{change.attribute}\b")
    named = re.compile("|".join(written), re.MULTILINE)
    source = {file: text for file, text in tracked.items() if file.startswith(SOURCE) and not OTHER_TESTS.match(file)}
    return {file for file, text in source.items() if named.search(text)}


def test_the_page_has_the_five_changes() -> None:
    assert list(CHANGES) == ["event type", "client", "tool", "backend", "setting"]


@each_change
def test_every_listed_file_is_there_and_has_the_example(change: Change, tracked: dict[str, str]) -> None:
    for listed in change.files:
        texts = [text for file, text in tracked.items() if file == listed or file.startswith(f"{listed.rstrip('/')}/")]
        assert texts, f"there is no {listed}"
        names = [name for name in (change.example, change.attribute) if name]
        assert any(name in text for text in texts for name in names), f"{listed} does not name {change.example}"


@each_change
def test_the_source_names_the_example_in_the_listed_files_and_no_others(
    change: Change, tracked: dict[str, str]
) -> None:
    folders = tuple(listed for listed in change.files if listed.endswith("/"))
    listed = sorted(file for file in change.files if file.startswith(SOURCE) and file not in folders)
    code = sorted(file for file in code_that_names(change, tracked) if not (folders and file.startswith(folders)))
    assert code == listed, f"what names {change.example} is not what CONTRIBUTING lists"


@each_change
@pytest.mark.parametrize("folder", CLASSES.values(), ids=CLASSES)
def test_a_change_comes_with_a_page_and_a_test(change: Change, folder: str) -> None:
    assert any(listed.startswith(folder) for listed in change.files)


@each_change
def test_the_snapshots_that_name_the_example_are_listed(change: Change, tracked: dict[str, str]) -> None:
    item = re.compile(rf'^    "[^"]*(?<![\w.]){re.escape(change.example)}\b[^"]*": \{{', re.MULTILINE)
    snapshots = {file for file, text in tracked.items() if re.match(r"contracts/[^v]", file) and item.search(text)}
    assert sorted(snapshots) == sorted(listed for listed in change.files if listed.startswith("contracts/"))


def test_files_that_the_page_names_in_passing_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:zaxy-core|plugins|docs|tests|contracts|\.ci)/[\w./-]+)`", text)
    assert [name for name in named if not (TREE / name).exists()] == []


@pytest.mark.parametrize("page", sorted(TREE.glob(".github/**/*.md")), ids=lambda page: page.name)
def test_links_of_these_pages_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
