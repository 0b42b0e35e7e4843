"""Starting and stopping the capture watcher: as a process that outlives its terminal, or beside a server."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from zaxy.atomic_write import atomic_write
from zaxy.errors import Unavailable, ZaxyError
from zaxy.eventloom.disk import DISK
from zaxy.observe.capture import capture_folder, without_secrets
from zaxy.observe.capture_config import DEFAULT, read_capture_config
from zaxy.observe.watcher import Files, files_of, is_running, keep_off, watcher_record, watcher_status
from zaxy.security.paths import unusable_folder
from zaxy.security.small_files import read_small_file
from zaxy.workspace import Workspace

SECONDS_TO_START = 30.0
SECONDS_TO_STOP = 20.0
POLL = 0.05
UNTIL_INPUT_ENDS = "--until-input-ends"


def start_watcher(workspace: Workspace, session: str, graph: bool, interval: float) -> dict[str, Any]:
    """Start the watcher unless one runs, and return its status when it watches."""
    if is_running(workspace):
        return _already_running(workspace)
    files = files_of(workspace)
    capture_folder(workspace.eventloom)
    child = _spawn(_command(workspace, session, graph, interval), workspace, files)
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        record = watcher_record(workspace)
        if record is not None and record["pid"] == child.pid and is_running(workspace):
            _leave(child)
            return watcher_status(workspace)
        if child.poll() is not None:
            if is_running(workspace):  # somebody else started one in the same moment
                return _already_running(workspace)
            raise _did_not_start(f"it ended with {child.returncode}", files)
        time.sleep(POLL)
    child.terminate()
    child.wait()
    raise _did_not_start(f"it did not watch within {SECONDS_TO_START:g} s, and was ended", files)


def _already_running(workspace: Workspace) -> dict[str, Any]:
    """The status of a watcher that somebody else started. It holds its lock a moment before it has its record."""
    until = time.monotonic() + SECONDS_TO_START
    while watcher_record(workspace) is None and is_running(workspace) and time.monotonic() < until:
        time.sleep(POLL)
    return {**watcher_status(workspace), "already_running": True}


def start_beside_server(workspace: Workspace) -> subprocess.Popen[bytes]:
    """Start the watcher for as long as this process lives: it ends, after a last pass, when its input does."""
    config = read_capture_config(Path(workspace.root)) or DEFAULT
    capture_folder(workspace.eventloom)
    command = _command(workspace, "", config.graph, config.interval)
    return _spawn([*command, UNTIL_INPUT_ENDS], workspace, files_of(workspace), stdin=subprocess.PIPE)


def stop_watcher(workspace: Workspace) -> dict[str, Any]:
    """Stop the watcher and wait until it has ended. What is not running is stopped already; servers start none."""
    keep_off(workspace)
    if not is_running(workspace):
        return {**watcher_status(workspace), "was_running": False}
    until = time.monotonic() + SECONDS_TO_STOP
    while is_running(workspace) and time.monotonic() < until:
        record = watcher_record(workspace)
        if record is not None:
            _leave_note(files_of(workspace), str(record.get("token")))
        time.sleep(POLL)
    if is_running(workspace):
        record = watcher_record(workspace)
        who = f"process {record['pid']}" if record else "the watcher"
        raise Unavailable(
            f"{who} was asked to stop and has not ended within {SECONDS_TO_STOP:g} s",
            "Ask again in a moment: it ends when the reading that it is in comes back. Or end that process.",
        )
    return {**watcher_status(workspace), "was_running": True}


def _command(workspace: Workspace, session: str, graph: bool, interval: float) -> list[str]:
    place = ["--workspace", workspace.root, "--eventloom-path", workspace.eventloom]
    named = ["--session-id", session] if session else []
    # -P: it starts in the project's folder, whose files must not be imported.
    started = [sys.executable, "-P", "-m", "zaxy", "capture", "start", "--foreground", *place, *named]
    return [*started, "--interval", f"{interval:g}", *(["--graph"] if graph else [])]


def _spawn(
    command: list[str], workspace: Workspace, files: Files, *, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    flags: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        fd = DISK.open(files.startup, create=True)
        with open(fd, "wb") as startup:
            startup.truncate(0)
            return subprocess.Popen(
                command,
                cwd=workspace.root,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=startup,
                close_fds=True,
                **flags,
            )
    except OSError as error:
        raise unusable_folder(files.folder, error) from None


def _leave(child: subprocess.Popen[bytes]) -> None:
    """It goes on without us: nobody is to wait for it, or to be warned that nobody did."""
    child.returncode = 0


def _leave_note(files: Files, token: str) -> None:
    with suppress(OSError):
        atomic_write(files.stop, token.encode())


def _did_not_start(reason: str, files: Files) -> ZaxyError:
    said = ""
    with suppress(OSError):
        text = read_small_file(files.startup).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        said = f": {without_secrets(' '.join(lines[-2:]))}" if lines else ""
    return Unavailable(
        f"the capture watcher did not start: {reason}{said}",
        "'zaxy capture start --foreground' shows more; 'zaxy plugins check' tries the adapters.",
    )
