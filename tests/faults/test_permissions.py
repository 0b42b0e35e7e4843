"""Without the rights or the descriptors that it needs the log says so, and reads what it may read."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.outcomes import ALL, NOBODY, READS, crashes, in_child, outcomes_of, refusals
from faults.sample_logs import SESSION, QuickDisk, log_file, note, opened, small_log
from zaxy.eventloom.loom import Eventloom

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="users and modes are POSIX here"),
    pytest.mark.timeout(60),
]

EVENTS = 7
READ = {"end": EVENTS, "read": [1, 2, 3, 4, 5, 6, 7], "read on": [3, 4, 5, 6, 7], "get": 2, "verify": True}
APPENDS = {"append", "append with a key", "append admitted", "append to a new session", "set a ref"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A log that belongs to a user without rights, in a place which that user can reach."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    own = place / ".eventloom"
    small_log(own, 3)
    hand_over(own)
    yield own
    for path in (own, *own.rglob("*")):
        path.chmod(0o700)
    shutil.rmtree(place)


def hand_over(folder: Path) -> None:
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)


def as_nobody(folder: Path) -> dict[str, Any]:
    outcomes = in_child(lambda: outcomes_of(opened(folder), ALL), as_nobody=True)
    assert crashes(outcomes) == {}
    return outcomes


def of_reading(outcomes: dict[str, Any]) -> dict[str, Any]:
    return {name: outcomes[name] for name in READ}


def test_the_user_of_these_tests_may_do_everything_with_its_own_log(folder: Path) -> None:
    assert refusals(as_nobody(folder)) == {}


@pytest.mark.parametrize("with_lock", [True, False], ids=["with-its-lock", "without-a-lock"])
@pytest.mark.parametrize("mode", [0o400, 0o440, 0o444], ids=oct)
def test_a_log_in_a_read_only_folder_is_read_and_not_written(folder: Path, mode: int, with_lock: bool) -> None:
    if not with_lock:
        (folder / f"{SESSION}.lock").unlink()
    for path in folder.iterdir():
        path.chmod(mode)
    folder.chmod(0o500)
    outcomes = as_nobody(folder)
    assert of_reading(outcomes) == READ
    assert outcomes["sessions"] == [SESSION]
    assert {name: code for name, code in refusals(outcomes).items() if name in APPENDS} == dict.fromkeys(
        APPENDS, "unavailable"
    )


def test_a_log_of_another_user_is_read_where_its_modes_allow_it(folder: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files to another user")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 0, 0)
        path.chmod(0o755 if path.is_dir() else 0o644)
    outcomes = as_nobody(folder)
    assert of_reading(outcomes) == READ
    assert set(refusals(outcomes)) >= APPENDS


def test_an_index_that_was_left_in_a_read_only_folder_does_not_keep_the_log_from_being_read(folder: Path) -> None:
    loom = opened(folder)
    loom.set_ref("refs/heads/main", loom.append(SESSION, [note(idempotency_key="a key before")])[0])
    loom.close()
    hand_over(folder)
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o500 if path.is_dir() else 0o400)
    outcomes = as_nobody(folder)
    assert outcomes["read on"] == [3, 4, 5, 6, 7, 8, 9]
    assert outcomes["verify"] is True


def test_an_unreadable_log_is_refused_with_what_to_do(folder: Path) -> None:
    log_file(folder).chmod(0o000)
    outcomes = as_nobody(folder)
    refused = {name: code for name, code in refusals(outcomes).items() if name != "append to a new session"}
    assert refused == {name: "unavailable" for name in ALL if name not in ("sessions", "append to a new session")}
    assert "readable and writable" in outcomes["append"]["remediation"]


def test_an_unreadable_lock_keeps_nobody_from_reading(folder: Path) -> None:
    (folder / f"{SESSION}.lock").chmod(0o000)
    outcomes = as_nobody(folder)
    assert of_reading(outcomes) == READ
    assert refusals(outcomes)["append"] == "unavailable"


@pytest.mark.parametrize("mode", [0o000, 0o100, 0o200, 0o300, 0o400, 0o600], ids=oct)
def test_a_folder_that_may_not_be_entered_or_listed_is_refused_with_what_to_do(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    outcomes = as_nobody(folder)
    assert mode & 0o100 or set(refusals(outcomes)) >= APPENDS
    assert mode & 0o400 or refusals(outcomes)["sessions"] == "unavailable"


def test_a_folder_that_may_not_be_made_is_refused_with_what_to_do(folder: Path) -> None:
    parent = folder.parent / "closed"
    parent.mkdir(mode=0o555)
    hand_over(parent)
    outcomes = as_nobody(parent / ".eventloom")
    assert refusals(outcomes)["append"] == "unavailable"
    assert outcomes["sessions"] == []


@pytest.mark.parametrize("mode", [0o000, 0o500], ids=oct)
def test_an_index_folder_that_may_not_be_written_keeps_nobody_from_reading(folder: Path, mode: int) -> None:
    (folder / "followers").mkdir()
    hand_over(folder)
    (folder / "followers").chmod(mode)
    outcomes = as_nobody(folder)
    assert of_reading(outcomes) == READ
    assert "append" not in refusals(outcomes)


def read_only_mount(folder: Path) -> None:
    """In this process alone, make the folder a file system that is read-only."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x00020000) != 0:
        raise PermissionError(ctypes.get_errno(), "unshare")
    for command in (
        ["mount", "--make-rprivate", "/"],
        ["mount", "--bind", str(folder), str(folder)],
        ["mount", "-o", "remount,ro,bind", str(folder)],
    ):
        subprocess.run(command, check=True, capture_output=True)


def test_a_log_on_a_read_only_file_system_is_read_and_not_written(folder: Path) -> None:
    if os.getuid() != 0 or sys.platform != "linux":
        pytest.skip("only root on Linux can mount")

    def work() -> dict[str, Any]:
        try:
            read_only_mount(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            return {"not mounted": str(error)}
        return outcomes_of(opened(folder), ALL)

    outcomes = in_child(work)
    if "not mounted" in outcomes:
        pytest.skip(f"mounting is not allowed here: {outcomes['not mounted']}")
    assert crashes(outcomes) == {}
    assert of_reading(outcomes) == READ
    assert set(refusals(outcomes)) >= APPENDS
    assert "read-only" in outcomes["append"]["message"]


class FailingDisk(QuickDisk):
    """A disk that cannot read what stands beyond a certain place."""

    def __init__(self, readable: int) -> None:
        self._readable = readable

    def read(self, fd: int, count: int, offset: int) -> bytes:
        if offset + count > self._readable:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(fd, count, offset)


@pytest.mark.parametrize("readable", [0, 1, 100, 1000, 2000])
def test_a_disk_that_cannot_read_a_part_of_the_log_is_reported_and_nothing_is_written(
    folder: Path, readable: int
) -> None:
    before = log_file(folder).read_bytes()
    outcomes = outcomes_of(Eventloom(str(folder), disk=FailingDisk(readable)), ALL)
    assert crashes(outcomes) == {}
    assert {"append", "end", "read", "verify", "refs", "erase", "repair"} <= set(refusals(outcomes))
    assert "disk" in outcomes["read"]["message"]
    assert log_file(folder).read_bytes() == before
    assert refusals(outcomes_of(opened(folder), ALL)) == {}


def without_descriptors(folder: Path, free: int, opened_before: bool) -> dict[str, Any]:
    """Everything that can be done while only so many more files may be opened, and then once more with enough."""
    import resource

    loom = opened(folder)
    if opened_before:
        outcomes_of(loom, READS)
        loom.append(SESSION, [note()])
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        for fd in held[:free]:
            os.close(fd)
    short = outcomes_of(loom, ALL)
    for fd in held[free:]:
        os.close(fd)
    return {**short, "afterwards": {**outcomes_of(loom, READS), "append": loom.append(SESSION, [note()])[0].seq}}


@pytest.mark.parametrize("opened_before", [False, True], ids=["new", "opened-before"])
@pytest.mark.parametrize("free", range(8))
def test_without_descriptors_the_log_says_so_and_works_again_when_there_are_some(
    folder: Path, free: int, opened_before: bool
) -> None:
    outcomes = in_child(lambda: without_descriptors(folder, free, opened_before))
    afterwards = outcomes.pop("afterwards")
    assert crashes(outcomes) == {}
    if not free and not opened_before:
        assert {"append", "read", "verify", "append to a new session"} <= set(refusals(outcomes))
        assert "ulimit" in outcomes["append"]["remediation"]
    assert crashes(afterwards) == refusals(afterwards) == {}
    assert afterwards["verify"] is True
    report = opened(folder).verify(SESSION)
    assert (report.ok, report.events) == (True, afterwards["append"])
