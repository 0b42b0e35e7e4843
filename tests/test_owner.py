"""One process holds a graph that only one can open; every other server and command of the workspace goes through it."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from engines import needs_kuzu
from installed import install_plugin
from served import ERAS, LEGACY, MODERN, Server, arguments, environment
from zaxy.errors import ZaxyError
from zaxy.eventloom.request_keys import answering
from zaxy.follow.verification import NOT_BY_ROWS
from zaxy.memory import Memory
from zaxy.owner import owner as owning
from zaxy.owner.handshake import Caller, caller_of
from zaxy.owner.lines import MAX_LINE_CHARS, ClientLines
from zaxy.owner.owner import SINGLE_PROCESS, needs_owner, owner_record, try_to_own
from zaxy.plugins.roster import BUILT_IN_GRAPH, chosen_graph, load_roster, owner_of
from zaxy.serve.application import Application, Request
from zaxy.settings import Settings
from zaxy.workspace import Workspace, find_workspace

pytestmark = [needs_kuzu, pytest.mark.skipif(os.name != "posix", reason="Windows has no local sockets for this")]

KUZU = {"ZAXY_EMBEDDED_ENGINE": "kuzu"}
HEAVY = ("asyncio", "anyio", "mcp", "pydantic", "pluggy", "typer", "kuzu", "sqlite3", "jsonschema")
Start = Callable[..., Server]


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a short path, so that its socket can lie in it."""
    with TemporaryDirectory(dir="/tmp") as short:
        yield Path(short) / "demo"


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Start servers on Kuzu in one workspace; they are killed at the end."""
    with ExitStack() as running:
        yield lambda era=LEGACY, **more: running.enter_context(Server(folder, era, **{**KUZU, **more}))


def command(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    environ = environment(**{**KUZU, **env})
    run = [sys.executable, "-m", "zaxy", *words]
    return subprocess.run(run, cwd=folder, env=environ, capture_output=True, text=True, timeout=60)


def fact(text: str, **more: object) -> dict[str, Any]:
    return {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": text, **more}}


def decision(text: str) -> dict[str, Any]:
    return {"event_type": "decision.made", "actor": "ann", "payload": {"key": "paint", "decision": text}}


def workspace_of(folder: Path) -> Workspace:
    return find_workspace(str(folder))


def runtime(folder: Path, ending: str) -> Path:
    return folder / ".eventloom" / "runtime" / f"zaxy-embedded-owner.{ending}"


def owner_pid(folder: Path) -> int:
    record = owner_record(workspace_of(folder))
    assert record is not None
    return record.pid


def texts_in_log(folder: Path, session: str = "demo-default") -> list[str]:
    lines = (folder / ".eventloom" / f"{session}.jsonl").read_text().splitlines()
    payloads = [json.loads(line).get("payload") or {} for line in lines]
    return [payload["text"] for payload in payloads if "text" in payload]


def append_all(servers: list[Server], each: int) -> list[str]:
    """Every server appends at the same time; what was acknowledged."""
    acknowledged: list[str] = []

    def work(number: int, server: Server) -> None:
        for n in range(each):
            text = f"lamp s{number}n{n} is red"
            if "seq" in server.call("memory_append", **fact(text)):
                acknowledged.append(text)

    threads = [threading.Thread(target=work, args=numbered) for numbered in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return acknowledged


def page_of(server: Server, **asked: Any) -> dict[str, Any] | None:
    """One page of an answer; none while the followers are behind the log, as they are on a busy machine."""
    page = server.call("memory_query", limit=20, **asked)
    return None if page.get("warnings", page) else page


def all_found(server: Server, query: str) -> set[str]:
    found: set[str] = set()
    cursor: dict[str, str] = {}
    while True:
        page = wait_for(partial(page_of, server, query=query, **cursor))
        found |= {row["content"] for row in page["results"]}
        if not page["next_cursor"]:
            return found
        cursor = {"cursor": page["next_cursor"]}


# Whether an owner is needed


def test_only_a_graph_that_one_process_can_open_has_an_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not needs_owner(workspace_of(tmp_path))
    monkeypatch.setenv("PROJECTION_BACKEND", "kuzu")
    assert needs_owner(workspace_of(tmp_path))
    monkeypatch.setenv("PROJECTION_BACKEND", "no-such-backend")
    assert not needs_owner(workspace_of(tmp_path))


def test_the_built_in_graph_is_the_cores_own_and_may_be_opened_by_many_processes() -> None:
    owner = owner_of(load_roster(Settings({}), ()), "projection_backends", BUILT_IN_GRAPH)
    assert owner is not None
    row, provided = owner
    assert row.package == "zaxy-core" and SINGLE_PROCESS not in provided.capabilities
    assert chosen_graph(Settings({})) == BUILT_IN_GRAPH


def test_a_package_that_is_preferred_for_the_built_in_graphs_name_is_asked_whether_it_needs_an_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provided = {"point": "projection_backends", "name": BUILT_IN_GRAPH, "capabilities": [SINGLE_PROCESS]}
    install_plugin(tmp_path / "site", "acme-graph", provides=[{**provided, "stability": "experimental"}])
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert not needs_owner(workspace_of(tmp_path))
    monkeypatch.setenv("ZAXY_PLUGINS_PREFER", f"projection_backends:{BUILT_IN_GRAPH}=acme-graph")
    assert needs_owner(workspace_of(tmp_path))


def test_servers_on_sqlite_work_side_by_side_without_an_owner(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    with Server(folder) as one, Server(folder, MODERN) as other:
        acknowledged = append_all([one, other], 15)
        assert len(set(acknowledged)) == 30
        assert all_found(one, "red lamp") == all_found(other, "red lamp") == set(acknowledged)
        assert not (folder / ".eventloom" / "runtime").exists()


# One owner, many servers


def test_appends_of_an_owner_and_three_others_are_all_found_by_all(start: Start, folder: Path) -> None:
    servers = [start(), start(), start(MODERN), start(MODERN)]
    acknowledged = append_all(servers, 10)
    assert len(set(acknowledged)) == 40
    assert sorted(texts_in_log(folder)) == sorted(acknowledged)
    for server in servers:
        assert all_found(server, "red lamp") == set(acknowledged)
    assert owner_pid(folder) in [server.process.pid for server in servers]


@pytest.mark.parametrize("era", ERAS)
def test_a_checkout_through_the_owner_equals_the_owners_own(start: Start, folder: Path, era: str) -> None:
    owner, other = start(era), start(era)
    owner.call("memory_append", **decision("Paint the boat green."))
    other.call("memory_append", **fact("The boat lies in the harbour."))
    checkouts = [server.call("memory_checkout", query="green paint for the boat") for server in (owner, other)]
    for told in checkouts:
        assert told["retention"].pop("known_to_seq") >= 2  # the record of the first checkout is an event too
    assert checkouts[0] == checkouts[1]
    assert checkouts[0]["quality"]["answerability"] == "answer_from_memory"


def test_a_server_that_is_not_the_owner_imports_nothing_heavy(start: Start, folder: Path) -> None:
    start()
    other = start(PYTHONPROFILEIMPORTTIME="1")
    assert other.call("memory_append", **fact("x"))["seq"]
    assert owner_pid(folder) != other.process.pid
    imported = {line.rpartition("|")[2].strip() for line in other.stderr.splitlines() if "import time:" in line}
    assert "zaxy.owner.proxy" in imported
    assert not imported & set(HEAVY)


def test_each_client_keeps_its_own_session_and_profile(start: Start, folder: Path) -> None:
    one = start(EVENTLOOM_THREAD="one")
    other = start(EVENTLOOM_THREAD="other", ZAXY_TOOL_PROFILE="compact")
    for server, named in ((one, "one"), (other, "other")):
        assert server.call("memory_append", **fact(f"told by {named}"))["session_id"] == named
        assert [row["payload"]["text"] for row in server.call("memory_replay")["results"]] == [f"told by {named}"]
    assert len(one.request("tools/list", {})["result"]["tools"]) == 10
    assert len(other.request("tools/list", {})["result"]["tools"]) == 3
    other.close()
    last = wait_for(lambda: ended(folder, "other"))
    assert last["payload"]["reason"] == "shutdown"
    assert ended(folder, "one") is None


def wait_for(look: Callable[[], Any], within: float = 60.0) -> Any:
    deadline = time.monotonic() + within
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert found
    return found


def ended(folder: Path, session: str) -> dict[str, Any] | None:
    """The record that a session's client has gone, if it is the last event."""
    last = (folder / ".eventloom" / f"{session}.jsonl").read_text().splitlines()[-1]
    event: dict[str, Any] = json.loads(last)
    return event if event["type"] == "session.ended" else None


def test_an_unknown_profile_is_told_at_the_start(folder: Path) -> None:
    folder.mkdir()
    done = command(folder, "serve", "--profile", "huge")
    assert (done.returncode, "there is no tool profile 'huge'" in done.stderr) == (2, True)


def test_an_owner_whose_settings_are_wrong_ends_with_the_reason(folder: Path) -> None:
    folder.mkdir()
    run = {"cwd": folder, "env": environment(**KUZU, ZAXY_MAX_CALLS_PER_MINUTE="0"), "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **run) as process:
        assert process.wait(60) == 2
        assert process.stderr
        assert b"ZAXY_MAX_CALLS_PER_MINUTE must be at least 1" in process.stderr.read()
    assert not runtime(folder, "sock").exists()


def test_a_line_that_is_no_json_or_too_long_is_answered_and_the_connection_goes_on(start: Start) -> None:
    start()
    other = start()
    other.send(b"nonsense\n")
    assert other.receive()["error"]["data"]["error"]["code"] == "invalid_request"
    big = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_query","arguments":{"query":"'
    other.send(big + b"x" * (2 * MAX_LINE_CHARS) + b'"}}}\n')
    answer = other.receive()
    assert (answer["id"], answer["result"]["structuredContent"]["error"]["code"]) == (7, "too_large")
    assert other.call("memory_append", **fact("x"))["seq"] == 1


def test_a_server_on_http_owns_the_graph_and_serves_the_others(start: Start, folder: Path) -> None:
    folder.mkdir()
    run = {"cwd": folder, "env": environment(**KUZU), "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments("--transport", "http", "--port", "0"), **run) as http:
        try:
            assert http.stderr
            assert b"listening" in http.stderr.readline()
            other = start()
            assert owner_pid(folder) == http.pid
            other.call("memory_append", **decision("Paint it blue."))
            assert other.call("memory_query", query="blue paint")["results"]
            second = command(folder, "serve", "--transport", "http", "--port", "0")
            assert second.returncode == 1
            assert f"process {http.pid} owns the graph" in second.stderr
            http.terminate()
            assert http.wait(60) == 0
            assert other.call("memory_query", query="blue paint")["results"]
            assert owner_pid(folder) == other.process.pid
        finally:
            http.kill()


# Commands


def test_commands_answer_through_the_owner_as_they_do_without_one(start: Start, folder: Path) -> None:
    server = start(MCP_LIFECYCLE_CAPTURE_ENABLED="false")
    server.call("memory_append", **decision("Paint the boat green."))
    server.call("memory_append", **fact("The boat lies in the harbour."))
    questions = (
        ("query", "green paint", "--json"),
        ("query", "boat"),
        ("verbatim", "harbour", "--json"),
        ("checkout", "What colour is the boat painted?", "--json"),
        ("checkout", "What colour is the boat painted?"),
        ("memory", "capabilities"),
    )
    through = [command(folder, *words) for words in questions]
    server.close()
    direct = [command(folder, *words) for words in questions]
    for words, one, other in zip(questions, through, direct, strict=True):
        assert (one.returncode, one.stderr) == (0, ""), words
        assert without_counts(one.stdout) == without_counts(other.stdout), words


def without_counts(text: str) -> str:
    """Without what grows by every call that is recorded: the number of events, and the log's end."""
    return re.sub(r"\d+ events|Log head.*|\"(known_to_)?seq\": \d+|\"(head|hash)\": \"\w+\"", "", text)


def test_commands_change_the_graph_through_the_owner(start: Start, folder: Path) -> None:
    server = start()
    server.call("memory_append", **decision("Paint it green."))
    secret = server.call("memory_append", **fact("the code is 4711-zulu"))["citation"]
    wait_for(lambda: command(folder, "followers", "status").stdout.count("up to date") == 2)
    before = command(folder, "followers", "digest").stdout
    assert command(folder, "followers", "rebuild", "graph").returncode == 0
    assert len(before.splitlines()) == 2
    done = command(folder, "invalidate", "paint", "--type", "decision")
    assert (done.returncode, done.stdout.startswith("eventloom://demo-default/events/")) == (0, True)
    gone = command(folder, "invalidate", "paint", "--type", "decision")
    assert (gone.returncode, "has no open" in gone.stderr) == (1, True)
    erased = command(folder, "forget", secret, "--hard")
    assert (erased.returncode, erased.stderr) == (0, "")
    assert server.call("memory_query", query="4711-zulu")["results"] == []
    assert server.process.poll() is None
    assert owner_pid(folder) == server.process.pid


def test_followers_are_verified_through_the_owner(start: Start, folder: Path) -> None:
    server = start()
    server.call("memory_append", **fact("The boat lies in the harbour."))
    wait_for(lambda: command(folder, "followers", "status").stdout.count("up to date") == 2)
    well = command(folder, "followers", "verify")
    assert (well.returncode, well.stderr) == (0, "")
    assert "demo-default  text  every row is as it was written" in well.stdout.splitlines()
    assert f"demo-default  graph  {NOT_BY_ROWS}" in well.stdout.splitlines(), "Kuzu cannot check its rows"
    (index,) = (folder / ".eventloom" / "followers").rglob("demo-default.db")
    with closing(sqlite3.connect(index)) as db, db:
        assert db.execute("UPDATE passages SET time = '2019' WHERE id = 1").rowcount == 1
    wrong = command(folder, "followers", "verify", "--json")
    assert (wrong.returncode, wrong.stderr) == (1, "zaxy: run 'zaxy followers rebuild --session-id demo-default'\n")
    problems = {row["follower"]: row["problems"] for row in json.loads(wrong.stdout)["followers"] if row["problems"]}
    assert problems["text"][0] == "the passage 1 does not hold its seal"
    assert command(folder, "followers", "rebuild", "text").returncode == 0
    assert command(folder, "followers", "verify").returncode == 0
    assert owner_pid(folder) == server.process.pid


def test_an_append_by_command_needs_no_owner_and_is_found_by_all(start: Start, folder: Path) -> None:
    server = start()
    told = command(folder, "append", "fact.recorded", "--payload", '{"text": "by command"}')
    assert told.returncode == 0
    assert all_found(server, "command") == {"by command"}


# What a dead owner leaves, and what a living one must not lose


def test_another_server_takes_over_when_the_owner_leaves_in_order(start: Start, folder: Path) -> None:
    owner = start()
    other = start()
    owner.call("memory_append", **fact("told to the first"))
    assert owner.close() < owner.soon
    assert "told to the first" in all_found(other, "first")
    assert owner_pid(folder) == other.process.pid
    other.close()
    assert [file.name for file in (folder / ".eventloom" / "runtime").iterdir()] == ["zaxy-embedded-owner.lock"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_owner_ends_soon_after_it_is_told_to(start: Start, number: signal.Signals) -> None:
    owner = start()
    owner.call("memory_append", **fact("x"))
    began = time.monotonic()
    owner.process.send_signal(number)
    assert owner.process.wait(60) == 0
    assert time.monotonic() - began < owner.soon


def test_a_stale_socket_and_a_stale_record_are_cleared_away(start: Start, folder: Path) -> None:
    runtime(folder, "lock").parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(runtime(folder, "sock")))
    told = {"pid": 2**22 + 1, "started": "2020-01-01T00:00:00Z", "socket": str(runtime(folder, "sock")), "version": "0"}
    runtime(folder, "json").write_text(json.dumps(told))
    server = start()
    assert server.call("memory_append", **fact("x"))["seq"] == 1
    assert owner_pid(folder) == server.process.pid


def test_nobody_else_can_read_lock_record_or_socket(start: Start, folder: Path) -> None:
    start()
    for ending in ("lock", "json", "sock"):
        assert stat.S_IMODE(runtime(folder, ending).stat().st_mode) == 0o600
    assert stat.S_IMODE(runtime(folder, "lock").parent.stat().st_mode) == 0o700


def test_a_path_that_is_too_long_for_a_socket_has_a_short_one_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = tmp_path / "t"
    short.mkdir()
    monkeypatch.setattr(owning, "MAX_PATH_CHARS", len(str(short)) + 60)
    folder = tmp_path / ("deep-" * 20) / ("er-" * 20) / "demo"
    folder.parent.mkdir(parents=True)
    env = {**KUZU, "TMPDIR": "/tmp"}
    with Server(folder, **env) as owner, Server(folder, **env) as other:
        owner.call("memory_append", **fact("far away"))
        assert all_found(other, "away") == {"far away"}
        record = owner_record(workspace_of(folder))
        assert record is not None
        home = Path(record.socket).parent
        assert len(record.socket) <= 103
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        owner.process.kill()
        other.call("memory_append", **fact("further"))
        assert not home.exists(), "what the dead owner had there is cleared away"
        other.close()
    assert not list(Path("/tmp").glob(f"{home.name}*"))


def test_a_held_lock_without_a_socket_is_not_stolen_and_what_needs_no_graph_works(start: Start, folder: Path) -> None:
    """The holder is a process that never listens."""
    folder.mkdir()
    holds = (
        "import sys, time; from zaxy.eventloom.lock import SessionLock; from zaxy.eventloom.disk import DISK\n"
        "with SessionLock(sys.argv[1], DISK).exclusive(1): print('held', flush=True); time.sleep(600)\n"
    )
    runtime(folder, "lock").parent.mkdir(parents=True)
    run = [sys.executable, "-c", holds, str(runtime(folder, "lock"))]
    with subprocess.Popen(run, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout
            assert holder.stdout.readline() == b"held\n"
            told = {"pid": holder.pid, "started": "2026-01-01T00:00:00Z", "socket": "/nowhere", "version": "0"}
            runtime(folder, "json").write_text(json.dumps(told))
            server = start(MODERN)
            began = time.monotonic()
            assert server.call("memory_append", **fact("the lamp is red"))["seq"] == 1
            assert time.monotonic() - began < 50
            page = server.call("memory_query", query="lamp")
            assert [row["content"] for row in page["results"]] == ["the lamp is red"]
            assert f"process {holder.pid} holds the lock" in page["warnings"][0]
            refused = server.call("memory_invalidate", entity_name="x", entity_type="fact", reason="y")["error"]
            assert refused["code"] in ("unavailable", "not_found")
            assert holder.poll() is None
            assert not kuzu_is_open(folder), "nobody but the owner opens the graph"
            holder.kill()
            wait_for(lambda: owner_record(workspace_of(folder)) and owner_pid(folder) == server.process.pid)
            assert all_found(server, "lamp") == {"the lamp is red"}, "when the lock is free it takes over"
        finally:
            holder.kill()


def kuzu_is_open(folder: Path) -> bool:
    return any((folder / ".eventloom" / "followers").rglob("owner.json"))


SLOW_START = '''
import sys
import time


class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "zaxy.serve.owner_socket":
            sys.meta_path.remove(self)
            time.sleep(9)
            slow_to_serve()


def slow_to_serve():
    """It says that it serves, and answers nothing for a second."""
    from zaxy.owner import owner

    tell = owner._write_record

    def told(*arguments):
        tell(*arguments)
        time.sleep(1)

    owner._write_record = told


sys.meta_path.insert(0, Slow())
'''


def test_an_owner_that_is_slow_to_start_is_waited_for(folder: Path, tmp_path: Path) -> None:
    """As on a busy machine: the silence is longer than one that is put up with once it serves."""
    (tmp_path / "sitecustomize.py").write_text(SLOW_START, encoding="utf-8")
    with Server(folder, LEGACY, tmp_path, **KUZU) as slow:
        assert json.loads(runtime(folder, "json").read_text(encoding="utf-8"))["state"] == owning.SERVING
        assert slow.call("memory_append", **fact("patience"))["seq"]


def test_an_owner_that_hangs_keeps_its_place_and_what_needs_no_graph_works(start: Start, folder: Path) -> None:
    owner, other = start(), start()
    if owner_pid(folder) != owner.process.pid:
        owner, other = other, owner
    owner.call("memory_append", **fact("the kettle is on"))
    owner.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert other.call("memory_append", **fact("meanwhile"))["seq"] > 1
        first = time.monotonic() - began
        assert first < 50
        began = time.monotonic()
        page = other.call("memory_query", query="kettle")
        assert time.monotonic() - began < first, "it is known by now"
        assert page["results"][0]["content"] == "the kettle is on"
        assert f"process {owner.process.pid}" in page["warnings"][0]
        assert other.request("tools/list", {})["result"]["tools"]
        by_command = command(folder, "query", "kettle", "--json")
        assert by_command.returncode == 0, by_command.stderr
        assert "does not answer" in json.loads(by_command.stdout)["warnings"][0]
        assert owner_pid(folder) == owner.process.pid
    finally:
        owner.process.send_signal(signal.SIGCONT)
    wait_for(lambda: not other.call("memory_query", query="kettle")["warnings"])
    assert other.silent(0.5), "the answer that came too late is left out"
    assert texts_in_log(folder) == ["the kettle is on", "meanwhile"], "what the owner did later is there once"
    assert owner.call("memory_append", **fact("after"))["seq"]


WORKS_SLOWLY = """
import time
from zaxy.plugins.guard import Runner
def work():
    print("begun", flush=True)
    for _ in range(4):
        time.sleep(0.2)
Runner("slow").run("work", work, 5)
"""


def test_while_an_owner_is_stopped_no_time_passes_for_its_plugins() -> None:
    """Or the graph would be given up for hanging as soon as the owner goes on."""
    with subprocess.Popen([sys.executable, "-c", WORKS_SLOWLY], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGSTOP)
        time.sleep(6)
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) == 0


def test_a_server_without_local_sockets_says_what_to_use_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owning.sys, "platform", "win32")
    with pytest.raises(ZaxyError, match="no local sockets") as refused:
        try_to_own(workspace_of(tmp_path), lambda *_: None)
    assert "sqlite" in refused.value.remediation


# Requests that are sent again


CALLER = Caller("a1b2", "demo-default", "core")
REPEATED = [
    ("memory_append", fact("once")),
    ("memory_ingest", {"events": [fact("first"), fact("second"), fact("first")]}),
    ("memory_feedback", {"entity_name": "paint", "entity_type": "decision", "feedback": "used"}),
    ("memory_skill", {"action": "propose", "skill_id": "deploy", "procedure": ["push"]}),
    ("memory_invalidate", {"entity_name": "paint", "entity_type": "decision"}),
    ("context_after_turn", {"role": "user", "content": "What colour?"}),
    ("subagent_cleanup", {"parent_session_id": "up", "subagent_session_id": "demo-default", "summary": "done"}),
]


@pytest.mark.parametrize(("tool", "given"), REPEATED, ids=[tool for tool, _ in REPEATED])
def test_a_request_that_a_server_sends_again_writes_nothing_twice(
    tmp_path: Path, tool: str, given: dict[str, Any]
) -> None:
    application = Application(workspace_of(tmp_path))
    application.answer(Request("memory_append", {**decision("Green."), "session_id": "demo-default"}))
    request = Request(tool, given, caller=CALLER, id=7)
    first, again = application.answer(request), application.answer(request)
    other = application.answer(request._replace(id=8)) if tool == "memory_append" else None
    application.close(5)
    assert not first.failed
    assert not again.failed
    if "seq" in first.content:
        assert again.content == first.content
    with Memory.open(tmp_path) as memory:
        written = [event for session in memory.sessions() for event in memory.replay(session)]
    expected = {"memory_ingest": 3, "subagent_cleanup": 2}.get(tool, 1) + (1 if other else 0)
    assert len([event for event in written if event.type != "session.ended"]) == 1 + expected


def test_a_client_that_uses_an_id_twice_means_two_requests(tmp_path: Path) -> None:
    application = Application(workspace_of(tmp_path))
    replies = [application.answer(Request("memory_append", fact(text), caller=CALLER, id=1)) for text in "ab"]
    application.close(5)
    assert [reply.content["seq"] for reply in replies] == [1, 2]


def test_keys_are_given_to_events_without_one_and_only_while_a_request_is_answered(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        with answering("request"):
            events = [
                memory.append("a.b", {}),
                memory.append("a.b", {}, idempotency_key="own"),
                memory.append("a.b", {}),
            ]
        events.append(memory.append("a.b", {}))
    assert [event.idempotency_key for event in events] == ["request:0", "own", "request:1", ""]


# The lines


def test_an_introduction_is_read_as_it_was_written_and_nothing_else_is_one() -> None:
    assert caller_of(CALLER.line) == CALLER
    for line in (b"", b"{}\n", b"[]\n", b'{"jsonrpc": "2.0"}\n', b'{"zaxy": {"id": "thief"}}\n', b"\xff\n"):
        assert caller_of(line) is None


def test_a_client_s_lines_are_split_and_one_that_is_too_long_goes_to_one_connection_only() -> None:
    lines = ClientLines()
    assert list(lines.split(b"a\nb", "one")) == [(b"a\n", True)]
    assert list(lines.split(b"c\n", "one")) == [(b"bc\n", True)]
    long = b"x" * (MAX_LINE_CHARS + 1)
    assert list(lines.split(long, "one")) == [(long, False)]
    assert list(lines.split(b"y", "one")) == [(b"y", False)]
    assert list(lines.split(b"y", "other")) == [], "the other never saw how it began"
    assert list(lines.split(b"y\nz\n", "other")) == [(b"z\n", True)]


def test_a_record_that_names_another_socket_of_the_user_is_not_followed(folder: Path) -> None:
    """As in a repository that somebody made: its record must not have us talk to the user's other programs."""
    runtime(folder, "json").parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as agent:
        path = folder / "agent.sock"
        agent.bind(str(path))
        agent.listen()
        agent.setblocking(False)
        told = {"pid": os.getpid(), "started": "2026-01-01T00:00:00Z", "socket": str(path), "version": "0"}
        runtime(folder, "json").write_text(json.dumps(told))
        assert owning.connect(workspace_of(folder)) is None
        with pytest.raises(BlockingIOError):
            agent.accept()


def test_a_command_of_another_version_than_the_owner_says_so(start: Start, folder: Path) -> None:
    server = start()
    server.call("memory_append", **fact("x"))
    record = json.loads(runtime(folder, "json").read_text())
    runtime(folder, "json").write_text(json.dumps({**record, "version": "0.0.1"}))
    refused = command(folder, "query", "x")
    assert refused.returncode == 1
    assert "held by a server of zaxy 0.0.1" in refused.stderr


TOOLS_FOR_COMMANDS = [
    ("memory_followers", {"action": "rebuild", "session_id": "demo-default"}),
    ("memory_erase", {"citation": "eventloom://demo-default/events/1#0123456789ab", "reason": "asked"}),
    ("memory_graph", {"read": "current", "session_id": "demo-default", "given": {"entity_types": ["fact"]}}),
]


@pytest.mark.parametrize(("tool", "given"), TOOLS_FOR_COMMANDS, ids=[tool for tool, _ in TOOLS_FOR_COMMANDS])
def test_what_commands_ask_of_the_owner_no_client_may(tmp_path: Path, tool: str, given: dict[str, Any]) -> None:
    application = Application(workspace_of(tmp_path))
    own = application.answer(Request(tool, given))
    proxied = application.answer(Request(tool, given, caller=CALLER, id=1))
    by_command = application.answer(Request(tool, given, caller=Caller()))
    application.close(5)
    assert own.content["error"]["code"] == proxied.content["error"]["code"] == "unknown_tool"
    assert by_command.content.get("error", {}).get("code") != "unknown_tool"


def test_a_command_may_do_through_the_owner_what_it_may_do_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In production and however many calls there are, and without a trace of tool calls in the log."""
    monkeypatch.setenv("ZAXY_ENV", "production")
    monkeypatch.setenv("ZAXY_MAX_CALLS_PER_MINUTE", "1")
    application = Application(workspace_of(tmp_path))
    application.answer(Request("memory_append", {**decision("Green."), "session_id": "demo-default"}))
    given = {"entity_name": "paint", "entity_type": "decision", "session_id": "demo-default"}
    ended = application.answer(Request("memory_invalidate", given, caller=Caller()))
    application.close(5)
    assert not ended.failed, ended.content
    with Memory.open(tmp_path) as memory:
        types = [event.type for event in memory.replay("demo-default", include_housekeeping=True)]
    assert types.count("tool.call.completed") == 1, "the client's own"


def test_a_stranger_on_the_socket_is_shown_out(start: Start, folder: Path) -> None:
    server = start()
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(runtime(folder, "sock")))
        stranger.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}\n')
        with selectors.DefaultSelector() as waiting:  # `select` refuses numbers above 1,023
            waiting.register(stranger, selectors.EVENT_READ)
            assert waiting.select(10)
        assert stranger.recv(100) == b""
    assert server.call("memory_append", **fact("x"))["seq"] == 1
