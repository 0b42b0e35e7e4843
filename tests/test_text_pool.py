"""The passages that are looked at closely are few, and yet the best are among them; what was edited is not believed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from indexed import SESSION, Index
from zaxy.api.checks.followers import sample_event
from zaxy.api.models import AsOf, Query
from zaxy.text.blocks import BLOCK, LISTED
from zaxy.text.bm25 import weight

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
    assert len(asked) <= 8, asked


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
