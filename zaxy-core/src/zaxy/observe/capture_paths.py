"""Whether what agents do is recorded here: by whom for each client, whether that works, and what has arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zaxy.api.models import Event
from zaxy.errors import ZaxyError
from zaxy.extract.observations import OBSERVATIONS
from zaxy.observe.hook_events import ACTOR
from zaxy.observe.readiness import Watching
from zaxy.observe.recording import CAPTURE, NOTHING as NOTHING_CHOSEN, Recording, read_recording, to_the_second
from zaxy.observe.watcher import watching
from zaxy.workspace import Workspace

CAPTURING, NOTHING, STARTS = "capturing", "nothing captured lately", "the watcher starts with a server"


def capture_status(workspace: Workspace, latest: Sequence[Event]) -> dict[str, Any]:
    """`paths` has who records each client, hooks or the watcher, and `action` what is to be done, if anything is.

    `latest`: the session's last events.
    """
    try:
        recording = read_recording(workspace.eventloom)
    except ZaxyError:  # doctor says what is wrong with it
        recording = NOTHING_CHOSEN
    watched = watching(workspace)
    last = {event.type: event.time for event in latest if event.type in OBSERVATIONS}
    status, action = _status(recording, watched, arrived=bool(last))
    return {
        "status": status,
        "paths": [_path(client, recording, watched, latest) for client in recording.choices],
        "last_seen": {kind: last.get(kind) for kind in OBSERVATIONS},
        **({"action": action} if action else {}),
    }


def _status(recording: Recording, watched: Watching, *, arrived: bool) -> tuple[str, str]:
    """In a word, and what is to be done."""
    needs_watcher = any(recording.recorder_now(client) == CAPTURE for client in recording.choices)
    if recording.paused_since:
        return f"paused since {to_the_second(recording.paused_since)}", "zaxy resume"
    if (needs_watcher or watched.configured) and not watched.running:
        return (STARTS, "") if watched.with_servers else ("the watcher is stopped", watched.resume)
    is_set_up = bool(recording.choices) or watched.running
    return CAPTURING if arrived else NOTHING, "" if arrived or is_set_up else "zaxy init"


def _path(client: str, recording: Recording, watched: Watching, latest: Sequence[Event]) -> dict[str, Any]:
    recorder = recording.recorder_now(client)
    works = recorder != CAPTURE or watched.running or watched.with_servers
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
