"""Checks of what a lane may do besides finding: compare words, and read a question together with texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zaxy_testkit.checks import Case, Workbench, check, expect
from zaxy_testkit.checks.shape import expect_ability

POINT = "retrieval_lanes"
WORDS = ("lighthouse", "ferry", "Leuchtturm", "42", "")
TEXTS = ("The ferry to Bornholm leaves at nine.", "Keep the lighthouse lit.", "", "\0 \ud7ff 🗼", "tower " * 400)
QUESTION = "When does the ferry leave?"
SAME = 0.9


def it_has_the_method_that_compares_words(case: Case, bench: Workbench) -> None:
    """Compare your class with zaxy.api.WordSimilarity, or drop the capability `word-similarity`."""
    expect_ability("word-similarity", bench.make(case))


def its_word_similarities_are_shares_for_each_text_and_word(case: Case, bench: Workbench) -> None:
    """Return a row for each text, with a number from 0 to 1 for each word, whatever they say."""
    lane = bench.make(case)
    for words, texts in ((WORDS, TEXTS), (WORDS, ()), ((), TEXTS)):
        found = lane.similar_words(words, texts)
        shapes = [len(row) for row in found]
        expect(shapes == [len(words)] * len(texts), f"{len(texts)} rows of {len(words)} were expected, not {shapes}")
        expect(all(map(_is_share, _flat(found))), f"each must be a number from 0 to 1, and they are {found!r:.200}")
    first, second = (lane.similar_words(WORDS, TEXTS) for _ in range(2))
    expect(_flat(first) == _flat(second), "asked twice it gave two answers")


def a_word_is_nearest_to_itself(case: Case, bench: Workbench) -> None:
    """Give a word that stands in the text nearly 1, and a text without words 0."""
    found = bench.make(case).similar_words(WORDS[:2], TEXTS[:3])
    near, far, none = [row[1] for row in found]
    expect(
        near >= SAME and near > far, f"'ferry' should be nearest to the text that has it, and is {near:g} to {far:g}"
    )
    expect(none == 0, f"nothing is like a text without words, and 'ferry' is by {none:g}")


def it_has_the_method_that_reads_texts(case: Case, bench: Workbench) -> None:
    """Compare your class with zaxy.api.Reranker, or drop the capability `rerank`."""
    expect_ability("rerank", bench.make(case))


def it_says_of_each_text_how_likely_it_answers(case: Case, bench: Workbench) -> None:
    """Return a number from 0 to 1 for each text, the same every time; nothing at all without a model."""
    lane = bench.make(case)
    for question, texts in ((QUESTION, TEXTS), ("", TEXTS), (QUESTION, ())):
        found = lane.rerank(question, texts)
        expect(
            len(found) in (0, len(texts)), f"{len(texts)} numbers were expected, or none, and there are {len(found)}"
        )
        expect(all(map(_is_share, found)), f"each must be a number from 0 to 1, and they are {found!r:.200}")
    first, second = (list(lane.rerank(QUESTION, TEXTS)) for _ in range(2))
    expect(first == second, f"asked twice it gave {first!r} and then {second!r}")


def _flat(rows: Sequence[Sequence[float]]) -> list[float]:
    return [value for row in rows for value in row]


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0.0 <= value <= 1.0


CHECKS = {
    "word-similarity": (
        it_has_the_method_that_compares_words,
        its_word_similarities_are_shares_for_each_text_and_word,
        a_word_is_nearest_to_itself,
    ),
    "rerank": (it_has_the_method_that_reads_texts, it_says_of_each_text_how_likely_it_answers),
}


def register() -> None:
    """Behind the checks that all lanes have."""
    for ability, checks in CHECKS.items():
        for each in checks:
            check(POINT, needs=ability)(each)
