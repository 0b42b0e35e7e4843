"""Followers are deleted, killed while they are built, and shared by processes that write and ask at once."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from functools import partial
from pathlib import Path

import pytest

from faults.crashes import SEED, fork, in_child, kill, open_notes
from folders import made_folder
from zaxy.follow import run
from zaxy.memory import Memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL and fork are POSIX")
SESSION = "faults"
SECONDS = float(os.environ.get("ZAXY_FAULT_SECONDS", "6"))
KILLS = 50
WRITERS = 4
QUESTION = "remark 3 on the lamp"


def fill(folder: str, events: int) -> None:
    """Turns, facts that replace each other, feedback, and two that were erased."""
    with Memory.open(folder) as memory:
        cited = []
        for number in range(events):
            if number % 5 == 1:
                payload = {"key": f"lamp {number % 7}", "fact": f"the lamp burns {number} hours"}
                cited.append(memory.append("fact.recorded", payload, actor="ada", session=SESSION).citation)
            elif number % 50 == 2:
                memory.append("memory.reinforced", {"citation": cited[-1]}, actor="ada", session=SESSION)
            else:
                payload = {"content": f"remark {number % 9} on the lamp, number {number}", "source": f"c{number % 3}"}
                memory.append("transcript.turn", {"role": "user", **payload}, actor="grace", session=SESSION)
        for citation in cited[1:3]:
            memory.forget(citation, "it was asked for")


def told(folder: str) -> str:
    """What memory answers, and the digests of all that it is answered from."""
    with Memory.open(folder) as memory:
        answer = memory.query(QUESTION, SESSION, limit=50, max_tokens=10**6).as_dict()
        return json.dumps([answer, memory.follower_digests(SESSION)], sort_keys=True)


def tell(folder: str) -> None:
    """In a child: the same."""
    print(told(folder))


def test_deleted_followers_come_back_the_same(tmp_path: Path) -> None:
    folder = str(tmp_path)
    fill(folder, 120)
    before = in_child(tell, folder)
    assert len(json.loads(before)[0]["results"]) > 20
    followers = tmp_path / ".eventloom" / "followers"
    shutil.rmtree(followers)
    assert in_child(tell, folder) == before
    for name in sorted(os.listdir(followers)):
        shutil.rmtree(followers / name)
        assert in_child(tell, folder) == before, name


# Killed while they are built


def rebuild(folder: str) -> None:
    with Memory.open(folder) as memory:
        memory.rebuild_followers(SESSION)


def kill_rebuilds(folder: str, errors: str, kills: int, seed: int) -> None:
    """In a child: rebuilds that are killed at random moments. Prints how many of them had not ended by then."""
    run.BATCH = 25  # so that many transactions can be met
    rng = random.Random(seed)
    wanted = told(folder)
    began = time.monotonic()
    os.waitpid(fork(lambda: rebuild(folder), errors), 0)
    usual = time.monotonic() - began
    killed = 0
    for number in range(kills):
        pid = fork(lambda: rebuild(folder), errors)
        time.sleep(rng.uniform(0, usual))
        killed += kill(pid)
        if number % 5 == 4 or number == kills - 1:  # at other times the next rebuild finds what the dead one left
            assert told(folder) == wanted, f"after kill {number}"
    print(killed)


@pytest.mark.slow
def test_rebuilds_that_are_killed_end_with_the_same_digests(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    folder, errors = str(made_folder(tmp_path / "here")), tmp_path / "errors"
    fill(folder, 400)
    killed = int(in_child(kill_rebuilds, folder, str(errors), KILLS, SEED))
    assert not errors.exists(), errors.read_text()
    assert killed >= KILLS // 2, "the kills were nearly all too late"


# Several at once


def write_and_ask(folder: str, notes: str, name: str, stop: float) -> None:
    """Append, and find each event right away, as the best answer to its own codeword."""
    fd = open_notes(notes, name)
    with Memory.open(folder) as memory:
        turn = 0
        while time.monotonic() < stop:
            word = f"{name}x{turn}"
            event = memory.append(
                "transcript.turn", {"role": "user", "content": f"the codeword {word}"}, actor=name, session=SESSION
            )
            os.write(fd, f"{event.seq} {word}\n".encode())
            answer = memory.query(word, SESSION, limit=3) if turn % 2 else memory.verbatim(word, SESSION, limit=3)
            assert answer.warnings == () and answer.notices == (), answer
            assert [row.seq for row in answer.results[:1]] == [event.seq], (word, answer.results[:1])
            turn += 1


def work_at_once(folder: str, notes: str, errors: str, seconds: float) -> None:
    """In a child: the writers, all from the first minute of an empty folder on."""
    stop = time.monotonic() + seconds
    names = [f"agent{number}" for number in range(WRITERS)]
    pids = [fork(partial(write_and_ask, folder, notes, name, stop), errors) for name in names]
    for pid in pids:
        os.waitpid(pid, 0)


@pytest.mark.slow
def test_processes_share_a_workspace_without_lock_errors_and_read_their_writes(tmp_path: Path) -> None:
    folder, notes, errors = made_folder(tmp_path / "here"), tmp_path / "notes", tmp_path / "errors"
    notes.mkdir()
    in_child(work_at_once, str(folder), str(notes), str(errors), SECONDS, timeout=SECONDS + 100)
    assert not errors.exists(), errors.read_text()
    acks = [line.split() for path in notes.iterdir() for line in path.read_text().splitlines()]
    assert len(acks) > 4 * WRITERS
    assert len(list(notes.iterdir())) == WRITERS
    with Memory.open(folder) as memory:
        assert memory.recall.store.verify(SESSION).ok
        assert sorted(int(seq) for seq, _ in acks) == list(range(1, len(acks) + 1))
        for seq, word in acks:
            assert memory.query(word, SESSION, limit=1).results[0].seq == int(seq)
        digests = memory.follower_digests(SESSION)
        memory.rebuild_followers(SESSION)
        assert memory.follower_digests(SESSION) == digests
