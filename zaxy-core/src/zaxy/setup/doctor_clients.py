"""What the doctor looks at around the workspace: the server, the clients' configuration, hooks, capture, processes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from zaxy.api.health import ERROR, OK, WARNING, Finding
from zaxy.api.models import ServerEntry
from zaxy.clients.editing import naming
from zaxy.clients.entries import BY_NAME, NAME, command_line
from zaxy.clients.files import read_file, write_file
from zaxy.clients.hook_files import renew_hooks
from zaxy.clients.hook_installs import BROKEN, INSTALLED, INVALID, NOT_INSTALLED, hook_installs
from zaxy.clients.hook_status import hook_status
from zaxy.clients.installed import Clients, InstalledClient, open_clients, target_of
from zaxy.errors import ZaxyError
from zaxy.observe.readiness import Coverage
from zaxy.security.small_files import read_small_file
from zaxy.setup.doctor import FIX, DoctorCheck, DoctorContext
from zaxy.setup.init_clients import Target, server_in
from zaxy.setup.init_record import read_record
from zaxy.setup.running_servers import doubled, running_servers
from zaxy.setup.server_trial import try_server
from zaxy.workspace import default_session, domain_of

HOOK_ERRORS = os.path.join("runtime", "hook-errors.log")
LATELY = timedelta(hours=24)
TAIL = 64 << 10
ARRIVING = {
    "command.completed": "commands",
    "file.edit.applied": "edits",
    "tool.call.completed": "tool calls",
    "transcript.turn": "turns",
}


def check_server(context: DoctorContext) -> list[Finding]:
    """The server is really started, in this workspace, or where there is no memory yet in an empty folder."""
    command = (*command_line(), "serve")
    if context.has_memory:
        env = {"EVENTLOOM_PATH": context.eventloom}
        trial = try_server(command, context.workspace.root, env=env, tool="memory_capabilities", arguments={})
    else:
        with tempfile.TemporaryDirectory(prefix="zaxy-doctor-") as folder:
            env = {"EVENTLOOM_PATH": os.path.join(folder, ".eventloom")}
            trial = try_server(command, folder, env=env, tool="memory_capabilities", arguments={})
    return [Finding("server", OK, f"'{' '.join(command)}' started and answered in {trial.seconds:.1f} seconds")]


# The configuration of clients


class Configured(NamedTuple):
    """A file in which a client finds our server."""

    client: InstalledClient
    path: Path
    server: ServerEntry

    def problem(self, context: DoctorContext) -> str:
        """Why the client gets no server, or that of another log; empty where it gets the right one."""
        command, log = self.server.command, self.server.env.get("EVENTLOOM_PATH", "")
        if command == BY_NAME and shutil.which(command) is None:
            return f"starts {command} by its name, and it is not on the PATH"
        if command and shutil.which(command) is None:
            return f"starts {command}, which is not there"
        if self.names_former_place(context):
            return f"names {log}, where the log was before: it is found, as long as nothing else comes to lie there"
        if log and os.path.realpath(log) != os.path.realpath(context.eventloom):
            return f"names another log, {log}"
        return ""

    def names_former_place(self, context: DoctorContext) -> bool:
        log = self.server.env.get("EVENTLOOM_PATH", "")
        return log != context.eventloom and not os.path.exists(log) and context.workspace.was_at(log)


def check_clients(context: DoctorContext) -> list[Finding]:
    with open_clients(context.workspace.stored_settings()) as clients:
        rows, found = list[Finding](), list[str]()
        for configured in _configured(context, clients, rows):
            found.append(configured.client.name)
            rows.append(_client_row(configured, context))
        for name in sorted({name for name in found if found.count(name) > 1}):
            message = f"{name} has the server twice, for the user and for this project, and starts it twice"
            flag = clients.option(name, "scope")
            action = f"zaxy ide-config {name} --remove" + (f" {flag} project" if flag else "")
            rows.append(Finding(f"client_config:{name}", WARNING, message, action))
        rows += _without_package(context, clients)
    nobody = Finding("client_config", WARNING, "no client knows the server", context.command("init --yes"))
    return rows or [nobody]


def _without_package(context: DoctorContext, clients: Clients) -> Iterator[Finding]:
    """The clients that init has set up here, and whose packages are not in use any more."""
    parts = [part for change in read_record(context.workspace).files for part in change.parts]
    for name in sorted({part.client for part in parts if part.kind == "mcp"}):
        if advice := clients.how_to_get(name):
            message = "init has set it up here, and its package is not in use: nobody looks after it"
            yield Finding(f"client_config:{name}", WARNING, message, advice)


def _client_row(configured: Configured, context: DoctorContext) -> Finding:
    name, problem = f"client_config:{configured.client.name}", configured.problem(context)
    if problem:
        status = WARNING if configured.names_former_place(context) else ERROR
        by_name = f"Put {os.path.dirname(command_line()[0])} on the PATH, or run 'zaxy init --no-shared'."
        action = by_name if configured.server.command == BY_NAME else FIX
        return Finding(name, status, f"{configured.path} {problem}", action)
    return Finding(name, OK, f"{configured.path} starts {configured.server.command or 'a server elsewhere'}")


def fix_clients(context: DoctorContext) -> None:
    """Name the program that is there now, where the one that is named is not."""
    workspace = context.workspace
    workspace.note_place()
    with open_clients(workspace.stored_settings()) as clients:
        target = Target(workspace, default_session(workspace), domain_of(workspace), context.environ, clients)
        for configured in _configured(context, clients, []):
            if configured.problem(context):
                client = configured.client.client
                read = read_file(configured.path)
                server = server_in(configured.path, configured.client, target)
                write_file(read, client.install(read.text, server, True))


def _configured(context: DoctorContext, clients: Clients, rows: list[Finding]) -> Iterator[Configured]:
    """Where clients find the server; files that cannot be read become rows."""
    root = Path(context.workspace.root)
    for installed in clients.all():
        for scope in installed.client.scopes:
            try:
                path = target_of(installed.client, scope, workspace=root, home=context.home, environ=context.environ)
            except ZaxyError:
                continue  # there is no home folder, and so no file in it
            try:
                server = installed.client.find(read_file(path).text, NAME)
            except ZaxyError as error:
                message = naming(path, error).message
                rows.append(Finding(f"client_config:{installed.name}", ERROR, message, error.remediation))
                continue
            if server is not None:
                yield Configured(installed, path, server)


# Hooks and capture


def check_hooks(context: DoctorContext) -> list[Finding]:
    rows = []
    with open_clients(context.workspace.stored_settings()) as clients:
        installs = hook_installs(clients, context.workspace, context.environ)
    for install in installs:
        if install.status == NOT_INSTALLED:
            continue
        bad = install.status in (BROKEN, INVALID)
        status = OK if install.status == INSTALLED else ERROR if bad else WARNING
        action = FIX if install.status == BROKEN else install.action
        rows.append(Finding(f"hooks:{install.client}", status, install.message, action))
    return rows or [Finding("hooks", OK, "no client has hooks of Zaxy")]


def fix_hooks(context: DoctorContext) -> None:
    with open_clients(context.workspace.stored_settings()) as clients:
        for install in hook_installs(clients, context.workspace, context.environ):
            if install.status == BROKEN:
                path = Path(context.workspace.root, install.file)
                renew_hooks(clients.get(install.client), path, context.workspace)


def check_capture(context: DoctorContext) -> list[Finding]:
    """The same as `zaxy hook-status` says."""
    name, status = "capture_health", hook_status(context.workspace)
    if status.watching.stopped:
        message = "capture is configured, but its watcher does not run: nothing new is imported"
        return [Finding(name, WARNING, message, status.watching.resume)]
    readiness = status.coverage.readiness()
    missing = ", ".join(readiness["missing_observation_types"])
    if status.is_new:
        said = "it is set up, and what agents do arrives with their next session: nothing has happened yet"
        waiting = [f"hooks:{row.client}" for row in status.installs if not row.ok]
        if waiting:
            said = f"nothing has happened yet, and what {' and '.join(waiting)} says comes first"
        return [Finding(name, OK, said)]
    if readiness["status"] == "ready":
        arriving = [words for type_, words in ARRIVING.items() if type_ in readiness["active_observation_types"]]
        message = f"{' and '.join(', '.join(arriving).rsplit(', ', 1))} arrive{_subagents(status.coverage)}"
        return [Finding(name, OK, message)]
    if not status.coverage.observed and (agents := _only_by_their_tools(context)):
        message = f"there are no hooks and no capture for {agents}: memory holds what is recorded with its tools"
        return [Finding(name, OK, message)]
    message = f"{readiness['status']}: no {missing} has arrived" if missing else readiness["status"]
    message += _subagents(status.coverage)
    return [Finding(name, WARNING, message, status.warnings[0]["action"] if status.warnings else "zaxy hook-status")]


def _only_by_their_tools(context: DoctorContext) -> str:
    """The clients that have the server, where nothing else can record any of them."""
    with open_clients(context.workspace.stored_settings()) as clients:
        found = {configured.client.name: configured.client for configured in _configured(context, clients, [])}
        if any(one.hooks is not None or clients.reads_sessions_of(one.client) for one in found.values()):
            return ""
        return " and ".join(sorted(found))


def _subagents(coverage: Coverage) -> str:
    count = coverage.subagents
    return f"; {count} session{'' if count == 1 else 's'} of subagents" if count else ""


def check_hook_errors(context: DoctorContext) -> list[Finding]:
    """What hooks could not record, which the clients never heard of."""
    path = os.path.join(context.eventloom, HOOK_ERRORS)
    try:
        lines = read_small_file(path)[-TAIL:].decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return [Finding("hook_errors", OK, "no hook has failed")]
    except OSError as error:
        action = f"Move {path} away: a new one is begun when a hook fails."
        return [Finding("hook_errors", WARNING, f"{path} cannot be read: {error.strerror}", action)]
    since = (datetime.now(UTC) - LATELY).strftime("%Y-%m-%dT%H:%M:%S")
    fresh = [line for line in lines if line[:19] >= since]
    if not fresh:
        return [Finding("hook_errors", OK, "no hook has failed in the last day")]
    times = "1 time" if len(fresh) == 1 else f"{len(fresh)} times"
    message = f"hooks met what they could not record {times} in the last day, last: {fresh[-1][:200]}"
    return [Finding("hook_errors", WARNING, message, "zaxy hook-event heartbeat --strict")]


# Processes


def check_servers(context: DoctorContext) -> list[Finding]:
    name = "duplicate_servers"
    servers = running_servers()
    if servers is None:
        return [Finding(name, OK, "not checked: this system does not tell which processes run where")]
    twice = doubled(servers, os.path.realpath(context.workspace.root))
    if not twice:
        return [Finding(name, OK, "no client runs more than one server here")]
    client, pids = next(iter(twice.items()))
    message = f"the client with process {client} runs {len(pids)} servers here: {', '.join(map(str, pids))}"
    fix = "Keep one entry named zaxy in its configuration and start it again (see docs/troubleshooting.md)."
    return [Finding(name, WARNING, message, fix)]


CHECKS = (
    DoctorCheck("server", check_server),
    DoctorCheck("client_config", check_clients, fix_clients),
    DoctorCheck("hooks", check_hooks, fix_hooks),
    DoctorCheck("capture_health", check_capture),
    DoctorCheck("hook_errors", check_hook_errors),
    DoctorCheck("duplicate_servers", check_servers),
)
