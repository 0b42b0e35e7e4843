"""Plain words: one word for one thing, everyday words, and no class name that means two things."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TREE = Path(__file__).parents[1]
CORE = TREE / "zaxy-core" / "src"
PLUGINS = sorted((TREE / "plugins").glob("*/src"))
TEMPLATES = "templates"
"""Files that a plugin's author starts from: their class names are the author's."""

ONLY_IN_NAMES = {
    "patient": "DoctorContext",
    "wish": "options",
    "offer": "plan",
    "piece": "edit",
    "fence": "citations_in_text",
    "most": "max",
    "longest": "max, with the unit behind it",
    "largest": "max",
    "shortest": "min",
    "fewest": "min",
    "tellings": "observations",
}
EVERYWHERE = {
    "told": "payload, reply, message or text: what it is",
    "anew": "again",
    "mend": "fix",
    "mends": "fixes",
    "mended": "fixed",
    "mending": "fixing",
    "whoever": "a plain sentence",
}
PHRASES = {"so many": "a count", "be it": "a plain sentence"}

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def sources() -> list[Path]:
    return sorted(path for root in (CORE, *PLUGINS) for path in root.rglob("*.py"))


def shown(path: Path) -> str:
    return str(path.relative_to(TREE))


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that the code itself gives or uses, with its line."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Name):
            yield line, node.id
        elif isinstance(node, ast.Attribute):
            yield line, node.attr
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield line, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield line, node.name


def prose(path: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Docstrings, messages, help and comments. A text of one word is a name, such as a JSON field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def stumbles(path: Path) -> list[str]:
    tree = ast.parse(path.read_text())
    found = []
    for line, name in identifiers(tree):
        for word in map(str.lower, WORD.findall(name)):
            if better := {**ONLY_IN_NAMES, **EVERYWHERE}.get(word):
                found.append(f"{shown(path)}:{line}: {name}: instead of {word!r} say {better}")
    for line, text in prose(path, tree):
        for word in map(str.lower, re.findall(r"[A-Za-z]+", text)):
            if better := EVERYWHERE.get(word):
                found.append(f"{shown(path)}:{line}: instead of {word!r} say {better}")
        for phrase, better in PHRASES.items():
            if re.search(rf"\b{phrase}\b", text, re.IGNORECASE):
                found.append(f"{shown(path)}:{line}: instead of {phrase!r} say {better}")
    return found


@pytest.mark.parametrize("path", sources(), ids=shown)
def test_names_and_comments_use_plain_words(path: Path) -> None:
    assert stumbles(path) == []


@pytest.mark.parametrize("path", sources(), ids=shown)
def test_no_splat_only_pleases_the_formatter(path: Path) -> None:
    tree = ast.parse(path.read_text())
    splats = [
        f"{shown(path)}:{node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List)
    ]
    assert splats == []


@pytest.mark.parametrize("root", (CORE, *PLUGINS), ids=shown)
def test_a_class_name_stands_in_one_module_only(root: Path) -> None:
    homes = defaultdict(list)
    for path in root.rglob("*.py"):
        if TEMPLATES not in path.parts:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    homes[node.name].append(shown(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
