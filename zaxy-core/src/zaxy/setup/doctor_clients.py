"""What the doctor looks at around the workspace: the server, the clients' configuration, hooks, capture, processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from zaxy.clients.entries import NAME, command_line
from zaxy.clients.files import read_file, write_file
from zaxy.clients.hook_clients import HOOK_CLIENTS
from zaxy.clients.hook_files import renew_hooks
from zaxy.clients.hook_installs import BROKEN, INSTALLED, INVALID, NOT_INSTALLED, hook_installs
from zaxy.clients.hook_status import hook_status
from zaxy.clients.installing import GuardedWriter, client_writers, target_of, writer_of
from zaxy.errors import ZaxyError
from zaxy.setup.doctor import ERROR, MEND, OK, WARNING, DoctorCheck, DoctorContext, Finding
from zaxy.setup.init_clients import BY_NAME, Site, server_of
from zaxy.setup.init_record import change_of
from zaxy.setup.running_servers import doubled, running_servers
from zaxy.setup.server_trial import try_server
from zaxy.workspace import default_session, domain_of

HOOK_ERRORS = os.path.join("runtime", "hook-errors.log")
LATELY = timedelta(hours=24)
TAIL = 64 << 10


def check_server(context: DoctorContext) -> list[Finding]:
    """The server is really started, in this workspace, or where there is no memory yet in an empty folder."""
    command = (*command_line(), "serve")
    if context.has_memory:
        env = {"EVENTLOOM_PATH": context.eventloom}
        trial = try_server(command, context.workspace.root, env, "memory_capabilities", {})
    else:
        with tempfile.TemporaryDirectory(prefix="zaxy-doctor-") as folder:
            env = {"EVENTLOOM_PATH": os.path.join(folder, ".eventloom")}
            trial = try_server(command, folder, env, "memory_capabilities", {})
    return [Finding("server", OK, f"'{' '.join(command)}' started and answered in {trial.seconds:.1f} seconds")]


# The configuration of clients


class Configured(NamedTuple):
    """A file in which a client finds our server."""

    client: str
    path: Path
    command: str
    """What it starts; empty for a server elsewhere."""
    log: str
    """The log that it names; empty where the server finds it by itself."""

    def problem(self, context: DoctorContext) -> str:
        """Why the client gets no server, or that of another log; empty where it gets the right one."""
        if self.command and shutil.which(self.command) is None:
            return f"starts {self.command}, which is not there"
        if self.log and os.path.realpath(self.log) != os.path.realpath(context.eventloom):
            return f"names another log, {self.log}"
        return ""


def check_clients(context: DoctorContext) -> list[Finding]:
    rows, found = list[Finding](), list[str]()
    for configured in _configured(context, rows):
        found.append(configured.client)
        rows.append(_client_row(configured, configured.problem(context)))
    for client in sorted({client for client in found if found.count(client) > 1}):
        told = f"{client} is told of the server twice, for the user and for this project, and starts it twice"
        action = f"zaxy ide-config {client} --remove --codex-config-scope project" if client == "codex" else ""
        rows.append(Finding(f"client_config:{client}", WARNING, told, action or f"zaxy ide-config {client} --remove"))
    return rows or [Finding("client_config", WARNING, "no client is told of the server", context.command("init --yes"))]


def _client_row(configured: Configured, problem: str) -> Finding:
    name = f"client_config:{configured.client}"
    if problem:
        return Finding(name, ERROR, f"{configured.path} {problem}", MEND)
    return Finding(name, OK, f"{configured.path} starts {configured.command or 'a server elsewhere'}")


def fix_clients(context: DoctorContext) -> None:
    """Name the program that is there now, where the one that is named is not."""
    with client_writers(context.workspace.stored_settings()) as host:
        workspace = context.workspace
        site = Site(workspace, default_session(workspace), domain_of(workspace), context.environ, host)
        for configured in _configured(context, []):
            if configured.problem(context):
                writer = writer_of(host, configured.client)
                read = read_file(configured.path)
                write_file(read, writer.install(read.text, server_of(site, writer), True))


def _configured(context: DoctorContext, rows: list[Finding]) -> Iterator[Configured]:
    """Where clients find the server; files that cannot be read become rows."""
    root = Path(context.workspace.root)
    with client_writers(context.workspace.stored_settings()) as host:
        for client in BY_NAME:
            try:
                writer = GuardedWriter(host.get("ide_config_writers", client))
                scopes = writer.scopes
            except ZaxyError:
                continue  # its package is not installed; a broken one has a row of its own
            for scope in scopes:
                try:
                    path = target_of(writer, scope, root, context.home, context.environ)
                    text = read_file(path).text
                    entry = _entry_in(text, writer.remove(text, NAME) if text else text)
                except ZaxyError as error:
                    if context.home is not None or scope == "project":
                        rows.append(Finding(f"client_config:{client}", ERROR, _named(path, error), error.remediation))
                    continue
                if entry:
                    yield Configured(client, path, _value_of("command", entry), _value_of("EVENTLOOM_PATH", entry))


def _named(path: Path, error: ZaxyError) -> str:
    return error.message if str(path) in error.message else f"{path}: {error.message}"


def _entry_in(text: str, without: str) -> str:
    """Our entry as it stands there: where the text differs from the one without it."""
    return change_of("", without.encode(), text.encode(), (), ()).inserted


def _value_of(key: str, entry: str) -> str:
    """The text that an entry has under a key, if it has one: JSON, TOML and YAML write this alike enough."""
    match = re.search(rf"""\b{key}["']?\s*[:=]\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,]+)""", entry)
    if match is None:
        return ""
    return str(json.loads(match[1])) if match[1].startswith('"') else match[1].strip("'")


# Hooks and capture


def check_hooks(context: DoctorContext) -> list[Finding]:
    rows = []
    for install in hook_installs(context.workspace, context.environ):
        if install.status == NOT_INSTALLED:
            continue
        bad = install.status in (BROKEN, INVALID)
        status = OK if install.status == INSTALLED else ERROR if bad else WARNING
        action = MEND if install.status == BROKEN else install.action
        rows.append(Finding(f"hooks:{install.client}", status, install.message, action))
    return rows or [Finding("hooks", OK, "no client has hooks of Zaxy")]


def fix_hooks(context: DoctorContext) -> None:
    for install in hook_installs(context.workspace, context.environ):
        if install.status == BROKEN:
            path = Path(context.workspace.root, install.file)
            renew_hooks(HOOK_CLIENTS[install.client], path, context.workspace)


def check_capture(context: DoctorContext) -> list[Finding]:
    """The same as `zaxy hook-status` tells."""
    name, told = "capture_health", hook_status(context.workspace)
    if told.watching.stopped:
        message = "capture is configured, but its watcher does not run: nothing new is imported"
        return [Finding(name, WARNING, message, told.watching.resume)]
    readiness = told.coverage.readiness()
    missing = ", ".join(readiness["missing_observation_types"])
    if readiness["status"] == "ready":
        return [Finding(name, OK, "commands, edits, tool calls and turns arrive")]
    message = f"{readiness['status']}: no {missing} has arrived" if missing else readiness["status"]
    return [Finding(name, WARNING, message, told.warnings[0]["action"] if told.warnings else "zaxy hook-status")]


def check_hook_errors(context: DoctorContext) -> list[Finding]:
    """What hooks could not record, of which the clients were told nothing."""
    path = os.path.join(context.eventloom, HOOK_ERRORS)
    try:
        with open(path, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - TAIL, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return [Finding("hook_errors", OK, "no hook has failed")]
    since = (datetime.now(UTC) - LATELY).strftime("%Y-%m-%dT%H:%M:%S")
    fresh = [line for line in lines if line[:19] >= since]
    if not fresh:
        return [Finding("hook_errors", OK, "no hook has failed in the last day")]
    times = "1 time" if len(fresh) == 1 else f"{len(fresh)} times"
    told = f"hooks failed {times} in the last day, last: {fresh[-1][:200]}"
    return [Finding("hook_errors", WARNING, told, "zaxy hook-event heartbeat --strict")]


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
    told = f"the client with process {client} runs {len(pids)} servers here: {', '.join(map(str, pids))}"
    fix = "Keep one entry named zaxy in its configuration and start it anew; docs/troubleshooting.md tells more."
    return [Finding(name, WARNING, told, fix)]


CHECKS = (
    DoctorCheck("server", check_server),
    DoctorCheck("client_config", check_clients, fix_clients),
    DoctorCheck("hooks", check_hooks, fix_hooks),
    DoctorCheck("capture_health", check_capture),
    DoctorCheck("hook_errors", check_hook_errors),
    DoctorCheck("duplicate_servers", check_servers),
)
