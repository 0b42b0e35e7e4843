"""One module per command group: skins that parse, call and print, and hold no logic."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run_app(module: str, words: Sequence[str]) -> int:
    """Run the typer app of a command group; `words` begins with the group's own name."""
    app = import_module(module).app
    try:
        app(list(words[1:]), prog_name=f"zaxy {words[0]}")
    except SystemExit as leaving:  # typer leaves this way, also when all went well
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return 0
