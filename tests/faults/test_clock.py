"""The clock may jump as it likes: order comes from numbers and hashes, and every time is still a time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from glob import glob
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from faults.sample_logs import SESSION, QuickDisk, note
from zaxy.errors import ZaxyError
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.log import utc_now
from zaxy.eventloom.loom import Eventloom

NOW = datetime(2026, 6, 15, 12, 0, 0, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
JUMPS = [
    *(NOW, NOW + DAY, NOW - DAY, NOW, NOW + 365 * DAY, NOW - timedelta(microseconds=1), NOW),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 7, 999999, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(2106, 2, 7, 6, 28, 15, 999999, tzinfo=UTC),
    datetime(2106, 2, 7, 6, 28, 16, tzinfo=UTC),
    datetime(2262, 4, 11, 23, 47, 16, 854775, tzinfo=UTC),
    datetime(2262, 4, 12, tzinfo=UTC),
    datetime(2999, 2, 28, 23, 59, 59, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    # Summer time begins and ends in Berlin, a leap day, and the end of a year.
    *(datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), datetime(2026, 3, 29, 1, 0, 0, tzinfo=UTC)),
    *(datetime(2026, 10, 25, 0, 59, 59, tzinfo=UTC), datetime(2026, 10, 25, 1, 0, 0, tzinfo=UTC)),
    *(datetime(2026, 10, 25, 1, 59, 59, tzinfo=UTC), datetime(2026, 10, 25, 2, 0, 0, tzinfo=UTC)),
    *(datetime(2028, 2, 29, tzinfo=UTC), datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), NOW),
]
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{6}Z")
LIBRARY = next(iter(glob("/usr/lib/*/faketime/libfaketime.so.1") + glob("/usr/lib*/faketime/libfaketime.so.1")), "")
needs_faketime = pytest.mark.skipif(not LIBRARY, reason="libfaketime is not installed (apt-get install faketime)")


def written(moment: datetime) -> str:
    """The moment as the log writes it."""
    return moment.strftime(f"{moment.year:04d}-%m-%dT%H:%M:%S.%fZ")


def assert_ordered(loom: Eventloom, events: int) -> list[dict[str, Any]]:
    """Numbers without gaps, ids without repetition, a chain that holds, times that can be read."""
    report = loom.verify(SESSION)
    assert (report.ok, report.events) == (True, events)
    records = [line.record for line in loom.read(SESSION)]
    assert [record["seq"] for record in records] == list(range(1, events + 1))
    assert len({record["id"] for record in records}) == events
    assert [record["time"] for record in records if not TIME.fullmatch(record["time"])] == []
    for record in records:
        assert datetime.fromisoformat(record["time"]).tzinfo == UTC
        assert loom.resolve(Citation(SESSION, record["seq"], record["hash"])).record == record
    return records


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"])
def _somewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time zone of the machine, which must not matter."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process cannot be set here")
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_events_keep_their_order_and_their_times_while_the_clock_jumps(tmp_path: Path) -> None:
    moments = iter(JUMPS * 2)
    loom = Eventloom(str(tmp_path / ".eventloom"), disk=QuickDisk(), clock=lambda: written(next(moments)))
    for number in range(len(JUMPS)):
        loom.append(SESSION, [note(f"note {number}")])
    assert [record["time"] for record in assert_ordered(loom, len(JUMPS))] == [written(moment) for moment in JUMPS]
    for number in range(len(JUMPS)):
        loom.append(SESSION, [note(f"batch {number}"), note("of two")])
    records = assert_ordered(loom, 3 * len(JUMPS))
    assert [record["time"] for record in records[len(JUMPS) :: 2]] == [written(moment) for moment in JUMPS]
    assert all(
        one["time"] == two["time"] for one, two in zip(records[-2::-2], records[-1::-2], strict=False) if "batch" in one
    )


def test_keys_refs_and_erasures_do_not_depend_on_the_clock(tmp_path: Path) -> None:
    moments = iter(JUMPS * 4)
    loom = Eventloom(str(tmp_path / ".eventloom"), disk=QuickDisk(), clock=lambda: written(next(moments)))
    lines = [loom.append(SESSION, [note(f"note {number}", idempotency_key=str(number))])[0] for number in range(20)]
    again = [loom.append(SESSION, [note(f"note {number}", idempotency_key=str(number))])[0] for number in range(20)]
    assert again == lines
    for line in lines:
        loom.set_ref("refs/heads/main", line)
        assert loom.resolve_ref(SESSION, "refs/heads/main") == line
    loom.erase(SESSION, 5, "tester", "it was asked for")
    assert_ordered(loom, 41)


@pytest.mark.usefixtures("_somewhere")
def test_the_present_moment_is_written_in_utc_wherever_and_whenever(monkeypatch: pytest.MonkeyPatch) -> None:
    for moment in JUMPS:
        microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        for nanoseconds in (0, 1, 999):
            monkeypatch.setattr(time, "time_ns", lambda now=microseconds * 1000 + nanoseconds: now)
            assert utc_now() == written(moment)


CHILD = """
import json, os, sys
from zaxy.eventloom.admission import checked_entry
from zaxy.eventloom.log import utc_now
from zaxy.eventloom.loom import Eventloom

loom = Eventloom(sys.argv[1])
for moment in json.loads(sys.argv[2]):
    with open(os.environ["FAKETIME_TIMESTAMP_FILE"], "w") as file:
        file.write(moment)
    loom.append("work", [checked_entry("note.taken", "tester", {"text": moment})])
    loom.append("work", [checked_entry("note.taken", "tester", {"text": moment}, idempotency_key=moment)])
"""


def faked(tmp_path: Path, zone: str) -> dict[str, str]:
    """An environment in which a file says what time it is, from one moment to the next."""
    stamp = tmp_path / "time"
    stamp.write_text("@2026-06-15 12:00:00")
    return {
        **os.environ,
        "LD_PRELOAD": LIBRARY,
        "FAKETIME_TIMESTAMP_FILE": str(stamp),
        "FAKETIME_NO_CACHE": "1",
        # As on a real machine, a jump of the clock is no jump of the time since it was started.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "TZ": zone,
    }


@needs_faketime
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_the_clock_of_the_machine_may_jump_under_a_running_writer(tmp_path: Path, zone: str) -> None:
    moments = [
        *("2026-06-15 12:00:00", "2026-06-16 12:00:00", "2026-06-14 12:00:00", "2026-03-29 01:59:59"),
        *("2026-03-29 03:00:00", "2026-10-25 02:59:59", "2026-10-25 01:00:00", "2026-10-25 02:30:00"),
        *("1970-01-02 00:00:00", "2038-01-19 03:14:08", "2106-02-07 06:28:16", "2200-01-01 00:00:00"),
    ]
    folder = tmp_path / ".eventloom"
    for _ in range(2):
        given = [str(folder), json.dumps([f"@{moment}" for moment in moments])]
        subprocess.run([sys.executable, "-c", CHILD, *given], env=faked(tmp_path, zone), check=True, timeout=60)
        moments.reverse()
    records = assert_ordered(Eventloom(str(folder)), 2 * len(moments) + len(moments))
    for record, moment in zip(records[: 2 * len(moments) : 2], moments, strict=True):
        meant = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
        assert abs(datetime.fromisoformat(record["time"]) - meant) < timedelta(seconds=30) or is_ambiguous(meant)


def is_ambiguous(moment: datetime) -> bool:
    """Whether the clocks show this time twice, at the end of summer time."""
    return moment.utcoffset() != moment.replace(fold=1).utcoffset()


@pytest.mark.parametrize("jump", [DAY, -DAY], ids=["forward", "back"])
def test_a_jump_of_the_clock_neither_shortens_nor_lengthens_the_wait_for_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: timedelta
) -> None:
    """Here the clock's functions are replaced: under libfaketime Python cannot sleep."""
    fcntl = pytest.importorskip("fcntl")
    loom = Eventloom(str(tmp_path / ".eventloom"), disk=QuickDisk())
    loom.append(SESSION, [note()])
    began, real, real_ns = time.monotonic(), time.time, time.time_ns
    shift = jump.total_seconds()
    monkeypatch.setattr(time, "time", lambda: real() + (shift if time.monotonic() > began + 0.1 else 0))
    monkeypatch.setattr(
        time, "time_ns", lambda: real_ns() + (int(shift) * 10**9 if time.monotonic() > began + 0.1 else 0)
    )
    with (tmp_path / ".eventloom" / f"{SESSION}.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ZaxyError) as caught:
            loom.append(SESSION, [note()], timeout=0.4)
    assert caught.value.code == "unavailable"
    assert 0.35 < time.monotonic() - began < 60
    loom.append(SESSION, [note()])
    assert_ordered(loom, 2)


def test_an_append_is_refused_rather_than_written_with_a_time_that_is_none(tmp_path: Path) -> None:
    """A clock is a part of the program: one that fails must not leave half a line."""

    def broken() -> str:
        raise OverflowError("the clock is beyond its range")

    folder = tmp_path / ".eventloom"
    Eventloom(str(folder), disk=QuickDisk()).append(SESSION, [note()])
    with pytest.raises((OverflowError, ZaxyError)):
        Eventloom(str(folder), disk=QuickDisk(), clock=broken).append(SESSION, [note()])
    loom = Eventloom(str(folder), disk=QuickDisk())
    loom.append(SESSION, [note()])
    assert_ordered(loom, 2)
