"""Nothing but the protocol reaches stdout, and the server ends when its client does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from folders import made_folder
from installed import install, manifest_of
from served import LEGACY, Server, arguments, environment
from zaxy.memory import Memory

ASKED = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": ASKED}).encode() + b"\n"
NOISE = """
import os, subprocess, sys
def make(where):
    print("printed", where)
    sys.__stdout__.write("written " + where + "\\n")
    sys.__stdout__.flush()
    os.write(1, b"from C " + where.encode() + b"\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    assert sys.stdin is None or sys.stdin.read() == "", "a plugin could read what the client sends"
"""
PLUGIN = """
from zaxy.api import Provider, hookimpl
from acme_noisy import noise
noise.make("at import")

@hookimpl
def zaxy_tool_packs():
    noise.make("in its hook")
    return [Provider("noisy", "acme_noisy.pack:Pack", "Noise.")]
"""
PACK = """
from zaxy.api import Tool
from acme_noisy import noise

class Pack:
    def __init__(self, context):
        noise.make("when made")

    def tools(self):
        return (Tool("acme_shout", "Shout.", {"type": "object"}, profiles=("core",)),)

    def call(self, tool, arguments, memory, progress):
        noise.make("in a call")
        return {"ok": True}
"""
# A library that prints when it is imported and at every log line, as some do.
LIBRARY = "print('a library prints')\nimport os\nos.write(1, b'and writes\\n')\n"


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    manifest = manifest_of("acme-noisy", provides=[{"point": "tool_packs", "name": "noisy"}])
    modules = {"plugin.py": PLUGIN, "pack.py": PACK, "noise.py": NOISE}
    install(site, "acme-noisy", modules, manifest, "[zaxy.plugins]\nacme-noisy = acme_noisy.plugin\n")
    return site


def test_what_a_plugin_and_its_children_print_goes_to_stderr(tmp_path: Path, noisy: Path) -> None:
    with Server(tmp_path / "demo", site=noisy) as server:
        assert "acme_shout" in json.dumps(server.request("tools/list", {}))
        assert server.call("acme_shout") == {"ok": True}
        server.close()
        for line in server.lines:
            assert json.loads(line)["jsonrpc"] == "2.0"
        for said in (
            "printed at import",
            "written in its hook",
            "from C when made",
            "printed in a call",
            "from a child",
        ):
            assert said in server.stderr


def test_what_a_library_prints_while_it_is_imported_goes_to_stderr(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    # jsonschema is imported behind the first reply; this one stands in for it and then makes way.
    loud = "import sys\nsys.path.remove({site!r})\ndel sys.modules['jsonschema']\nimport jsonschema as real\n"
    loud += "sys.modules['jsonschema'] = real\nglobals().update(vars(real))\n"
    (site / "jsonschema.py").write_text(LIBRARY + loud.format(site=str(site)))
    with Server(tmp_path / "demo", site=site) as server:
        assert "error" not in server.call("memory_query", query="x")
        server.close()
        assert "a library prints" in server.stderr
        assert "and writes" in server.stderr
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)


def test_the_server_ends_soon_after_its_client_closes(tmp_path: Path) -> None:
    with Server(tmp_path / "demo") as server:
        server.call("memory_append", event_type="a.b", actor="ann", payload={})
        assert server.close() < server.soon
        assert server.process.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_soon_after_it_is_told_to(tmp_path: Path, number: signal.Signals) -> None:
    with Server(tmp_path / "demo") as server:
        server.call("memory_append", event_type="a.b", actor="ann", payload={})
        began = time.monotonic()
        server.process.send_signal(number)
        assert server.process.wait(60) == 0
        assert time.monotonic() - began < server.soon
    with Memory.open(made_folder(tmp_path / "demo")) as memory:
        assert memory.replay(include_housekeeping=True)[-1].type == "session.ended"


@pytest.mark.skipif(os.name != "posix", reason="kills a process group")
def test_a_client_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    """The client is a process of its own that dies with the pipes in its hands."""
    client = f"""
import subprocess, sys, time
server = subprocess.Popen({arguments()!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write({INITIALIZE!r})
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(600)
"""
    here = tmp_path / "demo"
    here.mkdir()
    dying = subprocess.Popen([sys.executable, "-c", client], cwd=here, env=environment(), stdout=subprocess.PIPE)
    assert dying.stdout
    server = int(dying.stdout.readline())
    dying.kill()
    dying.wait()
    deadline = time.monotonic() + 60
    while alive(server) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(server)
    with Memory.open(here) as memory:
        assert memory.replay(include_housekeeping=True)[-1].type == "session.ended"


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_half_a_frame_is_nothing(tmp_path: Path) -> None:
    with Server(tmp_path / "demo") as server:
        server.send(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_append"')
        assert server.close() < server.soon
        assert server.process.returncode == 0
        assert len(server.lines) == 1, "only initialize was answered"


def test_a_frame_may_come_in_pieces(tmp_path: Path) -> None:
    with Server(tmp_path / "demo") as server:
        frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n"
        for byte in frame:
            server.send(bytes([byte]))
        assert server.receive()["id"] == 1


def test_what_was_asked_before_the_client_closed_is_still_answered(tmp_path: Path) -> None:
    given = {"event_type": "a.b", "actor": "ann", "payload": {}}
    with Server(tmp_path / "demo") as server:
        assert server.call("memory_append", **given)["seq"] == 1  # the first one imports much, which may take long
        asked = server.ask("tools/call", {"name": "memory_append", "arguments": given})
        server.close()
        answers = {answer["id"]: answer for answer in map(json.loads, server.lines)}
    assert answers[asked]["result"]["structuredContent"]["seq"] > 1


def test_a_client_that_stops_reading_keeps_nobody_from_ending(tmp_path: Path) -> None:
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    here = tmp_path / "demo"
    here.mkdir()
    process = subprocess.Popen(
        arguments(),
        cwd=here,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout

    def unread() -> int:
        return int.from_bytes(fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4)), sys.byteorder)

    process.stdin.write(INITIALIZE)
    frames = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/list"}).encode() + b"\n" for n in range(1, 200)
    )
    threading.Thread(target=lambda: (process.stdin.write(frames), process.stdin.flush()), daemon=True).start()  # type: ignore[union-attr]
    deadline, before = time.monotonic() + 60, -1
    while unread() < 30_000 or unread() != before:  # until the pipe is full, and nothing more goes into it
        assert time.monotonic() < deadline, "the server never filled the pipe"
        before = unread()
        time.sleep(0.5)
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()


def test_a_client_whose_reading_end_is_closed_ends_the_server(tmp_path: Path) -> None:
    here = tmp_path / "demo"
    here.mkdir()
    process = subprocess.Popen(
        arguments(),
        cwd=here,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    process.stdout.close()
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    assert process.wait(60) == 0
