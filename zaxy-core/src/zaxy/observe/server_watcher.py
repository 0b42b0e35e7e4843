"""The watcher that a server keeps running: what capture records is on record while a client has its memory open.

It is a process of its own that ends with the server, so neither an adapter nor a long session file is in the way of a
reply. Of several servers one has it; when that one ends, another starts the next.
"""

from __future__ import annotations

import time
from threading import Thread

from zaxy.errors import ZaxyError
from zaxy.observe.recording import read_recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

    from zaxy.workspace import Workspace

BEFORE_THE_FIRST_LOOK = 2.0
"""Seconds in which the server starts undisturbed, and in which one that is only tried is gone again."""
BETWEEN_LOOKS = 10.0
MAX_PAUSE = 600.0
"""Seconds between two tries where watchers end by themselves: the reason is in their log, and doctor shows it."""


def keep_watching(workspace: Workspace) -> None:
    """See to it, from now on and in the background, that a watcher runs where one is wanted."""
    Thread(target=_work, args=(workspace,), name="zaxy-watching", daemon=True).start()


def is_wanted(workspace: Workspace) -> bool:
    if not read_recording(workspace.eventloom).captures_now:
        return False  # and nothing of capture is imported
    from zaxy.observe.watcher import is_running, starts_with_servers

    return starts_with_servers(workspace) and not is_running(workspace)


def _work(workspace: Workspace) -> None:
    watcher: Popen[bytes] | None = None
    pause = BEFORE_THE_FIRST_LOOK
    while True:
        time.sleep(pause)
        try:
            if not is_wanted(workspace):
                pause = BETWEEN_LOOKS
            elif watcher is None or watcher.poll() is not None:
                pause = BETWEEN_LOOKS if watcher is None else min(2 * pause, MAX_PAUSE)
                watcher = _started(workspace)
        except (OSError, ZaxyError):
            pause = min(2 * pause, MAX_PAUSE)  # a damaged file, a full disk: doctor says so


def _started(workspace: Workspace) -> Popen[bytes]:
    from zaxy.observe.watcher_process import start_beside_server

    return start_beside_server(workspace)
