"""The owner of a graph is killed at any moment: another server takes over, no append is lost or doubled, and there is
never more than one owner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from tempfile import TemporaryDirectory

import pytest

from engines import needs_kuzu
from folders import made_folder
from served import LEGACY, MODERN, Server, environment
from zaxy.eventloom.loom import Eventloom
from zaxy.owner.owner import owner_record
from zaxy.workspace import find_workspace

pytestmark = [needs_kuzu, pytest.mark.skipif(os.name != "posix", reason="SIGKILL and local sockets are POSIX")]

KUZU = {"ZAXY_EMBEDDED_ENGINE": "kuzu"}
KILLS = 20
WITHIN = 3.0
ROUNDS = 200
RACING = 4


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(dir="/tmp") as short:
        yield made_folder(Path(short) / "demo")


class Writer(threading.Thread):
    """A client that appends without pause, one event after the other, until it is told to stop or its server dies."""

    def __init__(self, folder: Path, number: int) -> None:
        super().__init__(daemon=True)
        self.server = Server(folder, LEGACY if number % 2 else MODERN, **KUZU)
        self.acknowledged: list[str] = []
        self.asked_at = time.monotonic()
        """When the last append that was acknowledged had been asked for."""
        self.refused: list[object] = []
        self._number = number
        self._stop_now = threading.Event()

    def run(self) -> None:
        while not self._stop_now.is_set():
            text = f"w{self._number}-{len(self.acknowledged)}"
            asked = time.monotonic()
            try:
                reply = self.server.call("memory_append", event_type="note.taken", actor="ann", payload={"text": text})
            except (OSError, Empty):
                return  # it was this one's server that was killed
            if "seq" not in reply:
                self.refused.append(reply)
                return
            self.acknowledged.append(text)
            self.asked_at = asked

    def stop(self) -> None:
        self._stop_now.set()
        self.join(120)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_or_doubled_when_owners_are_killed(folder: Path) -> None:
    began = time.monotonic()
    writers = [Writer(folder, 0)]
    writers[0].server.call("memory_capabilities")
    to_start = time.monotonic() - began
    writers += [Writer(folder, number) for number in (1, 2)]
    gone: list[Writer] = []
    waits = []
    try:
        for writer in writers:
            writer.start()
        for number in range(3, 3 + KILLS):
            time.sleep(0.1)
            owner = owner_of(folder, writers)
            owner.server.process.kill()
            killed = time.monotonic()
            writers.remove(owner)
            gone.append(owner)
            while any(writer.asked_at <= killed for writer in writers):
                assert not [writer.refused for writer in writers if writer.refused]
                assert time.monotonic() - killed < 120, "nobody took over"
                time.sleep(0.005)
            waits.append(time.monotonic() - killed)
            writers.append(Writer(folder, number))
            writers[-1].start()
        for writer in writers:
            writer.stop()
        assert not writers[0].server.call("memory_query", query="w0-0")["warnings"]
    finally:
        for writer in (*writers, *gone):
            writer.server.process.kill()
    print(
        f"take-over in {sorted(waits)[KILLS // 2]:.2f} s, at most {max(waits):.2f}; to start a server: {to_start:.2f}"
    )
    # A server that has to be imported takes longer on a busy machine, whoever does it: alone, each take-over is within
    # the limit; beside other tests the middle one is, and none takes several times as long.
    limit = max(WITHIN, 2.5 * to_start)
    assert sorted(waits)[KILLS // 2] <= limit
    assert max(waits) <= 4 * limit
    assert_each_is_there_once(folder, [text for writer in (*writers, *gone) for text in writer.acknowledged])


def owner_of(folder: Path, writers: list[Writer]) -> Writer:
    record = owner_record(find_workspace(str(folder)))
    assert record is not None
    return next(writer for writer in writers if writer.server.process.pid == record.pid)


def assert_each_is_there_once(folder: Path, acknowledged: list[str]) -> None:
    lines = (folder / ".eventloom" / "demo-default.jsonl").read_text().splitlines()
    written = Counter(json.loads(line)["payload"].get("text", "") for line in lines)
    del written[""]
    assert len(acknowledged) > KILLS
    assert not set(acknowledged) - set(written), "an acknowledged event is lost"
    assert set(written.values()) == {1}, "an event was written twice"
    assert Eventloom(str(folder / ".eventloom")).verify("demo-default").ok


OWNS = """
import os, sys, time
from zaxy.owner.owner import try_to_own
from zaxy.workspace import find_workspace
workspace = find_workspace(sys.argv[1])
while not (owner := try_to_own(workspace, lambda listener, stop: stop.wait())):
    time.sleep(0.001)
os.write(1, b"owner\\n")  # at once: where Python does not buffer, print would write twice
sys.stdin.readline()
"""


@pytest.mark.slow
def test_there_are_never_two_owners_however_often_one_is_killed(folder: Path) -> None:
    def racer() -> subprocess.Popen[bytes]:
        run = [sys.executable, "-c", OWNS, str(folder)]
        started = subprocess.Popen(run, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert started.stdout
        os.set_blocking(started.stdout.fileno(), False)
        return started

    racers = [racer() for _ in range(RACING)]
    try:
        for _ in range(ROUNDS):
            owners: list[subprocess.Popen[bytes]] = []
            deadline = time.monotonic() + 60
            while not owners and time.monotonic() < deadline:
                time.sleep(0.002)
                owners = [one for one in racers if one.stdout and one.stdout.read()]
            time.sleep(0.01)  # for another that takes itself for the owner too
            owners += [one for one in racers if one.stdout and one.stdout.read()]
            (owner,) = owners
            record = owner_record(find_workspace(str(folder)))
            assert record is not None
            assert record.pid == owner.pid
            owner.send_signal(signal.SIGKILL)
            owner.wait()
            racers.remove(owner)
            racers.append(racer())
    finally:
        for one in racers:
            one.kill()
            one.wait()
