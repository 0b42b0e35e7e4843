"""`zaxy hook-status | capture-soak`."""

from __future__ import annotations

import json

import typer

from zaxy.clients.expected_kinds import expected_kinds
from zaxy.clients.hook_status import hook_status
from zaxy.clients.installed import open_clients
from zaxy.commands import command, new_app
from zaxy.commands.doors import session_of
from zaxy.commands.typer_options import AsJson, EventloomPath, SessionId, WorkspaceFolder
from zaxy.eventloom.opening import open_event_log
from zaxy.observe.self_test import self_test
from zaxy.observe.watcher import watching
from zaxy.printing import say
from zaxy.workspace import find_workspace

app = new_app("hook-status")


@command(app, "hook-status")
def status(workspace: WorkspaceFolder = None, eventloom_path: EventloomPath = None, as_json: AsJson = False) -> None:
    found = hook_status(find_workspace(workspace, eventloom_path))
    say(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) if as_json else found.page())


@command(app, "capture soak")
@command(app, "capture-soak")
def capture_soak(
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    found = find_workspace(workspace, eventloom_path)
    with open_clients(found.stored_settings()) as clients:
        report = self_test(
            open_event_log(found),
            session_of(session_id, found),
            watching(found),
            expected=lambda sources: expected_kinds(clients, found, sources),
        )
    say(json.dumps(report.as_dict(), indent=2, ensure_ascii=False) if as_json else report.page())
    raise typer.Exit(0 if report.passed else 1)
