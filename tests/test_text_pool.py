"""The passages that are looked at closely are few, and yet the best are among them; what was edited is not believed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from indexed import SESSION, Index
from zaxy.api.models import AsOf, Query
from zaxy.extract.times import utc_text
from zaxy.text.blocks import BLOCK, LISTED, BlockSizes
from zaxy.text.bm25 import weight
from zaxy.text.candidates import CANDIDATES, POOL
from zaxy.text.combining import together
from zaxy.text.store import Lookup, TextStore
from zaxy_testkit.checks.followers import sample_event

VOCABULARY = [f"{first}{second}o" for first in "bdfgklmnprst" for second in ("ar", "el", "in", "ov", "um")]
PASSAGES = 2 * BLOCK + 300
QUESTIONS = 60


def texts() -> list[list[str]]:
    """No word twice in one, and few words in all, so that nearly all of them are common."""
    random = Random(5)
    return [random.sample(VOCABULARY, 1 + int(random.random() * 9)) for _ in range(PASSAGES)]


TEXTS = texts()


def fill(index: Index, contents: list[str]) -> None:
    """Take many turns in one batch, each of a source of its own, so that none gains from another."""
    events = []
    for content in contents:
        index.seq += 1
        payload: dict[str, object] = {"role": "user", "content": content, "source": f"chat/{index.seq}"}
        event = sample_event(SESSION, index.seq, event_type="transcript.turn", actor="Ada", payload=payload)
        events.append(event)
    index.events += events
    index.apply(*events)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, state_folder: Path) -> Iterator[Index]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZAXY_STATE_DIR", str(state_folder))  # made before the first test has it
        made = Index(tmp_path_factory.mktemp("large"))
        fill(made, [" ".join(words) for words in TEXTS])
    yield made
    made.texts.close()


def count(word: str, known: int) -> int:
    return sum(word in words for words in TEXTS[:known])


def best_by_hand(question: list[str]) -> set[int]:
    """The events whose words weigh most, by the formula over every text; lengths do not count."""
    weights = {word: weight(count(word, PASSAGES), PASSAGES) for word in question}
    sums = [sum(weights[word] for word in question if word in words) for words in TEXTS]
    highest = max(sums)
    return {seq for seq, total in enumerate(sums, 1) if total > highest - 1e-9}


def test_of_texts_of_common_words_those_with_most_of_the_words_come_first(large: Index) -> None:
    assert all(count(word, PASSAGES) > LISTED / 2 for word in VOCABULARY)
    random = Random(6)
    for _ in range(QUESTIONS):
        question = random.sample(VOCABULARY, 4)
        hits = large.texts.hits(Query(" ".join(question), SESSION, 10, AsOf(known_at=PASSAGES)))
        most = max(len(set(question) & set(TEXTS[hit.text.seq - 1])) for hit in hits)
        assert {hit.text.seq for hit in hits} & best_by_hand(question), question
        assert len(set(question) & set(TEXTS[hits[0].text.seq - 1])) == most, question


@pytest.mark.parametrize("known", [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, PASSAGES - 1, PASSAGES])
def test_a_word_weighs_what_it_weighed_when_only_so_much_was_known(large: Index, known: int) -> None:
    weights = large.texts.weights(SESSION, [*VOCABULARY[:6], "absent"], known)
    expected = {word: weight(count(word, known), known) for word in VOCABULARY[:6] if count(word, known)}
    assert weights.known == pytest.approx(expected)


def test_an_old_text_that_shares_only_common_words_is_found_when_it_is_the_best(tmp_path: Path) -> None:
    index = Index(tmp_path / "state")
    pairs = ("harbour crane", "crane ledger", "ledger harbour")
    contents = [f"{pairs[number % 3]} noted" for number in range(PASSAGES)]
    contents[41] = "harbour crane ledger"
    fill(index, contents)
    assert index.first("harbour crane ledger") == 42
    then = index.found("harbour crane ledger", AsOf(known_at=BLOCK + 5))
    assert then[0] == 42 and max(then) <= BLOCK + 5
    index.texts.close()


def test_a_question_takes_few_statements_however_many_words_it_has(large: Index) -> None:
    seen: list[str] = []
    file = large.texts._files[SESSION]
    with file.hold():
        file.read(lambda db: db.set_trace_callback(seen.append))
        large.texts.hits(Query(" ".join(VOCABULARY), SESSION, 10, AsOf(known_at=PASSAGES)))
        file.read(lambda db: db.set_trace_callback(None))
    asked = [statement for statement in seen if not statement.startswith("--")]
    assert len(asked) <= 9, asked  # one of them looks whether anything was asked before


EDITS = {
    "a passage's words": "UPDATE passages SET words = words || ' lamp ' WHERE id = 2",
    "who said it": "UPDATE passages SET speaker = 'Eve' WHERE id = 2",
    "two passages' places": "UPDATE passages SET seq = 90 WHERE id = 2",
    "an episode": "UPDATE episodes SET words = 1",
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_row_is_not_believed_and_the_index_is_built_again(tmp_path: Path, edit: str) -> None:
    index = Index(tmp_path / "state")
    for number in range(3):
        index.say(f"remark {number} on the lamp", source="chat")
    assert index.texts.verify(SESSION) == []
    with sqlite3.connect(index.folder / f"{SESSION}.db") as db:
        db.execute(edit)
    assert index.texts.verify(SESSION)
    assert index.found("lamp remark") == []
    assert len(index.warnings) == 1 and "a row was changed by somebody else" in index.warnings[0]
    assert index.texts.cursor(SESSION) is None
    index.texts.close()


def test_verification_tells_which_block_is_not_marked_as_its_passages_are(tmp_path: Path) -> None:
    index = Index(tmp_path / "state")
    fill(index, [" ".join(words) for words in TEXTS[: BLOCK + 1]])
    assert index.texts.verify(SESSION) == []
    with sqlite3.connect(index.folder / f"{SESSION}.db") as db:
        db.execute("DELETE FROM marks WHERE term = (SELECT min(term) FROM marks)")
    assert index.texts.verify(SESSION) == ["the marks of block 0 are not those of its passages"]
    index.texts.close()


SMALL = BlockSizes(block=64, marked=2, listed=64)
MANY_BLOCKS = 2 * SMALL.span + 300
"""Passages that fill two spans of small blocks, some more blocks, and not all of the last one."""


@pytest.fixture(scope="module")
def many_blocks(tmp_path_factory: pytest.TempPathFactory, state_folder: Path) -> Iterator[Index]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZAXY_STATE_DIR", str(state_folder))
        made = Index(tmp_path_factory.mktemp("many-blocks"), SMALL)
        fill(made, [" ".join(words) for words in TEXTS[:MANY_BLOCKS]])
    yield made
    made.texts.close()


def test_an_index_of_many_blocks_is_what_verification_expects(many_blocks: Index) -> None:
    assert many_blocks.texts.verify(SESSION) == []


@pytest.mark.parametrize("known", [SMALL.block, SMALL.span - 1, SMALL.span, SMALL.span + 70, MANY_BLOCKS])
def test_the_bits_of_a_word_are_those_of_the_passages_that_have_it(many_blocks: Index, known: int) -> None:
    word = VOCABULARY[7]
    spans = many_blocks.texts._read(SESSION, lambda store: store.blocks.bits([word], known))[word]
    found = {
        number * SMALL.span + place + 1
        for number, bits in enumerate(spans)
        for place in range(8 * len(bits))
        if bits[place >> 3] >> (place & 7) & 1
    }
    full = known // SMALL.block * SMALL.block
    has = [word in words for words in TEXTS[:full]]
    marked = [sum(has[start : start + SMALL.block]) >= SMALL.marked for start in range(0, full, SMALL.block)]
    assert found == {place + 1 for place in range(full) if has[place] and marked[place // SMALL.block]}


def test_of_many_blocks_the_passages_with_most_of_the_words_come_first(many_blocks: Index) -> None:
    random = Random(8)
    for _ in range(QUESTIONS):
        question = random.sample(VOCABULARY, 4)
        hits = many_blocks.texts.hits(Query(" ".join(question), SESSION, 10, AsOf(known_at=MANY_BLOCKS)))
        shared = [len(set(question) & set(words)) for words in TEXTS[:MANY_BLOCKS]]
        assert max(shared[hit.text.seq - 1] for hit in hits) == max(shared), question


def test_an_old_passage_with_two_words_that_few_of_each_block_have_is_found(tmp_path: Path) -> None:
    index = Index(tmp_path / "state", SMALL)
    blocks = 2 * SMALL.listed
    contents = [f"{word} remark" for _ in range(blocks) for word in ("harbour", "crane", *["lamp"] * (SMALL.block - 2))]
    old = 10 * SMALL.block
    contents[old : old + 2] = ["harbour crane remark", "lamp remark"]
    fill(index, contents)
    assert index.first("harbour crane") == old + 1
    index.texts.close()


def test_a_passage_that_repeats_the_word_comes_before_newer_ones_that_have_it_once(tmp_path: Path) -> None:
    index = Index(tmp_path / "state")
    contents = ["the lamp of the harbour was painted green and white"] * (CANDIDATES + 50)
    contents[20] = "lamp lamp lamp, said the keeper, the lamp was painted"
    fill(index, contents)
    assert index.first("lamp") == 21
    index.texts.close()


def test_a_read_of_the_past_does_not_go_through_all_of_an_endless_episode(tmp_path: Path) -> None:
    index = Index(tmp_path / "state")
    events = []
    for _ in range(3000):
        index.seq += 1
        said = {"role": "user", "content": f"lamp {index.seq}", "source": "chat"}
        payload: dict[str, object] = {**said, "occurred_at": moment(index.seq)}
        events.append(sample_event(SESSION, index.seq, event_type="transcript.turn", actor="Ada", payload=payload))
    index.apply(*events)
    steps = {known: _steps_of_a_read(index, known) for known in (20, 2990)}
    assert steps[20] < 2 * steps[2990]
    index.texts.close()


def _steps_of_a_read(index: Index, known: int) -> int:
    """What SQLite does, in tens of its instructions, to say how many words an episode had."""
    steps = [0]

    def count_words(store: TextStore) -> dict[int, int]:
        reach = store.reach(known)
        store._db.set_progress_handler(lambda: steps.__setitem__(0, steps[0] + 1), 10)
        try:
            return store.episodes([1], reach)
        finally:
            store._db.set_progress_handler(None, 0)

    (words,) = index.texts._read(SESSION, count_words).values()
    (last,) = index.texts._read(SESSION, lambda store: store.of_events([known]))
    assert words == (last.place, last.words_of_episode)
    return steps[0]


def said_at(index: Index, moments: list[str]) -> None:
    """Take turns of the same words, each said at a moment of its own."""
    events = []
    for moment in moments:
        index.seq += 1
        payload: dict[str, object] = {
            "role": "user",
            "content": f"harbour crane {index.seq}",
            "source": f"chat/{index.seq}",
            "occurred_at": moment,
        }
        events.append(sample_event(SESSION, index.seq, event_type="transcript.turn", actor="Ada", payload=payload))
    index.apply(*events)


def moment(number: int) -> str:
    return (
        f"2026-01-{1 + number // 86_400 % 28:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z"
    )


@pytest.mark.parametrize("mixed", [False, True], ids=["in order", "in no order"])
@pytest.mark.parametrize("until", [0, 63, 64, 700, 1500, 2199])
def test_a_read_of_a_moment_finds_the_newest_of_what_was_said_by_then(tmp_path: Path, mixed: bool, until: int) -> None:
    index = Index(tmp_path / "state", SMALL)
    numbers = list(range(2200))
    if mixed:  # within a few blocks, as where several conversations are imported side by side
        numbers = [
            number
            for start in range(0, 2200, 200)
            for number in Random(start).sample(numbers[start : start + 200], 200)
        ]
    said_at(index, [moment(number) for number in numbers])
    found = index.found("harbour crane", AsOf(valid_at=utc_text(moment(until))))
    by_then = [seq for seq, number in enumerate(numbers, 1) if number <= until]
    assert set(found) <= set(by_then)
    assert len(found) >= min(len(by_then), 50)
    assert index.texts.verify(SESSION) == []
    index.texts.close()


def test_a_read_of_a_moment_lists_no_more_than_a_read_of_now(
    many_blocks: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[int] = []
    look_up = TextStore.look_up

    def counted(self: TextStore, lookups: Sequence[Lookup], last: int) -> list[list[int]]:
        found = look_up(self, lookups, last)
        listed.extend(map(len, found))
        return found

    monkeypatch.setattr(TextStore, "look_up", counted)
    many_blocks.found(" ".join(VOCABULARY[:5]), AsOf(valid_at="2100-01-01T00:00:00.000000Z"))
    assert listed and max(listed) <= max(SMALL.listed, POOL)


WRONG_BITS = "UPDATE bits SET bits = zeroblob(8) WHERE term = (SELECT min(term) FROM bits)"


@pytest.mark.parametrize("edit", [WRONG_BITS, "UPDATE times SET latest = '2000'"])
def test_verification_tells_when_bits_or_times_were_changed(tmp_path: Path, edit: str) -> None:
    index = Index(tmp_path / "state", SMALL)
    fill(index, [" ".join(words) for words in TEXTS[: SMALL.span + 1]])
    with sqlite3.connect(index.folder / f"{SESSION}.db") as db:
        db.execute(edit)
    (problem,) = index.texts.verify(SESSION)
    assert problem in (
        "the bits of the blocks from 0 on are not those of their passages",
        "the times of the blocks are not those of their passages",
    )
    index.texts.close()


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_together_comes_with_all_of_its_words_and_the_heaviest_first(seed: int) -> None:
    random, span = Random(seed), 64
    has = [{number for number in range(200) if random.random() < share} for share in (0.02, 0.1, 0.3, 0.3)]
    weights = [4.0, 2.0, 1.0, 1.0]
    spans = [[_bits(numbers, first, span) for first in range(0, 200, span)] for numbers in has]
    among = {number for number in range(200) if random.random() < 0.7} if seed % 2 else set(range(200))
    found = together(
        list(zip(weights, spans, strict=True)), 30, span=span, among=_bits(among, 0, 256) if seed % 2 else None
    )
    words = {number + 1: tuple(word for word in range(4) if number in has[word]) for number in among}
    assert found == {number: words[number] for number in found}
    worth = {number: sum(weights[word] for word in own) for number, own in words.items() if own}
    assert sorted(map(worth.__getitem__, found), reverse=True) == sorted(worth.values(), reverse=True)[:30]


def _bits(numbers: set[int], first: int, size: int) -> bytes:
    return sum(1 << (number - first) for number in numbers if first <= number < first + size).to_bytes(
        size // 8, "little"
    )


def test_what_was_counted_is_kept_for_as_long_as_a_session_is_held_and_no_longer(tmp_path: Path) -> None:
    index = Index(tmp_path)
    fill(index, ["a red lamp", "a green lamp", "a boat"])
    with index.texts.hold(SESSION):
        before = index.texts.weights(SESSION, ["lamp"], 100)
        index.say("a blue lamp")
        assert index.texts.weights(SESSION, ["lamp"], 100) == before
        assert index.found("blue lamp") == [2, 1]
    assert index.texts.weights(SESSION, ["lamp"], 100) != before
    assert index.first("blue lamp") == 4
    index.texts.close()
