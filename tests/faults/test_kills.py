"""Writers are killed at any moment: what was acknowledged stays, and the next writer is not held up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from faults.crashes import (
    KILLS,
    PATIENCE,
    SEED,
    SESSION,
    acknowledged,
    assert_nothing_was_lost,
    child_command,
    child_environment,
    event,
    in_child,
    kill_commands,
    kill_writers,
    leave_a_fork,
    tag_of,
)
from zaxy.eventloom.loom import Eventloom

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL and fork are POSIX")


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_writers_in_the_api_are_killed(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    folder, acks, errors = str(tmp_path / "log"), tmp_path / "acks", tmp_path / "errors"
    acks.mkdir()
    kills = KILLS * 8 // 10
    outcome = json.loads(in_child(kill_writers, folder, str(acks), str(errors), kills, SEED, timeout=280))
    assert not errors.exists(), errors.read_text()
    assert outcome["killed"] >= kills
    assert max(outcome["waits"]) <= PATIENCE, outcome["waits"]
    noted = list(acknowledged(str(acks)))
    lines = assert_nothing_was_lost(folder, noted)
    assert len(noted) >= kills
    torn = Path(folder, f"{SESSION}.torn")
    cut = torn.read_bytes().count(b"\n# ") + 1 if torn.exists() else 0
    print(f"{outcome['killed']} kills, {len(noted)} acknowledged of {len(lines)} events, {cut} interrupted writes cut")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "hundredths"), [("hook-event", 15), ("append", 5)])
def test_nothing_acknowledged_is_lost_when_commands_are_killed(tmp_path: Path, command: str, hundredths: int) -> None:
    print(f"seed {SEED}")
    folder = str(tmp_path / "log")
    kills = KILLS * hundredths // 100
    outcome = kill_commands(command, folder, kills, SEED)
    assert not outcome["complaints"], outcome["complaints"]
    assert outcome["killed"] >= kills
    assert outcome["wait"] <= PATIENCE
    lines = assert_nothing_was_lost(folder, outcome["acks"])
    assert outcome["acks"]
    print(f"{outcome['killed']} kills, {len(outcome['acks'])} acknowledged of {len(lines) - 1} events")


def test_the_lock_of_a_process_that_was_killed_is_free_though_a_fork_of_it_lives(tmp_path: Path) -> None:
    folder = str(tmp_path / "log")
    dead = subprocess.run(
        child_command(leave_a_fork, folder), env=child_environment(), stdout=subprocess.PIPE, text=True, timeout=120
    )
    assert dead.returncode == -signal.SIGKILL
    try:
        loom = Eventloom(folder)
        loom.append(SESSION, [event("after")], timeout=PATIENCE)
        assert [tag_of(line) for line in loom.read(SESSION)] == ["before", "after"]
    finally:
        os.kill(int(dead.stdout), signal.SIGKILL)
