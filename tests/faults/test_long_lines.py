"""A line that is longer than any may be is damage: it is found within bounds of time and memory, and ends no read."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.nasty_records import good, log_of
from faults.sample_logs import SESSION, QuickDisk, log_file, note, opened, planted
from zaxy.errors import ZaxyError
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.reader import line_at
from zaxy.eventloom.record import MAX_LINE_BYTES

MIB = 1 << 20


def with_long_line(folder: Path, size: int, *, last: bool = False) -> Eventloom:
    """Three events, a line of that size, and two more lines; without a byte of it on the disk."""
    lines = log_of(*[good(f"event {number}") for number in range(6)])
    planted(folder, b"".join(lines[:3])).close()
    with log_file(folder).open("r+b") as file:
        file.seek(size, 2)
        file.write(b"\n" + (b"" if last else b"".join(lines[4:])))
    return opened(folder)


def read(loom: Eventloom) -> list[int]:
    found = []
    try:
        for line in loom.read(SESSION):
            found.append(line.seq)
    except ZaxyError as error:
        assert "more than 8,388,608 bytes" in error.message
    return found


class CountingDisk(QuickDisk):
    taken = 0

    def read(self, fd: int, count: int, offset: int) -> bytes:
        data = super().read(fd, count, offset)
        self.taken += len(data)
        return data


@pytest.mark.parametrize("size", [MAX_LINE_BYTES + 1, 60 * MIB, 400 * MIB], ids=lambda size: f"{size >> 20} MiB")
def test_verify_names_a_long_line_without_reading_on(tmp_path: Path, size: int) -> None:
    with_long_line(tmp_path / "log", size).close()
    disk = CountingDisk()
    report = Eventloom(str(tmp_path / "log"), disk=disk).verify(SESSION)
    assert report.damage is not None
    assert (report.damage.seq, report.events) == (4, 3)
    assert "more than 8,388,608 bytes" in report.damage.reason
    assert disk.taken < 3 * MAX_LINE_BYTES


@pytest.mark.parametrize("last", [False, True], ids=["in the middle", "at the end"])
def test_what_stands_before_a_long_line_is_read_in_little_memory(tmp_path: Path, last: bool) -> None:
    loom = with_long_line(tmp_path / "log", 200 * MIB, last=last)
    tracemalloc.start()
    try:
        assert read(loom) == [1, 2, 3]
        with loom.view(SESSION) as view:
            assert sorted(view.events((1, 2, 3))) == [1, 2, 3]
        assert loom.refs(SESSION) == {}
        loom.verify(SESSION)
        with pytest.raises(ZaxyError):
            loom.append(SESSION, [note("behind it")])
        assert tracemalloc.get_traced_memory()[1] < 6 * MAX_LINE_BYTES
    finally:
        tracemalloc.stop()


def test_a_line_of_the_largest_payload_is_read_by_every_reader(tmp_path: Path) -> None:
    loom = opened(tmp_path / "log")
    loom.append(SESSION, [note("\x01" * 170_000) for _ in range(3)])
    assert loom.verify(SESSION).ok
    assert [len(line.record["payload"]["text"]) for line in loom.read(SESSION)] == [170_000] * 3
    with loom.view(SESSION) as view:
        assert len(view.events((1, 2, 3))) == 3


def cpu(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("of", ["lines", "line_at"])
def test_reading_a_line_takes_time_in_proportion_to_its_length(tmp_path: Path, of: str) -> None:
    """Small pieces, so that what is done for each of them again would show."""
    costs = []
    for size in (MIB, 8 * MIB - 10):
        file = tmp_path / f"{size}"
        file.write_bytes(b"x" * size + b"\n")
        fd = DISK.open_to_read(str(file))
        try:
            costs.append(
                cpu(lambda fd=fd, size=size: read_in_pieces(fd, size) if of == "lines" else line_at(DISK, fd, 0))
            )
        finally:
            DISK.close(fd)
    assert costs[1] < 8 * 6 * costs[0]


def read_in_pieces(fd: int, size: int) -> None:
    from zaxy.eventloom import reader as module

    reader = module.Reader.__new__(module.Reader)
    reader._disk, reader._fd = DISK, fd
    reader.tail = module.EMPTY._replace(size=size + 1)
    before, module.CHUNK = module.CHUNK, 1 << 14
    try:
        assert [len(line) for _, line in reader.lines(0, 1 << 14)] == [size]
    finally:
        module.CHUNK = before
