"""The capture watcher: a process of its own, at most one for a workspace, that captures again and again until stopped.

A lock that the system takes back when the process ends says whether one runs; what the files beside it say counts only
while it is held. It is stopped by a note that it looks for, so no other process can be ended by mistake.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from zaxy import __version__
from zaxy.atomic_write import atomic_write
from zaxy.errors import Conflict, ZaxyError
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.eventloom.log import utc_now
from zaxy.observe.capture import FOLDER, Capture, Captured, capture_folder, without_secrets
from zaxy.observe.capture_config import read_capture_config
from zaxy.observe.line_log import add_line
from zaxy.observe.readiness import Watching
from zaxy.observe.recording import read_recording
from zaxy.security.paths import unusable_folder
from zaxy.security.small_files import read_small_file, read_small_json
from zaxy.workspace import Workspace

MAX_LOG = 1 << 20
LOOKS_FOR_STOP_EVERY = 0.1
SECONDS_TO_TAKE_OVER = 2.0
MAX_ERRORS = 10
MAX_SUBAGENTS = 100
"""Sessions of subagents that the record names, those that grew last; it is read again with every look at it."""
_held_to_the_end: list[ExitStack] = []
"""The lock is let go of by the end of the process: where it is free, the process is gone."""

Follow = Callable[[str], list[str]]
"""Brings the followers of a session up to its log, and says what keeps them from it."""


class Files(NamedTuple):
    """The watcher's files, all in `.eventloom/runtime/capture`."""

    folder: str

    @property
    def lock(self) -> str:
        return os.path.join(self.folder, "watcher.lock")

    @property
    def record(self) -> str:
        return os.path.join(self.folder, "watcher.json")

    @property
    def stop(self) -> str:
        return os.path.join(self.folder, "watcher.stop")

    @property
    def off(self) -> str:
        """It is there from `zaxy capture stop` to `zaxy capture start`, and servers start no watcher meanwhile."""
        return os.path.join(self.folder, "watcher.off")

    @property
    def log(self) -> str:
        return os.path.join(self.folder, "watcher.log")

    @property
    def startup(self) -> str:
        """What a watcher prints before it runs: why it did not start, if it did not."""
        return os.path.join(self.folder, "watcher.startup")


def files_of(workspace: Workspace) -> Files:
    return Files(os.path.join(workspace.eventloom, FOLDER))


class Watcher:
    """This process as the watcher of a workspace, from `begin` until it ends."""

    def __init__(self, workspace: Workspace, held: ExitStack, graph: bool, interval: float) -> None:
        self._files = files_of(workspace)
        _held_to_the_end.append(held)
        self._status: dict[str, Any] = {
            "pid": os.getpid(),
            "token": os.urandom(8).hex(),
            "started": utc_now(),
            "version": __version__,
            "graph": graph,
            "interval_seconds": interval,
            "passes": 0,
            "captured": {},
            "subagents": {},
            "errors": [],
        }
        self._captured: Counter[str] = Counter()
        self._subagents: dict[str, int] = {}
        self._errors: list[dict[str, str]] = []
        self._problems: frozenset[str] = frozenset()
        self._keep()
        self.note(f"watching with process {os.getpid()}")

    @classmethod
    def begin(cls, workspace: Workspace, graph: bool, interval: float) -> Watcher:
        """Become the watcher; a conflict if another process is."""
        capture_folder(workspace.eventloom)
        held = ExitStack()
        if not _locked(held, files_of(workspace).lock, SECONDS_TO_TAKE_OVER):
            held.close()
            record = watcher_record(workspace)
            raise Conflict(
                f"a watcher of {workspace.root} runs already" + (f", process {record['pid']}" if record else ""),
                "'zaxy capture status' shows it, 'zaxy capture stop' ends it.",
            )
        for note in (files_of(workspace).stop, files_of(workspace).off):
            with suppress(FileNotFoundError):
                os.unlink(note)
        return cls(workspace, held, graph, interval)

    def is_asked_to_stop(self) -> bool:
        """Whether somebody left a note for this very watcher, or the folder that it works for is gone."""
        if not os.path.isdir(self._files.folder):
            return True
        try:
            return read_small_file(self._files.stop) == str(self._status["token"]).encode()
        except OSError:
            return False

    def took(self, captured: Captured | None, problems: list[str], seconds: float) -> None:
        """Keep what a pass came to, for `status`."""
        now = utc_now()
        self._status["passes"] += 1
        self._status["last_pass"] = {"time": now, "duration_ms": round(seconds * 1000)}
        if captured is not None:
            self._captured.update(captured.new)
            for session, count in captured.subagents.items():
                self._subagents[session] = self._subagents.pop(session, 0) + count
            self._status["last_pass"] |= {
                "captured": captured.appended,
                "known": captured.known,
                "skipped": captured.skipped,
                "sources": captured.sources,
                "left_out": captured.left_out,
            }
            if captured.appended:
                counts = ", ".join(f"{count} {type_}" for type_, count in sorted(captured.new.items()))
                self.note(f"captured {counts}")
        for problem in problems:
            if problem not in self._problems:  # what stays wrong is noted once, not with every pass
                self._errors = [*self._errors, {"time": now, "message": problem}][-MAX_ERRORS:]
                self.note(problem)
        self._problems = frozenset(problems)
        subagents = dict(list(self._subagents.items())[-MAX_SUBAGENTS:])
        self._status |= {"captured": dict(self._captured), "subagents": subagents, "errors": self._errors}
        self._keep()

    def note(self, message: str) -> None:
        """A line in the log. No log is worth failing for."""
        line = f"{utc_now()} {without_secrets(message)}\n".encode("utf-8", "replace")
        with suppress(OSError, ZaxyError):
            add_line(self._files.log, line, MAX_LOG)

    def end(self, reason: str) -> None:
        self.note(f"ended: {reason}")
        for path in (self._files.record, self._files.stop):
            with suppress(OSError):
                os.unlink(path)

    def _keep(self) -> None:
        try:
            atomic_write(self._files.record, json.dumps(self._status).encode())
        except OSError as error:
            if os.path.isdir(self._files.folder):
                raise unusable_folder(self._files.folder, error) from None


class Passes(NamedTuple):
    """What several passes came to together."""

    passes: int
    new: dict[str, int]
    known: int
    skipped: dict[str, int]
    problems: tuple[str, ...]
    subagents: dict[str, int]
    """How many of the new events are in each session of a subagent."""
    left_out: dict[str, int]
    """How many observations hooks recorded, or happened while recording was paused."""


def watch(
    capture: Capture,
    interval: float,
    *,
    iterations: int | None = None,
    follow: Follow | None = None,
    watcher: Watcher | None = None,
    tell: Callable[[Captured], None] = lambda captured: None,
    until: Callable[[], bool] = lambda: False,
) -> Passes:
    """Capture again and again: a number of times, or until this process is asked to end, or `until` says so."""
    new: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    subagents: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    known, count, problems = 0, 0, dict[str, None]()
    behind = {capture.session} if follow is not None else set()
    with _asked_to_end() as ended:
        stopped: Callable[[], bool] = lambda: ended() or (watcher is not None and watcher.is_asked_to_stop())  # noqa: E731
        while not stopped() and not until():
            began, captured, found = time.monotonic(), None, list[str]()
            try:
                captured = capture.run(stopped)
                found += captured.problems
                behind |= captured.sessions(capture.session) if follow is not None else set()
                while follow is not None and behind and not ended():
                    found += map(without_secrets, follow(behind.pop()))
            except ZaxyError as error:
                if watcher is None:
                    raise
                found.append(without_secrets(error.message))
            count += 1
            if captured is not None:
                new.update(captured.new)
                skipped.update(captured.skipped)
                subagents.update(captured.subagents)
                left_out.update(captured.left_out)
                known += captured.known
                tell(captured)
            problems |= dict.fromkeys(found)
            if watcher is not None:
                watcher.took(captured, found, time.monotonic() - began)
            if count == iterations:
                break
            _sleep(interval, lambda: stopped() or until())
    return Passes(count, dict(new), known, dict(skipped), tuple(problems), dict(subagents), dict(left_out))


def _sleep(seconds: float, stopped: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stopped():
        time.sleep(min(left, LOOKS_FOR_STOP_EVERY))


@contextmanager
def _asked_to_end() -> Iterator[Callable[[], bool]]:
    """Whether the process was asked to end, by a signal that would otherwise cut a pass short."""
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def watcher_of(workspace: Workspace, graph: bool, interval: float) -> Iterator[Watcher]:
    """This process as the watcher; why it ended is in its log."""
    watcher = Watcher.begin(workspace, graph, interval)
    _let_go_of(files_of(workspace).startup)
    reason = "it was asked to"
    try:
        yield watcher
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        raise
    finally:
        watcher.end(reason)


def _let_go_of(startup: str) -> None:
    """A watcher that was started in the background prints into a file only until it runs: adapters may print much."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        file = os.lstat(startup)
        for stream in (1, 2):
            if os.path.samestat(os.fstat(stream), file):
                os.dup2(nowhere.fileno(), stream)


# What others see of it


def is_running(workspace: Workspace) -> bool:
    """Whether a watcher of the workspace runs: its lock is held."""
    path = files_of(workspace).lock
    if not os.path.exists(path):
        return False
    with ExitStack() as held:
        return not _locked(held, path, 0)


def keep_off(workspace: Workspace) -> None:
    """No server starts a watcher from now on, until somebody does."""
    if os.path.isdir(workspace.eventloom):
        capture_folder(workspace.eventloom)
        atomic_write(files_of(workspace).off, b"")


def starts_with_servers(workspace: Workspace) -> bool:
    """Whether servers start the watcher: capture is chosen for a client, by this user, and nobody stopped it."""
    with suppress(ZaxyError):
        chosen = workspace.is_own and read_recording(workspace.eventloom).captures_now
        return chosen and not os.path.exists(files_of(workspace).off)
    return False


def watcher_record(workspace: Workspace) -> dict[str, Any] | None:
    """What the watcher last said of itself, true or stale."""
    try:
        record = read_small_json(files_of(workspace).record)
        return record if isinstance(record, dict) and type(record.get("pid")) is int else None
    except (OSError, ValueError):
        return None


def resume_command(workspace: Workspace) -> str:
    import shlex

    graph = " --graph" if _configured_graph(workspace) else ""
    here = os.path.realpath(os.getcwd()) == os.path.realpath(workspace.root)
    return f"zaxy capture start --workspace {'.' if here else shlex.quote(workspace.root)}{graph}"


def watching(workspace: Workspace) -> Watching:
    """Whether capture by a watcher is set up here, and whether one runs."""
    try:
        configured = read_capture_config(Path(workspace.root)) is not None
    except ZaxyError:
        configured = False
    return Watching(configured, is_running(workspace), resume_command(workspace), starts_with_servers(workspace))


def watcher_status(workspace: Workspace) -> dict[str, Any]:
    """All that is known of the watcher, for people and programs."""
    watched = watching(workspace)
    record = watcher_record(workspace)
    status: dict[str, Any] = {
        "status": "running" if watched.running else "stopped",
        "configured": watched.configured,
        "workspace": workspace.root,
        "log": files_of(workspace).log,
    }
    if not watched.running:
        status |= {"resume_command": watched.resume, "starts_with_servers": watched.with_servers}
    if since := read_recording(workspace.eventloom).paused_since:
        status["paused_since"] = since
    if record is not None:
        crashed = {} if watched.running else {"ended_unexpectedly": True}
        status |= crashed | {key: value for key, value in record.items() if key != "token"}
    return status


def _configured_graph(workspace: Workspace) -> bool:
    with suppress(ZaxyError):
        config = read_capture_config(Path(workspace.root))
        return config is not None and config.graph
    return False


def _locked(held: ExitStack, path: str, timeout: float) -> bool:
    lock = SessionLock(path, DISK)
    held.callback(lock.close)
    try:
        held.enter_context(lock.exclusive(timeout))
    except ZaxyError as error:
        if error.code != "unavailable":
            raise
        return False
    except OSError as error:
        raise unusable_folder(os.path.dirname(path), error) from None
    return True
