"""`zaxy capture` and `zaxy codex-capture`, with real processes: a watcher that lives, is stopped, is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from captured import install_adapter, write_capture_config, write_seen
from conftest import Zaxy, missing_package
from served import Server
from zaxy.observe import server_watcher
from zaxy.observe.capture_config import (
    CaptureConfig,
    capture_config_text,
    capture_file,
    read_capture_config,
)
from zaxy.observe.recording import CAPTURE, HOOKS, choose_recorder
from zaxy.observe.watcher import MAX_LOG, Watcher, files_of, is_running, watcher_record, watching
from zaxy.observe.watcher_process import start_watcher
from zaxy.workspace import Workspace, find_workspace

posix = pytest.mark.skipif(os.name != "posix", reason="signals and process groups")
PATIENCE = 60.0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that `zaxy` runs in, with an adapter of somebody else's; a watcher in it is stopped at the end."""
    folder = tmp_path / "here"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    install_adapter(tmp_path / "site", "seen")
    yield folder
    if (folder / ".eventloom").is_dir():
        subprocess.run([sys.executable, "-m", "zaxy", "capture", "stop"], cwd=folder, check=False, timeout=60)


def until(fact: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < deadline, f"it never came about that {what}"
        time.sleep(0.05)


def workspace_in(folder: Path) -> Workspace:
    return find_workspace(str(folder))


def contents(folder: Path) -> list[str]:
    log = folder / ".eventloom" / "here-default.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [str(json.loads(line)["payload"].get("content")) for line in lines]


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def rollout(folder: Path, *messages: str) -> None:
    path = folder.parent / "codex" / "sessions" / "rollout-x-0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    meta = {"type": "session_meta", "payload": {"id": "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee", "cwd": str(folder)}}
    said = [{"type": "event_msg", "payload": {"type": "user_message", "message": text}} for text in messages]
    with path.open("a") as file:
        for record in said if file.tell() else [meta, *said]:
            file.write(json.dumps({"timestamp": "2026-08-20T10:00:00.000Z", **record}) + "\n")


# The watcher


def test_a_watcher_is_started_seen_and_stopped(zaxy: Zaxy, here: Path) -> None:
    write_seen(here, "before")
    started = told(zaxy("capture", "start", "--workspace", ".", "--interval", "0.1", "--json"))
    assert started["status"] == "running"
    until(lambda: contents(here) == ["before"], "what was there is captured")
    write_seen(here, "after")
    until(lambda: contents(here) == ["before", "after"], "what comes later is captured")

    def seen() -> bool:
        status = told(zaxy("capture", "status", "--json"))
        assert (status["pid"], status["errors"], status["graph"]) == (started["pid"], [], False)
        return bool(status["captured"] == {"transcript.turn": 2} and status["passes"] >= 2)

    until(seen, "the status tells of both")
    stopped = told(zaxy("capture", "stop", "--json"))
    assert (stopped["status"], stopped["was_running"]) == ("stopped", True)
    until(lambda: not is_alive(started["pid"]), "the process has ended")
    assert "zaxy capture start" in told(zaxy("capture", "status", "--json"))["resume_command"]


def test_stopping_what_does_not_run_is_no_error(zaxy: Zaxy, here: Path) -> None:
    assert told(zaxy("capture", "stop", "--json"))["was_running"] is False
    assert not (here / ".eventloom").exists()


def test_a_second_start_finds_the_first_watcher(zaxy: Zaxy, here: Path) -> None:
    first, second = (told(zaxy("capture", "start", "--json")) for _ in range(2))
    assert (second["pid"], second["already_running"]) == (first["pid"], True)


def test_of_many_starts_at_once_one_watcher_comes(zaxy: Zaxy, here: Path) -> None:
    command = [sys.executable, "-m", "zaxy", "capture", "start", "--workspace", str(here), "--json"]
    starting = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=here) for _ in range(5)]
    replies = [json.loads(process.communicate(timeout=120)[0]) for process in starting]
    assert len({reply["pid"] for reply in replies}) == 1
    assert sum("already_running" not in reply for reply in replies) == 1


def test_a_start_waits_for_the_record_of_a_watcher_that_has_only_its_lock_yet(tmp_path: Path) -> None:
    workspace = find_workspace(str(tmp_path))
    Watcher.begin(workspace, False, 1.0)
    record = Path(files_of(workspace).record)
    kept = record.read_bytes()
    record.unlink()
    threading.Timer(0.5, lambda: record.write_bytes(kept)).start()
    status = start_watcher(workspace, "", False, 1.0)
    assert (status["pid"], status["already_running"]) == (os.getpid(), True)


@posix
def test_a_watcher_outlives_the_terminal_that_it_was_started_from(zaxy: Zaxy, here: Path) -> None:
    script = f"{sys.executable} -m zaxy capture start --interval 0.1 --workspace {here} && echo started && sleep 60"
    terminal = subprocess.Popen(
        ["sh", "-c", script],
        stdout=subprocess.PIPE,
        cwd=here,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # whoever runs the tests may ignore it
    )
    assert terminal.stdout is not None
    assert b"watching" in terminal.stdout.readline()
    assert terminal.stdout.readline() == b"started\n"
    os.killpg(terminal.pid, signal.SIGHUP)
    terminal.communicate(timeout=60)
    write_seen(here, "after the terminal")
    until(lambda: contents(here) == ["after the terminal"], "it goes on")


@posix
def test_a_watcher_that_was_killed_is_told_of_and_another_takes_its_place(zaxy: Zaxy, here: Path) -> None:
    write_seen(here, *(f"turn {number}" for number in range(50)))
    pid = told(zaxy("capture", "start", "--interval", "0.1", "--json"))["pid"]
    until(lambda: len(contents(here)) == 50, "all is captured")
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_running(workspace_in(here)), "its lock is free")
    status = told(zaxy("capture", "status", "--json"))
    assert (status["status"], status["ended_unexpectedly"]) == ("stopped", True)
    write_seen(here, "later")
    again = told(zaxy("capture", "start", "--interval", "0.1", "--json"))
    assert again["pid"] != pid
    until(lambda: len(contents(here)) == 51, "the next one goes on where it was")


@posix
def test_stop_ends_no_other_process_whatever_the_record_says(zaxy: Zaxy, here: Path) -> None:
    pid = told(zaxy("capture", "start", "--interval", "0.1", "--json"))["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_running(workspace_in(here)), "its lock is free")
    with subprocess.Popen(["sleep", "60"]) as bystander:
        record = Path(files_of(workspace_in(here)).record)
        record.write_text(json.dumps({**json.loads(record.read_text()), "pid": bystander.pid}))
        assert told(zaxy("capture", "stop", "--json"))["was_running"] is False
        assert bystander.poll() is None
        bystander.kill()


@posix
def test_a_watcher_ends_at_a_signal_and_says_so(zaxy: Zaxy, here: Path) -> None:
    pid = told(zaxy("capture", "start", "--json"))["pid"]
    os.kill(pid, signal.SIGTERM)
    until(lambda: not is_alive(pid), "it ends")
    assert "ended: it was asked to" in Path(files_of(workspace_in(here)).log).read_text()
    assert not Path(files_of(workspace_in(here)).record).exists()


def test_a_watcher_ends_when_its_workspace_is_gone_and_makes_no_new_one(zaxy: Zaxy, here: Path) -> None:
    write_seen(here, "x")
    pid = told(zaxy("capture", "start", "--interval", "0.1", "--json"))["pid"]
    until(lambda: contents(here) == ["x"], "it is captured")
    shutil.rmtree(here / ".eventloom")
    until(lambda: not is_alive(pid), "it ends")
    assert not (here / ".eventloom").exists()


def test_a_watcher_goes_on_while_an_adapter_fails(zaxy: Zaxy, here: Path, tmp_path: Path) -> None:
    install_adapter(tmp_path / "site", "broken", before_sources="raise ValueError('boom')")
    write_seen(here, "one")
    told(zaxy("capture", "start", "--interval", "0.1", "--json"))
    until(lambda: contents(here) == ["one"], "the other one's is captured")
    until(lambda: "boom" in str(told(zaxy("capture", "status", "--json"))["errors"]), "the failure is told")
    write_seen(here, "two")
    until(lambda: contents(here) == ["one", "two"], "it goes on")
    assert Path(files_of(workspace_in(here)).log).read_text().count("boom") == 1


def test_an_adapter_that_hangs_does_not_keep_the_watcher_from_stopping(
    zaxy: Zaxy, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAXY_PLUGINS_BUDGET", "1")
    install_adapter(tmp_path / "site", "hanging", before_sources="time.sleep(600)")
    write_seen(here, "x")
    pid = told(zaxy("capture", "start", "--interval", "0.1", "--json"))["pid"]
    until(lambda: contents(here) == ["x"], "the other one's is captured")
    assert told(zaxy("capture", "stop", "--json"))["was_running"] is True
    until(lambda: not is_alive(pid), "it ends")


def test_what_an_adapter_prints_fills_no_file(zaxy: Zaxy, here: Path, tmp_path: Path) -> None:
    install_adapter(tmp_path / "site", "chatty", before_sources="print('chatter ' * 10000)")
    told(zaxy("capture", "start", "--interval", "0.1", "--json"))
    until(lambda: told(zaxy("capture", "status", "--json"))["passes"] > 3, "it has made some passes")
    folder = Path(files_of(workspace_in(here)).folder)
    assert not [path for path in folder.rglob("*") if path.is_file() and b"chatter" in path.read_bytes()]


def test_the_log_makes_room_for_a_new_one(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    watcher = Watcher.begin(workspace, graph=False, interval=1)
    log = Path(files_of(workspace).log)
    log.write_bytes(b"x" * (MAX_LOG - 10))
    watcher.note("new")
    watcher.end("the test is over")
    assert log.with_name("watcher.log.1").stat().st_size == MAX_LOG - 10
    assert log.stat().st_size < 1000


def test_a_watcher_that_cannot_start_says_why(zaxy: Zaxy, here: Path) -> None:
    done = zaxy("capture", "start", ZAXY_PLUGINS_BUDGET="-1")
    assert done.returncode == 1
    assert "did not start" in done.stderr
    assert "ZAXY_PLUGINS_BUDGET must be above 0" in done.stderr


def test_an_adapter_of_somebody_elses_is_listed_and_used(zaxy: Zaxy, here: Path) -> None:
    assert "capture_adapters" in zaxy("plugins", "list").stdout
    write_seen(here, "from outside")
    zaxy("capture", "start", "--interval", "0.1")
    until(lambda: contents(here) == ["from outside"], "it is captured")


@posix
def test_in_the_foreground_it_watches_until_it_is_ended(zaxy: Zaxy, here: Path) -> None:
    write_seen(here, "x")
    command = [sys.executable, "-m", "zaxy", "capture", "start", "--foreground", "--interval", "0.1"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "captured 1 transcript.turn\n"
        second = zaxy("capture", "start", "--foreground")
        assert (second.returncode, f"process {process.pid}" in second.stderr) == (1, True)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_with_graph_what_was_captured_is_followed_in_the_same_pass(zaxy: Zaxy, here: Path) -> None:
    write_seen(here, "x")
    zaxy("capture", "start", "--interval", "0.1", "--graph")
    until(lambda: contents(here) == ["x"], "it is captured")

    def followed() -> bool:
        states = json.loads(zaxy("followers", "status", "--json").stdout)["followers"]
        return all(state["seq"] >= 1 for state in states)

    until(followed, "the followers have it without being asked")


# Reading Codex's sessions once, or so many times


@pytest.mark.needs_package("codex")
def test_codex_is_read_once_and_a_second_time_adds_nothing(zaxy: Zaxy, here: Path) -> None:
    rollout(here, "one", "two")
    first, second = (told(zaxy("codex-capture", "--json")) for _ in range(2))
    assert (first["new"], second["new"], second["problems"]) == ({"transcript.turn": 2}, {}, [])
    assert first["session_id"] == "here-default"
    assert zaxy("codex-capture").stdout == "captured nothing new; known 0\n"


@pytest.mark.needs_package("codex")
def test_watching_so_many_times_ends_by_itself_and_beside_a_watcher_too(zaxy: Zaxy, here: Path) -> None:
    rollout(here, "one")
    told(zaxy("capture", "start", "--interval", "0.1", "--json"))
    done = told(zaxy("codex-capture", "--watch", "--watch-iterations", "3", "--interval", "0.1", "--json"))
    assert done["passes"] == 3
    until(lambda: contents(here) == ["one"], "it is captured once")


@posix
@pytest.mark.needs_package("codex")
def test_watching_codex_without_an_end_is_the_workspaces_watcher(zaxy: Zaxy, here: Path) -> None:
    rollout(here, "one")
    command = [sys.executable, "-m", "zaxy", "codex-capture", "--watch", "--interval", "0.1"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "captured 1 transcript.turn\n"
        assert told(zaxy("capture", "status", "--json"))["pid"] == process.pid
        assert told(zaxy("capture", "stop", "--json"))["was_running"] is True
        assert process.wait(timeout=60) == 0


@pytest.mark.needs_package("codex")
def test_with_graph_a_reading_is_followed(zaxy: Zaxy, here: Path) -> None:
    rollout(here, "one")
    told(zaxy("codex-capture", "--graph", "--json"))
    states = json.loads(zaxy("followers", "status", "--json").stdout)["followers"]
    assert [(state["seq"], state["state"]) for state in states] == [(1, "current")] * 2


@pytest.mark.parametrize(
    "arguments", [("--interval", "0"), ("--interval", "nan"), ("--watch", "--watch-iterations", "0")]
)
def test_a_senseless_number_is_refused(zaxy: Zaxy, here: Path, arguments: tuple[str, ...]) -> None:
    assert zaxy("codex-capture", *arguments).returncode == 2


def test_without_the_package_it_is_told_how_to_get_it(zaxy: Zaxy, here: Path) -> None:
    done = zaxy("codex-capture", ZAXY_PLUGINS_DISABLE="codex")
    advice = "Install the package" if missing_package("codex") else "Take it out of ZAXY_PLUGINS_DISABLE"
    assert (done.returncode, advice in done.stderr) == (1, True)


# The file that says that a project is captured


def test_a_capture_file_says_how_the_watcher_is_started(zaxy: Zaxy, here: Path) -> None:
    path = write_capture_config(here, CaptureConfig(graph=True, interval=0.5))
    assert path == capture_file(here)
    assert path.read_text() == capture_config_text("codex", CaptureConfig(True, 0.5))
    assert read_capture_config(here) == CaptureConfig(True, 0.5, "codex")
    status = told(zaxy("capture", "start", "--json"))
    assert (status["graph"], status["interval_seconds"], status["configured"]) == (True, 0.5, True)


def test_a_project_without_the_file_is_not_configured(tmp_path: Path) -> None:
    assert read_capture_config(tmp_path) is None
    assert watching(workspace_in(tmp_path)).stopped is False


def test_a_configured_project_whose_watcher_does_not_run_is_told_apart(tmp_path: Path) -> None:
    write_capture_config(tmp_path, CaptureConfig(graph=True))
    seen = watching(workspace_in(tmp_path))
    assert seen.stopped
    assert seen.resume == f"zaxy capture start --workspace {tmp_path} --graph"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 1, "graph": "yes"}'])
def test_a_capture_file_that_cannot_be_read_is_refused(zaxy: Zaxy, here: Path, text: str) -> None:
    (here / ".codex").mkdir()
    (here / ".codex" / "zaxy-capture.json").write_text(text)
    done = zaxy("capture", "start")
    assert (done.returncode, "zaxy-capture.json cannot be used" in done.stderr) == (1, True)


# Beside a server

BESIDE = """
from zaxy.observe import server_watcher
from zaxy.workspace import find_workspace

server_watcher.BEFORE_THE_FIRST_LOOK = server_watcher.BETWEEN_LOOKS = 0.1
server_watcher.keep_watching(find_workspace("."))
input()
"""


def capture_chosen(folder: Path) -> Workspace:
    workspace = workspace_in(folder)
    workspace.claim()
    choose_recorder(workspace.eventloom, "seen", CAPTURE)
    return workspace


def test_a_server_has_a_watcher_where_capture_is_chosen_and_it_ends_with_a_last_pass(zaxy: Zaxy, here: Path) -> None:
    workspace = capture_chosen(here)
    with Server(here, PYTHONPATH=os.environ["PYTHONPATH"]) as server:
        write_seen(here, "while it runs")
        until(lambda: contents(here) == ["while it runs"], "what is said meanwhile is captured")
        pid = told(zaxy("capture", "status", "--json"))["pid"]
        write_seen(here, "as it ends")
        server.process.kill()
    until(lambda: not is_running(workspace), "the watcher has ended with the server")
    assert (contents(here), is_alive(pid)) == (["while it runs", "as it ends"], False)
    after = told(zaxy("capture", "status", "--json"))
    assert (after["status"], after["starts_with_servers"], after.get("ended_unexpectedly")) == ("stopped", True, None)


@posix
def test_beside_a_server_a_killed_watcher_is_replaced_and_a_stopped_one_is_not(zaxy: Zaxy, here: Path) -> None:
    workspace = capture_chosen(here)
    server = subprocess.Popen([sys.executable, "-c", BESIDE], cwd=here, stdin=subprocess.PIPE)
    until(lambda: watcher_record(workspace), "there is a watcher")
    first = told(zaxy("capture", "status", "--json"))["pid"]
    os.kill(first, signal.SIGKILL)
    until(lambda: (watcher_record(workspace) or {"pid": first})["pid"] != first, "another has taken its place")
    assert told(zaxy("capture", "stop", "--json"))["starts_with_servers"] is False
    assert not server_watcher.is_wanted(workspace)
    server.communicate(b"\n", timeout=PATIENCE)
    assert not is_running(workspace)
    assert told(zaxy("capture", "start", "--json"))["status"] == "running"
    assert told(zaxy("capture", "stop", "--json"))["was_running"]


def test_no_server_starts_a_watcher_unless_this_user_chose_capture(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    workspace.claim()
    assert not server_watcher.is_wanted(workspace), "nothing is chosen"
    choose_recorder(workspace.eventloom, "seen", HOOKS)
    assert not server_watcher.is_wanted(workspace), "hooks are chosen"
    choose_recorder(workspace.eventloom, "other", CAPTURE)
    assert server_watcher.is_wanted(workspace)
    Path(workspace.identity_file).write_text('{"id": "%s"}' % ("0" * 32))
    assert not server_watcher.is_wanted(workspace), "it is not this user's"


def test_a_stop_where_there_is_no_memory_makes_no_folder(zaxy: Zaxy, tmp_path: Path) -> None:
    assert told(zaxy("capture", "stop", "--json", cwd=tmp_path))["was_running"] is False
    assert not (tmp_path / ".eventloom").exists()
