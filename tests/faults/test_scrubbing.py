"""What `forget` could not remove from the files of followers is remembered beside them, and removed later."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from faults.crashes import fork, in_child, text_under
from zaxy.eventloom import disposable_database
from zaxy.eventloom.disposable_database import DisposableDatabase
from zaxy.eventloom.event_log import EventLog
from zaxy.follow.scrubbing import Scrubber
from zaxy.memory import Memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL and fork are POSIX")
SESSION = "work"
WORD = "quixzbarq"
FILES = {
    "text": f"retrieval_lanes-verbatim/{SESSION}.db",
    "graph": "projection_backends-sqlite/graph.db",
    "names": "identities/identities.db",
}
WIPED = ((Scrubber, "expect"), (EventLog, "erase"), (Scrubber, "wipe"), (Scrubber, "_finish"), (Scrubber, "_write"))
FILE_CALLS = ((DisposableDatabase, "_write"), (DisposableDatabase, "_rewrite"), (DisposableDatabase, "_delete_asides"))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disposable_database, "SCRUB_WAIT", 0.2)


def remember(folder: Path | str, filling: int = 30) -> str:
    """A task that each follower and the names of things hold words of; its citation."""
    with Memory.open(folder) as memory:
        for number in range(filling):
            memory.append("note.taken", {"text": f"The lamp {number} burns oil."}, actor="ada", session=SESSION)
        task = {"id": "T-1", "title": f"Call {WORD} about the lamp", "text": f"{WORD} knows why."}
        event = memory.append("task.proposed", task, actor="ada", session=SESSION)
        memory.append("note.taken", {"text": "The last lamp."}, actor="ada", session=SESSION)
        memory.query("lamp", SESSION)
    return event.citation


@contextmanager
def reading(folder: Path, follower: str) -> Iterator[None]:
    """Another process's read that does not end."""
    path = folder / ".eventloom" / "followers" / FILES[follower]
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield


def notes(folder: Path) -> list[Path]:
    return sorted((folder / ".eventloom" / "followers").glob("unscrubbed/*"))


@pytest.mark.parametrize("follower", FILES)
def test_a_read_that_does_not_end_only_puts_off_the_scrubbing(tmp_path: Path, follower: str) -> None:
    citation = remember(tmp_path)
    with Memory.open(tmp_path) as memory:
        with reading(tmp_path, follower):
            done = memory.forget(citation, "it was asked for")
            assert any("tries again" in warning for warning in done.warnings), done.warnings
            assert text_under(str(tmp_path), WORD)
            memory.query("lamp", SESSION)
            assert notes(tmp_path)
        assert memory.query("lamp", SESSION).warnings == ()
        assert not text_under(str(tmp_path), WORD)
        assert notes(tmp_path) == []


def test_a_later_process_scrubs_what_an_earlier_one_could_not(tmp_path: Path) -> None:
    citation = remember(tmp_path)
    with reading(tmp_path, "text"), reading(tmp_path, "graph"), reading(tmp_path, "names"):
        with Memory.open(tmp_path) as memory:
            memory.forget(citation, "it was asked for")
        with Memory.open(tmp_path) as memory:
            memory.verbatim("lamp", SESSION)
        assert text_under(str(tmp_path), WORD)
        assert notes(tmp_path)
    with Memory.open(tmp_path) as memory:
        memory.verbatim("lamp", SESSION)
    assert not text_under(str(tmp_path), WORD)
    assert notes(tmp_path) == []


def test_a_server_scrubs_by_itself_once_nobody_reads(tmp_path: Path) -> None:
    citation = remember(tmp_path)
    with Memory.open(tmp_path) as memory:
        memory.follow_in_background()
        with reading(tmp_path, "text"), Memory.open(tmp_path) as other:
            other.forget(citation, "it was asked for")
        assert gone_in_time(tmp_path)


def gone_in_time(folder: Path) -> bool:
    """Whether the words are gone before long: the thread comes by twice a second."""
    deadline = time.monotonic() + 60
    while text_under(str(folder), WORD) or notes(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_scrub_that_is_put_off_costs_no_rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    citation = remember(tmp_path)
    with Memory.open(tmp_path) as memory, reading(tmp_path, "text"):
        memory.forget(citation, "it was asked for")
        memory.query("lamp", SESSION)
        wiped: list[str] = []
        monkeypatch.setattr(memory.recall.texts, "wipe", wiped.append)
        for _ in range(3):
            memory.query("lamp", SESSION)
        assert wiped == []


@pytest.mark.parametrize(
    "note", (b"", b"{", b"[]", b"7", b'{"text": "x"}', b'{"text": -1, "no such": 1}', b"\xff", b"[" * 999)
)
def test_a_note_that_cannot_be_read_is_in_nobodys_way(tmp_path: Path, note: bytes) -> None:
    remember(tmp_path)
    folder = tmp_path / ".eventloom" / "followers" / "unscrubbed"
    folder.mkdir()
    (folder / f"{SESSION}.json").write_bytes(note)
    with Memory.open(tmp_path) as memory:
        assert memory.query("lamp", SESSION).results
        assert memory.query("lamp", SESSION).warnings == ()
        before = memory.follower_digests(SESSION)
        memory.rebuild_followers(SESSION)
        assert memory.follower_digests(SESSION) == before


# A process that is killed while it forgets


def die_at(fatal: int, calls: tuple[tuple[type, str], ...]) -> None:
    """In a fork: be killed before or after the call of that number."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            step()
            result = call(*arguments, **named)
            step()
            return result

        return run

    for owner, name in calls:
        setattr(owner, name, around(getattr(owner, name)))


def forget_and_die(folder: str, citation: str, fatal: int) -> None:
    with Memory.open(folder) as memory:
        memory.query("lamp", SESSION)
        die_at(fatal, (*WIPED, *FILE_CALLS))
        memory.forget(citation, "it was asked for")


def forget_and_be_killed_everywhere(folders: str, errors: str, serve: bool) -> None:
    """In a child: one that forgets after the other, each of which dies at another of its calls; prints how many."""
    fatal, erased = 0, 0
    while True:
        fatal += 1
        folder = Path(folders, str(fatal))
        folder.mkdir(parents=True)
        citation = remember(folder, filling=3)
        pid = fork(lambda: forget_and_die(str(folder), citation, fatal), errors)  # noqa: B023 - runs before the next round
        _, status = os.waitpid(pid, 0)
        erased += _is_gone_if_erased(folder, citation, serve)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0, Path(errors).read_text()
            print(json.dumps([fatal, erased]))
            return


def _is_gone_if_erased(folder: Path, citation: str, serve: bool) -> bool:
    with Memory.open(folder) as memory:
        erased = memory.resolve(citation).payload is None
        if serve:
            memory.follow_in_background()
            assert not erased or gone_in_time(folder), (folder, notes(folder))
        else:
            memory.query("lamp", SESSION)
        if erased:
            assert not text_under(str(folder), WORD), (folder, notes(folder))
            assert memory.query(WORD, SESSION).results == ()
        else:
            memory.forget(citation, "it was asked for")
            assert not text_under(str(folder), WORD), (folder, notes(folder))
        assert notes(folder) == []
    return erased


@pytest.mark.parametrize("serve", (False, True), ids=("a read", "a server"))
def test_the_next_one_finishes_what_a_killed_forget_began(tmp_path: Path, serve: bool) -> None:
    errors = tmp_path / "errors"
    errors.touch()
    calls, erased = json.loads(
        in_child(forget_and_be_killed_everywhere, str(tmp_path / "f"), str(errors), serve, timeout=300)
    )
    assert 10 < erased < calls - 2


def test_a_frozen_follower_forgets_too_when_forget_was_killed(tmp_path: Path) -> None:
    citation = remember(tmp_path)
    log = tmp_path / ".eventloom" / f"{SESSION}.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))  # cut back: the followers know an event that is gone
    with Memory.open(tmp_path) as memory:
        assert memory.query("lamp", SESSION).warnings
        memory.recall.loop.expect_erasure(SESSION)
        cited = memory.resolve(citation)
        memory.recall.store.erase(SESSION, cited.seq, "user", "it was asked for")
    with Memory.open(tmp_path) as memory:
        memory.query("lamp", SESSION)
        assert not text_under(str(tmp_path), WORD)
