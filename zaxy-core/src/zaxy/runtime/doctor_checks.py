"""What the doctor looks at in the workspace itself: Python, disk, files, log, followers, plugins and the owner."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shlex import quote

from zaxy.eventloom.admission import admit_own
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.verify import Report
from zaxy.observe import hook_events
from zaxy.plugins.check import check_plugin
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import chosen_graph, take_roll
from zaxy.runtime.doctor import ERROR, OK, WARNING, Check, Patient, Row
from zaxy.runtime.owner import clear_left_over, has_left_over, is_held, needs_owner, unreachable
from zaxy.runtime.owner_client import memory_of, owner_answers
from zaxy.settings import Settings
from zaxy.workspace import default_session

LEAST_SPACE, LITTLE_SPACE = 16 << 20, 256 << 20
MANY_BEHIND = 5000
"""Events that a read may have to follow before it answers: about a second's work."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO
PYTHON = (3, 11)


def look_at_python(_: Patient) -> list[Row]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        return [Row("python", ERROR, f"Python {version} is too old", f"Install Zaxy with Python {wanted} or later.")]
    return [Row("python", OK, f"Python {version}, {sys.executable}")]


def look_at_sqlite(_: Patient) -> list[Row]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE trial USING fts5(words)")
    except sqlite3.Error:
        action = "Use a Python whose SQLite has FTS5, such as those of python.org."
        return [Row("sqlite", ERROR, f"SQLite {sqlite3.sqlite_version} has no full-text search (FTS5)", action)]
    finally:
        connection.close()
    return [Row("sqlite", OK, f"SQLite {sqlite3.sqlite_version} with full-text search")]


def look_at_workspace(patient: Patient) -> list[Row]:
    workspace = patient.workspace
    workspace.stored_settings()
    if not patient.has_memory:
        return [Row("workspace", WARNING, f"{workspace.root} has no memory yet", patient.command("init --yes"))]
    message = f"{workspace.root}, by {workspace.chosen_by}; session {default_session(workspace)}"
    return [Row("workspace", OK, message)]


def look_at_disk(patient: Patient) -> list[Row]:
    folder = patient.eventloom if patient.has_memory else patient.workspace.root
    free = shutil.disk_usage(folder).free
    told = f"{free / (1 << 30):.1f} GB free" if free >= 1 << 30 else f"{free / (1 << 20):.0f} MB free"
    if free < LITTLE_SPACE:
        status = ERROR if free < LEAST_SPACE else WARNING
        return [Row("disk_space", status, f"only {told} where the log is", f"Make room on the disk of {folder}.")]
    return [Row("disk_space", OK, told)]


# Files


def look_at_modes(patient: Patient) -> list[Row]:
    if sys.platform == "win32":
        return [Row("file_modes", OK, "not checked: Windows keeps the folder to its user in another way")]
    found = list(_open_to_others(patient.eventloom))
    if found:
        first = os.path.relpath(found[0], patient.workspace.root)
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        action = f"chmod -R go-rwx {quote(patient.eventloom)}"
        return [Row("file_modes", WARNING, f"{first}{more} has a mode for others than you", action)]
    return [Row("file_modes", OK, "only you can read the memory")]


def mend_modes(patient: Patient) -> None:
    for path in _open_to_others(patient.eventloom):
        os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~OTHERS)


def _open_to_others(folder: str) -> Iterator[str]:
    """The folder and the log's own files, if they have a mode for others; if the folder has one, all that is in it.

    What followers and plugins keep in a folder that only its user can enter need not have such modes itself.
    """
    places = os.walk(folder) if _has_mode_for_others(folder) else islice(os.walk(folder), 1)
    paths = [folder, *(os.path.join(place, name) for place, _, files in places for name in files)]
    yield from filter(_has_mode_for_others, paths)


def _has_mode_for_others(path: str) -> bool:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    return not stat.S_ISLNK(status.st_mode) and bool(status.st_mode & OTHERS)


# The log


def look_at_log(patient: Patient) -> list[Row]:
    loom = Eventloom(patient.eventloom)
    try:
        states = [(loom.state(session), loom.verify(session)) for session in loom.sessions()]
    finally:
        loom.close()
    wrong = [row for state, report in states if (row := _wrong_log(patient, state, report))]
    if wrong:
        return wrong
    if not states:
        return [Row("log_chain", OK, "nothing is recorded yet")]
    events = sum(report.events for _, report in states)
    sessions = f"{len(states)} sessions" if len(states) > 1 else "1 session"
    return [Row("log_chain", OK, f"{events:,} events in {sessions}: every byte, hash and link proven")]


def _wrong_log(patient: Patient, state: str, report: Report) -> Row | None:
    session = report.session
    if report.damage is not None:
        told = f"{session} is damaged at event {report.damage.seq}: {report.damage.reason}"
        return Row(
            "log_chain", ERROR, told, f"Restore {session}.jsonl from a copy; {patient.command('verify')} proves it."
        )
    if state != "ok":
        told = f"{session} is whole, but marked as {state} and so not written to"
        return Row("log_chain", ERROR, told, patient.command(f"repair {session}"))
    if report.torn:
        told = f"{session} ends in {report.torn} bytes of a write that was interrupted"
        return Row("log_chain", WARNING, told, patient.command(f"repair {session}"))
    return None


def mend_log(patient: Patient) -> None:
    loom = Eventloom(patient.eventloom)
    try:
        for session in loom.sessions():
            report, state = loom.verify(session), loom.state(session)
            if report.ok and (report.torn or state != "ok"):
                loom.repair(session)
    finally:
        loom.close()


def look_at_write_path(patient: Patient) -> list[Row]:
    """A heartbeat is appended and read back: it proves the write path, and means nothing else."""
    if not patient.has_memory:
        return [Row("write_path", OK, "not tried: there is no memory yet")]
    loom = Eventloom(patient.eventloom)
    try:
        session = default_session(patient.workspace)
        payload = hook_events.payload_of("heartbeat", {"source": "doctor"})
        entry = admit_own(hook_events.TRIGGERS["heartbeat"].type, hook_events.ACTOR, payload)
        written = loom.append(session, [entry])[0]
        read = loom.get(session, written.seq)
    finally:
        loom.close()
    if read is None or read.hash != written.hash:
        told = f"a heartbeat was written to {session} as event {written.seq}, and is not there"
        return [Row("write_path", ERROR, told, patient.command(f"verify {session}"))]
    return [Row("write_path", OK, f"a heartbeat was written to {session} and read back as event {written.seq}")]


# Followers and plugins


def look_at_followers(patient: Patient) -> list[Row]:
    if not patient.has_memory:
        return [Row("followers", OK, "not tried: there is no memory yet")]
    with memory_of(patient.workspace) as memory:
        states = [state for session in memory.sessions() for state in memory.followers_status(session)]
    rows = []
    for state in states:
        if state.problem:
            rebuild = patient.command(f"followers rebuild {state.follower} --session-id {state.session}")
            rows.append(Row("followers", ERROR, state.warning, state.remediation or rebuild))
        elif state.behind > MANY_BEHIND:
            action = patient.command(f"followers digest --session-id {state.session}")
            rows.append(Row("followers", WARNING, state.warning, action))
    if rows:
        return rows
    behind = max((state.behind for state in states), default=0)
    late = f"at most {behind} events behind; the next read takes them" if behind else "up to the log"
    return [Row("followers", OK, late)]


def mend_followers(patient: Patient) -> None:
    with memory_of(patient.workspace) as memory:
        for session in memory.sessions():
            broken = [state.follower for state in memory.followers_status(session) if state.problem]
            if broken:
                memory.rebuild_followers(session, broken)


def look_at_plugins(patient: Patient) -> list[Row]:
    settings = Settings(stored=patient.workspace.stored_settings())
    roster = take_roll(settings)
    with tempfile.TemporaryDirectory(prefix="zaxy-doctor-") as scratch:
        host = PluginHost(roster, settings.lenient(), Path(scratch), "doctor")
        found = [finding for row in roster.rows for finding in check_plugin(host, row) if not finding.is_note]
    rows = [
        Row(f"plugin:{finding.plugin}", ERROR, f"{finding.stage}: {finding.error}", finding.hint) for finding in found
    ]
    rows += [Row("plugins", WARNING, notice, "zaxy config list") for notice in roster.notices]
    if rows:
        return rows
    working = [row.name for row in roster.rows if row.state != "disabled"]
    return [Row("plugins", OK, f"{', '.join(working)}: all work; the graph is {chosen_graph(settings)}")]


# The owner of a graph that one process holds


def look_at_owner(patient: Patient) -> list[Row]:
    name, workspace = "embedded_mcp_runtime", patient.workspace
    if is_held(workspace):
        if not owner_answers(workspace):
            error = unreachable(workspace)
            return [Row(name, ERROR, error.message, error.remediation)]
        return [Row(name, OK, "a server owns the graph and answers")]
    if has_left_over(workspace) and clear_left_over(workspace):
        return [Row(name, OK, "what an owner that is no more had left was cleared away")]
    if needs_owner(workspace):
        return [Row(name, OK, "nobody owns the graph; the next server will")]
    return [Row(name, OK, "not needed: every process can open the graph")]


CHECKS = (
    Check("python", look_at_python),
    Check("sqlite", look_at_sqlite),
    Check("workspace", look_at_workspace),
    Check("disk_space", look_at_disk),
    Check("file_modes", look_at_modes, mend_modes),
    Check("log_chain", look_at_log, mend_log),
    Check("write_path", look_at_write_path),
    Check("followers", look_at_followers, mend_followers),
    Check("plugins", look_at_plugins),
    Check("embedded_mcp_runtime", look_at_owner),
)
