"""`zaxy doctor`: each way in which a set-up can be broken has a row that names it, and --fix mends what it may."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import pytest

import outside_lane
from broken_plugins import Package, write
from folders import made_folder
from project import Project
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.memory import Memory
from zaxy.observe.capture_config import FILE_NAME, capture_config_text
from zaxy.setup.doctor import DoctorContext, examine
from zaxy.setup.doctor_checks import check_disk, check_key, check_python, check_sqlite
from zaxy.setup.doctor_clients import check_capture, check_hooks
from zaxy.setup.doctor_files import CHECKS as CHECKS_OF_FILES
from zaxy.setup.doctor_round import CHECKS
from zaxy.setup.running_servers import RunningServer, doubled
from zaxy.workspace import find_workspace

Finding = dict[str, Any]
ON_LINUX = sys.platform.startswith("linux")


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that init has set up for Cursor, made once and copied for each test."""
    around = tmp_path_factory.mktemp("pattern")
    made = Project(around / "shop", around / "home")
    made.root.mkdir()
    made.home.mkdir()
    made.told("init", "--client", "cursor", "--yes")
    return around


@pytest.fixture
def project(pattern: Path, tmp_path: Path) -> Project:
    shutil.copytree(pattern, tmp_path / "copy")
    made = Project(tmp_path / "copy" / "shop", tmp_path / "copy" / "home")
    for path in (made.root / ".cursor/mcp.json", made.root / ".cursor/hooks.json"):
        path.write_text(path.read_text().replace(str(pattern / "shop"), str(made.root)))
    return made


def rows_of(project: Project, *words: str, code: int = 0, **env: str | None) -> dict[str, Finding]:
    """The rows by name; of several with one name, the worst."""
    told = project.told("doctor", *words, code=code, **env)
    assert told["ok"] is (code == 0)
    worst = ("ok", "warning", "error")
    rows: dict[str, Finding] = {}
    for row in told["rows"]:
        assert set(row) == {"name", "status", "message", "action", "mended"}
        assert row["status"] == "ok" or row["action"], f"{row['name']} says nothing of what to do"
        if row["name"] not in rows or worst.index(row["status"]) > worst.index(rows[row["name"]]["status"]):
            rows[row["name"]] = row
    return rows


def wrong(rows: dict[str, Finding], *but: str) -> list[str]:
    """The rows that are not ok."""
    return [name for name, row in rows.items() if row["status"] != "ok" and name not in but]


def log_of(project: Project) -> Path:
    return project.root / ".eventloom" / "shop-default.jsonl"


def test_right_after_init_all_is_well_every_part_was_tried_and_nothing_was_changed(project: Project) -> None:
    def kept() -> dict[str, bytes]:
        """All but the followers, which a read brings up to the log as well."""
        memory = {path: path.read_bytes() for path in project.eventloom.rglob("*") if path.is_file()}
        own = {str(path): data for path, data in memory.items() if "followers" not in path.parts}
        return {**project.files(), **own}

    before = kept()
    rows = rows_of(project)
    assert kept() == before
    assert wrong(rows) == []
    for name in ("python", "sqlite", "workspace", "disk_space", "file_modes", "log_chain", "write_path", "followers"):
        assert rows[name]["status"] == "ok"
    assert rows["user_key"]["status"] == "ok" and "the key in" in rows["user_key"]["message"]
    assert "started and answered" in rows["server"]["message"]
    assert rows["client_config:cursor"]["status"] == rows["hooks:cursor"]["status"] == "ok"
    assert "can be written" in rows["write_path"]["message"]
    assert "arrives with their next session" in rows["capture_health"]["message"]


def test_a_client_that_only_has_the_server_is_well_once_it_is_set_up(tmp_path: Path) -> None:
    project = Project(tmp_path / "shop", tmp_path)
    project.root.mkdir()
    assert project.run("ide-config", "vscode", "--install").returncode == 0
    (row,) = check_capture(DoctorContext(find_workspace(str(project.root)), project.environ()))
    assert (row.status, "vscode: memory holds what is recorded with its tools" in row.message) == ("ok", True)
    assert project.run("ide-config", "vscode", "--remove").returncode == 0
    (row,) = check_capture(DoctorContext(find_workspace(str(project.root)), project.environ()))
    assert (row.status, row.action) == ("warning", "zaxy init")


def test_hooks_that_wait_for_trust_are_warned_of_by_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path / "shop", tmp_path)
    (project.root / ".gemini").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert project.run("hooks", "gemini", "--out", ".gemini/settings.json").returncode == 0
    context = DoctorContext(find_workspace(str(project.root)), project.environ())
    (hooks,), (capture,) = check_hooks(context), check_capture(context)
    assert (hooks.name, hooks.status, "trust the folder" in hooks.action) == ("hooks:gemini", "warning", True)
    assert (capture.status, "hooks:gemini" in capture.message) == ("ok", True)


def test_the_page_has_a_line_for_each_row_and_a_verdict(project: Project) -> None:
    done = project.run("doctor")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[0].startswith("ok       python")
    assert done.stdout.splitlines()[-1].startswith("Memory works")
    assert "\x1b" not in done.stdout


def test_an_empty_folder_is_told_to_be_set_up_and_nothing_is_made_in_it(tmp_path: Path) -> None:
    empty = Project(tmp_path / "empty", tmp_path)
    empty.root.mkdir()
    rows = rows_of(empty)
    assert rows["workspace"]["status"] == "warning"
    assert rows["workspace"]["action"] == "zaxy init --yes"
    assert rows["server"]["status"] == "ok"
    assert list(empty.root.iterdir()) == []


def test_a_key_that_cannot_be_kept_is_a_warning_with_a_way_out(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in-the-way").write_text("a file where the folder should be", encoding="utf-8")
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "in-the-way"))
    (row,) = check_key(DoctorContext(find_workspace(str(project.root))))
    assert (row.name, row.status) == ("user_key", "warning")
    assert str(tmp_path / "in-the-way") in row.message and "ZAXY_STATE_DIR" in row.action


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the repository")
def test_a_log_that_git_tracks_is_named_and_the_advice_ends_it(project: Project, tmp_path: Path) -> None:
    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=project.root, check=True, capture_output=True, text=True)
        return done.stdout

    def row() -> Finding:
        context = DoctorContext(find_workspace(str(project.root)))
        return {row.name: row.as_dict() for row in examine(context, CHECKS_OF_FILES, False)}["git"]

    assert row()["status"] == "ok"
    git("init", "-q")
    assert row()["status"] == "ok"
    git("add", "-f", ".eventloom")
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "memory")
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n", encoding="utf-8")
    spy.chmod(0o755)
    found = rows_of(project, PATH=f"{spy.parent}:/usr/bin:/bin")["git"]
    assert not (tmp_path / "was-run").exists(), "what git runs is for the repository to say"
    assert found["status"] == "warning"
    assert "the log is tracked by git" in found["message"]
    advice = found["action"].split(": ", 1)[1].split(";")[0]
    subprocess.run(["sh", "-c", advice], cwd=project.root, check=True, capture_output=True)
    assert row()["status"] == "ok"
    assert log_of(project).exists()
    git("add", ".")
    assert ".eventloom" not in git("ls-files")


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean something else there")
def test_files_that_others_can_read_are_named_and_mended(project: Project) -> None:
    log_of(project).chmod(0o644)
    (project.root / ".eventloom").chmod(0o755)
    row = rows_of(project)["file_modes"]
    assert (row["status"], "chmod" in row["action"]) == ("warning", True)
    assert rows_of(project, "--fix")["file_modes"]["mended"]
    assert stat.S_IMODE(log_of(project).stat().st_mode) == 0o600
    assert stat.S_IMODE((project.root / ".eventloom").stat().st_mode) == 0o700


def test_files_of_engines_in_a_folder_that_only_its_user_enters_are_nothing_to_complain_of(project: Project) -> None:
    made_by_an_engine = project.eventloom / "followers" / "projection_backends-kuzu" / "shop-default.kuzu"
    made_by_an_engine.parent.mkdir(mode=0o700)
    made_by_an_engine.touch(mode=0o644)
    project.eventloom.chmod(0o755)
    checked = [check for check in CHECKS if check.name == "file_modes"]
    context = DoctorContext(find_workspace(str(project.root)))
    (row,) = examine(context, checked, fix=False)
    assert row.message == ".eventloom can be read or written by other users"
    for folder in (made_by_an_engine.parent, made_by_an_engine.parent.parent):
        folder.chmod(0o755)
    (row,) = examine(context, checked, fix=False)
    assert row.message == ".eventloom and 3 more can be read or written by other users"
    (row,) = examine(context, checked, fix=True)
    assert (row.status, row.fixed, stat.S_IMODE(made_by_an_engine.stat().st_mode)) == ("ok", True, 0o600)


def test_an_interrupted_write_is_named_and_cut(project: Project) -> None:
    whole = log_of(project).read_bytes()
    log_of(project).write_bytes(whole + b'{"v":1,"seq":')
    checked = [check for check in CHECKS if check.name == "log_chain"]
    context = DoctorContext(find_workspace(str(project.root)))
    (row,) = examine(context, checked, fix=False)
    assert (row.status, "interrupted" in row.message) == ("warning", True)
    assert row.action.startswith("zaxy repair shop-default")
    (row,) = examine(context, checked, fix=True)
    assert (row.status, row.fixed) == ("ok", True)
    assert log_of(project).read_bytes() == whole


def test_a_changed_event_is_named_with_its_number_and_never_mended(project: Project) -> None:
    spoilt = log_of(project).read_bytes().replace(b'"workspace":"shop"', b'"workspace":"shoq"', 1)
    log_of(project).write_bytes(spoilt)
    rows = rows_of(project, "--fix", code=1)
    assert rows["log_chain"]["status"] == "error"
    assert "damaged at event 1" in rows["log_chain"]["message"]
    assert rows["write_path"]["status"] == "error"
    assert log_of(project).read_bytes() == spoilt


def test_a_session_that_is_marked_as_poisoned_is_named_and_lifted(project: Project) -> None:
    (project.root / ".eventloom" / "shop-default.poisoned").write_text("2026-01-01T00:00:00Z a failed write\n")
    rows = rows_of(project, code=1)
    assert (rows["log_chain"]["status"], "poisoned" in rows["log_chain"]["message"]) == ("error", True)
    assert rows_of(project, "--fix")["log_chain"]["mended"]


def test_followers_that_are_ahead_of_a_log_that_was_cut_back_are_named_and_rebuilt(project: Project) -> None:
    full = log_of(project).read_bytes()
    for _ in range(3):
        project.run("append", "fact.recorded", "--payload", '{"fact": "x"}', "--actor", "ann")
    project.run("query", "x")
    log_of(project).write_bytes(full)
    rows = rows_of(project, code=1)
    assert wrong(rows) == ["followers"]
    assert "zaxy followers rebuild" in rows["followers"]["action"]
    assert rows_of(project, "--fix")["followers"]["mended"]
    assert wrong(rows_of(project)) == []


def test_a_damaged_workspace_file_is_named(project: Project) -> None:
    (project.root / ".eventloom" / "workspace.json").write_text("{oops")
    row = rows_of(project, code=1)["workspace"]
    assert row["status"] == "error"
    assert "workspace.json" in row["message"]


def test_a_graph_whose_package_is_gone_is_named(project: Project) -> None:
    rows = rows_of(project, code=1, ZAXY_EMBEDDED_ENGINE="nographs")
    assert rows["followers"]["status"] == "error"
    assert "nographs" in rows["followers"]["message"]


def test_a_broken_plugin_is_named_by_a_row_of_its_own(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    write(Package("fails-to-import", at_import="import a_module_that_nobody_has"), site)
    rows = rows_of(project, code=1, PYTHONPATH=str(site))
    assert wrong(rows) == ["plugin:fails-to-import"]
    assert "a_module_that_nobody_has" in rows["plugin:fails-to-import"]["message"]


def test_what_a_dead_owner_left_is_named_and_cleared_away_by_fix_alone(project: Project) -> None:
    folder = project.root / ".eventloom" / "runtime"
    folder.mkdir(exist_ok=True)
    record = folder / "zaxy-embedded-owner.json"
    record.write_text(json.dumps({"pid": 1, "started": "", "socket": "/nowhere", "version": "0"}))
    record.chmod(0o600)
    row = rows_of(project)["embedded_mcp_runtime"]
    assert (row["status"], row["action"], record.exists()) == ("warning", "zaxy doctor --fix", True)
    row = rows_of(project, "--fix")["embedded_mcp_runtime"]
    assert (row["status"], row["message"][:6], record.exists()) == ("ok", "fixed:", False)


def test_a_lock_that_is_held_without_a_healthy_socket_is_an_error_with_an_action(project: Project) -> None:
    folder = project.root / ".eventloom" / "runtime"
    folder.mkdir(exist_ok=True)
    lock = SessionLock(str(folder / "zaxy-embedded-owner.lock"), DISK)
    with lock.exclusive(1):
        row = rows_of(project, "--fix", code=1)["embedded_mcp_runtime"]
    lock.close()
    assert row["status"] == "error"
    assert "nobody listens" in row["message"]
    assert wrong(rows_of(project)) == []


@pytest.mark.parametrize(
    ("name", "row"), [(".cursor/mcp.json", "client_config:cursor"), (".cursor/hooks.json", "hooks:cursor")]
)
def test_a_command_that_is_not_there_any_more_is_named_and_mended(project: Project, name: str, row: str) -> None:
    path = project.root / name
    right = path.read_text()
    program = json.loads((project.root / ".cursor/mcp.json").read_text())["mcpServers"]["zaxy"]["command"]
    path.write_text(right.replace(program, "/gone/bin/zaxy"))
    rows = rows_of(project, code=1)
    assert wrong(rows) == [row]
    assert "/gone/bin/zaxy" in rows[row]["message"]
    assert rows_of(project, "--fix")[row]["mended"]
    assert path.read_text() == right


def test_a_project_that_was_moved_is_told_that_its_clients_use_the_old_log_and_is_mended(
    project: Project, tmp_path: Path
) -> None:
    before = project.files()
    moved = Project(tmp_path / "moved" / "shop", project.home)
    moved.root.parent.mkdir()
    project.root.rename(moved.root)
    rows = rows_of(moved, code=1)
    assert wrong(rows) == ["client_config:cursor", "hooks:cursor"]
    assert str(project.root / ".eventloom") in rows["client_config:cursor"]["message"]
    rows_of(moved, "--fix")
    assert wrong(rows_of(moved)) == []
    assert len(moved.files()) >= len(before)
    assert moved.told("init", "--undo")["ok"]
    assert not any("zaxy" in content.decode() for path, content in moved.files().items() if "backup" not in path)


def test_a_client_configuration_that_cannot_be_read_is_named_with_its_line(project: Project) -> None:
    path = project.root / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": oops\n}\n')
    row = rows_of(project, code=1)["client_config:gemini"]
    assert row["status"] == "error"
    assert "line 2" in row["message"]
    assert str(path) in row["message"]


def test_a_project_that_no_client_knows_is_told_how_to_be_set_up(project: Project) -> None:
    project.told("init", "--undo")
    row = rows_of(project)["client_config"]
    assert (row["status"], row["action"]) == ("warning", "zaxy init --yes")


@pytest.mark.needs_package("codex")
def test_codex_told_of_the_server_twice_is_named(project: Project) -> None:
    entry = f'[mcp_servers.zaxy]\ncommand = "{sys.executable}"\nargs = ["serve"]\n'
    for folder in (project.home, project.root):
        (folder / ".codex").mkdir()
        (folder / ".codex" / "config.toml").write_text(entry)
    row = rows_of(project)["client_config:codex"]
    assert row["status"] == "warning"
    assert "twice" in row["message"]


def test_what_hooks_could_not_record_is_told(project: Project) -> None:
    project.run("hook-event", "file-edit", "--eventloom-path", str(project.root / ".eventloom"))
    row = rows_of(project)["hook_errors"]
    assert row["status"] == "warning"
    assert "file-edit needs --path" in row["message"]
    log = project.root / ".eventloom/runtime/hook-errors.log"
    log.write_text(log.read_text().replace(log.read_text()[:4], "2020"))
    log.chmod(0o600)
    assert rows_of(project)["hook_errors"]["status"] == "ok"


def test_capture_health_says_what_hook_status_says(project: Project) -> None:
    assert project.run("hook-event", "session-start", "--strict").returncode == 0
    status = json.loads(project.run("hook-status", "--json").stdout)
    row = rows_of(project)["capture_health"]
    assert row["status"] == "warning"
    assert status["capture_readiness"]["status"] in row["message"]
    for trigger, options in {
        "command": ("--command", "ls"),
        "file-edit": ("--path", "a.py"),
        "tool-call": ("--tool-name", "t"),
        "transcript-turn": ("--role", "user", "--content", "hi"),
    }.items():
        assert project.run("hook-event", trigger, "--strict", *options).returncode == 0
    assert rows_of(project)["capture_health"]["status"] == "ok"


def test_a_watcher_that_is_configured_and_does_not_run_is_told_with_the_command_that_starts_it(
    project: Project,
) -> None:
    (project.root / ".acme").mkdir()
    (project.root / ".acme" / FILE_NAME).write_text(capture_config_text("acme"))
    row = rows_of(project)["capture_health"]
    assert row["status"] == "warning"
    assert row["action"] == "zaxy capture start --workspace ."


@pytest.mark.skipif(not ON_LINUX, reason="only Linux tells which processes run where")
def test_two_servers_of_one_client_are_told_of(project: Project) -> None:
    command = [sys.executable, "-m", "zaxy", "serve"]
    servers = [
        subprocess.Popen(
            command,
            cwd=project.root,
            env=project.environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    try:
        deadline = time.monotonic() + 60
        while (row := rows_of(project)["duplicate_servers"])["status"] == "ok" and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        for server in servers:
            server.kill()
            server.communicate()
    assert row["status"] == "warning"
    assert f"the client with process {os.getpid()} runs 2 servers here" in row["message"]
    assert all(str(server.pid) in row["message"] for server in servers)


def test_servers_of_two_clients_or_two_projects_are_no_duplicates() -> None:
    servers = [
        RunningServer(10, 2, "/p"),
        RunningServer(11, 3, "/p"),
        RunningServer(12, 2, "/q"),
        RunningServer(13, 1, "/p"),
        RunningServer(14, 1, "/p"),
    ]
    assert doubled(servers, "/p") == {}
    assert doubled([*servers, RunningServer(15, 2, "/p/sub")], "/p") == {2: [10, 15]}


def test_a_disk_with_little_room_is_told_of(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk cannot be had everywhere, so what the system says of it is replaced."""
    context = DoctorContext(find_workspace(str(project.root)))
    usage = shutil.disk_usage(project.root)
    for free, status in ((1 << 20, "error"), (100 << 20, "warning"), (1 << 40, "ok")):
        monkeypatch.setattr(shutil, "disk_usage", lambda path, free=free: usage._replace(free=free))
        (row,) = check_disk(context)
        assert row.status == status


def test_this_python_and_its_sqlite_are_good_enough(project: Project) -> None:
    context = DoctorContext(find_workspace(str(project.root)))
    assert [row.status for row in (*check_python(context), *check_sqlite(context))] == ["ok", "ok"]


# What fails for ever


FAILING_FOLLOWER = """
def cursor(self, session):
    return None

def apply(self, batch, cursor):
    raise RuntimeError("the model is gone")

def digest(self, session):
    return ""

def wipe(self, session):
    pass

def close(self):
    pass
"""


@pytest.mark.parametrize(
    ("name", "abilities"),
    [("acme-lost", ()), ("acme-stuck", ("follower",)), ("acme-stuck-slow", ("follower", "background"))],
)
def test_a_lane_or_follower_that_fails_for_ever_is_an_error_with_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, abilities: tuple[str, ...]
) -> None:
    site, root = tmp_path / "site", made_folder(tmp_path / "shop")
    monkeypatch.syspath_prepend(str(site))
    with Memory.open(root) as memory:
        memory.append("note.taken", {"text": "tea"})
    context = DoctorContext(find_workspace(str(root)))
    checked = [check for check in CHECKS if check.name == "followers"]
    assert [row.status for row in examine(context, checked, fix=False)] == ["ok"]
    if abilities:
        outside_lane.install_judging(site, name, FAILING_FOLLOWER, *abilities, scale="cosine")
    else:
        outside_lane.install_simple(site, name, 'raise RuntimeError("the model is gone")')
    invalidate_caches()
    (row,) = examine(context, checked, fix=False)
    assert (row.status, name in row.message, "the model is gone" in row.message) == ("error", True, True)
    assert row.action


# Damage, a copy that is put back, and what to do


def advice(project: Project, *words: str, code: int) -> str:
    done = project.run(*words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def log_row(project: Project) -> tuple[str, str, str]:
    """The worst that the doctor says of the log and of what follows it."""
    context = DoctorContext(find_workspace(str(project.root)))
    rows = list(examine(context, [check for check in CHECKS if check.name in ("log_chain", "followers")], fix=False))
    row = next((row for row in rows if row.status != "ok"), rows[0])
    return row.status, row.message, row.action


def test_damage_and_a_copy_that_is_put_back_are_one_story_in_verify_append_and_doctor(project: Project) -> None:
    whole = log_of(project).read_bytes()
    log_of(project).write_bytes(whole.replace(b'"workspace":"shop"', b'"workspace":"shoq"', 1))
    restore = "Restore shop-default.jsonl from a copy, then 'zaxy repair shop-default' lets it be written again"
    note = ("append", "note.taken", "--payload", '{"text": "tea"}')
    assert restore in advice(project, "verify", code=1)
    assert restore in advice(project, *note, code=1)
    assert log_row(project)[2].startswith(restore)
    assert restore in advice(project, "repair", code=1)

    log_of(project).write_bytes(whole)
    marked = "shop-default is whole, but marked as damaged and so not written to"
    said = advice(project, "verify", code=0)
    assert marked in said and "zaxy repair shop-default" in said
    assert "zaxy repair shop-default" in advice(project, *note, code=1)
    status, message, action = log_row(project)
    assert (status, message, action.startswith("zaxy repair shop-default")) == ("error", marked, True)

    advice(project, "repair", "shop-default", code=0)
    advice(project, *note, code=0)
    assert log_row(project)[0] == "ok"


def test_an_older_copy_is_named_by_verify_and_doctor_until_it_is_accepted(project: Project) -> None:
    whole = log_of(project).read_bytes()
    with Memory.open(project.root) as memory:
        memory.append("note.taken", {"text": "tea"})
        memory.query("tea")
    log_of(project).write_bytes(whole)
    accepts = "zaxy followers rebuild --session-id shop-default"
    assert accepts in advice(project, "verify", code=0)
    assert "zaxy followers rebuild text" in log_row(project)[2], "what had followed the other one says it too"
    shutil.rmtree(project.eventloom / "followers")
    status, message, action = log_row(project)
    assert (status, "not the log that was last read here" in message, accepts in action) == ("warning", True, True)
    advice(project, *accepts.split()[1:], code=0)
    assert log_row(project)[0] == "ok"
    assert "last read here" not in advice(project, "verify", code=0)
