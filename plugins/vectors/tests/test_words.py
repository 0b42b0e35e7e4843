"""Words, their pieces and how like each other they are."""

from __future__ import annotations

import json
import time
from itertools import islice
from pathlib import Path

import pytest
from followed import lane_in

from zaxy.api import Unavailable
from zaxy_vectors.embedding import MAX_WORDS, Embedder, embedder_of
from zaxy_vectors.tokens import MAX_WORD, tokens_of, weight_of, words_of
from zaxy_vectors.weights import find_files, identity, read_header, read_vocabulary
from zaxy_vectors.windows import USUAL, WINDOW, windows

TABLE = Path(__file__).parents[1] / "src" / "zaxy_vectors" / "frequencies" / "words.txt"
RARE = (
    "bornholm kubernetes xylophone mispronounced straßenbahn encyclopædia предложение zażółć gęślą abc123 v2 e1127 42"
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    files = find_files("")
    return embedder_of(files, identity(files))


def test_words_have_the_pieces_that_the_tokenizer_of_the_model_gives() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    files = find_files("")
    reference = tokenizers.Tokenizer.from_file(str(files.tokenizer))
    vocabulary = read_vocabulary(files.tokenizer)
    words = [line.split()[0] for line in TABLE.read_text(encoding="utf-8").splitlines()] + RARE.split()
    assert len(words) > 5000
    different = []
    for word in words:
        expected = reference.encode(word, add_special_tokens=False)
        if not any(token.startswith("<0x") for token in expected.tokens):
            pieces = [number for number, token in zip(expected.ids, expected.tokens, strict=True) if token != "▁"]
            different += [] if tokens_of(word, vocabulary) == pieces else [word]
    assert different == []


def test_long_words_are_cut_and_marks_are_none() -> None:
    assert words_of("Retry_count: 3, it's DONE") == ["retry", "count", "3", "it", "s", "done"]
    assert [len(word) for word in words_of("a" * (2 * MAX_WORD + 1))] == [MAX_WORD, MAX_WORD, 1]


def test_common_words_count_less_than_rare_ones_in_any_listed_language() -> None:
    assert weight_of("the") < weight_of("what") < 0.5 < weight_of("ledger") <= 1.0
    assert weight_of("der") < 0.5 and weight_of("être") < 0.8


def test_windows_are_some_sentences_and_no_word_is_lost() -> None:
    sentences = [f"This is sentence number {number} of a long story." for number in range(20)]
    passage = " ".join(sentences) + "\n" + "word " * 150
    found = list(windows([passage]))
    assert [word for window in found for word in window] == words_of(passage)
    assert all(len(window) <= WINDOW for window in found)
    assert max(len(window) for window in found[:5]) <= USUAL


@pytest.mark.parametrize(
    ("word", "like", "unlike"),
    [
        ("car", "The automobile is in the garage.", "We planted tomatoes."),
        ("doctor", "The physician came at noon.", "The compiler was upgraded."),
        ("delete", "Old logs are removed at night.", "The sea was calm."),
        ("deployed", "We deploy on Tuesdays.", "The sea was calm."),
    ],
)
def test_a_word_is_like_what_means_the_same_and_not_like_others(
    embedder: Embedder, word: str, like: str, unlike: str
) -> None:
    ((near,), (far,)) = embedder.similar_words([word], [like, unlike])
    assert near >= 0.4 and far == 0.0


def test_the_same_word_is_1_in_any_case_and_an_empty_text_0(embedder: Embedder) -> None:
    assert embedder.similar_words(["Ferry", "灯台", ""], ["FERRY at nine", "灯台", "", "?!"]) == [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
    ]


def test_more_words_than_are_kept_are_compared_all_the_same(embedder: Embedder) -> None:
    text = " ".join(f"w{number}x" for number in range(3 * MAX_WORDS)) + " automobile"
    assert embedder.similar_words(["car"], [text])[0][0] >= 0.6
    assert embedder.similar_words(["car"], ["automobile"])[0][0] >= 0.6


def test_comparing_a_question_with_thirty_rows_takes_a_few_milliseconds(embedder: Embedder) -> None:
    known = [line.split()[0] for line in islice(TABLE.open(encoding="utf-8"), 2000)]
    texts = [" ".join(known[(turn * 37 + at) % 2000] for at in range(60)) for turn in range(30)]
    embedder.similar_words(known[:12], texts)
    costs = []
    for _ in range(5):
        begun = time.process_time()
        embedder.similar_words(known[:12], texts)
        costs.append(time.process_time() - begun)
    assert min(costs) < 0.02


def test_weights_that_are_cut_off_are_refused_with_what_to_do(tmp_path: Path) -> None:
    files = find_files("")
    for path in files:
        (tmp_path / path.name).write_bytes(path.read_bytes()[:-100])
    with pytest.raises(Unavailable, match="cut off") as refused:
        read_header(tmp_path / files.weights.name)
    assert "ZAXY_VECTORS_WEIGHTS" in refused.value.remediation
    (tmp_path / files.tokenizer.name).write_text(json.dumps({"model": {}}), encoding="utf-8")
    with pytest.raises(Unavailable, match="tokens of words"):
        read_vocabulary(tmp_path / files.tokenizer.name)


def test_a_folder_of_the_user_is_used_instead_of_the_package(tmp_path: Path) -> None:
    for path in find_files(""):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    lane = lane_in(tmp_path / "state", str(tmp_path))
    assert lane.similar_words(["car"], ["automobile"])[0][0] > 0.6
    assert find_files(str(tmp_path)).weights.parent == tmp_path
