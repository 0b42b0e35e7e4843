"""The trial of a server: whatever it does instead of serving is told, and it never stays behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from zaxy.errors import ZaxyError
from zaxy.setup import server_trial
from zaxy.setup.server_trial import try_server

GREETS = """
import json, sys
print(json.dumps({"id": json.loads(input())["id"], "result": {}}), flush=True)
"""


def tried(program: str, folder: Path, within: float = 60.0) -> ZaxyError:
    with pytest.raises(ZaxyError) as caught:
        try_server(
            [sys.executable, "-c", program],
            str(folder),
            env={},
            tool="memory_capabilities",
            arguments={},
            within=within,
        )
    return caught.value


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('hello')", "something other than MCP"),
        ("import sys; sys.exit('no log here')", "exit code 1: no log here"),
        ("pass", "exit code 0"),
        ("import json; n = json.loads(input())['id']; print(json.dumps({'id': n, 'error': {'code': 1}}))", "refused"),
        (GREETS + "input(); sys.exit(3)", "exit code 3"),
        ("print('[]' * 3)", "something other than MCP"),
    ],
)
def test_a_program_that_does_not_serve_is_told_of(program: str, said: str, tmp_path: Path) -> None:
    error = tried(program, tmp_path)
    assert error.code == "unavailable"
    assert said in error.message


def test_what_a_program_wrote_before_it_ended_is_told_even_when_nothing_can_be_sent_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = server_trial._Server.send

    def send_to_one_that_ended(server: server_trial._Server, message: dict[str, object]) -> None:
        server._process.wait(60)
        real(server, message)

    monkeypatch.setattr(server_trial._Server, "send", send_to_one_that_ended)
    assert "something other than MCP" in tried("print('hello')", tmp_path).message


def test_a_program_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(ZaxyError, match="cannot be started"):
        try_server([str(tmp_path / "gone")], str(tmp_path), env={}, tool="memory_capabilities", arguments={})


def test_a_program_that_hangs_is_given_up_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_trial, "SECONDS_TO_END", 0.3)
    note = tmp_path / "pid"
    program = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    began = time.monotonic()
    assert "did not answer in time" in tried(program, tmp_path, within=5.0).message
    assert time.monotonic() - began < 60
    assert subprocess.run(["ps", "-p", note.read_text()], capture_output=True, check=False).returncode == 1


def test_a_program_that_floods_its_errors_does_not_block_the_trial(tmp_path: Path) -> None:
    error = tried("import sys\nsys.stderr.write('x' * 5_000_000)\nsys.exit(1)", tmp_path)
    assert "exit code 1" in error.message
    assert len(error.message) < 1000
