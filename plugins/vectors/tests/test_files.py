"""What becomes of the files of a session when processes are killed, files are damaged and texts are erased."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from followed import SAID, SESSION, events_of, feed, lane_in, many_texts

from zaxy import Memory
from zaxy.api import Query, Unavailable, ZaxyError
from zaxy_vectors.embedding import embedder_of
from zaxy_vectors.rows import made
from zaxy_vectors.tokens import words_of
from zaxy_vectors.weights import find_files, identity

EVENTS = 400
STEP = 2
"""Events that are committed together."""
KILLS = 8
FEEDER = (
    "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
    "from followed import *; print('ready', flush=True)\n"
    f"feed(lane_in(Path(sys.argv[1])), events_of(many_texts({EVENTS})), {STEP})"
)


def files_of(folder: Path) -> dict[str, Path]:
    return {path.suffix: path for path in (folder / "vectors").iterdir() if path.is_file()}


def row_of(text: str) -> bytes:
    files = find_files("")
    vectors = embedder_of(files, identity(files)).of_windows([words_of(text)])
    return made([1], vectors).vectors.tobytes()


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_a_follower_that_is_killed_again_and_again_ends_with_the_same_digest(tmp_path: Path) -> None:
    rng = random.Random(7)
    whole, events = lane_in(tmp_path / "whole"), events_of(many_texts(EVENTS))
    begun = time.monotonic()
    fed = feed(whole, events, STEP)
    usual = time.monotonic() - begun
    kills = 0
    for _ in range(KILLS):
        command = [sys.executable, "-c", FEEDER, str(tmp_path), str(Path(__file__).parent)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0, usual / KILLS))
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
        lane = lane_in(tmp_path)
        lane.search(Query("the ferry in room 3", SESSION))
        assert lane.verify(SESSION) == []
    killed = lane_in(tmp_path)
    assert feed(killed, events) == fed
    assert killed.digest(SESSION) == whole.digest(SESSION)
    assert kills > 0


def test_what_was_written_and_not_committed_does_not_count(tmp_path: Path) -> None:
    lane, other = lane_in(tmp_path), lane_in(tmp_path / "other")
    feed(lane, events_of(SAID[:3]))
    for path in files_of(tmp_path).values():
        if path.suffix != ".commit":
            with path.open("ab") as file:
                file.write(b"\x01" * 700)
    feed(lane, events_of(SAID))
    feed(other, events_of(SAID))
    assert lane.digest(SESSION) == other.digest(SESSION)
    assert lane.verify(SESSION) == []


@pytest.mark.parametrize("ending", [".vectors", ".codes", ".marks", ".commit"])
def test_a_file_that_is_cut_or_gone_means_that_the_session_begins_again(tmp_path: Path, ending: str) -> None:
    for size in (None, 0, 30, 100):
        lane = lane_in(tmp_path / f"{size}")
        feed(lane, events_of(SAID))
        digest = lane.digest(SESSION)
        path = files_of(tmp_path / f"{size}")[ending]
        if size is None:
            path.unlink()
        else:
            os.truncate(path, size)
        for reader in (lane, lane_in(tmp_path / f"{size}")):
            assert reader.cursor(SESSION) is None
            assert reader.search(Query("dog", SESSION)) == []
        feed(lane, events_of(SAID))
        assert lane.digest(SESSION) == digest
        assert lane.search(Query("dog", SESSION))[0].seq == 1


@pytest.mark.parametrize("ending", [".vectors", ".codes", ".marks", ".commit"])
def test_wherever_a_byte_is_changed_the_lane_notices_or_answers_as_before(tmp_path: Path, ending: str) -> None:
    rng = random.Random(3)
    question = Query("What is my dog's name?", SESSION)
    for turn in range(15):
        folder = tmp_path / str(turn)
        lane = lane_in(folder)
        feed(lane, events_of(SAID))
        digest, answer = lane.digest(SESSION), lane.search(question)
        path = files_of(folder)[ending]
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        for _ in range(2):  # what was noticed while answering is made again for the next question
            lane = lane if _ else lane_in(folder)
            try:
                lane.cursor(SESSION)
                found = lane.search(question)
                wrong = lane.verify(SESSION)
            except ZaxyError:
                feed(lane, events_of(SAID))
                continue
            assert found == answer or wrong or lane.cursor(SESSION) is None
            if wrong:
                lane.wipe(SESSION)
            feed(lane, events_of(SAID))
        assert lane.digest(SESSION) == digest and lane.search(question) == answer


def test_a_damaged_row_that_would_be_proposed_is_noticed_and_made_again(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    feed(lane, events_of(SAID))
    path = files_of(tmp_path)[".vectors"]
    data = bytearray(path.read_bytes())
    data[64 + 100] ^= 2
    path.write_bytes(data)
    fresh = lane_in(tmp_path)
    with pytest.raises(Unavailable, match="damaged"):
        fresh.search(Query("What is my dog's name?", SESSION))
    assert fresh.cursor(SESSION) is None
    feed(fresh, events_of(SAID))
    assert fresh.search(Query("What is my dog's name?", SESSION))[0].seq == 1


def test_a_wiped_session_leaves_no_file(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    feed(lane, events_of(SAID))
    lane.wipe(SESSION)
    assert list((tmp_path / "vectors").iterdir()) == []


def test_wiping_a_session_leaves_one_whose_name_begins_alike(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    for session in ("a", "a.vectors", "a.b", "ab"):
        feed(lane, events_of(SAID, session))
    lane.wipe("a")
    assert [bool(lane.search(Query("dog", session))) for session in ("a", "a.vectors", "a.b", "ab")] == [
        False,
        True,
        True,
        True,
    ]


def test_an_erased_text_is_in_no_file(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    secret = "The treasure lies beneath the old oak tree in Ravensbrook."
    row = row_of(f"fact: {secret}"), row_of(secret)
    with Memory.open(here) as memory:
        for text in (*SAID, secret):
            last = memory.append("fact.recorded", {"fact": text}, session=SESSION)
        memory.query("Where is the gold hidden?", session=SESSION)
        assert any(one in path.read_bytes() for path in here.rglob("*.vectors") for one in row)
        assert not memory.forget(last.citation, "it was a secret").warnings
        memory.query("Where is the gold hidden?", session=SESSION)
        left = [path for path in here.rglob("*") if path.is_file() and any(one in path.read_bytes() for one in row)]
        assert left == []
        assert list(here.rglob("*.vectors"))
