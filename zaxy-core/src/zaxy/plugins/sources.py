"""Reads the Python sources of an installed plugin without importing it."""

from __future__ import annotations

import ast
from pathlib import Path

from zaxy.plugins.discovery import locate
from zaxy.plugins.manifest import FILE_NAME


def python_sources(module: str) -> list[str]:
    """The text of every module of the package that holds the plugin's manifest."""
    parent = module.rpartition(".")[0] or module
    specs = [spec for place in (parent, module) if (spec := locate(place)) and spec.submodule_search_locations]
    places = [[Path(folder) for folder in spec.submodule_search_locations or ()] for spec in specs]
    with_manifest = [one for one in places if any((folder / FILE_NAME).exists() for folder in one)]
    folders = next(iter(with_manifest or places), [])
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    return [file.read_text(encoding="utf-8", errors="replace") for file in files]


def imported_modules(source: str) -> set[str]:
    """The full names of all modules that a source imports, anywhere in it."""
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
    return modules


def foreign_imports(source: str) -> list[str]:
    """The modules of Zaxy that a plugin's source imports, besides `zaxy.api`."""
    ours = [name for name in imported_modules(source) if name.split(".")[0] == "zaxy"]
    return sorted(name for name in ours if name != "zaxy.api" and not name.startswith("zaxy.api."))
