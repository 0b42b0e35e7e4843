"""The power may go at any moment: what the disk then holds opens without repair, and has what was acknowledged."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest

from faults.crashes import SEED, SESSION, event, text_under
from faults.power import Died, ForgetfulDisk, Moment, NamelessDisk, QuickDisk, RecordingDisk, lay_out
from zaxy.errors import ZaxyError
from zaxy.eventloom.index import LogIndex
from zaxy.eventloom.loom import INDEX_FOLDER, Eventloom

pytestmark = pytest.mark.skipif(os.name != "posix", reason="what survives is told for POSIX, where folders are synced")
KEY = "key-that-was-used"
ERASED_TEXT = "a-text-that-was-erased"
FEWEST = 200


def script(folder: Path, disk: RecordingDisk) -> list[Path]:
    """All that a log does with its disk, in one run. Returns copies of the index as it was at several times."""
    loom = Eventloom(str(folder), disk)
    indexes: list[Path] = []

    def append(*tags: str, size: int = 40, key: str = "") -> None:
        disk.acknowledge(loom.append(SESSION, [event(tag, size, key) for tag in tags]))

    def refused(*tags: str) -> None:
        with pytest.raises(ZaxyError):
            loom.append(SESSION, [event(tag) for tag in tags])

    def killed(*tags: str) -> None:
        """A writer that dies after its write and before its sync; what follows is another process."""
        nonlocal loom
        disk.dies_at_sync = True
        with pytest.raises(Died):
            loom.append(SESSION, [event(tag) for tag in tags])
        disk.dies_at_sync = disk.dead = False
        loom = Eventloom(str(folder), disk)

    def keep_index() -> None:
        copy = folder.parent / f"index-{len(indexes)}"
        with loom._log(SESSION).reader() as reader:
            index = LogIndex(str(folder / INDEX_FOLDER), SESSION)
            index.catch_up(reader)
            index.close()
        shutil.copy(folder / INDEX_FOLDER / f"{SESSION}.index", copy)
        indexes.append(copy)

    append("the first")
    append("single")
    append("one", "two", "three")
    append("keyed", key=KEY)
    keep_index()
    append("large", size=9000)
    together(loom, disk)

    disk.short_write = 100
    refused("cut short", "with another")
    append("after a short write")
    disk.failing_syncs = 1
    refused("not synced")
    append("after a failed sync")

    killed("whole, of a dead writer")
    append("on top of it")
    killed("again", "a dead", "writer")
    disk.short_write = 300
    refused("cut short after a dead writer")
    append("one more", "and another")
    killed("a third dead writer")
    disk.failing_syncs = 1
    refused("not synced after a dead writer")
    if (folder / f"{SESSION}.poisoned").exists():
        assert loom.repair(SESSION)[0].ok
    append("after both")
    keep_index()

    tear(folder, disk)
    append("after a torn line")
    append(ERASED_TEXT)
    append("to be erased last", size=3000)
    erase(loom, disk, ERASED_TEXT)
    append("after an erasure")
    loom.set_ref("refs/heads/main", loom.end(SESSION).line or pytest.fail("the log is empty"))
    tear(folder, disk)
    erase(loom, disk, "to be erased last")
    keep_index()

    append("before the poisoning")
    disk.failing_syncs = 99
    refused("poisons")
    disk.failing_syncs = 0
    refused("while poisoned")
    assert loom.repair(SESSION)[0].ok
    append("after a repair")
    append("last", "of", "all")
    loom.close()
    return indexes


def together(loom: Eventloom, disk: RecordingDisk) -> None:
    """Two threads whose appends share writes and syncs."""
    barrier = Barrier(2)

    def write(name: str) -> None:
        barrier.wait()
        for turn in range(4):
            entries = [event(f"thread {name} {turn} {index}", 60) for index in range(1 + turn % 2)]
            disk.acknowledge(loom.append(SESSION, entries))

    threads = [Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def tear(folder: Path, disk: RecordingDisk) -> None:
    """What a writer leaves that was killed half-way through its write."""
    fd = disk.open(str(folder / f"{SESSION}.jsonl"))
    disk.write(fd, b'{"actor":"tester","hash":"0123')
    disk.close(fd)


def erase(loom: Eventloom, disk: RecordingDisk, tag: str) -> None:
    line = next(line for line in loom.read(SESSION) if line.record.get("payload", {}).get("tag") == tag)
    disk.acknowledge([loom.erase(SESSION, line.seq, "tester", "it was asked for")])
    disk.acknowledge_erasure(tag)


def problems(folder: Path, moment: Moment) -> list[str]:
    """What is wrong with a folder that a loss of power has left; opens it, appends to it, and verifies it."""
    loom = Eventloom(str(folder), QuickDisk())
    try:
        if (folder / f"{SESSION}.poisoned").exists():
            loom.repair(SESSION)
        found = {line.seq: line.hash for line in loom.read(SESSION)}
        wrong = [f"lost: event {line.seq}" for line in moment.acknowledged if found.get(line.seq) != line.hash]
        wrong += [f"not erased: {text}" for text in moment.erased if text_under(str(folder), text)]
        again = loom.append(SESSION, [event("keyed", 40, KEY)])[0]
        first = next((line for line in moment.acknowledged if line.record.get("idempotency_key") == KEY), again)
        if again.hash != first.hash:
            wrong.append(f"twice: event {first.seq} again as {again.seq}")
        loom.append(SESSION, [event("after the power came back")])
        report = loom.verify(SESSION)
        return wrong if report.ok else [*wrong, f"damaged: {report.damage}"]
    except Exception as error:
        return [f"does not open: {type(error).__name__}: {error}"]
    finally:
        loom.close()


class Checked:
    """The states that were built and opened, each only once, and what was wrong with them."""

    def __init__(self, folder: Path, indexes: list[Path]) -> None:
        self.states: set[bytes] = set()
        self.wrong: list[str] = []
        self._folder = folder
        self._indexes: list[Path | None] = [None, *indexes]

    def check(self, state: dict[str, bytes], moment: Moment, when: str) -> None:
        promised = (len(moment.acknowledged), len(moment.erased))
        key = hashlib.sha256(repr((sorted(state.items()), promised)).encode()).digest()
        if key in self.states:
            return
        folder = self._folder / str(len(self.states))
        self.states.add(key)
        lay_out(folder, state)
        # An index survives or not by itself, and may be of any age.
        if index := self._indexes[len(self.states) % len(self._indexes)]:
            (folder / INDEX_FOLDER).mkdir(parents=True)
            shutil.copy(index, folder / INDEX_FOLDER / f"{SESSION}.index")
        self.wrong += [f"{when}: {problem} ({folder})" for problem in problems(folder, moment)]

    def summary(self) -> str:
        return f"seed {SEED}: {len(self.wrong)} problems in {len(self.states)} states\n" + "\n".join(self.wrong[:40])


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A place in memory, where there is one: what would survive is the recorder's business."""
    memory = Path("/dev/shm")
    place = (memory if memory.is_dir() and os.access(memory, os.W_OK) else tmp_path) / f"power-{os.getpid()}"
    shutil.rmtree(place, ignore_errors=True)
    (place / "log").mkdir(parents=True)
    yield place / "log"
    shutil.rmtree(place)


@pytest.mark.slow
def test_every_state_that_a_loss_of_power_leaves_opens_and_holds_what_was_acknowledged(folder: Path) -> None:
    disk = RecordingDisk(folder)
    checked = Checked(folder.parent / "states", script(folder, disk))
    rng = random.Random(SEED)
    for number, moment in enumerate(disk.moments):
        for state in moment.survivors(rng):
            checked.check(state, moment, f"call {number}, {moment.call}")
    print(checked.summary())
    assert not checked.wrong, checked.summary()
    assert len(checked.states) >= FEWEST


@pytest.mark.slow
def test_the_power_may_also_go_after_a_writer_was_killed_and_another_has_gone_on(folder: Path) -> None:
    disk = RecordingDisk(folder)
    checked = Checked(folder.parent / "states", script(folder, disk))
    rng = random.Random(SEED)
    for number, killed in enumerate(disk.moments):
        if f"{SESSION}.poisoned" in killed.seen() or killed.is_undoing:
            continue  # nobody goes on then; or a sync has failed in the same instant, which is one fault too many
        successor = folder.parent / f"successor-{number}"
        lay_out(successor, killed.seen())
        recorder = RecordingDisk(successor, killed)
        loom = Eventloom(str(successor), recorder)
        recorder.acknowledge(loom.append(SESSION, [event("of the successor")]))
        loom.close()
        for moment in recorder.moments[1:]:
            for state in moment.survivors(rng, most=5):
                checked.check(state, moment, f"killed after call {number}, {killed.call}; then after {moment.call}")
    print(checked.summary())
    assert not checked.wrong, checked.summary()
    assert len(checked.states) >= FEWEST


@pytest.mark.parametrize("careless", [ForgetfulDisk, NamelessDisk])
def test_a_log_that_did_not_sync_would_be_found_out(folder: Path, careless: type[RecordingDisk]) -> None:
    disk = careless(folder)
    loom = Eventloom(str(folder), disk)
    for tag in ("one", "two", "three"):
        disk.acknowledge(loom.append(SESSION, [event(tag)]))
    loom.close()
    checked = Checked(folder.parent / "states", [])
    rng = random.Random(SEED)
    for moment in disk.moments:
        for state in moment.survivors(rng):
            checked.check(state, moment, moment.call)
    assert any("lost: event 1" in problem for problem in checked.wrong)
    assert any("lost: event 3" in problem for problem in checked.wrong)


def test_the_folder_is_synced_into_the_one_above_it_when_it_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / ".eventloom"
    folder.parent.mkdir()
    disk = RecordingDisk(folder)
    Eventloom(str(folder), disk).append(SESSION, [event("the first")])
    assert str(folder.parent) in disk.folders_synced
