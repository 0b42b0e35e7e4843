"""A process holds the graph and cannot be asked, for whatever reason: what needs no graph works, and reads warn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from engines import needs_kuzu
from served import LEGACY, MODERN, Server, environment
from zaxy.owner.owner import NAME

pytestmark = [
    needs_kuzu,
    pytest.mark.skipif(os.name != "posix", reason="Windows has no local sockets for this"),
    pytest.mark.timeout(240),
]

KUZU = {"ZAXY_EMBEDDED_ENGINE": "kuzu"}
LOCK_ONLY = """
import sys, time, socket, json, os
from zaxy.eventloom.lock import SessionLock
from zaxy.eventloom.disk import DISK
runtime, listens = sys.argv[1], sys.argv[2] == "listens"
os.makedirs(runtime, mode=0o700, exist_ok=True)
path = os.path.join(runtime, "zaxy-embedded-owner")
with SessionLock(path + ".lock", DISK).exclusive(5):
    if listens:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path + ".sock")
        listener.listen(8)
        record = {"pid": os.getpid(), "started": "", "socket": path + ".sock", "version": "0.1.0"}
        with open(path + ".json", "w") as file:
            json.dump(record, file)
    print("held", flush=True)
    time.sleep(600)
"""
GRAPH_ONLY = """
import sys, time
from zaxy.memory import Memory
memory = Memory.open(sys.argv[1])
memory.append("fact.recorded", {"text": "held"}, session="other")
memory.query("held", "other")
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir="/tmp") as short:
        root = Path(short) / "demo"
        root.mkdir()
        yield root


def runtime(folder: Path, ending: str) -> Path:
    return folder / ".eventloom" / "runtime" / f"{NAME}.{ending}"


def program(text: str, *words: str) -> subprocess.Popen[bytes]:
    holder = subprocess.Popen([sys.executable, "-c", text, *words], env=environment(**KUZU), stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    return holder


def an_owner(folder: Path, running: ExitStack) -> Callable[[], None]:
    """A real server that owns the graph; what ends it."""
    owner = running.enter_context(Server(folder, LEGACY, **KUZU))
    owner.call("memory_append", event_type="fact.recorded", actor="ann", payload={"text": "the cellar is dry"})
    return owner.process.kill


def ended_by(holder: subprocess.Popen[bytes], running: ExitStack) -> Callable[[], None]:
    running.callback(holder.wait)
    running.callback(holder.kill)
    return holder.kill


def the_socket_is_gone(folder: Path, running: ExitStack) -> Callable[[], None]:
    end = an_owner(folder, running)
    runtime(folder, "sock").unlink()
    return end


def the_record_is_gone(folder: Path, running: ExitStack) -> Callable[[], None]:
    end = an_owner(folder, running)
    runtime(folder, "json").unlink()
    return end


def a_file_is_in_the_place_of_the_socket(folder: Path, running: ExitStack) -> Callable[[], None]:
    end = an_owner(folder, running)
    runtime(folder, "sock").unlink()
    runtime(folder, "sock").write_bytes(b"")
    return end


def it_never_listens(folder: Path, running: ExitStack) -> Callable[[], None]:
    return ended_by(program(LOCK_ONLY, str(runtime(folder, "sock").parent), "is silent"), running)


def it_listens_and_never_answers(folder: Path, running: ExitStack) -> Callable[[], None]:
    return ended_by(program(LOCK_ONLY, str(runtime(folder, "sock").parent), "listens"), running)


def it_holds_only_the_graph(folder: Path, running: ExitStack) -> Callable[[], None]:
    return ended_by(program(GRAPH_ONLY, str(folder)), running)


OBSTACLES = [
    the_socket_is_gone,
    the_record_is_gone,
    a_file_is_in_the_place_of_the_socket,
    it_never_listens,
    it_listens_and_never_answers,
    it_holds_only_the_graph,
]


def append(server: Server, text: str) -> dict[str, Any]:
    return server.call("memory_append", event_type="fact.recorded", actor="ann", payload={"text": text})


def contents(page: dict[str, Any]) -> set[str]:
    return {row["content"] for row in page["results"] if "lamp" in row["content"]}


def texts_in_log(folder: Path) -> list[str]:
    lines = (folder / ".eventloom" / "demo-default.jsonl").read_text(encoding="utf-8").splitlines()
    return [record["payload"]["text"] for record in map(json.loads, lines) if "text" in record["payload"]]


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "zaxy", *words]
    return subprocess.run(run, cwd=folder, env=environment(**KUZU), capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda obstacle: obstacle.__name__)
def test_appends_work_and_reads_warn_until_the_graph_can_be_had_again(
    folder: Path, obstacle: Callable[[Path, ExitStack], Callable[[], None]]
) -> None:
    with ExitStack() as running:
        end = obstacle(folder, running)
        server = running.enter_context(Server(folder, MODERN, **KUZU))
        for text in ("the lamp is red", "the lamp is tall"):
            assert append(server, text).get("seq"), text
        page = server.call("memory_query", query="lamp")
        assert contents(page) == {"the lamp is red", "the lamp is tall"}
        assert any("graph" in warning for warning in page["warnings"])
        assert "error" not in server.call("memory_checkout", query="Which lamp?")
        by_command = command(folder, "append", "fact.recorded", "--payload", '{"text": "the lamp is new"}')
        assert by_command.returncode == 0, by_command.stderr
        read = command(folder, "query", "lamp", "--json")
        assert (read.returncode, len(contents(json.loads(read.stdout)))) == (0, 3), read.stderr
        assert json.loads(read.stdout)["warnings"]
        end()
        deadline = time.monotonic() + 60
        while (page := server.call("memory_query", query="lamp"))["warnings"] and time.monotonic() < deadline:
            time.sleep(0.2)
        assert page["warnings"] == []
        assert len(contents(page)) == 3
        assert append(server, "the lamp is off")["seq"]
    written = [text for text in texts_in_log(folder) if "lamp" in text]
    assert written == ["the lamp is red", "the lamp is tall", "the lamp is new", "the lamp is off"]
