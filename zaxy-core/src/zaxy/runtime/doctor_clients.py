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
from zaxy.runtime.doctor import ERROR, MEND, OK, WARNING, Check, Patient, Row
from zaxy.runtime.init_clients import BY_NAME, Site, server_of
from zaxy.runtime.init_record import change_of
from zaxy.runtime.running_servers import doubled, running_servers
from zaxy.runtime.server_trial import try_server
from zaxy.workspace import default_session, domain_of

HOOK_ERRORS = os.path.join("runtime", "hook-errors.log")
LATELY = timedelta(hours=24)
TAIL = 64 << 10


def look_at_server(patient: Patient) -> list[Row]:
    """The server is really started, in this workspace, or where there is no memory yet in an empty folder."""
    command = (*command_line(), "serve")
    if patient.has_memory:
        env = {"EVENTLOOM_PATH": patient.eventloom}
        trial = try_server(command, patient.workspace.root, env, "memory_capabilities", {})
    else:
        with tempfile.TemporaryDirectory(prefix="zaxy-doctor-") as folder:
            env = {"EVENTLOOM_PATH": os.path.join(folder, ".eventloom")}
            trial = try_server(command, folder, env, "memory_capabilities", {})
    return [Row("server", OK, f"'{' '.join(command)}' started and answered in {trial.seconds:.1f} seconds")]


# The configuration of clients


class Configured(NamedTuple):
    """A file in which a client finds our server."""

    client: str
    path: Path
    command: str
    """What it starts; empty for a server elsewhere."""
    log: str
    """The log that it names; empty where the server finds it by itself."""

    def problem(self, patient: Patient) -> str:
        """Why the client gets no server, or that of another log; empty where it gets the right one."""
        if self.command and shutil.which(self.command) is None:
            return f"starts {self.command}, which is not there"
        if self.log and os.path.realpath(self.log) != os.path.realpath(patient.eventloom):
            return f"names another log, {self.log}"
        return ""


def look_at_clients(patient: Patient) -> list[Row]:
    rows, found = list[Row](), list[str]()
    for configured in _configured(patient, rows):
        found.append(configured.client)
        rows.append(_client_row(configured, configured.problem(patient)))
    for client in sorted({client for client in found if found.count(client) > 1}):
        told = f"{client} is told of the server twice, for the user and for this project, and starts it twice"
        action = f"zaxy ide-config {client} --remove --codex-config-scope project" if client == "codex" else ""
        rows.append(Row(f"client_config:{client}", WARNING, told, action or f"zaxy ide-config {client} --remove"))
    return rows or [Row("client_config", WARNING, "no client is told of the server", patient.command("init --yes"))]


def _client_row(configured: Configured, problem: str) -> Row:
    name = f"client_config:{configured.client}"
    if problem:
        return Row(name, ERROR, f"{configured.path} {problem}", MEND)
    return Row(name, OK, f"{configured.path} starts {configured.command or 'a server elsewhere'}")


def mend_clients(patient: Patient) -> None:
    """Name the program that is there now, where the one that is named is not."""
    with client_writers(patient.workspace.stored_settings()) as host:
        workspace = patient.workspace
        site = Site(workspace, default_session(workspace), domain_of(workspace), patient.environ, host)
        for configured in _configured(patient, []):
            if configured.problem(patient):
                writer = writer_of(host, configured.client)
                read = read_file(configured.path)
                write_file(read, writer.install(read.text, server_of(site, writer), True))


def _configured(patient: Patient, rows: list[Row]) -> Iterator[Configured]:
    """Where clients find the server; files that cannot be read become rows."""
    root = Path(patient.workspace.root)
    with client_writers(patient.workspace.stored_settings()) as host:
        for client in BY_NAME:
            try:
                writer = GuardedWriter(host.get("ide_config_writers", client))
                scopes = writer.scopes
            except ZaxyError:
                continue  # its package is not installed; a broken one has a row of its own
            for scope in scopes:
                try:
                    path = target_of(writer, scope, root, patient.home, patient.environ)
                    text = read_file(path).text
                    entry = _entry_in(text, writer.remove(text, NAME) if text else text)
                except ZaxyError as error:
                    if patient.home is not None or scope == "project":
                        rows.append(Row(f"client_config:{client}", ERROR, _named(path, error), error.remediation))
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


def look_at_hooks(patient: Patient) -> list[Row]:
    rows = []
    for install in hook_installs(patient.workspace, patient.environ):
        if install.status == NOT_INSTALLED:
            continue
        bad = install.status in (BROKEN, INVALID)
        status = OK if install.status == INSTALLED else ERROR if bad else WARNING
        action = MEND if install.status == BROKEN else install.action
        rows.append(Row(f"hooks:{install.client}", status, install.message, action))
    return rows or [Row("hooks", OK, "no client has hooks of Zaxy")]


def mend_hooks(patient: Patient) -> None:
    for install in hook_installs(patient.workspace, patient.environ):
        if install.status == BROKEN:
            path = Path(patient.workspace.root, install.file)
            renew_hooks(HOOK_CLIENTS[install.client], path, patient.workspace)


def look_at_capture(patient: Patient) -> list[Row]:
    """The same as `zaxy hook-status` tells."""
    name, told = "capture_health", hook_status(patient.workspace)
    if told.watching.stopped:
        message = "capture is configured, but its watcher does not run: nothing new is imported"
        return [Row(name, WARNING, message, told.watching.resume)]
    readiness = told.coverage.readiness()
    missing = ", ".join(readiness["missing_observation_types"])
    if readiness["status"] == "ready":
        return [Row(name, OK, "commands, edits, tool calls and turns arrive")]
    message = f"{readiness['status']}: no {missing} has arrived" if missing else readiness["status"]
    return [Row(name, WARNING, message, told.warnings[0]["action"] if told.warnings else "zaxy hook-status")]


def look_at_hook_errors(patient: Patient) -> list[Row]:
    """What hooks could not record, of which the clients were told nothing."""
    path = os.path.join(patient.eventloom, HOOK_ERRORS)
    try:
        with open(path, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - TAIL, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return [Row("hook_errors", OK, "no hook has failed")]
    since = (datetime.now(UTC) - LATELY).strftime("%Y-%m-%dT%H:%M:%S")
    fresh = [line for line in lines if line[:19] >= since]
    if not fresh:
        return [Row("hook_errors", OK, "no hook has failed in the last day")]
    times = "1 time" if len(fresh) == 1 else f"{len(fresh)} times"
    told = f"hooks failed {times} in the last day, last: {fresh[-1][:200]}"
    return [Row("hook_errors", WARNING, told, "zaxy hook-event heartbeat --strict")]


# Processes


def look_at_servers(patient: Patient) -> list[Row]:
    name = "duplicate_servers"
    servers = running_servers()
    if servers is None:
        return [Row(name, OK, "not checked: this system does not tell which processes run where")]
    twice = doubled(servers, os.path.realpath(patient.workspace.root))
    if not twice:
        return [Row(name, OK, "no client runs more than one server here")]
    client, pids = next(iter(twice.items()))
    told = f"the client with process {client} runs {len(pids)} servers here: {', '.join(map(str, pids))}"
    fix = "Keep one entry named zaxy in its configuration and start it anew; docs/troubleshooting.md tells more."
    return [Row(name, WARNING, told, fix)]


CHECKS = (
    Check("server", look_at_server),
    Check("client_config", look_at_clients, mend_clients),
    Check("hooks", look_at_hooks, mend_hooks),
    Check("capture_health", look_at_capture),
    Check("hook_errors", look_at_hook_errors),
    Check("duplicate_servers", look_at_servers),
)
