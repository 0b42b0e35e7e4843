"""Nothing is written outside the folder, whatever stands in the place of its files, and nothing hangs."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpus.naughty import PATHS
from faults.outcomes import ALL, READS, crashes, outcomes_of, refusals, snapshot
from faults.sample_logs import SESSION, QuickDisk, log_file, note, opened, small_log
from zaxy.errors import ZaxyError
from zaxy.eventloom.loom import Eventloom

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes are POSIX here"),
    pytest.mark.timeout(60),
]

BESIDE = [
    *(f"{SESSION}.{ending}" for ending in ("jsonl", "lock", "torn", "poisoned", "damaged", "rewriting")),
    *("followers", "followers/log", f"followers/log/{SESSION}.index", f"followers/log/{SESSION}.index-wal"),
]
CODES = {"unavailable", "forbidden", "conflict"}


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside ours that must be the same afterwards."""
    folder = tmp_path / "outside"
    (folder / "empty").mkdir(parents=True)
    (folder / "file").write_bytes(b"not ours\n")
    (folder / "log.jsonl").write_bytes(b"".join(small_log(tmp_path / "other", 1)))
    before = snapshot(folder)
    yield folder
    assert snapshot(folder) == before, "something outside was changed"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log with an index, whose last write was interrupted."""
    own = tmp_path / ".eventloom"
    small_log(own, 3)
    loom = opened(own)
    loom.append(SESSION, [note(idempotency_key="the first key")])
    loom.close()
    with log_file(own).open("ab") as file:
        file.write(b'{"actor":"tes')
    return own


def to_a_file(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "file")


def to_another_log(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "log.jsonl")


def to_a_folder(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "empty")


def to_nothing(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "new")


def to_a_device(place: Path, outside: Path) -> None:
    place.symlink_to("/dev/zero")


def to_itself(place: Path, outside: Path) -> None:
    place.symlink_to(place)


def a_second_name(place: Path, outside: Path) -> None:
    place.hardlink_to(outside / "file")


def a_second_name_of_a_log(place: Path, outside: Path) -> None:
    place.hardlink_to(outside / "log.jsonl")


def a_pipe(place: Path, outside: Path) -> None:
    os.mkfifo(place)


def a_folder(place: Path, outside: Path) -> None:
    (place / "within").mkdir(parents=True)


Disguise = Callable[[Path, Path], None]
LINKS: list[Disguise] = [to_a_file, to_another_log, to_a_folder, to_nothing, to_a_device, to_itself]
DISGUISES: list[Disguise] = [*LINKS, a_second_name, a_second_name_of_a_log, a_pipe, a_folder]


def put_in_place(place: Path, outside: Path, disguise: Disguise) -> None:
    """Take away what stands there and put the disguise in its stead."""
    if place.is_dir():
        place.rename(place.with_name(f"{place.name}-before"))
    place.unlink(missing_ok=True)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    disguise(place, outside)


def name_of(value: object) -> str:
    return getattr(value, "__name__", str(value))


class BrokenDisk(QuickDisk):
    """A disk on which neither a write can be finished nor taken back: the writer leaves its mark."""

    def sync(self, fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def truncate(self, fd: int, size: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("disguise", DISGUISES, ids=name_of)
@pytest.mark.parametrize("beside", BESIDE)
def test_whatever_stands_in_the_place_of_a_file_of_ours_nothing_outside_is_touched(
    folder: Path, outside: Path, beside: str, disguise: Disguise
) -> None:
    put_in_place(folder / beside, outside, disguise)
    loom = opened(folder)
    assert crashes(outcomes_of(loom, ALL)) == {}
    loom.close()
    broken = Eventloom(str(folder), disk=BrokenDisk())
    assert crashes(outcomes_of(broken, ALL)) == {}
    broken.close()
    data = log_file(folder).read_bytes() if log_file(folder).is_file() and not log_file(folder).is_symlink() else b""
    if data and log_file(folder).stat().st_nlink == 1:
        log_file(folder).write_bytes(data.replace(b'"type":"note', b'"type":"nose', 1))
    damaged = opened(folder)
    assert crashes(outcomes_of(damaged, ALL)) == {}
    damaged.close()


@pytest.mark.parametrize("disguise", DISGUISES, ids=name_of)
@pytest.mark.parametrize("ending", ["jsonl", "lock"])
def test_a_log_or_a_lock_that_is_not_a_plain_file_of_its_own_is_refused(
    folder: Path, outside: Path, ending: str, disguise: Disguise
) -> None:
    put_in_place(folder / f"{SESSION}.{ending}", outside, disguise)
    with pytest.raises(ZaxyError) as caught:
        opened(folder).append(SESSION, [note()])
    assert caught.value.code in CODES
    with pytest.raises(ZaxyError) as caught:
        list(opened(folder).read(SESSION))
    assert caught.value.code in CODES


@pytest.mark.parametrize("disguise", LINKS, ids=name_of)
def test_a_log_that_becomes_a_link_while_it_is_open_is_not_written_any_more(
    folder: Path, outside: Path, disguise: Disguise
) -> None:
    loom = opened(folder)
    loom.append(SESSION, [note()])
    log_file(folder).rename(folder / "moved")
    disguise(log_file(folder), outside)
    with pytest.raises(ZaxyError) as caught:
        loom.append(SESSION, [note()])
    assert caught.value.code in CODES


@pytest.mark.parametrize("disguise", DISGUISES[:-1], ids=name_of)
def test_a_folder_that_is_a_link_or_no_folder_is_refused(tmp_path: Path, outside: Path, disguise: Disguise) -> None:
    folder = tmp_path / ".eventloom"
    disguise(folder, outside)
    outcomes = outcomes_of(opened(folder), ALL)
    assert crashes(outcomes) == {}
    assert set(refusals(outcomes)) == set(ALL)
    assert set(refusals(outcomes).values()) <= CODES


def test_a_folder_below_a_file_is_refused(tmp_path: Path, outside: Path) -> None:
    outcomes = outcomes_of(opened(outside / "file" / ".eventloom"), ALL)
    assert crashes(outcomes) == {}
    assert {"append", "append with a key", "append to a new session"} <= set(refusals(outcomes))


def test_a_folder_whose_name_is_no_name_is_refused(tmp_path: Path, outside: Path) -> None:
    for name in ("a\0b", "x" * 300):
        outcomes = outcomes_of(opened(tmp_path / name), ALL)
        assert crashes(outcomes) == {}
        assert {"append", "append with a key", "append to a new session"} <= set(refusals(outcomes))


SESSION_IDS = [
    *(path for path in PATHS if path.isascii()),
    *("../outside/log", "../outside/new", "../outside/empty/x", "/tmp/x", "./work", "work/../work", "work/", "work\\x"),
    *(
        "work\0",
        "work\n",
        "work\r\n",
        "work ",
        " work",
        "work.",
        "work..",
        ".work",
        "-work",
        "_work",
        "work:x",
        "~work",
    ),
    *("CON", "con.x", "Nul", "aux.log", "prn", "COM9", "lpt1.a.b", "com1-", "CONIN$", "nul ", "NUL."),
    *("work\u2215x", "work\uff0fx", "\uff0e\uff0e\uff0foutside", "wo\u200brk", "w\u043erk", "work\u0301", "\u202ework"),
    *("x" * 129, "x" * 255, "x" * 5000, "é" * 10, "", "work\ud800", "\ufeffwork", "ｗｏｒｋ", "work²", "１"),
]


def test_a_session_id_that_is_no_safe_name_reaches_no_path(folder: Path, outside: Path, tmp_path: Path) -> None:
    fits = {"a.jsonl", "a.lock", "a.torn", "a.poisoned", "head", "refs", "com1-", *("x" * 127, "x" * 128)}
    before = snapshot(tmp_path)
    loom = opened(folder)
    for session in sorted({*SESSION_IDS} - fits):
        for name, use in {
            "append": lambda session: loom.append(session, [note()]),
            "append with a key": lambda session: loom.append(session, [note(idempotency_key="a")]),
            "read": lambda session: list(loom.read(session)),
            "end": loom.end,
            "verify": loom.verify,
            "repair": loom.repair,
            "refs": loom.refs,
            "erase": lambda session: loom.erase(session, 1, "tester", "it was asked for"),
        }.items():
            with pytest.raises(ZaxyError) as caught:
                use(session)
            assert caught.value.code == "invalid_request", f"{name} of {session!r}"
    assert snapshot(tmp_path) == before


def test_session_ids_that_look_like_files_of_ours_keep_apart(tmp_path: Path) -> None:
    loom = opened(tmp_path / ".eventloom")
    sessions = sorted(
        ["a", "a.jsonl", "a.lock", "a.torn", "a.poisoned", "a.damaged", "a.rewriting", "followers", "x" * 128]
    )
    for session in sessions:
        loom.append(session, [note(session, idempotency_key="a")])
        loom.append(session, [note()])
    assert loom.sessions() == sessions
    for session in sessions:
        assert loom.verify(session).ok
        assert next(loom.read(session)).record["payload"]["text"] == session


@pytest.mark.parametrize("other", ["Work", "WORK", "wORK"])
def test_a_session_that_differs_only_in_case_is_a_conflict(folder: Path, other: str) -> None:
    before = snapshot(folder)
    for fields in ({}, {"idempotency_key": "a"}):
        with pytest.raises(ZaxyError) as caught:
            opened(folder).append(other, [note(**fields)])
        assert caught.value.code == "conflict"
    assert {name for name in snapshot(folder) if name.endswith(".jsonl")} == {"work.jsonl"}
    assert snapshot(folder)["work.jsonl"] == before["work.jsonl"]


@pytest.mark.parametrize("payload", ["plain", {"thread": SESSION}, {"a": {"thread": SESSION}}], ids=str)
def test_a_file_that_holds_the_log_of_another_session_is_refused(tmp_path: Path, payload: str) -> None:
    folder = tmp_path / ".eventloom"
    loom = opened(folder)
    loom.append("other", [note(payload)])
    loom.append("other", [note()])
    loom.close()
    log_file(folder, "other").rename(log_file(folder))
    before = log_file(folder).read_bytes()
    for fields in ({}, {"idempotency_key": "a"}):
        with pytest.raises(ZaxyError) as caught:
            opened(folder).append(SESSION, [note(**fields)])
        assert caught.value.code == "conflict"
    report = opened(folder).verify(SESSION)
    assert report.damage is not None
    assert report.damage.seq == 1
    assert log_file(folder).read_bytes() == before


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_every_file_is_for_its_user_alone_and_so_is_every_folder(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "new" / ".eventloom"
    before = os.umask(umask)
    try:
        small_log(folder, 3)
        loom = opened(folder)
        with log_file(folder).open("ab") as file:
            file.write(b"torn")
        assert crashes(outcomes_of(loom, ALL)) == {}
        assert wrong_modes(folder) == {}, "while it is open"
        loom.close()
        broken = Eventloom(str(folder), disk=BrokenDisk())
        outcomes_of(broken, ALL)
        broken.close()
        log_file(folder, "another").write_bytes(b"damage\n")
        log_file(folder, "another").chmod(0o600)
        opened(folder).verify("another")
    finally:
        os.umask(before)
    names = {path.name for path in folder.rglob("*")}
    assert {f"{SESSION}.poisoned", "another.damaged", f"{SESSION}.lock", "followers"} <= names
    assert wrong_modes(folder) == {}


def wrong_modes(folder: Path) -> dict[str, str]:
    wanted = {path: 0o700 if path.is_dir() else 0o600 for path in (folder, *folder.rglob("*"))}
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in wanted}
    return {path.name: oct(modes[path]) for path in wanted if modes[path] != wanted[path]}


def test_reading_makes_no_folder(tmp_path: Path) -> None:
    outcomes = outcomes_of(opened(tmp_path / ".eventloom"), READS)
    assert crashes(outcomes) == {}
    assert list(tmp_path.iterdir()) == []
