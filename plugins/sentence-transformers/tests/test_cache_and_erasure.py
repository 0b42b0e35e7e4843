"""What is kept in the user's folder, and that it leaves with the text that it came from."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from lanes import SESSION, Place, ask, events, feed
from stand_in import WordHashes

from zaxy.api import Query
from zaxy_sentence_transformers import cache as cache_module
from zaxy_sentence_transformers.vectors import as_bytes

TEXTS = [f"Remark {number} is about the harbour." for number in range(12)]
SECRET = "The password of the harbour master is quixzbarq."


def vector_of(text: str) -> bytes:
    return as_bytes(WordHashes().embed([text]))[0].tobytes()


@pytest.fixture
def place(tmp_path: Path, model: WordHashes) -> Place:
    return Place(tmp_path)


def followed(place: Place, texts: list[str | None], workspace_id: str = "workspace") -> None:
    lane = place.lane(workspace_id)
    feed(lane, events(texts))
    lane.close()


def test_a_text_is_given_to_the_model_once_for_all_sessions_and_workspaces(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS, *TEXTS])
    followed(place, [*TEXTS], "another-workspace")
    assert sorted(model.given) == sorted(TEXTS)


def test_a_session_that_is_read_again_takes_its_vectors_from_the_cache(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS])
    model.given.clear()
    lane = place.lane()
    before = lane.digest(SESSION), ask(lane, "remark 7")
    lane.wipe(SESSION)
    feed(lane, events(TEXTS), size=3)
    assert (lane.digest(SESSION), ask(lane, "remark 7")) == before
    assert [text for text in model.given if text.startswith("Remark")] == []


def test_an_erased_text_is_in_no_file(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS, SECRET])
    assert place.holds(vector_of(SECRET))
    model.given.clear()
    lane = place.lane()
    lane.wipe(SESSION)
    feed(lane, events([*TEXTS, None]))
    lane.close()
    assert not place.holds(vector_of(SECRET))
    assert model.given == [], "what is still recorded comes from the cache"
    assert place.holds(vector_of(TEXTS[0]))


def test_it_leaves_the_cache_before_the_last_batch_is_taken(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS, SECRET])
    lane = place.lane()
    lane.wipe(SESSION)
    feed(lane, events(TEXTS))
    assert place.holds(vector_of(SECRET)), "it could still come"
    feed(lane, events([None], first=len(TEXTS) + 1))
    assert not place.holds(vector_of(SECRET)), "also while the lane is open"


def test_a_text_that_another_session_has_too_stays(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS, SECRET])
    followed(place, [SECRET], "another-workspace")
    lane = place.lane()
    lane.wipe(SESSION)
    feed(lane, events([*TEXTS, None]))
    assert place.holds(vector_of(SECRET))
    other = place.lane("another-workspace")
    other.wipe(SESSION)
    feed(other, events([None]))
    assert not place.holds(vector_of(SECRET))


def test_it_leaves_the_cache_also_where_the_rows_were_deleted_before(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS, SECRET])
    for path in place.state.iterdir():
        path.unlink()
    followed(place, [*TEXTS, None])
    assert not place.holds(vector_of(SECRET))


def test_what_a_process_that_ended_left_in_the_cache_goes_when_the_next_one_looks(
    place: Place, model: WordHashes, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed(place, [*TEXTS, SECRET])
    lane = place.lane()
    lane.wipe(SESSION)
    with monkeypatch.context() as patched:
        patched.setattr(cache_module.VectorCache, "reached", lambda self, session, seq: True)
        feed(lane, events([*TEXTS, None]))
    lane.close()
    assert place.holds(vector_of(SECRET))
    place.lane().cursor(SESSION)
    assert not place.holds(vector_of(SECRET))


def test_it_leaves_the_disk_when_the_one_who_read_has_ended(
    place: Place, model: WordHashes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zaxy_sentence_transformers.cache.SCRUB_SECONDS", 0.05)
    monkeypatch.setattr(cache_module.VectorCache.scrub, "__defaults__", (0.05,))
    followed(place, [*TEXTS, SECRET])
    reader = sqlite3.connect(place.user / cache_module.FILE, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM vectors").fetchall()
    lane = place.lane()
    lane.wipe(SESSION)
    feed(lane, events([*TEXTS, None]))
    assert any("still on disk" in warning for warning in place.warnings)
    reader.close()
    assert lane.try_scrub(SESSION)
    assert not place.holds(vector_of(SECRET))


def test_no_file_has_a_text_or_the_name_of_a_session(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS, SECRET])
    ask(place.lane(), SECRET)
    for path in place.files():
        assert b"quixzbarq" not in path.read_bytes()
        assert SESSION.encode() not in path.read_bytes() or path.suffix in ("-wal", "-shm")
        assert SESSION not in path.name


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_only_the_user_can_look_into_its_files(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS])
    assert stat.S_IMODE(place.user.stat().st_mode) == 0o700
    own = [path for path in place.files() if path.parent != place.folder / "model"]
    assert {oct(stat.S_IMODE(path.stat().st_mode)) for path in own} == {"0o600"}


def test_another_secret_makes_other_keys_and_all_is_read_again(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS])
    (place.user / cache_module.SECRET_FILE).unlink()
    lane = place.lane()
    assert lane.cursor(SESSION) is None
    feed(lane, events(TEXTS))
    assert ask(lane, "remark 7")[0].seq == 8


@pytest.mark.parametrize("damage", [b"no database at all" * 300, b""])
def test_a_damaged_cache_is_set_aside_and_begun_again(place: Place, model: WordHashes, damage: bytes) -> None:
    followed(place, [*TEXTS])
    (place.user / cache_module.FILE).write_bytes(damage)
    lane = place.lane()
    feed(lane, events([*TEXTS, "The ferry leaves at nine."]))
    assert ask(lane, "ferry")[0].seq == len(TEXTS) + 1
    assert bool(damage) == any("begun again" in warning for warning in place.warnings)


def test_a_vector_that_was_changed_in_the_cache_is_not_used(place: Place, model: WordHashes) -> None:
    followed(place, [*TEXTS])
    with sqlite3.connect(place.user / cache_module.FILE) as db:
        (changed,) = db.execute("SELECT count(*) FROM vectors").fetchone()
        db.execute("UPDATE vectors SET vector = substr(vector, 1, 8) || zeroblob(length(vector) - 8)")
    db.close()
    model.given.clear()
    followed(place, [*TEXTS], "another-workspace")
    assert len(model.given) == changed == len(TEXTS)


def test_it_stays_below_its_bound_and_what_was_used_longest_ago_goes(place: Place, model: WordHashes) -> None:
    texts = [f"Entry {number} of a long list." for number in range(6000)]
    lane = place.lane(ZAXY_SENTENCE_CACHE_MB=1)
    feed(lane, events(texts), size=500)
    count, size = cache_module.cache_size(place.user, place.warnings.append)
    assert 0 < count < len(texts)
    assert size <= 1 << 20
    assert ask(lane, "entry 17")[0].seq == 18, "its own rows have all of them"


def test_without_a_cache_nothing_is_kept_in_the_users_folder_but_the_secret(place: Place, model: WordHashes) -> None:
    lane = place.lane(ZAXY_SENTENCE_CACHE_MB=0)
    feed(lane, events(TEXTS))
    assert lane.search(Query("remark 7", SESSION))[0].seq == 8
    assert {path.name for path in place.user.iterdir()} <= {cache_module.SECRET_FILE, "last-run.json"}
