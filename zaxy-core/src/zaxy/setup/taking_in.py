"""Trusting a memory that came from elsewhere: from now on it is believed like one's own."""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from typing import Any, NamedTuple

from zaxy.eventloom.opening import open_event_log
from zaxy.eventloom.seen_heads import SeenHeads
from zaxy.security.paths import own_folder
from zaxy.workspace import Workspace


class TakenIn(NamedTuple):
    """What was taken in."""

    eventloom: str
    was_own: bool
    events: dict[str, int]
    """How many each session has."""
    settings: dict[str, Any]
    """What the workspace's file sets, and may set."""
    unread: list[str]
    """What it sets and may not."""

    def as_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "trusted": True}


def take_in(workspace: Workspace) -> TakenIn:
    """Trust a workspace: its settings as far as a workspace may have any, and its log as it is now."""
    own_folder(workspace.eventloom, create=False)
    was_own = workspace.is_own
    before = workspace.stored_settings().here
    workspace.take_in()
    if not was_own:
        for env, value in before.items():  # what the user set for it meanwhile
            workspace.store_setting(env, value)
        _drop_followers(workspace.eventloom)
    unread = workspace.unread_settings()
    settings = {env: value for env, value in workspace.stored_settings().workspace.items() if env not in unread}
    seen = SeenHeads(workspace)
    events = {}
    with closing(open_event_log(workspace)) as log:
        for session in log.sessions():
            with log.view(session) as view:
                seen.accept(view)
                events[session] = view.end
    seen.keep()
    return TakenIn(workspace.eventloom, was_own, events, settings, unread)


def _drop_followers(eventloom: str) -> None:
    """They were made for a workspace that had no id of its own. Locks stay: somebody may hold one."""
    folder = os.path.join(eventloom, "followers")
    with suppress(OSError):
        for name in os.listdir(own_folder(folder, create=False)) if os.path.lexists(folder) else ():
            if name != "locks":
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
