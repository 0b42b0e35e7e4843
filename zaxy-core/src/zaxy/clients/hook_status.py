"""`zaxy hook-status`: which hooks are installed, whether a configured watcher runs, and what has arrived."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any, NamedTuple

from zaxy.clients.expected_kinds import expected_kinds
from zaxy.clients.hook_installs import INSTALLED, NOT_INSTALLED, Install, hook_installs
from zaxy.clients.installed import Clients, open_clients
from zaxy.eventloom.opening import open_event_log
from zaxy.extract.observations import OBSERVATIONS
from zaxy.observe.readiness import Coverage, Seen, Watching, workspace_coverage
from zaxy.observe.recording import read_recording, to_the_second
from zaxy.observe.watcher import watching
from zaxy.workspace import Workspace


class HookStatus(NamedTuple):
    workspace: Workspace
    installs: tuple[Install, ...]
    watching: Watching
    coverage: Coverage
    paused_since: str
    """Empty where recording is not paused."""

    @property
    def is_new(self) -> bool:
        """Whether it is set up, and no agent has worked here yet: then nothing is missing."""
        nobody = not self.coverage.observed and self.coverage.latest_hook is None and not self.coverage.own_calls
        return nobody and (self.watching.configured or any(row.status != NOT_INSTALLED for row in self.installs))

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What keeps observations from arriving, each with what to do about it."""
        found = [
            {"message": f"{row.client}: {row.message}", "action": row.action} for row in self.installs if not row.ok
        ]
        if self.paused_since:
            message = f"recording is paused since {to_the_second(self.paused_since)}: hooks and capture record nothing"
            found.append({"message": message, "action": "zaxy resume"})
        if self.watching.stopped:
            message = "capture is configured, but its watcher does not run: nothing new is imported"
            found.append({"message": message, "action": self.watching.resume})
        for session in self.coverage.unreadable:
            found.append({"message": f"the log of {session} is damaged", "action": f"zaxy verify {session}"})
        if not self.watching.configured and all(row.status == NOT_INSTALLED for row in self.installs):
            message = "no client has Zaxy's hooks, and no capture is configured"
            found.append({"message": message, "action": "zaxy init"})
        return found

    def as_dict(self) -> dict[str, Any]:
        latest = self.coverage.latest_hook
        return {
            "workspace": self.workspace.root,
            "eventloom_path": self.workspace.eventloom,
            "clients": [row.as_dict() for row in self.installs],
            "watcher": self.watching.as_dict(),
            "paused_since": self.paused_since or None,
            "latest_hook_event": latest.as_dict() if latest else None,
            "coverage": {type_: self._covered(type_) for type_ in OBSERVATIONS},
            "events_looked_at": self.coverage.events,
            "capture_readiness": self.coverage.readiness(),
            "warnings": self.warnings,
        }

    def _covered(self, type_: str) -> dict[str, Any] | None:
        seen = self.coverage.observed.get(type_)
        return {"count": seen.occurrences, "last": seen.time, "citation": seen.citation} if seen else None

    def page(self) -> str:
        """The same for people."""
        latest, observed = self.coverage.latest_hook, self.coverage.observed
        readiness = self.coverage.readiness()["status"]
        return "\n".join(
            [
                *(f"{row.client:<20} {row.status:<16} {row.file or '-'}" for row in self.installs),
                f"{'capture watcher':<20} {self.watching.state}",
                f"{'latest hook event':<20} {f'{latest.type}  {latest.time[:19]}' if latest else '-'}",
                *(f"{type_:<20} {_seen(observed.get(type_))}" for type_ in OBSERVATIONS),
                f"{'capture readiness':<20} {readiness}",
                *(f"warning: {row['message']}\n  {row['action']}" for row in self.warnings),
            ]
        )


def hook_status(workspace: Workspace) -> HookStatus:
    watched, paused = watching(workspace), read_recording(workspace.eventloom).paused_since
    with open_clients(workspace.stored_settings()) as clients:
        installs = [_with_capture(row, clients, watched, workspace) for row in hook_installs(clients, workspace)]
        with closing(open_event_log(workspace)) as log:
            coverage = workspace_coverage(log)
        expected = expected_kinds(clients, workspace, coverage.sources)
    in_order = tuple(type_ for type_ in OBSERVATIONS if type_ in expected)
    return HookStatus(workspace, tuple(installs), watched, coverage._replace(expected=in_order), paused)


def _seen(seen: Seen | None) -> str:
    return f"{seen.occurrences:<16} {seen.time[:19]}" if seen else "never seen"


def _with_capture(row: Install, clients: Clients, watched: Watching, workspace: Workspace) -> Install:
    """A client needs no hooks where a watcher was set up for its session files; whether that runs is said apart."""
    capture = clients.get(row.client).client.capture
    if row.status != NOT_INSTALLED or capture is None or not capture.file or not watched.configured:
        return row
    if not os.path.exists(os.path.join(workspace.root, capture.file)):
        return row
    return Install(row.client, INSTALLED, capture.file, f"captured by the watcher, which is {watched.state}")
