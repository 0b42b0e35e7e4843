"""The table of word frequencies: what is in it, and how it is searched."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
import Stemmer

from zaxy.text import word_frequencies
from zaxy.text.tokens import folded
from zaxy.text.word_frequencies import BLOCK, TABLE, words_at, zipf, zipfs

LINES = TABLE.read_text(encoding="utf-8").splitlines()[1:]
WITH_A_STEMMER = {
    "arabic": "ar",
    "catalan": "ca",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "hindi": "hi",
    "hungarian": "hu",
    "indonesian": "id",
    "italian": "it",
    "lithuanian": "lt",
    "norwegian": "nb",
    "persian": "fa",
    "polish": "pl",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "serbian": "sh",
    "spanish": "es",
    "swedish": "sv",
    "tamil": "ta",
    "turkish": "tr",
}


def parsed(line: str) -> tuple[str, dict[str, float]]:
    found = re.fullmatch(r"([^A-Z]+)((?:[A-Z]{2}\d\d)+)", line)
    assert found is not None, line
    return found[1], {code.lower(): int(value) / 10 for code, value in re.findall(r"([A-Z]{2})(\d\d)", found[2])}


TABLE_AS_DICT = dict(map(parsed, LINES))


def test_a_search_finds_of_every_word_what_its_line_says() -> None:
    assert [word for word, values in TABLE_AS_DICT.items() if zipfs(word) != values] == []


def test_a_word_that_only_begins_or_continues_a_listed_one_is_not_listed() -> None:
    for word in ("zebras", "datab", "aaaaaa", "zzzz", "ｚ", "日本国憲"):
        assert word not in TABLE_AS_DICT
        assert zipfs(word) == {}


def test_nothing_is_found_for_what_is_no_word() -> None:
    for text in ("", "42", "\n", "DE68", "\ud800", "x" * 10_000, "\U0010ffff"):
        assert zipfs(text) == {}
        assert zipf(text, "de") == 0


def test_a_word_has_a_frequency_of_its_own_in_each_language() -> None:
    assert zipf("die", "de") > 7 > zipf("die", "en") > 4
    assert zipf("die", "pl") == 0
    assert zipf("die", "") == 0


def test_all_listed_words_that_stand_at_a_place_are_found() -> None:
    assert [end for end, _ in words_at("x为什么是", 1, "zh")] == [2, 4]
    assert list(words_at("为什么", 3, "zh")) == []


def test_keys_are_folded_sorted_and_each_there_once() -> None:
    assert [word for word in TABLE_AS_DICT if folded(word) != word] == []
    assert len(TABLE_AS_DICT) == len(LINES)
    encoded = TABLE.read_bytes().splitlines()[1:]
    assert encoded == sorted(encoded)


def test_every_language_with_a_stemmer_is_listed_that_has_counts_and_so_are_those_without_spaces() -> None:
    assert WITH_A_STEMMER.keys() < set(Stemmer.algorithms())
    codes = {code for values in TABLE_AS_DICT.values() for code in values}
    assert codes == {*WITH_A_STEMMER.values(), "ja", "ko", "th", "zh"}


@pytest.mark.parametrize("language", sorted({*WITH_A_STEMMER.values(), "ja", "ko", "zh"}))
def test_a_language_has_some_thousand_words(language: str) -> None:
    assert 1500 < sum(language in values for values in TABLE_AS_DICT.values()) < 8000


def test_the_table_is_smaller_than_a_megabyte() -> None:
    assert TABLE.stat().st_size < 1_000_000


def cpu_time(work: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def test_loading_the_table_costs_a_small_part_of_what_reading_its_lines_does() -> None:
    def load() -> None:
        word_frequencies._table.cache_clear()
        zipf("the", "en")

    assert cpu_time(load) < cpu_time(lambda: TABLE.read_bytes().splitlines()) / 3


def test_a_search_looks_at_one_block_of_the_table() -> None:
    table = word_frequencies._table()
    assert max(end - start for start, end in zip(table.starts, table.starts[1:], strict=False)) < BLOCK + 200


def test_the_traditional_and_the_simplified_form_of_a_word_are_as_common() -> None:
    assert zipf("什麼", "zh") == zipf("什么", "zh") > 5


def test_serbian_is_listed_in_both_of_its_scripts() -> None:
    assert zipf("није", "sh") == zipf("nije", "sh") > 5


def test_the_licence_names_its_author_and_its_terms() -> None:
    text = TABLE.with_name("LICENSE.md").read_text(encoding="utf-8")
    assert "Robyn Speer" in text
    assert "CC BY-SA 4.0" in text
    assert "https://creativecommons.org/licenses/by-sa/4.0/" in text
