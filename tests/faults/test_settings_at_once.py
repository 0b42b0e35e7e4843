"""Settings that several processes keep at once are all kept, and a process that ends holds nobody up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faults.crashes import child_command, child_environment
from folders import made_folder
from zaxy.errors import ZaxyError
from zaxy.file_lock import locked
from zaxy.workspace import LOCK_FILE, Workspace, find_workspace

PROCESSES, EACH = 4, 25
OF_WORKSPACE = ("ZAXY_DOMAIN", "ZAXY_TOOL_PROFILE", "EVENTLOOM_THREAD", "ZAXY_PLUGINS_BUDGET")
"""Settings that the workspace's own file may keep; all others are kept in the user's own."""
ONE, TWO = OF_WORKSPACE[:2]


def keep_settings(root: str, number: int) -> None:
    """In a child: wait until all have started, then keep one setting after the other, and take some out again."""
    workspace = find_workspace(workspace=root)
    sys.stdin.read()
    for turn in range(EACH):
        workspace.store_setting(f"OF_{number}_{turn}", turn)
        workspace.store_setting(OF_WORKSPACE[number], turn)
        if turn % 5 == 4:
            workspace.store_setting(f"OF_{number}_{turn - 1}", None)


def hold_the_lock(root: str) -> None:
    """In a child: hold the lock until killed."""
    with locked(os.path.join(root, ".eventloom", LOCK_FILE)):
        print("held", flush=True)
        signal.pause()


def started(function: object, *arguments: object) -> subprocess.Popen[bytes]:
    command = child_command(function, *arguments)  # type: ignore[arg-type]
    return subprocess.Popen(command, env=child_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_settings_that_several_processes_keep_at_once_are_all_kept(tmp_path: Path) -> None:
    workspace = find_workspace(workspace=str(tmp_path))
    identity = workspace.identity()
    children = [started(keep_settings, str(tmp_path), number) for number in range(PROCESSES)]
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
    assert [child.wait(timeout=120) for child in children] == [0] * PROCESSES
    kept = {f"OF_{number}_{turn}": turn for number in range(PROCESSES) for turn in range(EACH) if turn % 5 != 3}
    assert workspace.stored_settings().here == kept
    assert workspace.stored_settings().workspace == dict.fromkeys(OF_WORKSPACE, EACH - 1)
    assert workspace.identity() == identity


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL and pauses are POSIX")
def test_a_process_that_was_killed_while_it_kept_a_setting_holds_nobody_up(tmp_path: Path) -> None:
    workspace = find_workspace(workspace=str(tmp_path))
    workspace.store_setting(ONE, 1)
    child = started(hold_the_lock, str(tmp_path))
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    with pytest.raises(ZaxyError, match="held by another process"), locked(str(lock_of(workspace)), timeout=0.05):
        pass
    child.kill()
    child.wait()
    workspace.store_setting(TWO, 2)
    assert workspace.stored_settings().workspace == {ONE: 1, TWO: 2}


def lock_of(workspace: Workspace) -> Path:
    return Path(workspace.eventloom, LOCK_FILE)


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes are POSIX here")
def test_whatever_stands_in_the_place_of_the_lock_nothing_hangs_and_nothing_outside_is_touched(tmp_path: Path) -> None:
    workspace = find_workspace(workspace=str(made_folder(tmp_path / "project")))
    workspace.store_setting(ONE, 1)
    outside = tmp_path / "outside"
    outside.write_bytes(b"not ours")
    for disguise in (
        lambda place: place.symlink_to(outside),
        lambda place: place.symlink_to(tmp_path / "new"),
        lambda place: place.hardlink_to(outside),
        lambda place: place.mkdir(),
        os.mkfifo,
    ):
        lock = lock_of(workspace)
        lock.rmdir() if lock.is_dir() and not lock.is_symlink() else lock.unlink()
        disguise(lock)
        with pytest.raises(ZaxyError):
            workspace.store_setting(TWO, 2)
        assert workspace.stored_settings().workspace == {ONE: 1}
    assert outside.read_bytes() == b"not ours"
    assert not (tmp_path / "new").exists()


def test_the_lock_and_the_settings_are_their_users_alone(tmp_path: Path) -> None:
    workspace = find_workspace(workspace=str(tmp_path))
    workspace.store_setting(ONE, 1)
    if os.name == "posix":
        assert {path.stat().st_mode & 0o777 for path in Path(workspace.eventloom).iterdir()} == {0o600}
    assert json.loads(Path(workspace.identity_file).read_text())["settings"] == {ONE: 1}
