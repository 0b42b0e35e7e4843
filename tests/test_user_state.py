"""What belongs to the user: a folder, and a key that nobody else can read."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from zaxy import user_state


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(user_state, "_keys", {})
    return tmp_path / "state"


def test_the_key_is_made_once_and_only_its_user_can_read_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = user_state.user_key()
    assert len(key) == 32 and (folder / "key").read_bytes() == key
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setattr(user_state, "_keys", {})
    assert user_state.user_key() == key


def test_processes_that_make_the_key_at_once_agree_on_it(folder: Path) -> None:
    code = "from zaxy.user_state import user_key; print(user_key().hex())"
    made = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(6)]
    assert len({process.communicate()[0] for process in made}) == 1


def test_a_key_that_was_cut_short_is_made_again(folder: Path) -> None:
    folder.mkdir()
    (folder / "key").write_bytes(b"short")
    assert user_state.user_key() == (folder / "key").read_bytes()
    assert len(user_state.user_key()) == 32


def test_where_nothing_can_be_kept_each_process_has_its_own_key(folder: Path) -> None:
    folder.write_text("a file is in the way")
    assert user_state.user_key() == user_state.user_key()
    assert len(user_state.user_key()) == 32


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep such things elsewhere")
def test_the_folder_is_where_the_system_keeps_such_things() -> None:
    assert user_state.state_folder({"XDG_STATE_HOME": "/state"}) == "/state/zaxy"
    assert user_state.state_folder({}).endswith("/.local/state/zaxy")
    assert user_state.state_folder({"ZAXY_STATE_DIR": "/elsewhere", "XDG_STATE_HOME": "/state"}) == "/elsewhere"
