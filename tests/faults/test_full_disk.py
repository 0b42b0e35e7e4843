"""A disk that is full: appends are refused and say so, nothing is half written, and all goes on when there is space."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.crashes import SESSION, event, in_child, tag_of
from zaxy.errors import ZaxyError
from zaxy.eventloom.disk import Disk
from zaxy.eventloom.loom import Eventloom

resource = pytest.importorskip("resource", reason="limits of this kind are POSIX")
CYCLES = 100
LARGER_THAN_A_PAGE = 6000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path, leave: int = 0) -> Path:
    """Take all the space of a disk, but for so many bytes."""
    filling = disk / "filling"
    fd = os.open(filling, os.O_CREAT | os.O_WRONLY)
    status = os.statvfs(disk)
    try:
        os.write(fd, b"\0" * (status.f_bavail * status.f_bsize - leave))
        while not leave:
            os.write(fd, b"\0" * 4096)
    except OSError:
        pass
    os.close(fd)
    return filling


def refused(loom: Eventloom, *tags: str, size: int = LARGER_THAN_A_PAGE, key: str = "") -> ZaxyError:
    with pytest.raises(ZaxyError) as caught:
        loom.append(SESSION, [event(tag, size, key) for tag in tags])
    assert caught.value.code == "unavailable"
    return caught.value


def tags(folder: Path) -> list[str]:
    """What a process that knows nothing yet finds in the log, which has no half line and no torn one."""
    assert (folder / f"{SESSION}.jsonl").read_bytes()[-1:] in (b"", b"\n")
    assert not (folder / f"{SESSION}.torn").exists()
    assert not (folder / f"{SESSION}.poisoned").exists()
    loom = Eventloom(str(folder))
    report = loom.verify(SESSION)
    assert report.ok, report
    assert not report.torn
    return [tag_of(line) for line in loom.read(SESSION)]


@pytest.mark.slow
def test_a_disk_that_fills_and_empties_a_hundred_times_costs_nothing_but_refusals(small_disk: Path) -> None:
    folder = small_disk / "log"
    loom = Eventloom(str(folder))
    accepted = []
    for cycle in range(CYCLES):
        # What is left differs from one cycle to the next, so that writes stop at different places, also within a batch.
        filling = fill(small_disk, leave=(0, 0, 4096, 8192)[cycle % 4])
        for attempt in range(100):
            batch = [f"{cycle}.{attempt}.{index}" for index in range(1 + cycle % 3)]
            try:
                loom.append(SESSION, [event(tag, 700) for tag in batch])
                accepted += batch  # the last page may have room for more
            except ZaxyError as error:
                assert (error.code, "the disk is full" in error.message) == ("unavailable", True), error
                break
        else:
            pytest.fail("nothing was ever refused")
        assert "the disk is full" in refused(loom, "refused").message
        if not cycle % 10:
            assert tags(folder) == accepted
        filling.unlink()
        accepted += ["a", f"batch {cycle}"]
        loom.append(SESSION, [event("a"), event(f"batch {cycle}")])
    assert tags(folder) == accepted


def test_a_log_that_cannot_be_begun_for_lack_of_space_is_begun_later(small_disk: Path) -> None:
    filling = fill(small_disk)
    folder = small_disk / "log"
    loom = Eventloom(str(folder))
    assert "the disk is full" in refused(loom, "the first").message
    filling.unlink()
    loom.append(SESSION, [event("the first")])
    assert tags(folder) == ["the first"]


def test_an_append_with_a_key_is_refused_like_any_other(small_disk: Path) -> None:
    """The index of keys has no space either; a retry with the same key later writes one event."""
    folder = small_disk / "log"
    loom = Eventloom(str(folder))
    loom.append(SESSION, [event(f"before {number}", 100, f"key {number}") for number in range(50)])
    filling = fill(small_disk)
    assert "the disk is full" in refused(loom, "keyed", key="key").message
    filling.unlink()
    first = loom.append(SESSION, [event("keyed", LARGER_THAN_A_PAGE, "key")])[0]
    assert loom.append(SESSION, [event("keyed", LARGER_THAN_A_PAGE, "key")])[0].hash == first.hash
    assert tags(folder)[-1] == "keyed"


def test_what_can_be_read_is_read_on_a_full_disk(small_disk: Path) -> None:
    folder = small_disk / "log"
    loom = Eventloom(str(folder))
    loom.append(SESSION, [event(f"before {number}") for number in range(200)])
    fill(small_disk)
    assert [line.seq for line in Eventloom(str(folder)).read(SESSION, 150)] == list(range(150, 201))
    assert loom.verify(SESSION).ok


def test_a_torn_line_is_not_cut_before_all_of_it_is_kept(small_disk: Path) -> None:
    folder = small_disk / "log"
    loom = Eventloom(str(folder))
    loom.append(SESSION, [event("before")])
    torn = b'{"actor":"tester",' + b"t" * 20_000
    with (folder / f"{SESSION}.jsonl").open("ab") as file:
        file.write(torn)
    filling = fill(small_disk, leave=8192)
    assert "the disk is full" in refused(loom, "refused").message
    filling.unlink()
    loom.append(SESSION, [event("after")])
    assert torn in (folder / f"{SESSION}.torn").read_bytes()
    assert [tag_of(line) for line in loom.read(SESSION)] == ["before", "after"]


def test_an_erasure_that_lacks_space_leaves_the_log_as_it_was(small_disk: Path) -> None:
    folder = small_disk / "log"
    loom = Eventloom(str(folder))
    loom.append(SESSION, [event(f"event {number}", 4000) for number in range(50)])
    filling = fill(small_disk, leave=100_000)
    with pytest.raises(ZaxyError) as caught:
        loom.erase(SESSION, 7, "tester", "it was asked for")
    assert "the disk is full" in caught.value.message
    assert tags(folder) == [f"event {number}" for number in range(50)]
    assert not (folder / f"{SESSION}.rewriting").exists()
    filling.unlink()
    loom.erase(SESSION, 7, "tester", "it was asked for")
    assert loom.verify(SESSION).erased == 1


def append_within_a_limit(folder: str, limit: int) -> None:
    """In a child: append until files may not grow any more, and print the refusal."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    loom = Eventloom(folder)
    try:
        for number in range(1000):
            loom.append(SESSION, [event(f"event {number}"), event(f"and {number}")])
    except ZaxyError as error:
        print(error.code, error.message)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    loom.append(SESSION, [event("after")])


@pytest.mark.parametrize("limit", [20_000, 20_480, 21_111])
def test_a_file_that_may_not_grow_refuses_and_goes_on_when_it_may(tmp_path: Path, limit: int) -> None:
    folder = tmp_path / "log"
    code, _, message = in_child(append_within_a_limit, str(folder), limit).partition(" ")
    assert code == "unavailable"
    assert "the disk is full" in message or "size limit" in message
    found = tags(folder)
    assert found[-1] == "after"
    assert found[:-1] == [tag for number in range(len(found) // 2) for tag in (f"event {number}", f"and {number}")]


class FullDisk(Disk):
    """Writes go to the device that is always full, for as long as `full`."""

    full = False

    def write(self, fd: int, data: bytes) -> int:
        if not self.full:
            return super().write(fd, data)
        device = os.open("/dev/full", os.O_WRONLY)
        try:
            return os.write(device, data)
        finally:
            os.close(device)


def test_a_write_that_takes_nothing_leaves_nothing(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    disk = FullDisk()
    loom = Eventloom(str(tmp_path / "log"), disk)
    loom.append(SESSION, [event("before")])
    for _ in range(CYCLES):
        disk.full = True
        assert "the disk is full" in refused(loom, "refused", "with another").message
        disk.full = False
    loom.append(SESSION, [event("after")])
    assert tags(tmp_path / "log") == ["before", "after"]
