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
from zaxy.plugins.roster import load_roster
from zaxy.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zaxy.api import LogAccess, MemoryAccess


@contextmanager
def trial_memory(scratch: Path, provider: object = None) -> Iterator[MemoryAccess]:
    """Memory as the provider's package is given it, which forgets everything with the folder.

    It takes the event types that the package owns. Nothing of the user's is touched.
    """
    with own_state(scratch):
        workspace = import_module("zaxy.workspace").find_workspace(_folder(scratch))
        with import_module("zaxy.memory").Memory(workspace) as memory:
            yield import_module("zaxy.access").access_to(memory, package=package_of(provider))


def package_of(provider: object) -> str:
    """The installed package whose plugin has the provider's class; empty for any other object."""
    home = _outermost(type(provider).__module__)
    rows = load_roster(Settings(environ={})).rows
    return next((row.package for row in rows if _outermost(row.module) == home), "")


def _outermost(module: str) -> str:
    return module.partition(".")[0]


@contextmanager
def own_state(scratch: Path) -> Iterator[None]:
    """Meanwhile nothing is kept in the user's own folder."""
    with patch.dict(os.environ, {"ZAXY_STATE_DIR": str(scratch / "user")}):
        yield


def trial_call(scratch: Path, words: str, arguments: Sequence[str], *, provider: object = None) -> CommandCall:
    """A call of the provider's command. All doors lead to that memory, whatever place and session its options name."""
    package = package_of(provider)
    real = import_module("zaxy.commands.doors").call_of(words, arguments, summary="", package=package)

    def open_log(*_: object, file: str = "", **__: object) -> LogAccess:
        log: LogAccess = real.open_log(_folder(scratch), file=file)
        return log

    def append(event_type: str, payload: object, **given: Any) -> dict[str, Any]:
        place = {"workspace": _folder(scratch), "eventloom_path": None, "session_id": None}
        reply: dict[str, Any] = real.append(event_type, payload, **{**given, **place})
        return reply

    return CommandCall(words, tuple(arguments), lambda *_, **__: trial_memory(scratch, provider), "", open_log, append)


def _folder(scratch: Path) -> str:
    folder = scratch / "memory"
    folder.mkdir(exist_ok=True)
    return str(folder)


def events_in(memory: MemoryAccess) -> int:
    """How many events a memory holds, without bookkeeping."""
    return sum(len(memory.replay(session)) for session in memory.sessions())
