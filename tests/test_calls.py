"""Calls that read by themselves: a function with many parameters takes them by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from test_words import shown, sources

MAX_POSITIONAL = 4


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"], ["mcs"]) else names


@pytest.mark.parametrize("path", sources(), ids=shown)
def test_no_function_takes_more_than_four_parameters_by_position(path: Path) -> None:
    many = [
        f"{shown(path)}:{node.lineno}: {node.name}({', '.join(positional(node))})"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(positional(node)) > MAX_POSITIONAL
    ]
    assert many == []
