"""A sync fails: nothing is acknowledged, its descriptor is not trusted again, and what cannot be undone stops all."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.crashes import SESSION, append_one, child_command, child_environment, event, in_child, tag_of
from zaxy.errors import ZaxyError
from zaxy.eventloom.disk import Disk
from zaxy.eventloom.loom import Eventloom

EIO = OSError(errno.EIO, os.strerror(errno.EIO))


class FailingDisk(Disk):
    """A disk on which calls fail when they are told to; it notes what is done with a descriptor after a failure."""

    def __init__(self) -> None:
        self.fails: dict[str, int] = Counter()
        """How many calls of a name fail, once those are done that `passes` still lets through."""
        self.passes: dict[str, int] = Counter()
        self.distrusted: set[int] = set()
        """Descriptors whose sync has failed and that are still open."""
        self.written_after: list[int] = []
        self.calls: Counter[str] = Counter()

    def _called(self, name: str) -> None:
        self.calls[name] += 1
        if self.passes[name] > 0:
            self.passes[name] -= 1
        elif self.fails[name] > 0:
            self.fails[name] -= 1
            raise EIO

    def write(self, fd: int, data: bytes) -> int:
        if fd in self.distrusted:
            self.written_after.append(fd)
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        try:
            self._called("sync")
        except OSError:
            self.distrusted.add(fd)
            raise
        super().sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        self._called("truncate")
        super().truncate(fd, size)

    def sync_folder(self, path: str) -> None:
        self._called("sync_folder")
        super().sync_folder(path)

    def close(self, fd: int) -> None:
        self.distrusted.discard(fd)
        super().close(fd)


@pytest.fixture
def disk() -> FailingDisk:
    return FailingDisk()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def loom(folder: Path, disk: FailingDisk) -> Eventloom:
    loom = Eventloom(str(folder), disk)
    loom.append(SESSION, [event("before")])
    return loom


def refused(action: Callable[[], object]) -> ZaxyError:
    with pytest.raises(ZaxyError) as caught:
        action()
    assert caught.value.code == "unavailable"
    return caught.value


def tags(folder: Path) -> list[str]:
    """What another process finds, once the whole log was proven."""
    loom = Eventloom(str(folder))
    report = loom.verify(SESSION)
    assert report.ok, report
    return [tag_of(line) for line in loom.read(SESSION)]


def test_an_append_whose_sync_fails_is_not_acknowledged_and_not_there(
    loom: Eventloom, disk: FailingDisk, folder: Path
) -> None:
    disk.fails["sync"] = 1
    error = refused(lambda: loom.append(SESSION, [event("lost"), event("too")]))
    assert "the disk reported an error" in error.message
    assert tags(folder) == ["before"]


def test_the_descriptor_of_a_failed_sync_is_not_written_again(loom: Eventloom, disk: FailingDisk, folder: Path) -> None:
    for number in range(10):
        disk.fails["sync"] = 1
        refused(lambda: loom.append(SESSION, [event("lost")]))
        loom.append(SESSION, [event(f"after {number}")])
    assert not disk.written_after
    assert tags(folder) == ["before", *(f"after {number}" for number in range(10))]


def test_after_a_failed_sync_the_log_is_looked_at_anew(loom: Eventloom, disk: FailingDisk, folder: Path) -> None:
    disk.fails["sync"] = 1
    refused(lambda: loom.append(SESSION, [event("lost")]))
    in_child(append_one, str(folder), "of another process")
    loom.append(SESSION, [event("after")])
    assert tags(folder) == ["before", "of another process", "after"]


def test_all_who_shared_a_failed_sync_are_refused(loom: Eventloom, disk: FailingDisk, folder: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    disk.fails["sync"] = 1

    def write(number: int) -> str:
        try:
            loom.append(SESSION, [event(f"event {number}")])
        except ZaxyError as error:
            assert error.code == "unavailable"
            return ""
        return f"event {number}"

    with ThreadPoolExecutor(8) as threads:
        acknowledged = {tag for tag in threads.map(write, range(64)) if tag}
    assert len(acknowledged) < 64
    assert set(tags(folder)) == {"before", *acknowledged}


@pytest.mark.parametrize("undoing", ["sync", "truncate"])
def test_a_write_that_cannot_be_taken_back_stops_everybody_until_it_is_repaired(
    loom: Eventloom, disk: FailingDisk, folder: Path, undoing: str
) -> None:
    disk.fails["sync"] = 1
    disk.fails[undoing] += 1
    refused(lambda: loom.append(SESSION, [event("lost")]))
    assert (folder / f"{SESSION}.poisoned").exists()
    reply = json.loads(in_child(append_one, str(folder), "of another process"))
    assert (reply["error"]["code"], "repair" in reply["error"]["remediation"]) == ("unavailable", True)
    refused(lambda: loom.append(SESSION, [event("of the same")]))
    refused(lambda: Eventloom(str(folder)).append(SESSION, [event("of a new object")]))
    refused(lambda: loom.erase(SESSION, 1, "tester", "while poisoned"))
    assert next(iter(loom.read(SESSION))).seq == 1, "what stands there can still be read"

    report, _ = Eventloom(str(folder)).repair(SESSION)
    assert report.ok
    assert not (folder / f"{SESSION}.poisoned").exists()
    loom.append(SESSION, [event("after")])
    in_child(append_one, str(folder), "of another process")
    found = tags(folder)
    assert found[0] == "before"
    assert found[-2:] == ["after", "of another process"]
    assert found[1:-2] in ([], ["lost"]), "what was never acknowledged may be there, or not"


def test_a_session_is_poisoned_also_when_the_marker_cannot_be_synced(
    loom: Eventloom, disk: FailingDisk, folder: Path
) -> None:
    disk.fails["sync"] = 3
    refused(lambda: loom.append(SESSION, [event("lost")]))
    refused(lambda: Eventloom(str(folder)).append(SESSION, [event("refused")]))


def test_a_repair_whose_own_sync_fails_lifts_nothing(loom: Eventloom, disk: FailingDisk, folder: Path) -> None:
    disk.fails["sync"] = 2
    refused(lambda: loom.append(SESSION, [event("lost")]))
    disk.fails["sync"] = 1
    refused(lambda: loom.repair(SESSION))
    assert (folder / f"{SESSION}.poisoned").exists()
    refused(lambda: loom.append(SESSION, [event("refused")]))
    loom.repair(SESSION)
    loom.append(SESSION, [event("after")])
    assert tags(folder)[-1] == "after"


def test_a_poisoned_session_that_is_damaged_stays_closed(loom: Eventloom, disk: FailingDisk, folder: Path) -> None:
    loom.append(SESSION, [event("second"), event("third")])
    disk.fails["sync"] = 2
    refused(lambda: loom.append(SESSION, [event("lost")]))
    log = folder / f"{SESSION}.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"second"', b'"forged"'))
    report, _ = Eventloom(str(folder)).repair(SESSION)
    assert report.damage is not None
    assert report.damage.seq == 2
    refused(lambda: Eventloom(str(folder)).append(SESSION, [event("refused")]))


def test_a_torn_line_that_could_not_be_cut_for_certain_is_cut_again(
    loom: Eventloom, disk: FailingDisk, folder: Path
) -> None:
    # The syncs on the way, each of which fails once: of the bytes that are kept, of the cut, of the event, and whatever
    # else there is; the last time nothing is left to fail.
    for passed in range(8):
        with (folder / f"{SESSION}.jsonl").open("ab") as file:
            file.write(b'{"actor":"torn')
        disk.passes["sync"], disk.fails["sync"] = passed, 1
        try:
            loom.append(SESSION, [event(f"event {passed}")])
        except ZaxyError as error:
            assert error.code == "unavailable"
            if (folder / f"{SESSION}.poisoned").exists():
                loom.repair(SESSION)
            loom.append(SESSION, [event(f"event {passed}")])
        assert not disk.written_after, f"a descriptor was written to whose sync had failed, after {passed} syncs"
    assert disk.passes["sync"] > 0, "not every sync was made to fail"
    disk.fails["sync"] = 0
    assert tags(folder) == ["before", *(f"event {passed}" for passed in range(8))]


def test_a_new_log_whose_name_could_not_be_synced_is_synced_before_anything_is_acknowledged(
    folder: Path, disk: FailingDisk
) -> None:
    for passed in range(4):
        loom = Eventloom(str(folder / str(passed)), disk)
        disk.passes["sync_folder"], disk.fails["sync_folder"] = passed, 1
        try:
            loom.append(SESSION, [event("the first")])
        except ZaxyError as error:
            assert error.code == "unavailable"
            before = disk.calls["sync_folder"]
            loom.append(SESSION, [event("the first")])
            assert disk.calls["sync_folder"] > before
        assert tags(folder / str(passed)) == ["the first"]
    assert disk.passes["sync_folder"] > 0, "not every sync was made to fail"


# The same with the system's own calls


def fail_in_the_second(folder: str) -> None:
    """In a child whose second sync fails: what comes of three appends."""
    loom = Eventloom(folder)
    for tag in ("first", "second", "third"):
        try:
            loom.append(SESSION, [event(tag)])
            print(tag)
        except ZaxyError as error:
            print(f"{error.code}: {error.message}")


def strace(folder: Path, which: str) -> list[str]:
    """The system's calls, made to fail: the writer runs under strace."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed here")
    inject = ["-e", "trace=fdatasync", "-e", f"inject=fdatasync:error=EIO:when={which}"]
    try:
        return in_child(fail_in_the_second, str(folder), under=["strace", "-o", "/dev/null", *inject]).splitlines()
    except AssertionError as error:
        if "ptrace" in str(error):
            pytest.skip("processes may not be traced here")
        raise


def test_a_sync_that_the_system_fails_is_undone(folder: Path) -> None:
    outcomes = strace(folder, "2")
    assert outcomes[0] == "first"
    assert outcomes[1].startswith("unavailable: ")
    assert "the disk reported an error" in outcomes[1]
    assert outcomes[2] == "third"
    assert tags(folder) == ["first", "third"]


def test_a_disk_that_fails_every_sync_poisons_the_session(folder: Path) -> None:
    outcomes = strace(folder, "2+")
    assert outcomes[0] == "first"
    assert [line.split(":")[0] for line in outcomes[1:]] == ["unavailable", "unavailable"]
    assert "error" in json.loads(in_child(append_one, str(folder), "refused"))
    assert Eventloom(str(folder)).repair(SESSION)[0].ok
    in_child(append_one, str(folder), "after")
    assert [tag for tag in tags(folder) if tag != "second"] == ["first", "after"]


# An outcome that the caller never learns


class DeadlyDisk(Disk):
    """The process is killed right after an event was synced: it is in the log, and nobody was told."""

    written = False

    def write(self, fd: int, data: bytes) -> int:
        self.written = True
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        super().sync(fd)
        if self.written:
            os.kill(os.getpid(), signal.SIGKILL)


def append_and_die(folder: str, tags: list[str]) -> None:
    """In a child: append with keys, and be killed between sync and reply."""
    Eventloom(folder, DeadlyDisk()).append(SESSION, [event(tag, key=f"key of {tag}") for tag in tags])


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
@pytest.mark.parametrize("batch", [["only"], ["one", "two", "three"]], ids=["single", "batch"])
@pytest.mark.parametrize("index_survives", [True, False])
def test_the_same_key_after_an_unknown_outcome_gives_one_event(
    folder: Path, batch: list[str], index_survives: bool
) -> None:
    loom = Eventloom(str(folder))
    loom.append(SESSION, [event("before", key="key of before")])
    for _ in range(2):
        dead = subprocess.run(
            child_command(append_and_die, str(folder), batch), env=child_environment(), capture_output=True
        )
        # The second time there is nothing to write, and so nothing to be killed at.
        assert dead.returncode in (-signal.SIGKILL, 0), dead.stderr
    if not index_survives:
        shutil.rmtree(folder / "followers")
    again = loom.append(SESSION, [event(tag, key=f"key of {tag}") for tag in batch])
    assert [line.seq for line in again] == list(range(2, len(batch) + 2))
    assert tags(folder) == ["before", *batch]
    with pytest.raises(ZaxyError) as caught:
        loom.append(SESSION, [event("something else", key=f"key of {batch[0]}")])
    assert caught.value.code == "conflict"
