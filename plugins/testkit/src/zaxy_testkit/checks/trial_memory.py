"""A real memory in a scratch folder, for checks of what packages do with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess


@contextmanager
def trial_memory(scratch: Path) -> Iterator[MemoryAccess]:
    """Memory as a package is given it, which forgets everything with the folder. Nothing of the user's is touched."""
    folder = scratch / "memory"
    folder.mkdir(exist_ok=True)
    with patch.dict(os.environ, {"ZAXY_STATE_DIR": str(scratch / "user")}):
        workspace = import_module("zaxy.workspace").find_workspace(str(folder))
        with import_module("zaxy.memory").Memory(workspace) as memory:
            yield import_module("zaxy.access").access_to(memory)


def events_in(memory: MemoryAccess) -> int:
    """How many events a memory holds, without bookkeeping."""
    return sum(len(memory.replay(session)) for session in memory.sessions())
