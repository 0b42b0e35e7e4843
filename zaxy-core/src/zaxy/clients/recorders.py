"""Which of hooks and capture records what a client does: one of the two, so that nothing is on record twice."""

from __future__ import annotations

import os

from zaxy.clients.installed import Clients, InstalledClient
from zaxy.errors import InvalidRequest
from zaxy.observe.recording import CAPTURE, HOOKS, RECORDERS, choose_recorder, read_recording
from zaxy.workspace import Workspace


def recorder_of(
    clients: Clients, client: InstalledClient, *, workspace: Workspace, set_up: bool = False, asked: str = ""
) -> str:
    """The one that is asked for, else the one that was chosen, else the one that serves the client best.

    That is capture where a watcher is set up for this very client, or is about to be; else hooks, which need none.
    """
    possible = _possible(clients, client)
    if asked:
        if asked in possible:
            return asked
        raise _impossible(client, asked, possible)
    chosen = read_recording(workspace.eventloom).recorder_now(client.name)
    if chosen in possible:
        return chosen
    if CAPTURE in possible and (set_up or _is_watched(client, workspace)):
        return CAPTURE
    return possible[0] if possible else ""


def keep_recorder(client: InstalledClient, workspace: Workspace, recorder: str) -> bool:
    """Keep the choice, also under the name that the client's capture adapter has; whether it is new."""
    capture = client.client.capture
    workspace.make_folder()
    names = dict.fromkeys((client.name, capture.adapter if capture else client.name))
    new = [choose_recorder(workspace.eventloom, name, recorder) for name in names]
    return any(new)


def hooks_are_gone(clients: Clients, client: InstalledClient, workspace: Workspace) -> None:
    """From now on capture may record what the client's hooks no longer do."""
    recorder = read_recording(workspace.eventloom).recorder_now(client.name)
    if recorder == HOOKS and clients.reads_sessions_of(client.client):
        keep_recorder(client, workspace, CAPTURE)


def _possible(clients: Clients, client: InstalledClient) -> list[str]:
    return [
        *([HOOKS] if client.hooks is not None else []),
        *([CAPTURE] if clients.reads_sessions_of(client.client) else []),
    ]


def _is_watched(client: InstalledClient, workspace: Workspace) -> bool:
    capture = client.client.capture
    return capture is not None and bool(capture.file) and os.path.exists(os.path.join(workspace.root, capture.file))


def _impossible(client: InstalledClient, asked: str, possible: list[str]) -> InvalidRequest:
    if asked not in RECORDERS:
        return InvalidRequest(f"{asked!r:.40} is no recorder", f"Choose one of {', '.join(RECORDERS)}.")
    missing = "no hooks" if asked == HOOKS else "no package that reads its sessions"
    advice = f"Choose {possible[0]}." if possible else "Its calls of memory are recorded by the server."
    return InvalidRequest(f"{client.name} has {missing}", advice)
