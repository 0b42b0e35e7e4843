"""A real memory in a scratch folder, for checks of what packages do with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from zaxy.plugins.roster import load_roster
from zaxy.settings import Settings

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess


@contextmanager
def trial_memory(scratch: Path, provider: object = None) -> Iterator[MemoryAccess]:
    """Memory as the provider's package is given it, which forgets everything with the folder.

    It takes the event types that the package owns. Nothing of the user's is touched.
    """
    folder = scratch / "memory"
    folder.mkdir(exist_ok=True)
    with patch.dict(os.environ, {"ZAXY_STATE_DIR": str(scratch / "user")}):
        workspace = import_module("zaxy.workspace").find_workspace(str(folder))
        with import_module("zaxy.memory").Memory(workspace) as memory:
            yield import_module("zaxy.access").access_to(memory, package=package_of(provider))


def package_of(provider: object) -> str:
    """The installed package whose plugin has the provider's class; empty for any other object."""
    home = _outermost(type(provider).__module__)
    rows = load_roster(Settings(environ={})).rows
    return next((row.package for row in rows if _outermost(row.module) == home), "")


def _outermost(module: str) -> str:
    return module.partition(".")[0]


def events_in(memory: MemoryAccess) -> int:
    """How many events a memory holds, without bookkeeping."""
    return sum(len(memory.replay(session)) for session in memory.sessions())
