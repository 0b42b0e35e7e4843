"""Whether what agents do is recorded here: by whom for each client, whether that works, and what has arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zaxy.api.models import Event
from zaxy.errors import ZaxyError
from zaxy.extract.observations import OBSERVATIONS
from zaxy.observe.hook_events import ACTOR
from zaxy.observe.readiness import Watching
from zaxy.observe.recording import CAPTURE, NOTHING, Recording, read_recording, to_the_second
from zaxy.observe.watcher import watching
from zaxy.workspace import Workspace

NOT_SET_UP = "not set up: no client has hooks, and no watcher runs"


def capture_status(workspace: Workspace, latest: Sequence[Event]) -> dict[str, Any]:
    """`paths` has who records each client, hooks or the watcher. `latest`: the session's last events."""
    try:
        recording = read_recording(workspace.eventloom)
    except ZaxyError:  # doctor says what is wrong with it
        recording = NOTHING
    watched = watching(workspace)
    last = {event.type: event.time for event in latest if event.type in OBSERVATIONS}
    paths = [_path(client, recording, watched, latest) for client in recording.choices]
    return {
        "status": _status(recording, watched, arrived=bool(last), is_set_up=bool(paths)),
        "paths": paths,
        "last_seen": {kind: last.get(kind) for kind in OBSERVATIONS},
    }


def _status(recording: Recording, watched: Watching, *, arrived: bool, is_set_up: bool) -> str:
    needs_watcher = any(recording.recorder_now(client) == CAPTURE for client in recording.choices)
    if recording.paused_since:
        return f"paused since {to_the_second(recording.paused_since)}"
    if (needs_watcher or watched.configured) and not watched.running:
        return f"the watcher is stopped: {watched.resume}"
    if arrived:
        return "capturing"
    return "set up, and nothing captured lately" if is_set_up or watched.running else NOT_SET_UP


def _path(client: str, recording: Recording, watched: Watching, latest: Sequence[Event]) -> dict[str, Any]:
    recorder = recording.recorder_now(client)
    works = watched.running if recorder == CAPTURE else True
    times = [event.time for event in latest if _is_of(event, client)]
    return {
        "client": client,
        "recorder": "watcher" if recorder == CAPTURE else recorder,
        "healthy": works and not recording.paused_since,
        "last_seen": times[-1] if times else None,
    }


def _is_of(event: Event, client: str) -> bool:
    """Whether a hook or the watcher recorded it of that client."""
    source = str((event.payload or {}).get("source", ""))
    return source.partition(":")[0] == client and (event.actor == ACTOR or event.type in OBSERVATIONS)
