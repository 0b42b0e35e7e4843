"""`zaxy capture start | status | once | stop` and `zaxy codex-capture`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Annotated, Any

import typer

from zaxy.clients.installed import open_clients
from zaxy.commands import command, new_app
from zaxy.commands.moments import moment
from zaxy.commands.typer_options import AsJson, EventloomPath, SessionId, WorkspaceFolder
from zaxy.errors import InvalidRequest
from zaxy.observe.capture import (
    IGNORED,
    OLDER,
    PAUSED,
    PRIVATE,
    Capture,
    Captured,
    check_that_something_reads,
    without_secrets,
)
from zaxy.observe.capture_config import DEFAULT, checked_interval, read_capture_config
from zaxy.observe.recording import HOOKS, to_the_second
from zaxy.observe.watcher import Follow, Passes, watch, watcher_of, watcher_status
from zaxy.observe.watcher_process import start_watcher, stop_watcher
from zaxy.printing import one_line, say
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import Workspace, find_workspace

app = new_app("capture")

Graph = Annotated[bool, typer.Option("--graph", help="Also bring the followers up to what was captured.")]
Interval = Annotated[float | None, typer.Option("--interval", help="Seconds between two passes. Default: 2.")]
Foreground = Annotated[bool, typer.Option("--foreground", help="Watch in this process, for a supervisor.")]
UntilInputEnds = Annotated[
    bool, typer.Option("--until-input-ends", help="With --foreground: end after standard input, with a last pass.")
]
Watch = Annotated[bool, typer.Option("--watch", help="Go on until ended, instead of reading once.")]
Iterations = Annotated[int | None, typer.Option("--watch-iterations", help="With --watch: the number of passes.")]
MAX_LINE_CHARS = 200
MAX_NAMES = 5
SECONDS_BETWEEN = 2.0
LEFT_OUT = {
    HOOKS: "that the client's hooks record",
    PAUSED: "from while recording was paused",
    OLDER: "that are older",
    PRIVATE: "in which all was private",
    IGNORED: "that .zaxyignore keeps out",
}


@command(app, "capture start")
def start(
    session_id: SessionId = None,
    graph: Graph = False,
    *,
    interval: Interval = None,
    foreground: Foreground = False,
    until_input_ends: UntilInputEnds = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    found = find_workspace(workspace, eventloom_path)
    session = check_session_id(session_id) if session_id is not None else ""
    config = read_capture_config(Path(found.root)) or DEFAULT
    graph, seconds = graph or config.graph, checked_interval(config.interval if interval is None else interval)
    check_that_something_reads(found, config.adapter)
    if foreground:
        until = _input_has_ended() if until_input_ends else _never
        _watch(found, session, adapters=(), graph=graph, interval=seconds, as_json=as_json, until=until)
        return
    status = start_watcher(found, session, graph, seconds)
    done = "already watching" if status.get("already_running") else "watching"
    _print(status, f"{done} {found.root} with process {status.get('pid')}; its log is {status['log']}", as_json)


@command(app, "capture status")
def status(workspace: WorkspaceFolder = None, eventloom_path: EventloomPath = None, as_json: AsJson = False) -> None:
    reply = watcher_status(find_workspace(workspace, eventloom_path))
    _print(reply, "\n".join(_status_lines(reply)), as_json)


@command(app, "capture stop")
def stop(workspace: WorkspaceFolder = None, eventloom_path: EventloomPath = None, as_json: AsJson = False) -> None:
    reply = stop_watcher(find_workspace(workspace, eventloom_path))
    _print(reply, "stopped" if reply["was_running"] else "no watcher was running", as_json)


@command(app, "capture once")
def once(
    client: Annotated[
        list[str] | None, typer.Option("--client", help="Only of this client; may be given again. Default: of all.")
    ] = None,
    since: Annotated[str, typer.Option("--since", help="Nothing that happened before yesterday, or a date.")] = "",
    *,
    session_id: SessionId = None,
    graph: Graph = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    found = find_workspace(workspace, eventloom_path)
    session = check_session_id(session_id) if session_id is not None else ""
    check_that_something_reads(found, *(client or ())[:1])
    capture = Capture(found, session, _adapters_of(found, client or ()), since=moment(since, begin=True))
    try:
        captured = capture.run(progress=ShownProgress())
    finally:
        capture.close()
    problems = list(captured.problems)
    for each in sorted(captured.sessions(capture.session)) if graph else ():
        problems += map(without_secrets, _follow(found)(each))
    reply = {"session_id": capture.session, **captured._asdict(), "problems": problems}
    _print(reply, "\n".join(_pass_lines(captured._replace(problems=tuple(problems)))), as_json)
    raise typer.Exit(1 if problems else 0)


class ShownProgress:
    """How far a long pass is, on stderr, and how long it may still take."""

    def __init__(self) -> None:
        self._began = self._shown = time.monotonic()

    def __call__(self, adapter: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._shown < SECONDS_BETWEEN or not done:
            return
        self._shown = now
        rate = done / (now - self._began)
        left = (total - done) / rate
        say(f"{adapter}: {done} of {total} sessions read, {rate:.1f} a second, about {left:.0f} s left", err=True)


def _adapters_of(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """The capture adapters of the clients that were named, or adapters that were named themselves."""
    with open_clients(workspace.stored_settings()) as clients:
        known = {one.name: one.client.capture for one in clients.all() if one.name in names}
    captures = [(name, known.get(name)) for name in names]
    return [capture.adapter if capture is not None else name for name, capture in captures]


@command(app, "codex-capture")
def codex_capture(
    watching: Watch = False,
    iterations: Iterations = None,
    *,
    interval: Interval = None,
    session_id: SessionId = None,
    graph: Graph = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    found = find_workspace(workspace, eventloom_path)
    session = check_session_id(session_id) if session_id is not None else ""
    seconds = checked_interval(DEFAULT.interval if interval is None else interval)
    if iterations is not None and iterations < 1:
        raise InvalidRequest("--watch-iterations must be at least 1", "Give how many passes are wanted.")
    if watching and iterations is None:
        _watch(found, session, adapters=("codex",), graph=graph, interval=seconds, as_json=as_json)
        return
    capture = Capture(found, session, ("codex",))
    try:
        passes = watch(
            capture, seconds, iterations=iterations if watching else 1, follow=_follow(found) if graph else None
        )
    finally:
        capture.close()
    reply = {"session_id": capture.session, **passes._asdict()}
    _print(reply, "\n".join(_pass_lines(passes)), as_json)
    raise typer.Exit(1 if passes.problems else 0)


def _never() -> bool:
    return False


def _input_has_ended() -> Callable[[], bool]:
    """Whether the process at the other end of standard input has gone, however that came."""
    ended = Event()

    def read() -> None:
        while sys.stdin.buffer.read(1 << 10):
            pass
        ended.set()

    Thread(target=read, name="zaxy-input", daemon=True).start()
    return ended.is_set


def _watch(
    workspace: Workspace,
    session: str,
    *,
    adapters: Sequence[str],
    graph: bool,
    interval: float,
    as_json: bool,
    until: Callable[[], bool] = _never,
) -> None:
    """Watch in this process until it is asked to end. What `until` waits for is followed by a last pass."""
    capture = Capture(workspace, session, adapters)
    capture.adapters()  # whatever is missing is reported before anybody relies on it

    def tell(captured: Captured) -> None:
        if captured.appended:
            say(json.dumps(captured._asdict()) if as_json else f"captured {_counts(captured.new)}")

    follow = _follow(workspace) if graph else None
    with watcher_of(workspace, graph, interval) as watcher:
        watch(capture, interval, follow=follow, watcher=watcher, tell=tell, until=until)
        if until():
            watch(capture, interval, iterations=1, follow=follow, watcher=watcher, tell=tell)
    capture.close()


def _follow(workspace: Workspace) -> Follow:
    """The followers are opened each time: another process may own the graph by now."""
    from zaxy.owner.client import memory_of
    from zaxy.retrieve.recall import warnings

    def follow(session: str) -> list[str]:
        with memory_of(workspace) as memory:
            return warnings(memory.follow(session))

    return follow


def _print(reply: dict[str, Any], said: str, as_json: bool) -> None:
    say(json.dumps(reply, indent=2, ensure_ascii=False) if as_json else said)


def _status_lines(reply: dict[str, Any]) -> list[str]:
    if reply["status"] == "running":
        lines = [f"running  process {reply['pid']} since {reply['started']}, {reply['passes']} passes"]
    else:
        ended = "; it ended without being stopped" if reply.get("ended_unexpectedly") else ""
        lines = [f"stopped{ended}"]
        lines += ["the next server here starts it"] if reply.get("starts_with_servers") else []
        lines += [f"start it with: {reply['resume_command']}"]
    if since := reply.get("paused_since"):
        lines.append(f"paused  since {to_the_second(since)}: nothing is recorded until 'zaxy resume'")
    if last := reply.get("last_pass"):
        lines.append(
            f"last pass  {last['time']}  captured {last.get('captured', 0)} of {last.get('sources', 0)} sources"
        )
    if reply.get("captured"):
        lines.append(f"captured  {_counts(reply['captured'])}")
    if reply.get("subagents"):
        lines.append(f"subagents  {_sessions(reply['subagents'])}")
    lines += [
        one_line(f"error  {error['time']}  {error['message']}", MAX_LINE_CHARS) for error in reply.get("errors", ())
    ]
    return [*lines, f"log  {reply['log']}"]


def _pass_lines(passes: Passes | Captured) -> list[str]:
    lines = [f"captured {_counts(passes.new)}; known {passes.known}"]
    left_out = [(passes.left_out.get(reason), why) for reason, why in LEFT_OUT.items()]
    lines += [f"left out {count} {why}" for count, why in left_out if count]
    if passes.skipped:
        lines.append(f"skipped {_counts(passes.skipped)}")
    if passes.subagents:
        lines.append(f"subagents: {_sessions(passes.subagents)}")
    return [*lines, *(one_line(f"problem: {problem}", MAX_LINE_CHARS) for problem in passes.problems)]


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {one_line(kind, 60)}" for kind, count in sorted(counts.items())) or "nothing new"


def _sessions(subagents: dict[str, int]) -> str:
    """How much of it is in sessions of subagents, and their names, those that grew last first."""
    events = _number(sum(subagents.values()), "event")
    names = [one_line(session, MAX_LINE_CHARS) for session in reversed(subagents)]
    rest = [f"and {len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
    return f"{events} in {_number(len(names), 'session')}: {', '.join([*names[:MAX_NAMES], *rest])}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
