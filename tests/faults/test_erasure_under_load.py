"""An event is erased while others write and read: its text is gone for good, and nothing else is."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.crashes import (
    SEED,
    SESSION,
    acknowledge,
    acknowledged,
    assert_nothing_was_lost,
    event,
    fork,
    in_child,
    kill,
    open_notes,
    tag_of,
    text_under,
)
from zaxy.eventloom.canonical import encode
from zaxy.eventloom.disk import Disk
from zaxy.eventloom.erase import ERASED
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Line

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL and fork are POSIX")
SECONDS = 6.0
KILLS = 50


def secret(number: int) -> str:
    return f"to-be-forgotten-{number:04}"


# Four others at work


def keep_appending(folder: str, acks: str, name: str, stop: float) -> None:
    loom = Eventloom(folder)
    notes = open_notes(acks, name)
    rng = random.Random(f"{SEED}/{name}")
    turn = 0
    while time.monotonic() < stop:
        batch = [event(f"{name}.{turn}.{index}", rng.randrange(300)) for index in range(rng.choice((1, 1, 3)))]
        acknowledge(notes, loom.append(SESSION, batch))
        turn += 1


def keep_retrying(folder: str, acks: str, name: str, stop: float) -> None:
    """Append with keys, each twice, as if the first reply had not come; the second is the same event."""
    loom = Eventloom(folder)
    notes = open_notes(acks, name)
    turn = 0
    while time.monotonic() < stop:
        first, again = (
            loom.append(SESSION, [event(f"{name}.{turn}", key=f"{name}.{turn}")], timeout=30)[0] for _ in range(2)
        )
        assert (first.seq, first.hash) == (again.seq, again.hash)
        acknowledge(notes, [first])
        turn += 1


def keep_following(folder: str, stop: float) -> None:
    """Every event is met once and in order, and each continues the one before."""
    last: Line | None = None
    for line in Eventloom(folder).follow(SESSION, 1, poll=0.005):
        assert (line.seq, line.record["prev"]) == ((last.seq + 1, last.hash) if last else (1, None))
        last = line
        if time.monotonic() >= stop:
            return


def keep_reading(folder: str, stop: float) -> None:
    """Ranges from anywhere in the log are what they say."""
    loom = Eventloom(folder)
    rng = random.Random(SEED)
    known: dict[int, str] = {}
    while time.monotonic() < stop:
        first = rng.randrange(1, loom.end(SESSION).seq + 1)
        lines = list(loom.read(SESSION, first, first + 80))
        assert [line.seq for line in lines] == list(range(first, first + len(lines)))
        for line in lines:
            assert known.setdefault(line.seq, line.hash) == line.hash


def work_and_erase(folder: str, acks: str, errors: str, seconds: float) -> None:
    """In a child: four processes at work, while this one erases the secrets; prints which, and how long it took."""
    stop = time.monotonic() + seconds
    others = (
        lambda: keep_appending(folder, acks, "appending", stop),
        lambda: keep_retrying(folder, acks, "retrying", stop),
        lambda: keep_following(folder, stop),
        lambda: keep_reading(folder, stop),
    )
    pids = [fork(work, errors) for work in others]
    loom = Eventloom(folder)
    took, number = [], 0
    while time.monotonic() < stop - 0.5:
        line = loom.append(SESSION, [event(secret(number), 2000)])[0]
        time.sleep(0.01)
        began = time.monotonic()
        loom.erase(SESSION, line.seq, "tester", "it was asked for")
        took.append(time.monotonic() - began)
        number += 1
    for pid in pids:
        os.waitpid(pid, 0)
    print(json.dumps({"erased": number, "slowest": max(took)}))


@pytest.mark.slow
def test_events_are_erased_while_four_others_write_and_read(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    folder, acks, errors = str(tmp_path / "log"), tmp_path / "acks", tmp_path / "errors"
    acks.mkdir()
    Eventloom(folder).append(SESSION, [event(f"before {number}", 100) for number in range(500)])
    outcome = json.loads(in_child(work_and_erase, folder, str(acks), str(errors), SECONDS))
    assert not errors.exists(), errors.read_text()
    lines = assert_nothing_was_lost(folder, list(acknowledged(str(acks))))
    print(f"{outcome} among {len(lines)} events")
    assert outcome["erased"] >= 5
    report = Eventloom(folder).verify(SESSION)
    assert report.erased == outcome["erased"]
    for number in range(outcome["erased"]):
        assert not text_under(folder, secret(number))


def work_in_threads(folder: str, seconds: float) -> None:
    """In a child: the same in threads of one process, which share its descriptors, its lock and its index."""
    from concurrent.futures import ThreadPoolExecutor

    loom = Eventloom(folder)
    loom.append(SESSION, [event(f"before {number}") for number in range(200)])
    stop = time.monotonic() + seconds

    def retry(name: str) -> None:
        turn = 0
        while time.monotonic() < stop:
            first, again = (loom.append(SESSION, [event(f"{name}.{turn}", key=f"{name}.{turn}")])[0] for _ in range(2))
            assert first.hash == again.hash
            turn += 1

    def read(_: str) -> None:
        while time.monotonic() < stop:
            assert [line.seq for line in loom.read(SESSION, 150, 180)] == list(range(150, 181))
            assert not loom.refs(SESSION)

    def forget(_: str) -> None:
        while time.monotonic() < stop:
            loom.erase(SESSION, loom.append(SESSION, [event(secret(1), 500)])[0].seq, "tester", "it was asked for")

    with ThreadPoolExecutor(8) as threads:
        works = (retry, retry, retry, retry, read, read, read, forget)
        for done in [threads.submit(work, f"thread {number}") for number, work in enumerate(works)]:
            done.result()
    # A fork has the index's connection too, and must not use it.
    retried = loom.append(SESSION, [event("of both", key="of both")])[0]
    errors = os.path.join(folder, "errors")
    again = fork(lambda: print(loom.append(SESSION, [event("of both", key="of both")])[0].seq, flush=True), errors)
    os.waitpid(again, 0)
    print(retried.seq)


@pytest.mark.slow
def test_threads_of_one_process_retry_and_read_while_events_are_erased(tmp_path: Path) -> None:
    folder = str(tmp_path / "log")
    of_the_fork, of_the_parent = in_child(work_in_threads, folder, SECONDS / 2).split()
    assert of_the_fork == of_the_parent
    assert_nothing_was_lost(folder, [])
    assert not text_under(folder, secret(1))


# An eraser that is killed


def erase(folder: str, seq: int, disk: Disk) -> None:
    Eventloom(folder, disk).erase(SESSION, seq, "tester", "it was asked for")


def erase_and_be_killed(folder: str, errors: str, seqs: list[int], seed: int) -> None:
    """In a child: one eraser for each secret, killed at a random moment; prints how many had finished by then."""
    rng = random.Random(seed)
    began = time.monotonic()
    os.waitpid(fork(lambda: erase(folder, seqs[0], Disk()), errors), 0)
    usual = time.monotonic() - began
    finished = 0
    for number, seq in enumerate(seqs[1:], 1):
        pid = fork(lambda: erase(folder, seq, Disk()), errors)  # noqa: B023 - runs before the next round
        time.sleep(rng.uniform(0, 1.2 * usual))
        finished += not kill(pid)
        assert_before_or_after(folder, secret(number))
    print(finished)


def assert_before_or_after(folder: str, tag: str) -> bool:
    """The log is whole, and holds either the text or the record of its erasure; whether it is erased."""
    loom = Eventloom(folder)
    report = loom.verify(SESSION)
    assert report.ok, report
    lines = list(loom.read(SESSION))
    there = [line for line in lines if tag_of(line) == tag]
    if there:
        assert not any(line.record["payload"].get("hash") == there[0].hash for line in lines if is_erasure(line))
        return False
    found = text_under(folder, tag)
    assert not found, f"the erasure is on record, and the text is still in {found}"
    return True


def is_erasure(line: Line) -> bool:
    return bool(line.record["type"] == ERASED)


@pytest.mark.slow
def test_an_eraser_that_is_killed_has_erased_or_has_not(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    folder, errors = str(tmp_path / "log"), tmp_path / "errors"
    loom = Eventloom(folder)
    seqs = []
    for number in range(KILLS + 1):
        seqs.append(loom.append(SESSION, [event(secret(number), 500)])[0].seq)
        loom.append(SESSION, [event(f"between {number}.{index}", 2000) for index in range(5)])
    before = list(loom.read(SESSION))
    finished = int(in_child(erase_and_be_killed, folder, str(errors), seqs, SEED))
    assert not errors.exists(), errors.read_text()
    after = list(Eventloom(folder).read(SESSION))
    assert [line.hash for line in after[: len(before)]] == [line.hash for line in before]
    erasures = [line for line in after if is_erasure(line)]
    print(f"{len(erasures) - 1} of {KILLS} had erased, {finished} of them had returned")
    assert 1 <= len(erasures) <= KILLS, "the kills were all too late"
    assert len(erasures) > finished


class FatalDisk(Disk):
    """Kills its process before the call of a given number, of those that change something."""

    def __init__(self, fatal: int) -> None:
        self._left = fatal

    def _count(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def open(self, path: str, create: bool = False) -> int:
        self._count()
        return super().open(path, create)

    def write(self, fd: int, data: bytes) -> int:
        self._count()
        return super().write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        self._count()
        super().truncate(fd, size)

    def sync(self, fd: int) -> None:
        self._count()
        super().sync(fd)

    def replace(self, source: str, target: str) -> None:
        self._count()
        super().replace(source, target)

    def remove(self, path: str) -> None:
        self._count()
        super().remove(path)

    def sync_folder(self, path: str) -> None:
        self._count()
        super().sync_folder(path)


def erase_and_be_killed_everywhere(folders: str, errors: str) -> None:
    """In a child: one eraser after the other, each of which dies at another of its calls; prints how many died."""
    for fatal in range(100):
        folder = os.path.join(folders, str(fatal))
        loom = Eventloom(folder)
        loom.append(SESSION, [event("before"), event(secret(1)), event("behind")])
        tear(folder, secret(1))
        loom.append(SESSION, [event("between")])
        tear(folder, secret(1))
        loom.close()
        pid = fork(lambda: erase(folder, 2, FatalDisk(fatal)), errors)  # noqa: B023 - runs before the next round
        _, status = os.waitpid(pid, 0)
        erased = assert_before_or_after(folder, secret(1))
        loom.append(SESSION, [event("after")])
        if not erased:
            erase(folder, 2, Disk())
            assert assert_before_or_after(folder, secret(1))
        assert loom.verify(SESSION).ok
        loom.close()
        if not os.WIFSIGNALED(status):
            print(fatal)
            return


def test_an_eraser_that_is_killed_at_any_of_its_calls_has_erased_or_has_not(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    calls = int(in_child(erase_and_be_killed_everywhere, str(tmp_path / "folders"), str(errors)))
    assert not errors.exists(), errors.read_text()
    assert calls > 10


def tear(folder: str, text: str) -> None:
    """What a writer leaves that was killed while it wrote the same text another time."""
    with open(os.path.join(folder, f"{SESSION}.jsonl"), "ab") as file:
        file.write(f'{{"actor":"tester","payload":{{"tag":"{text}"'.encode())


# Two histories at once: a process that still reads the file from before an erasure, and one that reads the file after


class Interrupted(Disk):
    """Something else happens right after the call of a given number."""

    def __init__(self) -> None:
        self.calls = 0
        self.at = -1
        self.meanwhile: Callable[[], None] = lambda: None

    def read(self, fd: int, count: int, offset: int) -> bytes:
        data = super().read(fd, count, offset)
        self.calls += 1
        if self.calls == self.at:
            self.meanwhile()
        return data


@pytest.mark.parametrize("action", ["read", "retry", "refs"])
def test_an_index_that_another_process_sets_back_misleads_nobody(tmp_path: Path, action: str) -> None:
    folder = str(tmp_path / "log")
    late = Eventloom(folder)
    late.append(SESSION, [event(f"event {number}", 100) for number in range(1, 201)])
    with late._log(SESSION).reader() as before:  # as a process has it that began to read before the erasure
        disk = Interrupted()
        loom = Eventloom(folder, disk)
        loom.erase(SESSION, 5, "tester", "it was asked for")
        first = loom.append(SESSION, [event("retried", key="key")])[0]
        loom.set_ref("refs/heads/main", first)
        disk.meanwhile = lambda: late._index(SESSION).catch_up(before)
        for at in range(1, 10_000):
            assert [line.seq for line in loom.read(SESSION, 193)] == list(range(193, 204)), "the index is ours again"
            disk.calls, disk.at = 0, at
            if action == "read":
                assert [line.seq for line in loom.read(SESSION, 193)] == list(range(193, 204))
            elif action == "retry":
                assert loom.append(SESSION, [event("retried", key="key")])[0].seq == first.seq
            else:
                assert list(loom.refs(SESSION)) == ["refs/heads/main"]
            if disk.calls < at:
                break
        assert at > 3
        assert loom.verify(SESSION).ok


def test_a_payload_that_was_blanked_by_hand_is_reported_with_its_number(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    loom = Eventloom(str(folder))
    loom.append(SESSION, [event(f"event {number}") for number in range(1, 6)])
    loom.append(SESSION, [event("another")])
    loom.erase(SESSION, 2, "tester", "this one is on record")
    log = folder / f"{SESSION}.jsonl"
    lines = log.read_bytes().splitlines()
    record = json.loads(lines[3])
    del record["payload"], record["salt"]
    lines[3] = encode(record)
    log.write_bytes(b"\n".join(lines) + b"\n")
    report = Eventloom(str(folder)).verify(SESSION)
    assert report.damage is not None
    assert report.damage.seq == 4
    assert "no erasure of it is on record" in report.damage.reason
