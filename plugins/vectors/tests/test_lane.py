from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from followed import SAID, SESSION, events_of, feed, lane_in, many_texts

from zaxy import Memory
from zaxy.api import AsOf, Query, Unavailable
from zaxy_vectors.weights import find_files


@pytest.mark.parametrize(
    ("question", "seq"),
    [
        ("What is my dog's name?", 1),
        ("Why was there a failure of the website?", 2),
        ("Which car did Tom purchase?", 3),
        ("How often is data backed up?", 4),
    ],
)
def test_what_means_the_same_is_found_in_other_words(tmp_path: Path, question: str, seq: int) -> None:
    lane = lane_in(tmp_path)
    feed(lane, events_of(SAID))
    assert [found.seq for found in lane.search(Query(question, SESSION))][:1] == [seq]


def test_what_is_no_nearer_to_a_question_than_chance_brings_it_gets_as_good_as_no_score(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    feed(lane, events_of(SAID))
    assert all(one.score < 0.02 for one in lane.search(Query("How do volcanoes erupt under the ocean?", SESSION)))


def test_a_long_event_is_found_by_one_of_its_sentences(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    filler = "The minutes of the committee were approved without a change. " * 8
    feed(lane, events_of((*SAID, f"{filler}\n\nThe hamster died of old age.\n\n{filler}")))
    assert lane.search(Query("Is our pet rodent dead?", SESSION))[0].seq == 6


def test_an_event_is_proposed_once_however_many_windows_it_has(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    feed(lane, events_of((*SAID, "The puppy sleeps in the kitchen. " * 60)))
    seqs = [found.seq for found in lane.search(Query("Where does the dog sleep?", SESSION, 50))]
    assert seqs[0] == 6 and len(seqs) == len(set(seqs))


def test_nothing_later_than_known_at_is_proposed(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    feed(lane, events_of((*SAID, "The puppy has a sister.")))
    asked = Query("the puppy", SESSION, 50, AsOf(known_at=5))
    assert {found.seq for found in lane.search(asked)} == {1}


def test_the_digest_is_the_same_however_the_log_was_cut_into_batches(tmp_path: Path) -> None:
    events = events_of(many_texts(120))
    digests = set()
    for size in (1, 13, 120):
        lane = lane_in(tmp_path / str(size))
        feed(lane, events, size)
        digests.add(lane.digest(SESSION))
    assert len(digests) == 1


def test_few_files_stay_open_however_many_sessions_are_asked(tmp_path: Path) -> None:
    lane = lane_in(tmp_path)
    for number in range(40):
        session = f"s{number}"
        feed(lane, events_of(SAID, session))
        assert lane.search(Query("dog", session))
    fds = Path("/proc/self/fd")
    if not fds.is_dir():
        pytest.skip("this system does not list the open files of a process")
    ours = [fd for fd in fds.iterdir() if fd.exists() and str(tmp_path) in str(fd.resolve())]
    assert len(ours) <= 24


def test_a_start_loads_neither_numpy_nor_the_model(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from followed import lane_in; lane = lane_in(Path(sys.argv[1])); lane.cursor('s')\n"
        "print(sorted({'numpy', 'tokenizers', 'wordllama', 'safetensors'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_package_that_carries_the_model_is_never_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from followed import *; lane = lane_in(Path(sys.argv[1])); feed(lane, events_of(SAID))\n"
        "print(sorted({'wordllama', 'safetensors', 'tokenizers', 'requests'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_another_model_means_that_the_session_begins_again(tmp_path: Path) -> None:
    files = find_files("")
    folder = tmp_path / "weights"
    folder.mkdir()
    for path in files:
        (folder / path.name).write_bytes(path.read_bytes())
    lane = lane_in(tmp_path, str(folder))
    feed(lane, events_of(SAID))
    table = bytearray(files.weights.read_bytes())
    table[-4096:] = bytes(4096)
    (folder / files.weights.name).write_bytes(table)
    other = lane_in(tmp_path, str(folder))
    assert other.cursor(SESSION) is None
    feed(other, events_of(SAID))
    assert other.search(Query("dog", SESSION))[0].seq == 1


def test_missing_files_are_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"l2_supercat_256\.safetensors") as missing:
        feed(lane_in(tmp_path, str(tmp_path)), events_of(SAID))
    assert "ZAXY_VECTORS_WEIGHTS" in missing.value.remediation


def test_memory_answers_with_what_was_said_in_other_words(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    with Memory.open(here) as memory:
        for text in SAID:
            memory.append("fact.recorded", {"fact": text}, session=SESSION)
        answer = memory.query("What is my dog's name?", session=SESSION)
        assert answer.results[0].seq == 1 and not answer.warnings
