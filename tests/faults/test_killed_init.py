"""An init that is killed, at whatever step, leaves nothing that undo or the doctor does not clear away."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from conftest import missing_package
from faults.crashes import child_command, child_environment, fork, in_child
from zaxy import atomic_write as writing
from zaxy.atomic_write import atomic_file
from zaxy.setup import init
from zaxy.setup.doctor import DoctorContext, examine
from zaxy.setup.doctor_files import CHECKS
from zaxy.setup.left_overs import clear_left_overs, left_overs
from zaxy.workspace import find_workspace

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="SIGKILL, fork and links are POSIX here")]

PACKAGED = ("claude-code", "codex", "cursor")
CLIENTS = ("cursor", "gemini", "vscode") if any(map(missing_package, PACKAGED[:2])) else PACKAGED
CHANGING = {"os.rename", "os.mkdir", "os.link", "os.remove", "os.rmdir", "os.chmod"}
NAME = "..mcp.json.0a1b2c3d.partial"


def project_with_settings(around: Path) -> Path:
    """A project and a home with configurations of their own, as they are before init."""
    root, home = around / "shop", around / "home"
    (root / ".cursor").mkdir(parents=True)
    (home / ".codex").mkdir(parents=True)
    (root / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}\n', encoding="utf-8")
    (home / ".codex" / "config.toml").write_text('model = "o"\n', encoding="utf-8")
    return root


def tree(around: Path) -> dict[str, bytes | None]:
    """All there is but the memory itself, and what the user's own folder keeps of other things, such as the key."""
    found = (path for path in sorted(around.rglob("*")) if ".eventloom" not in path.parts)
    kept = (path for path in found if path.parent != around / "state" or path.name.endswith(".partial"))
    return {str(path.relative_to(around)): path.read_bytes() if path.is_file() else None for path in kept}


def partials(around: Path) -> list[str]:
    return [str(path) for path in around.rglob("*.partial")]


def run_init(around: Path) -> None:
    """Without the trial of the server at its end, which writes nothing of these files."""
    init.try_plan = lambda plan, checkout: (None, None)
    environ = {"HOME": str(around / "home"), "PATH": "/usr/bin:/bin"}
    options = init.InitOptions(clients=CLIENTS)
    init.carry_out(init.make_plan(find_workspace(str(around / "shop")), options, environ))


def die_at(step: int, around: Path) -> None:
    """End this process right before the step-th call that changes a file or syncs one."""
    count = 0

    def one_more() -> None:
        nonlocal count
        count += 1
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_CREAT | os.O_WRONLY)
        if (writes or event in CHANGING) and str(around) in str(arguments[0]):
            one_more()

    def sync(fd: int) -> None:
        one_more()
        synced(fd)
        one_more()

    synced, writing.sync_data = writing.sync_data, sync
    sys.addaudithook(watch)


def kill_at_every_step(around_all: str) -> None:
    """In a child, which has imported everything: init in a fork for each step, then what clears away in another.

    Prints for each step what was wrong afterwards.
    """
    wrong: dict[str, object] = {}
    step, ended = 0, False
    while not ended:
        step += 1
        around = Path(around_all, str(step))
        project_with_settings(around)
        before = tree(around)
        os.environ["ZAXY_STATE_DIR"] = str(around / "state")
        errors = str(Path(around_all, "errors"))

        def killed(around: Path = around, step: int = step) -> None:
            die_at(step, around)
            run_init(around)

        ended = not os.WIFSIGNALED(os.waitpid(fork(killed, errors), 0)[1])
        os.waitpid(fork(lambda around=around, step=step: clear(around, step), errors), 0)  # type: ignore[misc]
        left = {**partials_as_dict(around), **difference(before, tree(around))}
        if left:
            wrong[str(step)] = left
        shutil.rmtree(around)
    found = Path(around_all, "errors")
    print(json.dumps({"steps": step, "wrong": wrong, "errors": found.read_text() if found.exists() else ""}))


def clear(around: Path, step: int) -> None:
    """Undo; with every second step the doctor clears first, and init is run once more."""
    workspace = find_workspace(str(around / "shop"))
    environ = {"HOME": str(around / "home"), "PATH": "/usr/bin:/bin"}
    if step % 2:
        rows = list(examine(DoctorContext(workspace, environ), CHECKS, fix=True))
        assert all(row.status == "ok" for row in rows), rows
        assert not partials(around), "the doctor has cleared all"
        run_init(around)
    undone = init.undo_init(workspace, environ=environ)
    assert all(row.ok for row in undone), undone


def partials_as_dict(around: Path) -> dict[str, object]:
    return dict.fromkeys(partials(around), "is left")


def difference(before: dict[str, bytes | None], after: dict[str, bytes | None]) -> dict[str, object]:
    """What is there and was not, or the other way round; the empty folders of the user's own state do not count."""
    empty = {"state", "state/init"}
    names = {name for name in before.keys() ^ after.keys() if name not in empty}
    return dict.fromkeys(names, "is new or gone") | {
        name: "is changed" for name in before.keys() & after.keys() if before[name] != after[name]
    }


@pytest.mark.timeout(300)
def test_an_init_that_is_killed_at_any_step_is_undone_and_leaves_no_file_behind(tmp_path: Path) -> None:
    outcome = json.loads(in_child(kill_at_every_step, str(tmp_path / "runs"), timeout=280))
    assert outcome["errors"] == ""
    assert outcome["wrong"] == {}
    assert outcome["steps"] > 60, "each file takes several steps"


# What is cleared, and what is not


def write_until_killed(path: str) -> None:
    """In a child: begin to write a file, and do not end."""
    with atomic_file(path) as file:
        file.write(b"half of it")
        file.flush()
        print("begun", flush=True)
        signal.pause()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project_with_settings(tmp_path)


def found_beside(root: Path) -> list[str]:
    return left_overs(find_workspace(str(root)), [root / ".mcp.json"])


def test_a_file_that_is_being_written_stays_until_its_writer_is_killed(root: Path) -> None:
    import subprocess

    command = child_command(write_until_killed, str(root / ".mcp.json"))
    with subprocess.Popen(command, env=child_environment(), stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"begun\n"
        (partial,) = partials(root)
        os.utime(partial, (1, 1))
        assert found_beside(root) == clear_left_overs(find_workspace(str(root)), [root / ".mcp.json"]) == []
        assert partials(root) == [partial]
        writer.kill()
    assert found_beside(root) == [partial]
    assert clear_left_overs(find_workspace(str(root)), [root / ".mcp.json"]) == [partial]
    assert partials(root) == []


def test_only_plain_files_with_exactly_such_a_name_are_ours(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("keep", encoding="utf-8")
    for name in (
        "..mcp.json.0a1b2c3.partial",
        "..mcp.json.0A1B2C3D.partial",
        "..mcp.json.0a1b2c3d.partial.old",
        ".mcp.json.0a1b2c3d.partial",
        "..0a1b2c3d.partial",
        "..mcp.json.0a1b2c3d0.partial",
        ".other.json.0a1b2c3d.partial",
        "..mcp.json.zaxy-backup.0a1b2c3d.partial",
    ):
        (root / name).write_text("not ours", encoding="utf-8")
    (root / "..mcp.json.11111111.partial").symlink_to(tmp_path / "outside")
    (root / "..mcp.json.22222222.partial").mkdir()
    os.mkfifo(root / "..mcp.json.33333333.partial")
    before = sorted(root.iterdir())
    assert clear_left_overs(find_workspace(str(root)), [root / ".mcp.json"]) == []
    assert sorted(root.iterdir()) == before


def test_a_link_in_the_project_leads_to_no_folder_that_is_cleared(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".mcp.json.0a1b2c3d.partial").write_text("somebody's", encoding="utf-8")
    (root / ".cursor").rmdir()
    (root / ".cursor").symlink_to(elsewhere)
    (root / ".eventloom").symlink_to(elsewhere)
    assert clear_left_overs(find_workspace(str(root)), [root / ".cursor" / "mcp.json"]) == []
    assert len(partials(elsewhere)) == 1


def test_where_nothing_can_be_locked_only_an_old_file_is_cleared(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zaxy.setup import left_overs as module

    def no_locks(fd: int) -> bool:
        raise OSError("this file system has no locks")

    monkeypatch.setattr(module, "try_lock", no_locks)
    partial = root / NAME
    partial.write_text("half", encoding="utf-8")
    assert found_beside(root) == []
    os.utime(partial, (1, 1))
    assert found_beside(root) == [str(partial)]


def test_a_file_that_is_cleared_before_it_is_locked_is_begun_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cleared = list[str]()

    def clear_first(fd: int, deadline: float) -> bool:
        if not cleared:
            cleared.extend(clear_left_overs(find_workspace(str(root)), [root / ".mcp.json"]))
        return True

    monkeypatch.setattr(writing, "try_until", clear_first)
    writing.atomic_write(str(root / ".mcp.json"), b"{}")
    assert len(cleared) == 1
    assert (root / ".mcp.json").read_bytes() == b"{}"
    assert partials(root) == []
