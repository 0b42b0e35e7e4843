"""A signal is delivered to any thread of a process; the one that waits for clients has to notice all the same.

So does one that comes in the instant before that thread begins to wait, which no test can choose: both are lost where
only a handler of Python is relied on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory

import pytest

from engines import needs_kuzu
from served import Listening, Server

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one choose the thread"),
    pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT]),
]
KUZU = {"ZAXY_EMBEDDED_ENGINE": "kuzu"}
SAID = {"event_type": "fact.recorded", "actor": "ann", "payload": {"text": "x"}}


def send_to_another_thread(process: Popen[bytes], number: signal.Signals) -> None:
    threads = [int(name) for name in os.listdir(f"/proc/{process.pid}/task")]
    other = next(thread for thread in threads if thread != process.pid)
    assert ctypes.CDLL(None, use_errno=True).tgkill(process.pid, other, number) == 0


def test_a_server_on_stdio_ends_by_a_signal_that_another_thread_takes(tmp_path: Path, number: signal.Signals) -> None:
    with Server(tmp_path / "demo") as server:
        server.call("memory_append", **SAID)
        send_to_another_thread(server.process, number)
        assert server.process.wait(60) == 0


@needs_kuzu
def test_an_owner_ends_by_a_signal_that_another_thread_takes(number: signal.Signals) -> None:
    with TemporaryDirectory(dir="/tmp") as short, Server(Path(short) / "demo", **KUZU) as owner:
        owner.call("memory_append", **SAID)
        send_to_another_thread(owner.process, number)
        assert owner.process.wait(60) == 0


def test_a_server_over_http_ends_by_a_signal_that_another_thread_takes(tmp_path: Path, number: signal.Signals) -> None:
    with Listening(tmp_path / "demo") as server:
        server.modern("memory_append", SAID)
        send_to_another_thread(server.process, number)
        assert server.process.wait(60) == 0
