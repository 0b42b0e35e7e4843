"""Plugins that did not come back from their import. Nobody waits for them again, until they change or are tried."""

from __future__ import annotations

import os

from zaxy.plugins.discovery import locate
from zaxy.user_state import change_state, read_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zaxy.plugins.roster import InstalledPlugin

FILE = "hung-plugins.json"
"""In the user's folder: what hung in one workspace hangs in all of them."""
STAGES = ("import", "hooks", "make")
"""A plugin that hangs there gives no provider. One that hangs in a call may answer the next."""


def hung_plugins() -> dict[str, Any]:
    """What is remembered, by plugin."""
    return read_state(FILE)


def remember_hung(row: InstalledPlugin, error: str, budget: float) -> None:
    note = {"state": _state_of(row), "error": error, "budget": budget}
    try:
        change_state(FILE, lambda kept: kept.update({_key(row): note}))
    except OSError:
        return  # without a folder of the user's own, each process waits once


def forget_hung(row: InstalledPlugin) -> None:
    """Let the next that asks for it wait for it again."""

    def drop(kept: dict[str, Any]) -> None:
        kept.pop(_key(row), None)

    if _key(row) in hung_plugins():
        change_state(FILE, drop)


def left_out(row: InstalledPlugin, notes: dict[str, Any], budget: float) -> InstalledPlugin:
    """The plugin as failed if it hung within at least this budget, and is what it was then."""
    note = notes.get(_key(row))
    if not row.usable or not isinstance(note, dict) or note.get("state") != _state_of(row):
        return row
    if not isinstance(note.get("budget"), int | float) or budget > note["budget"]:
        return row
    hint = (
        f"Upgrade {row.package}, or try it again: zaxy plugins check {row.name}. If it only needs longer, raise "
        f"ZAXY_PLUGINS_BUDGET, now {budget:g} s."
    )
    return row.broken("failed", "import", f"{note.get('error')}; it is left out until it changes", hint)


def _key(row: InstalledPlugin) -> str:
    return f"{row.package}/{row.name}"


def _state_of(row: InstalledPlugin) -> str:
    """What changes with the package: its version, and place, size and time of each of its files."""
    import hashlib

    spec = locate(row.module.partition(".")[0])
    found = hashlib.sha256(row.version.encode())
    for root in (spec.submodule_search_locations if spec else None) or ():
        for folder, _, files in sorted(os.walk(root)):
            for name in sorted(name for name in files if name.endswith((".py", ".json"))):
                path = os.path.join(folder, name)
                about = os.stat(path)
                found.update(f"{path} {about.st_size} {about.st_mtime_ns}\n".encode())
    return found.hexdigest()
