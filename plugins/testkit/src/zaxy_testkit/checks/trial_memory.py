"""A real memory in a scratch folder, for checks of what packages do with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from zaxy.api import CommandCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zaxy.api import LogAccess, MemoryAccess


@contextmanager
def trial_memory(scratch: Path) -> Iterator[MemoryAccess]:
    """Memory as a package is given it, which forgets everything with the folder. Nothing of the user's is touched."""
    with own_state(scratch):
        workspace = import_module("zaxy.workspace").find_workspace(_folder(scratch))
        with import_module("zaxy.memory").Memory(workspace) as memory:
            yield import_module("zaxy.access").access_to(memory)


@contextmanager
def own_state(scratch: Path) -> Iterator[None]:
    """Meanwhile nothing is kept in the user's own folder."""
    with patch.dict(os.environ, {"ZAXY_STATE_DIR": str(scratch / "user")}):
        yield


def trial_call(scratch: Path, words: str, arguments: Sequence[str]) -> CommandCall:
    """A call of a command. All doors lead to that memory, whatever place and session its options name."""
    real = import_module("zaxy.commands.doors").call_of(words, arguments, summary="")

    def open_log(*_: object, file: str = "", **__: object) -> LogAccess:
        log: LogAccess = real.open_log(_folder(scratch), file=file)
        return log

    def append(event_type: str, payload: object, **given: Any) -> dict[str, Any]:
        place = {"workspace": _folder(scratch), "eventloom_path": None, "session_id": None}
        reply: dict[str, Any] = real.append(event_type, payload, **{**given, **place})
        return reply

    return CommandCall(words, tuple(arguments), lambda *_, **__: trial_memory(scratch), "", open_log, append)


def _folder(scratch: Path) -> str:
    folder = scratch / "memory"
    folder.mkdir(exist_ok=True)
    return str(folder)


def events_in(memory: MemoryAccess) -> int:
    """How many events a memory holds, without bookkeeping."""
    return sum(len(memory.replay(session)) for session in memory.sessions())
