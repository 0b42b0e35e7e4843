"""One way to write a file: whole or not at all, synced, with the mode that was asked for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from zaxy import atomic_write as module
from zaxy.atomic_write import atomic_file, atomic_write

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes, links and folders that sync are POSIX")


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    atomic_write(str(path), b"one")
    atomic_write(str(path), b"two")
    assert [(found.name, found.read_bytes()) for found in tmp_path.iterdir()] == [("settings.json", b"two")]


def test_a_write_that_fails_leaves_what_stood_there(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"one")
    with pytest.raises(RuntimeError), atomic_file(str(path)) as file:
        file.write(b"half of it")
        raise RuntimeError
    assert [(found.name, found.read_bytes()) for found in tmp_path.iterdir()] == [("settings.json", b"one")]


@POSIX
@pytest.mark.parametrize(("mode", "found"), [(0o600, 0o600), (0o644, 0o644), (None, 0o640)])
def test_the_mode_is_the_one_asked_for_or_what_the_umask_leaves(tmp_path: Path, mode: int | None, found: int) -> None:
    before = os.umask(0o027)
    try:
        atomic_write(str(tmp_path / "file"), b"", mode=mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == found


@POSIX
def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"of somebody else")
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere")
    atomic_write(str(tmp_path / "file"), b"ours")
    assert (tmp_path / "elsewhere").read_bytes() == b"of somebody else"
    assert not (tmp_path / "file").is_symlink()


def test_a_new_file_takes_nobodys_place(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(b"a key")
    with pytest.raises(FileExistsError):
        atomic_write(str(path), b"another", put=os.link)
    assert [found.read_bytes() for found in tmp_path.iterdir()] == [b"a key"]


def test_the_bytes_are_on_disk_before_the_name_and_the_name_before_the_call_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(module, "sync_data", lambda fd: calls.append(f"data of {os.fstat(fd).st_size} bytes"))
    monkeypatch.setattr(module, "sync_folder", lambda folder: calls.append(f"folder {Path(folder).name}"))

    def put(partial: str, path: str) -> None:
        calls.append("rename")
        os.replace(partial, path)

    atomic_write(str(tmp_path / "file"), b"four", put=put)
    assert calls == ["data of 4 bytes", "rename", f"folder {tmp_path.name}"]
