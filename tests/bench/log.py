"""What the log costs: appends, proofs, reads and erasures, each against its baseline in the same run.

Measurements are interleaved and medians compared, so that a busy machine slows both sides alike. The files are where
temporary files go (TMPDIR): what a sync costs there is in the table.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import NamedTuple

import orjson

from zaxy.eventloom.admission import admit
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.disk import Disk
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry, make_line

if os.name != "posix":
    sys.exit("bench:log measures CPU time with os.wait4, which only POSIX systems have")

SESSION = "bench"
WORDS = "The deployment moved to the new cluster, because the disks of the old one were slow and nobody knew why. "
THREADS = 8
SLOW_SYNC = 1.0
"""Milliseconds. A quicker sync is outweighed by Python itself, and the ratio of wall times says nothing."""


class Sizes(NamedTuple):
    appends: int
    threaded: int
    """Events of one round of the threads together."""
    large: int
    proven: int
    erased_from: int
    rounds: int
    starts: int


FULL = Sizes(appends=600, threaded=800, large=1_000_000, proven=100_000, erased_from=100_000, rounds=7, starts=15)
QUICK = Sizes(appends=200, threaded=240, large=100_000, proven=20_000, erased_from=10_000, rounds=5, starts=7)


class Row(NamedTuple):
    name: str
    measured: float | None
    target: float
    at_least: bool
    figures: str
    judged: bool = True
    """Whether the bench fails beyond the limit, which is shown then."""
    bound: float | None = None
    """Where the bench fails, if not at twice the target."""

    @property
    def limit(self) -> float:
        if self.bound is not None:
            return self.bound
        return self.target / 2 if self.at_least else self.target * 2

    @property
    def broken(self) -> bool:
        if self.measured is None or not self.judged:
            return False
        return self.measured < self.limit if self.at_least else self.measured > self.limit

    def __str__(self) -> str:
        if self.measured is None:
            return f"{self.name:44} {'':>9} {'':>8} {'':>8}  {self.figures}"
        sign = "≥" if self.at_least else "≤"
        limit = sign + format(self.limit, "g") if self.judged else "-"
        bounds = f"{sign + format(self.target, 'g'):>8} {limit:>8}"
        return f"{self.name:44} {self.measured:9.3f} {bounds}  {self.figures}"


def shown(name: str, figures: str) -> Row:
    """A row that is only for reading."""
    return Row(name, None, 0, False, figures)


def print_table(rows: Iterable[Row]) -> None:
    """Print each row as it is measured, and leave with an error if one is over its limit."""
    print(f"{'':44} {'measured':>9} {'target':>8} {'limit':>8}")
    broken = []
    for row in rows:
        print(row, flush=True)
        if row.broken:
            broken.append(row.name)
    if broken:
        sys.exit(f"over the limit: {', '.join(broken)}")


class Cost(NamedTuple):
    """Milliseconds."""

    wall: float
    cpu: float


def alternate(rounds: int, *operations: Callable[[], object]) -> list[Cost]:
    """Run the operations in turn; the medians of each. The first round is not counted."""
    walls: list[list[float]] = [[] for _ in operations]
    cpus: list[list[float]] = [[] for _ in operations]
    for turn in range(rounds + 1):
        for operation, wall, cpu in zip(operations, walls, cpus, strict=True):
            began, began_cpu = time.perf_counter(), time.process_time()
            operation()
            spent_cpu, spent = time.process_time() - began_cpu, time.perf_counter() - began
            if turn:
                wall.append(spent * 1000)
                cpu.append(spent_cpu * 1000)
    return [Cost(statistics.median(wall), statistics.median(cpu)) for wall, cpu in zip(walls, cpus, strict=True)]


def sized_payload(size: int) -> dict[str, object]:
    """A payload that is so many bytes of JSON."""
    payload: dict[str, object] = {"tags": ["ops", "deploy"], "text": "", "turn": 7}
    payload["text"] = (WORDS * (size // len(WORDS) + 1))[: size - len(orjson.dumps(payload))]
    return payload


PAYLOAD = sized_payload(500)
SMALL_PAYLOAD = sized_payload(100)


def event(payload: dict[str, object] = PAYLOAD) -> Entry:
    return admit("fact.recorded", "assistant", payload)


def fill(folder: Path, events: int, payload: dict[str, object] = PAYLOAD) -> str:
    """Write a whole log without the cost of appending; where it is."""
    folder.mkdir()
    entry = event(payload)
    path = folder / f"{SESSION}.jsonl"
    prev, pending = None, []
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        for seq in range(1, events + 1):
            line = make_line(entry, SESSION, seq=seq, prev=prev, time="2026-06-15T00:00:00.000000Z")
            prev = line.hash
            pending.append(line.data)
            if not seq % 4096 or seq == events:
                file.write(b"\n".join(pending) + b"\n")
                pending = []
        file.flush()
        os.fsync(file.fileno())
    return str(folder)


class BareFile:
    """Durable writes with nothing around them."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._sync = getattr(os, "fdatasync", os.fsync)
        self._data = data

    def append(self) -> None:
        os.write(self._fd, self._data)
        self._sync(self._fd)

    def close(self) -> None:
        os.close(self._fd)


class CountingDisk(Disk):
    def __init__(self) -> None:
        self.syncs = 0

    def sync(self, fd: int) -> None:
        self.syncs += 1  # only the one who holds the lock syncs, so this needs none of its own
        super().sync(fd)


class UnsyncedDisk(Disk):
    def sync(self, fd: int) -> None:
        pass


def one_writer(folder: Path, sizes: Sizes) -> Iterator[Row]:
    with closing(Eventloom(str(folder / "log"))) as loom:
        line = loom.append(SESSION, [event()])[0]
        with closing(BareFile(folder / "bare", line.data + b"\n")) as bare:
            ours, theirs = alternate(sizes.appends, lambda: loom.append(SESSION, [event()]), bare.append)
    besides = ours.cpu - theirs.cpu
    with closing(Eventloom(str(folder / "unsynced"), UnsyncedDisk())) as loom:
        (warm,) = alternate(sizes.appends, lambda: loom.append(SESSION, [event()]))
    figures = f"{ours.cpu:.3f} ms against {theirs.cpu:.3f}; {warm.cpu:.3f} where no sync cools the caches"
    if sizes is QUICK:
        figures += "; judged in full runs only, as the one figure without a baseline"
    yield Row("append: CPU besides the sync, ms", besides, 0.1, False, figures, judged=sizes is FULL)
    slow = theirs.wall >= SLOW_SYNC
    why = "" if slow else f"; not judged, because a sync costs less than {SLOW_SYNC:g} ms here"
    figures = f"{ours.wall:.3f} ms against {theirs.wall:.3f}{why}"
    yield Row("append: wall / bare write and sync", ours.wall / theirs.wall, 1.3, False, figures, judged=slow)


def many_threads(folder: Path, sizes: Sizes) -> Iterator[Row]:
    disk = CountingDisk()
    syncs = []
    with closing(Eventloom(str(folder / "log"), disk)) as loom:

        def append(times: int) -> None:
            for _ in range(times):
                loom.append(SESSION, [event()])

        def together() -> None:
            before = disk.syncs
            threads = [Thread(target=append, args=(sizes.threaded // THREADS,)) for _ in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            syncs.append((disk.syncs - before) / sizes.threaded)

        alone, eight = alternate(sizes.rounds, lambda: append(sizes.threaded), together)
        written = loom.end(SESSION).seq
    if written != 2 * sizes.threaded * (sizes.rounds + 1):
        raise RuntimeError(f"the threads lost events: {written} were written")
    shared = statistics.median(syncs[1:])
    yield Row(f"{THREADS} threads: syncs an event", shared, 0.35, False, f"{1 / shared:.1f} events share a sync")
    rates = [sizes.threaded / cost.wall * 1000 for cost in (eight, alone)]
    figures = f"{rates[0]:,.0f} events/s against {rates[1]:,.0f}"
    yield Row(f"{THREADS} threads: events/s / one thread", rates[0] / rates[1], 1.0, True, figures)


def large_log(folder: Path, sizes: Sizes) -> Iterator[Row]:
    small, large = fill(folder / "small", 1000, SMALL_PAYLOAD), fill(folder / "large", sizes.large, SMALL_PAYLOAD)

    def first_append(path: str) -> None:
        with closing(Eventloom(path)) as loom:
            loom.append(SESSION, [event()])

    with closing(Eventloom(small)) as few, closing(Eventloom(large)) as many:
        at_large, at_small = alternate(
            sizes.appends, lambda: many.append(SESSION, [event()]), lambda: few.append(SESSION, [event()])
        )
        name = f"append at {sizes.large:,} / at 1,000"
        figures = f"{at_large.wall:.3f} ms against {at_small.wall:.3f}"
        yield Row(name, at_large.wall / at_small.wall, 1.5, False, figures)
        at_large, at_small = alternate(sizes.appends, lambda: first_append(large), lambda: first_append(small))
        figures = f"{at_large.wall:.3f} ms against {at_small.wall:.3f}"
        yield Row("the same, with opening the log", at_large.wall / at_small.wall, 1.5, False, figures)
        middle = sizes.large // 2
        began = time.perf_counter()
        cited = many.get(SESSION, middle)
        indexed = sizes.large / (time.perf_counter() - began)
        if cited is None:
            raise RuntimeError(f"event {middle} is not there")
        citation = Citation(SESSION, middle, cited.hash)
        places = count(middle)
        reading, resolving = alternate(
            sizes.appends,
            lambda: list(many.read(SESSION, start := next(places), start + 99)),
            lambda: many.resolve(citation),
        )
    yield shown("index it, once", f"{indexed:,.0f} events/s")
    yield shown("read 100 events in its middle", f"{reading.wall:.3f} ms")
    yield shown("resolve a citation in its middle", f"{resolving.wall:.3f} ms")


def verify_and_parse(folder: str, session: str, *, events: int, rounds: int) -> list[Cost]:
    """What verifying a log costs, and what parsing and hashing each of its lines once costs, in turn."""

    def parse_and_hash() -> None:
        with open(f"{folder}/{session}.jsonl", "rb") as file:
            for line in file:
                orjson.loads(line)
                sha256(line).hexdigest()

    with closing(Eventloom(folder)) as loom:

        def verify() -> None:
            report = loom.verify(session)
            if not report.ok or report.events != events:
                raise RuntimeError(f"the log does not verify: {report}")

        return alternate(rounds, verify, parse_and_hash)


def proof(folder: Path, sizes: Sizes) -> Iterator[Row]:
    path = fill(folder / "log", sizes.proven)
    ours, theirs = verify_and_parse(path, SESSION, events=sizes.proven, rounds=sizes.rounds)
    rates = [sizes.proven / cost.cpu * 1000 for cost in (ours, theirs)]
    figures = f"{rates[0]:,.0f} events/s against {rates[1]:,.0f}"
    yield Row("verify / parsing and hashing each line", rates[0] / rates[1], 0.5, True, figures)


def erasure(folder: Path, sizes: Sizes) -> Iterator[Row]:
    path = fill(folder / "log", sizes.erased_from)
    places = count(sizes.erased_from // 2)

    def copy() -> None:
        with open(shutil.copyfile(f"{path}/{SESSION}.jsonl", folder / "copy"), "rb+") as file:
            os.fsync(file.fileno())

    with closing(Eventloom(path)) as loom:
        ours, theirs = alternate(sizes.rounds, lambda: loom.erase(SESSION, next(places), "person", "asked to"), copy)
    name = f"erase one of {sizes.erased_from:,} / copy the file"
    yield Row(name, ours.wall / theirs.wall, 2.0, False, f"{ours.wall:.1f} ms against {theirs.wall:.1f}")


def hook_event(folder: Path, sizes: Sizes) -> Iterator[Row]:
    log = folder / "log"
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environ |= {"PYTHONPYCACHEPREFIX": str(folder / "cache"), "EVENTLOOM_PATH": str(log), "EVENTLOOM_THREAD": SESSION}
    commands = (
        [sys.executable, "-m", "zaxy", "hook-event", "heartbeat", "--source", "bench"],
        [sys.executable, "-c", "pass"],
    )
    spent: tuple[list[float], list[float]] = ([], [])
    for turn in range(sizes.starts + 1):
        for command, costs in zip(commands, spent, strict=True):
            cost = _cpu_of(command, folder, environ)
            if turn:  # the first round fills the cache
                costs.append(cost)
    with closing(Eventloom(str(log))) as loom:
        if loom.end(SESSION).seq != sizes.starts + 1:
            raise RuntimeError("hook-event did not write its events")  # it exits with 0 whatever happens
    ours, theirs = map(statistics.median, spent)
    name, figures = "hook-event heartbeat: CPU / python -c pass", f"{ours:.1f} ms against {theirs:.1f}"
    yield Row(name, ours / theirs, 4.0, False, figures)


def _cpu_of(command: list[str], cwd: Path, environ: dict[str, str]) -> float:
    process = subprocess.Popen(command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} exited with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def measure(sizes: Sizes) -> Iterator[Row]:
    for part in (one_writer, many_threads, large_log, proof, erasure, hook_event):
        with TemporaryDirectory() as folder:
            yield from part(Path(folder), sizes)


if __name__ == "__main__":
    print_table(measure(QUICK if "--quick" in sys.argv[1:] else FULL))
