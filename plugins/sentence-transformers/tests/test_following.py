"""Following: what is kept of what was begun, and what another model means."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lanes import SESSION, Place, ask, events, feed
from stand_in import WordHashes, model_folder

from zaxy.api import AsOf, Query
from zaxy_sentence_transformers.windows import Cutter

TEXTS = [f"Remark {number} is about the harbour." for number in range(60)]
SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from lanes import Place, events, feed
from stand_in import WordHashes
from zaxy_sentence_transformers import engines

class Slow(WordHashes):
    def embed(self, texts, *, question=False):
        time.sleep(0.02)
        return super().embed(texts)

engines.open_engine = lambda model, settings: Slow()
place = Place(Path({folder!r}), ZAXY_SENTENCE_BATCH=1)
print("begun", flush=True)
feed(place.lane(), events({texts!r}), size=30)
print("done", flush=True)
"""


@pytest.fixture
def place(tmp_path: Path, model: WordHashes) -> Place:
    return Place(tmp_path)


def test_what_means_the_same_comes_first_and_what_is_as_far_as_usual_is_not_proposed(place: Place) -> None:
    lane = place.lane()
    feed(lane, events([*TEXTS[:30], "The automobile stands in the cellar.", *TEXTS[30:]]))
    found = ask(lane, "automobile cellar", limit=100)
    assert found[0].seq == 31
    assert len(found) < 45, "half of the remarks on the harbour are farther from it than usual"


def test_an_event_is_as_near_as_its_best_window(place: Place) -> None:
    long = " ".join(["Nothing of note happened in the office on that day."] * 40)
    lane = place.lane()
    feed(lane, events([long, f"{long} The ferry to Bornholm leaves at nine.", *TEXTS[:20]]))
    assert ask(lane, "ferry Bornholm leaves")[0].seq == 2


def test_equal_ones_come_with_the_latest_first(place: Place) -> None:
    lane = place.lane()
    feed(lane, events([*TEXTS[:20], "The ferry leaves.", "The ferry leaves.", "The ferry leaves."]))
    assert [one.seq for one in ask(lane, "the ferry leaves")][:3] == [23, 22, 21]


def test_what_was_not_yet_known_is_not_found(place: Place) -> None:
    lane = place.lane()
    feed(lane, events([*TEXTS[:20], "The ferry leaves.", "The ferry leaves."]))
    found = lane.search(Query("the ferry leaves", SESSION, 10, AsOf(known_at=21)))
    assert found[0].seq == 21
    assert max(one.seq for one in found) == 21


def test_a_second_process_sees_what_the_first_has_read_meanwhile(place: Place) -> None:
    first, second = place.lane(), place.lane()
    feed(first, events(TEXTS))
    assert 61 not in [one.seq for one in ask(second, "ferry to Bornholm")]
    feed(first, events(["The ferry to Bornholm leaves."], first=61))
    assert ask(second, "ferry to Bornholm")[0].seq == 61
    first.wipe(SESSION)
    assert 61 not in [one.seq for one in ask(second, "ferry to Bornholm")]
    feed(first, events(["The ferry to Bornholm leaves.", *TEXTS]))
    assert ask(second, "ferry to Bornholm")[0].seq == 1


def test_another_model_means_that_all_is_read_again(place: Place, model: WordHashes) -> None:
    lane = place.lane()
    feed(lane, events(TEXTS))
    digest = lane.digest(SESSION)
    lane.close()
    model_folder(place.folder / "model", kind="other words")
    again = place.lane()
    assert again.cursor(SESSION) is None
    assert ask(again, "remark 7") == []
    model.given.clear()
    feed(again, events(TEXTS))
    assert sorted(text for text in model.given) == sorted(TEXTS)
    assert again.digest(SESSION) != digest
    assert ask(again, "remark 7")[0].seq == 8


def test_a_process_that_is_killed_amid_embedding_leaves_what_is_not_made_again(place: Place, model: WordHashes) -> None:
    script = SLOW.format(tests=str(Path(__file__).parent), folder=str(place.folder), texts=TEXTS)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    while len([*place.user.glob("vectors.db*")]) == 0 or cached(place) < 10:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    process.wait()
    process.stdout.close()
    done = cached(place)
    lane = place.lane()
    feed(lane, events(TEXTS))
    assert len(model.given) == len(TEXTS) - done
    resumed = lane.digest(SESSION)
    lane.wipe(SESSION)
    feed(lane, events(TEXTS), size=60)
    assert lane.digest(SESSION) == resumed


def cached(place: Place) -> int:
    from zaxy_sentence_transformers.cache import cache_size

    return cache_size(place.user, place.warnings.append)[0]


def test_vectors_that_came_before_the_end_of_a_batch_are_kept_without_a_cache(
    place: Place, model: WordHashes, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = place.lane(ZAXY_SENTENCE_CACHE_MB=0, ZAXY_SENTENCE_BATCH=4)
    embed = model.embed

    def fails_late(texts: list[str], *, question: bool = False) -> object:
        if len(model.given) >= 12:
            raise MemoryError
        return embed(texts)

    with monkeypatch.context() as patched:
        patched.setattr(model, "embed", fails_late)
        with pytest.raises(MemoryError):
            feed(lane, events(TEXTS), size=60)
    assert lane.cursor(SESSION) is None
    assert ask(lane, "remark 7") == []
    model.given.clear()
    feed(lane, events(TEXTS), size=60)
    assert len(model.given) == len(TEXTS) - 12


def test_broken_rows_are_set_aside_and_read_again(place: Place) -> None:
    lane = place.lane()
    feed(lane, events(TEXTS))
    lane.close()
    (rows,) = place.state.glob("*.db")
    rows.write_bytes(b"garbage" * 2000)
    again = place.lane()
    assert again.cursor(SESSION) is None
    feed(again, events(TEXTS))
    assert ask(again, "remark 7")[0].seq == 8
    assert any("begun again" in warning for warning in place.warnings)
    again.wipe(SESSION)
    assert not [path for path in place.state.iterdir() if "broken" in path.name]


def test_a_text_is_cut_into_even_windows_without_losing_a_word(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(300))
    windows = Cutter(tmp_path, 256).windows(text)
    assert len(windows) > 1
    assert "".join(windows).replace(" ", "") == text.replace(" ", "")
    assert max(map(len, windows)) - min(map(len, windows)) <= 2
