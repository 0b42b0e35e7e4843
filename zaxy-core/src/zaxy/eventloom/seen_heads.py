"""Which event of each session was last seen here, kept in the user's own folder.

A whole `.eventloom` can be put in place of another, followers and all: by an older copy, by a checkout of a repository
that holds it, by a stranger. The hash of the last event that was seen then has another log behind it.
"""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING

from zaxy.errors import ZaxyError
from zaxy.user_state import change_state, read_state, state_folder

if TYPE_CHECKING:
    from typing import Any

    from zaxy.eventloom.view import LogView
    from zaxy.workspace import Workspace

MAX_SESSIONS = 500
"""Of the sessions of a workspace, those that were read last."""
SECONDS_BETWEEN = 60.0
"""Seconds after which what was kept is kept again: that costs a sync, and an older head proves almost as much."""


class SeenHeads:
    """The last heads of a workspace's sessions, as they were seen when the process began, and as they are now."""

    def __init__(self, workspace: Workspace) -> None:
        """By id and place: a copy of a workspace goes its own way, and one that was begun again has another id."""
        place = f"{workspace.identity()} {os.path.realpath(workspace.eventloom)}"
        self._name = os.path.join("workspaces", f"{blake2b(os.fsencode(place), digest_size=16).hexdigest()}.json")
        self._kept: dict[str, Any] | None = None
        self._now: dict[str, tuple[int, str]] = {}
        self._accepted = False
        """What the user accepted is kept at once."""
        self._mutex = Lock()

    def doubt(self, log: LogView) -> str:
        """Why this is not the log that was seen here last; empty where it is, or where none was seen.

        Where nothing is wrong that is found out once for each session; from then on followers notice.
        """
        head = log.head
        with self._mutex:
            if log.session not in self._now:
                self._kept = None  # another process may have accepted the log since
                if difference := self._difference(log):
                    return difference
            if head is not None:
                self._now[log.session] = (head.seq, head.hash)
        return ""

    def last(self, session: str) -> tuple[int, str] | None:
        """The number and the hash of the event that was seen last; None where none was."""
        with self._mutex:
            seen = self._seen(session)
        return (seen[0], seen[1]) if seen else None

    def accept(self, log: LogView) -> None:
        """Take the log as it is now for the one that was seen."""
        if log.head is not None:
            with self._mutex:
                self._now[log.session] = (log.head.seq, log.head.hash)
                self._accepted = True

    def keep(self) -> None:
        """Write down what was seen, unless that was done a moment ago. What cannot be kept is not."""
        with self._mutex:
            new = {name: list(head) for name, head in self._now.items() if list(head) != self._seen(name)}
        if not new or not (self._accepted or self._is_due()):
            return
        try:
            change_state(self._name, lambda state: _take(state, new))
        except (OSError, ZaxyError):
            return
        with self._mutex:
            self._kept, self._accepted = None, False

    def _difference(self, log: LogView) -> str:
        seen = self._seen(log.session)
        if seen is None:
            return ""
        seq, digest = seen
        if seq > log.end:
            return f"it ends at event {log.end}, and event {seq} was seen here"
        if log.head is not None and log.head.seq == seq:
            found = log.head.hash
        else:
            event = log.get(seq)
            found = event.hash if event else ""
        return "" if found == digest else f"event {seq} is another one than was seen here"

    def _seen(self, session: str) -> list[Any] | None:
        if self._kept is None:
            heads = read_state(self._name).get("heads")
            self._kept = heads if isinstance(heads, dict) else {}
        match self._kept.get(session):
            case [int(seq), str(digest)] if seq > 0:
                return [seq, digest]
        return None

    def _is_due(self) -> bool:
        try:
            return time.time() - os.stat(os.path.join(state_folder(), self._name)).st_mtime >= SECONDS_BETWEEN
        except OSError:
            return True


def _take(state: dict[str, Any], new: dict[str, list[Any]]) -> None:
    """The newest at the end; of too many, the first are dropped."""
    heads = state.get("heads")
    kept = {name: head for name, head in (heads if isinstance(heads, dict) else {}).items() if name not in new}
    together = [*kept.items(), *new.items()]
    state["heads"] = dict(together[-MAX_SESSIONS:])
