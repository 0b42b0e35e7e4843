from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from zaxy.errors import ZaxyError
from zaxy.workspace import Workspace, find_workspace


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "project" / "src"
    folder.mkdir(parents=True)
    return folder.parent


def found(cwd: Path, **environ: str) -> Workspace:
    return find_workspace(environ=environ, cwd=str(cwd))


def test_what_is_passed_wins_over_everything(project: Path, tmp_path: Path) -> None:
    environ = {"EVENTLOOM_PATH": str(tmp_path / "env" / "log")}
    assert find_workspace(workspace=str(project), environ=environ).root == str(project)
    (tmp_path / "x").mkdir()
    named = find_workspace(eventloom_path=str(tmp_path / "x" / "log"), environ=environ, cwd=str(project / "src"))
    assert (named.root, named.eventloom) == (str(project / "src"), str(tmp_path / "x" / "log"))
    both = find_workspace(workspace=str(project), eventloom_path=str(tmp_path / "x" / "log"), environ=environ)
    assert (both.root, both.eventloom) == (str(project), str(tmp_path / "x" / "log"))


def test_the_environment_then_the_nearest_log_then_the_client_then_git_then_here(project: Path, tmp_path: Path) -> None:
    src, client = project / "src", tmp_path / "client"
    assert found(src).root == str(src)
    (project / ".git").mkdir()
    assert found(src).chosen_by == "the nearest .git"
    assert found(src, CLAUDE_PROJECT_DIR=str(client)).root == str(client)
    (project / ".eventloom").mkdir()
    assert found(src, CLAUDE_PROJECT_DIR=str(client)).root == str(project)
    assert found(src, EVENTLOOM_PATH=str(tmp_path / "log")).chosen_by == "EVENTLOOM_PATH"


def test_the_home_folder_and_the_root_are_no_workspaces_by_themselves(project: Path, tmp_path: Path) -> None:
    (tmp_path / ".eventloom").mkdir()
    (tmp_path / ".git").mkdir()
    assert found(project).root == str(project)
    for folder in (tmp_path, Path("/")):
        with pytest.raises(ZaxyError, match="is not taken as a workspace"):
            found(folder)
    assert find_workspace(workspace=str(tmp_path), environ={}).root == str(tmp_path)


def test_the_identity_survives_moving_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    first = find_workspace(workspace=str(tmp_path / "a"))
    identity = first.identity()
    (tmp_path / "a").rename(tmp_path / "b")
    assert find_workspace(workspace=str(tmp_path / "b")).identity() == identity
    assert len(identity) == 32


def test_processes_that_make_the_identity_at_once_agree_on_it(tmp_path: Path) -> None:
    program = "import sys; from zaxy.workspace import find_workspace; print(find_workspace(sys.argv[1]).identity())"
    (tmp_path / "shared").mkdir()
    command = [sys.executable, "-c", program, str(tmp_path / "shared")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    identities = [process.communicate()[0].strip() for process in running]
    assert len(identities[0]) == 32
    assert len(set(identities)) == 1
    made = sorted(file.name for file in (tmp_path / "shared" / ".eventloom").iterdir())
    assert made == [".gitignore", "workspace.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000])
def test_a_damaged_identity_file_is_reported_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    workspace = find_workspace(workspace=str(tmp_path))
    file = Path(workspace.identity_file)
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ZaxyError, match="cannot be read") as refused:
        workspace.store_setting("ZAXY_PLUGINS_STRICT", True)
    assert "move it away" in refused.value.remediation
    assert file.read_text() == text


def test_storing_a_setting_keeps_everything_else(tmp_path: Path) -> None:
    workspace = find_workspace(workspace=str(tmp_path))
    identity = workspace.identity()
    file = Path(workspace.identity_file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "written_by": "a later version"}))
    workspace.store_setting("ZAXY_PLUGINS_STRICT", True)
    workspace.store_setting("ZAXY_PLUGINS_BUDGET", 5.0)
    workspace.store_setting("ZAXY_PLUGINS_STRICT", None)
    assert json.loads(file.read_text()) == {
        "id": identity,
        "settings": {"ZAXY_PLUGINS_BUDGET": 5.0},
        "users": json.loads(file.read_text())["users"],
        "written_by": "a later version",
    }
