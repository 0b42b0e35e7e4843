"""A client's name stands in one module of the core, its own; everything else knows clients by what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[1] / "zaxy-core" / "src"
NAMES = {
    "claude-code": r"claude(?!.desktop|desktop)",
    "claude-desktop": r"claude.?desktop",
    "codex": r"codex",
    "cursor": r"\.cursor(?:rules|/)|(?<=[\"'])\.cursor\b|local-cursor|CursorClient|cursor-agent",
    "gemini": r"gemini",
    "hermes": r"hermes",
    "vscode": r"vs.?code",
}
HOMES = {"claude-desktop": "claude_desktop", "cursor": "cursor", "gemini": "gemini", "vscode": "vscode"}
"""The clients that are built in, and their modules in `zaxy/clients`; the others have packages."""
ALLOWED = {
    "zaxy/plugins/zaxy-plugin.json": "where the built-in clients are registered",
    "zaxy/plugins/packages.json": "the packages of this tree",
    "zaxy/command_table.py": "the word codex-capture",
    "zaxy/commands/capture.py": "the word codex-capture",
    "zaxy/setup/genesis.py": "names of instruction files",
    "zaxy/extract/workspaces.py": "names of instruction files",
    "zaxy/workspace.py": "the variable CLAUDE_PROJECT_DIR, in which a server is handed its project",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_client_is_named_in_its_own_module_and_where_that_is_allowed(name: str) -> None:
    own = f"zaxy/clients/{HOMES[name]}.py" if name in HOMES else ""
    files = [
        path for ending in ("py", "json") for path in CORE.rglob(f"*.{ending}") if "contracts/data" not in str(path)
    ]
    naming = {
        str(path.relative_to(CORE)): lines
        for path in files
        if (lines := [line for line in path.read_text().splitlines() if re.search(NAMES[name], line, re.IGNORECASE)])
    }
    assert naming.keys() - {own, *ALLOWED} == set(), naming


def test_what_is_allowed_is_still_needed() -> None:
    anybody = "|".join(NAMES.values())
    for file, reason in ALLOWED.items():
        assert re.search(anybody, (CORE / file).read_text(), re.IGNORECASE), f"{file}: {reason}"
