"""What the doctor looks at in the workspace itself: Python, disk, files, log, followers, plugins and the owner."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from zaxy.api.health import ERROR, OK, WARNING, Finding
from zaxy.api.models import Report
from zaxy.errors import InternalError
from zaxy.eventloom.drafts import own_draft
from zaxy.eventloom.opening import files_log, open_event_log
from zaxy.eventloom.reader import after_damage
from zaxy.observe import hook_events
from zaxy.observe.recording import read_recording
from zaxy.owner.client import MemoryOfOwner, memory_of, owner_answers
from zaxy.owner.owner import clear_left_over, has_left_over, is_held, needs_owner, unreachable
from zaxy.plugins.check import check_plugin
from zaxy.plugins.host import PluginHost
from zaxy.plugins.kit import PACKAGE as KIT, part_of_kit
from zaxy.plugins.roster import chosen_graph, load_roster
from zaxy.security.paths import unusable_folder
from zaxy.settings import Settings
from zaxy.setup.doctor import FIX, DoctorCheck, DoctorContext
from zaxy.setup.doctor_packages import POINT as HEALTH_POINT
from zaxy.user_state import KEY_FILE, state_folder, why_not_kept
from zaxy.workspace import default_session

if TYPE_CHECKING:
    from zaxy.follow.loop import FollowerState
    from zaxy.memory import Memory

MIN_SPACE, LITTLE_SPACE = 16 << 20, 256 << 20
MANY_BEHIND = 5000
"""Events that a read may have to follow before it answers: about a second's work."""
SECONDS_TO_TRY = 5.0
"""How long all followers of one kind may work on a session to show whether they can."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO
PYTHON = (3, 11)


def check_python(_: DoctorContext) -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        return [
            Finding("python", ERROR, f"Python {version} is too old", f"Install Zaxy with Python {wanted} or later.")
        ]
    return [Finding("python", OK, f"Python {version}, {sys.executable}")]


def check_sqlite(_: DoctorContext) -> list[Finding]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE trial USING fts5(words)")
    except sqlite3.Error:
        action = "Use a Python whose SQLite has FTS5, such as those of python.org."
        return [Finding("sqlite", ERROR, f"SQLite {sqlite3.sqlite_version} has no full-text search (FTS5)", action)]
    finally:
        connection.close()
    return [Finding("sqlite", OK, f"SQLite {sqlite3.sqlite_version} with full-text search")]


def check_workspace(context: DoctorContext) -> list[Finding]:
    workspace = context.workspace
    workspace.stored_settings()
    if not context.has_memory:
        return [Finding("workspace", WARNING, f"{workspace.root} has no memory yet", context.command("init --yes"))]
    message = f"{workspace.root}, by {workspace.chosen_by}; session {default_session(workspace)}"
    return [Finding("workspace", OK, message)]


def check_trust(context: DoctorContext) -> list[Finding]:
    """Whether this user made the workspace or trusts it, and what of its file is not read."""
    workspace = context.workspace
    rows = []
    if workspace.passed_over:
        message = f"{workspace.passed_over} belongs to another user, and was passed over"
        rows.append(Finding("trust", WARNING, message, "To use it all the same, name it with --workspace."))
    if not workspace.is_own:
        message = "this memory came from elsewhere: its settings are not read, and its facts are not believed"
        rows.append(Finding("trust", WARNING, message, context.command("trust")))
    elif unread := workspace.unread_settings():
        message = f"{workspace.identity_file} sets what only you may set, and is not obeyed: {', '.join(unread)}"
        rows.append(Finding("trust", WARNING, message, f"zaxy config set {unread[0]} VALUE"))
    return rows or [Finding("trust", OK, "this user made the workspace, or trusts it")]


def check_disk(context: DoctorContext) -> list[Finding]:
    folder = context.eventloom if context.has_memory else context.workspace.root
    free = shutil.disk_usage(folder).free
    message = f"{free / (1 << 30):.1f} GB free" if free >= 1 << 30 else f"{free / (1 << 20):.0f} MB free"
    if free < LITTLE_SPACE:
        status = ERROR if free < MIN_SPACE else WARNING
        return [
            Finding("disk_space", status, f"only {message} where the log is", f"Make room on the disk of {folder}.")
        ]
    return [Finding("disk_space", OK, message)]


# Files


def check_modes(context: DoctorContext) -> list[Finding]:
    if sys.platform == "win32":
        return [Finding("file_modes", OK, "not checked: Windows keeps the folder to its user in another way")]
    found = list(_open_to_others(context.eventloom))
    if found:
        first = os.path.relpath(found[0], context.workspace.root)
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        action = f"chmod -R go-rwx {quote(context.eventloom)}"
        return [Finding("file_modes", WARNING, f"{first}{more} can be read or written by other users", action)]
    return [Finding("file_modes", OK, "only you can read the memory")]


def fix_modes(context: DoctorContext) -> None:
    for path in list(_open_to_others(context.eventloom)):
        os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~OTHERS)


def _open_to_others(folder: str) -> Iterator[str]:
    """The folder and the log's own files, if they have a mode for others; if the folder has one, what lies in folders
    below it that have one too.

    What followers and plugins keep in a folder that only its user can enter need not have such modes itself.
    """
    if _has_mode_for_others(folder):
        yield folder
    for place, folders, files in os.walk(folder):
        yield from filter(_has_mode_for_others, [os.path.join(place, name) for name in files])
        is_open = _has_mode_for_others(place)
        folders[:] = [name for name in folders if is_open and _has_mode_for_others(os.path.join(place, name))]
        yield from (os.path.join(place, name) for name in folders)


def _has_mode_for_others(path: str) -> bool:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    return not stat.S_ISLNK(status.st_mode) and bool(status.st_mode & OTHERS)


def check_key(_: DoctorContext) -> list[Finding]:
    path = os.path.join(state_folder(), KEY_FILE)
    if problem := why_not_kept():
        message = (
            f"the key that followers are sealed with cannot be kept in {path} ({problem}): each process rebuilds them"
        )
        action = "Make that folder yours to write, or set ZAXY_STATE_DIR to one that is."
        return [Finding("user_key", WARNING, message, action)]
    return [Finding("user_key", OK, f"followers are sealed with the key in {path}")]


# The log


def check_log(context: DoctorContext) -> list[Finding]:
    with closing(open_event_log(context.workspace)) as log:
        states = [(log.state(session), log.verify(session)) for session in log.sessions()]
        wrong = [row for state, report in states if (row := _wrong_log(context, state, report))]
    if wrong:
        return wrong
    if not states:
        return [Finding("log_chain", OK, "nothing is recorded yet")]
    events = sum(report.events for _, report in states)
    sessions = f"{len(states)} sessions" if len(states) > 1 else "1 session"
    return [Finding("log_chain", OK, f"{events:,} events in {sessions}: every byte, hash and link checked")]


def _wrong_log(context: DoctorContext, state: str, report: Report) -> Finding | None:
    session = report.session
    if report.damage is not None:
        message = f"{session} is damaged at event {report.damage.seq}: {report.damage.reason}"
        return Finding("log_chain", ERROR, message, after_damage(session))
    if state != "ok":
        message = f"{session} is whole, but marked as {state} and so not written to"
        return Finding("log_chain", ERROR, message, context.command(f"repair {session}"))
    if report.torn:
        message = f"{session} ends in {report.torn} bytes of a write that was interrupted"
        return Finding("log_chain", WARNING, message, context.command(f"repair {session}"))
    return None


def fix_log(context: DoctorContext) -> None:
    with closing(open_event_log(context.workspace)) as log:
        for session in log.sessions():
            report, state = log.verify(session), log.state(session)
            if report.ok and (report.torn or state != "ok"):
                log.repair(session)


def check_write_path(context: DoctorContext) -> list[Finding]:
    """An append is tried up to where it would change the log, and for the rest beside it."""
    if not context.has_memory:
        return [Finding("write_path", OK, "not tried: there is no memory yet")]
    if read_recording(context.eventloom).paused_since:
        return [Finding("write_path", OK, "not tried: recording is paused")]
    session = default_session(context.workspace)
    with closing(open_event_log(context.workspace)) as log:
        if (state := log.state(session)) != "ok":
            message = f"nothing is appended to {session} while it is marked as {state}"
            return [Finding("write_path", ERROR, message, "The row log_chain says what to do.")]
        log.check_writable(session)
    _write_beside(context, session)
    return [Finding("write_path", OK, f"{session} can be written; beside it an event was synced and read back")]


def _write_beside(context: DoctorContext, session: str) -> None:
    """The same disk and the same code, in a folder that goes again: the log is as it was."""
    payload = hook_events.payload_of("heartbeat", {"source": "doctor"})
    draft = own_draft(hook_events.TRIGGERS["heartbeat"].type, hook_events.ACTOR, payload)
    try:
        with (
            tempfile.TemporaryDirectory(prefix=".trial-", dir=context.eventloom) as folder,
            closing(files_log(folder)) as trial,
        ):
            written = trial.append(session, [draft])[0]
            read = trial.get(session, written.seq)
    except OSError as error:
        raise unusable_folder(context.eventloom, error) from None
    if read is None or read.hash != written.hash:
        raise InternalError("an event that was written is not there", "Check the disk that the log is on.")


# Followers and plugins


def check_followers(context: DoctorContext) -> list[Finding]:
    if not context.has_memory:
        return [Finding("followers", OK, "not tried: there is no memory yet")]
    with memory_of(context.workspace) as memory:
        whole = [session for session in memory.sessions() if not memory.doubts(session)]  # of others, the log's row
        states = [state for session in whole for state in _tried(memory, session)]
        failing = memory.recall.failing_lanes(memory.session)
        frozen = {state.session for state in states if state.frozen}  # they say themselves that the log is another one
        rows = [row for session in whole if session not in frozen for row in _other_log(context, memory, session)]
    for state in states:
        if state.problem:
            rebuild = context.command(f"followers rebuild {state.follower} --session-id {state.session}")
            rows.append(Finding("followers", ERROR, state.warning, state.remediation or rebuild))
        elif state.behind > MANY_BEHIND:
            action = context.command(f"followers digest --session-id {state.session}")
            rows.append(Finding("followers", WARNING, state.warning, action))
    for lane, error in failing.items():
        rows.append(Finding("followers", ERROR, f"the lane {lane} fails: {error.message}", error.remediation))
    if rows:
        return rows
    behind = max((state.behind for state in states), default=0)
    late = f"at most {behind} events behind; the next read takes them" if behind else "up to the log"
    return [Finding("followers", OK, late)]


def _other_log(context: DoctorContext, memory: Memory, session: str) -> list[Finding]:
    """Whether a log is whole and all the same not the one that was read here last, such as an older copy."""
    if not memory.recall.is_own:
        return []  # the row about trust says it
    with memory.recall.store.view(session) as log:
        difference = memory.recall.seen.doubt(log)
    if not difference:
        return []
    message = f"{session} is whole, but not the log that was last read here: {difference}"
    action = context.command(f"followers rebuild --session-id {session}")
    return [Finding("log_chain", WARNING, message, f"If that is meant: {action}")]


def _tried(memory: Memory, session: str) -> list[FollowerState]:
    """How far each follower is. What keeps one from going on is known when it has tried."""
    states = memory.followers_status(session)
    if not any(state.behind and not state.problem for state in states):
        return states
    if isinstance(memory, MemoryOfOwner):
        return memory.follow(session)
    return memory.recall.all_loops.work_on(session, SECONDS_TO_TRY)


def fix_followers(context: DoctorContext) -> None:
    with memory_of(context.workspace) as memory:
        for session in memory.sessions():
            broken = [state.follower for state in memory.followers_status(session) if state.problem]
            if broken:
                memory.rebuild_followers(session, broken)


def check_plugins(context: DoctorContext) -> list[Finding]:
    settings = Settings(stored=context.workspace.stored_settings())
    roster = load_roster(settings)
    with tempfile.TemporaryDirectory(prefix="zaxy-doctor-") as scratch:
        host = PluginHost(roster, settings.lenient(), Path(scratch), "doctor")
        checked = [check_plugin(host, row, not_called=(HEALTH_POINT,)) for row in roster.rows]
    found = [finding for findings in checked for finding in findings if not finding.is_note]
    rows = [
        Finding(f"plugin:{finding.plugin}", ERROR, f"{finding.stage}: {finding.error}", finding.hint)
        for finding in found
    ]
    rows += [Finding("plugins", WARNING, notice, "zaxy config list") for notice in roster.notices]
    if rows:
        return rows
    working = ", ".join(row.name for row in roster.rows if row.state != "disabled")
    tried = "all work" if part_of_kit("trial") else f"all can be loaded, and no call was tried: that needs {KIT}"
    return [Finding("plugins", OK, f"{working}: {tried}; the graph is {chosen_graph(settings)}")]


# The owner of a graph that one process holds


def check_owner(context: DoctorContext) -> list[Finding]:
    name, workspace = "embedded_mcp_runtime", context.workspace
    if is_held(workspace):
        if not owner_answers(workspace):
            error = unreachable(workspace)
            return [Finding(name, ERROR, error.message, error.remediation)]
        return [Finding(name, OK, "a server owns the graph and answers")]
    if has_left_over(workspace):
        return [Finding(name, WARNING, "an owner that is no more left its record behind", FIX)]
    if needs_owner(workspace):
        return [Finding(name, OK, "nobody owns the graph; the next server will")]
    return [Finding(name, OK, "not needed: every process can open the graph")]


def fix_owner(context: DoctorContext) -> None:
    clear_left_over(context.workspace)


CHECKS = (
    DoctorCheck("python", check_python),
    DoctorCheck("sqlite", check_sqlite),
    DoctorCheck("workspace", check_workspace),
    DoctorCheck("trust", check_trust),
    DoctorCheck("disk_space", check_disk),
    DoctorCheck("file_modes", check_modes, fix_modes),
    DoctorCheck("user_key", check_key),
    DoctorCheck("log_chain", check_log, fix_log),
    DoctorCheck("write_path", check_write_path),
    DoctorCheck("followers", check_followers, fix_followers),
    DoctorCheck("plugins", check_plugins),
    DoctorCheck("embedded_mcp_runtime", check_owner, fix_owner),
)
