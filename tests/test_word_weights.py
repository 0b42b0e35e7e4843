"""How much words say in their languages: which language a text is in, which words are common, and which are names."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings, strategies as st

from questions_by_language import NAMES, NAMES_WRITTEN_LATER, QUESTIONS, listed
from zaxy.text import tokens
from zaxy.text.word_weights import Word, common, language_of, weighed_words

UNSPACED = ("ja", "ko", "th", "zh")


def named(text: str, language: str = "") -> list[str]:
    return [word.text for word in weighed_words(text, language) if word.is_name]


# The language of a text


@pytest.mark.parametrize("language", QUESTIONS)
def test_the_language_of_a_short_question_is_mostly_right(language: str) -> None:
    guesses = [language_of(question) for question in listed(QUESTIONS[language])]
    assert guesses.count(language) >= 0.7 * len(guesses)


def test_of_all_short_questions_nine_in_ten_have_their_language_found() -> None:
    guesses = [language_of(text) == language for language, texts in QUESTIONS.items() for text in listed(texts)]
    assert sum(guesses) >= 0.93 * len(guesses)


@pytest.mark.parametrize("text", ("", "   ", "?!", "42 / 7", "xyzzy", "Kzrw Plmq", "🙂🙂", "ᚠᚢᚦ"))
def test_a_text_that_does_not_tell_has_no_language(text: str) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    "text, language",
    [
        ("Neo4j 的端口是什么？", "zh"),
        ("PostgreSQL Kubernetes 部署在哪里？", "zh"),
        ("What is 北京 famous for?", "en"),
        ("Redisは何に使う？", "ja"),
        ("Мы используем PostgreSQL для данных", "ru"),
    ],
)
def test_a_text_of_two_scripts_is_in_the_language_of_what_most_of_it_is_in(text: str, language: str) -> None:
    assert language_of(text) == language


def test_letters_tell_where_words_do_not() -> None:
    assert language_of("Qué señal") == "es"
    assert language_of("Де ми зберігаємо ключі?") == ""  # Ukrainian is not listed


def test_accents_may_be_written_as_marks_of_their_own() -> None:
    assert language_of("Wo liegen die Schlu\u0308ssel?") == "de"


def test_a_long_text_is_judged_by_its_beginning() -> None:
    assert language_of("Where do we keep the keys? " * 40 + "Wo liegen die Schlüssel? " * 1000) == "en"


# How common words are


def test_the_commonest_words_say_next_to_nothing_and_unlisted_ones_everything() -> None:
    assert common("the", "en") == 0.05
    assert common("der", "de") == 0.05
    assert common("zaxy", "en") == 1
    assert common("the", "") == 1
    assert 0.3 < common("server", "en") < 0.9


@pytest.mark.parametrize(
    "language, function_word, telling",
    [("de", "welche", "farbe"), ("fr", "pour", "chien"), ("ru", "когда", "сервер"), ("tr", "için", "okul")],
)
def test_a_function_word_says_less_than_half_of_what_a_telling_one_does(
    language: str, function_word: str, telling: str
) -> None:
    assert common(function_word, language) < common(telling, language) / 2


def test_case_and_accents_do_not_matter_to_how_common_a_word_is() -> None:
    assert common("FÜR", "de") == common("für", "de") == common("fur", "de") < 0.1


def test_a_word_that_is_common_elsewhere_says_everything_here() -> None:
    assert common("welche", "en") == 1


# The words of a text


def test_a_word_has_its_stem_its_weight_and_what_it_is() -> None:
    assert weighed_words("Where are Anna Karenina's keys?") == [
        Word("Where", (), common("where", "en"), False),
        Word("are", (), 0.05, False),
        Word("Anna Karenina", ("anna", "karenina"), 1.0, True),
        Word("s", (), common("s", "en"), False),
        Word("keys", ("key",), common("keys", "en"), False),
    ]


@pytest.mark.parametrize("language", [language for language in QUESTIONS if language not in UNSPACED])
def test_the_stems_of_words_are_those_of_the_index_where_words_have_spaces(language: str) -> None:
    for question in listed(QUESTIONS[language]):
        assert [stem for word in weighed_words(question) for stem in word.stems] == tokens.words(question)


@pytest.mark.parametrize("language", UNSPACED)
def test_characters_without_spaces_are_cut_into_words_whose_pairs_are_tokens_of_the_index(language: str) -> None:
    for question in listed(QUESTIONS[language]):
        words = weighed_words(question)
        assert "".join(word.text for word in words) == re.sub(r"[\s？?]", "", tokens.folded(question))
        pairs = {stem for word in words for stem in word.stems if len(stem) == 2}
        assert pairs < set(tokens.words(question))


@pytest.mark.parametrize(
    "text, words",
    [
        ("服务器用哪个端口", "服务器|用|哪个|端口"),
        ("我們把鑰匙放在哪裡", "我們|把|鑰匙|放在|哪裡"),
        ("我们的数据库", "我们|的|数据库"),
        ("サーバーはどのポートを使いますか", "サーバー|は|どの|ポート|を|使い|ます|か"),
        ("会議室は何階", "会議室|は|何|階"),
        ("서버는 어떤 포트를", "서버|는|어떤|포트|를"),
        ("데이터베이스", "데이터|베이스"),
        ("เราเก็บกุญแจไว้ที่ไหน", "เรา|เก็บ|กุญแจ|ไว้|ที่ไหน"),
        ("สมชายอยู่ที่ไหน", "สมชาย|อยู่|ที่ไหน"),
    ],
)
def test_words_without_spaces_end_where_a_reader_ends_them(text: str, words: str) -> None:
    assert [word.text for word in weighed_words(text)] == words.split("|")


def test_no_word_has_the_pairs_of_characters_across_its_border() -> None:
    stems = {stem for word in weighed_words("我们的数据库") for stem in word.stems}
    assert stems == {"我们", "的", "数据", "据库"}


@pytest.mark.parametrize(
    "text, particle", [("数据库的端口", "的"), ("鍵はここ", "は"), ("서버는", "는"), ("บ้านที่เห็น", "ที่")]
)
def test_a_particle_between_words_without_spaces_says_next_to_nothing(text: str, particle: str) -> None:
    (word,) = [word for word in weighed_words(text) if word.text == particle]
    assert word.common == 0.05


def test_characters_without_spaces_have_weights_of_their_own_language_in_any_text() -> None:
    text = "What does 我们的数据库 mean to them?"
    assert language_of(text) == "en"
    assert [word.common for word in weighed_words(text) if word.text in ("的", "我们")] == [0.05, 0.05]


def test_a_word_in_the_middle_of_another_script_is_a_word_of_its_own() -> None:
    assert [word.text for word in weighed_words("请问Kubernetes集群在哪里")][:3] == ["请问", "Kubernetes", "集群"]


# Names


def test_nine_in_ten_names_are_found_and_few_others() -> None:
    expected, found = [], []
    for texts in (*NAMES.values(), *NAMES_WRITTEN_LATER.values()):
        for number, text in enumerate(listed(texts)):
            expected += [(texts, number, name) for name in re.findall(r"\[(.*?)\]", text)]
            found += [(texts, number, name) for name in named(re.sub(r"[\[\]]", "", text))]
    right = len(set(expected) & set(found))
    assert right >= 0.9 * len(expected)
    assert right >= 0.9 * len(found)


@pytest.mark.parametrize(
    "text",
    [
        "Neptune is slow",
        "It works. Nobody knows why.",
        "¿Cuánto cuesta la comida?",
        "¡Vamos! Mañana hay reunión",
        'He said "Nobody saw the cat"',
        "He said 'Nobody saw the cat'",
        "« Nous partons demain », dit le chef",
        "Sie sagte: „Niemand war hier“",
        "First line\nSecond line",
    ],
)
def test_the_first_word_of_a_sentence_is_no_name_by_itself(text: str) -> None:
    assert named(text) == []


def test_a_name_of_several_words_may_begin_a_sentence() -> None:
    assert named("Anna Karenina was late") == ["Anna Karenina"]
    assert named("Marta Lindqvist wrote the notes") == ["Marta Lindqvist"]


def test_a_verb_that_begins_a_sentence_does_not_belong_to_the_name_behind_it() -> None:
    assert named("Tell Ravi about the outage") == ["Ravi"]
    assert named("Reindex Neo4j before the release") == ["Neo4j"]
    assert named("Restart Neptune now, please") == ["Neptune"]


def test_the_english_s_makes_a_name_of_a_first_word_that_is_not_common() -> None:
    assert named("Tobias's laptop is here") == ["Tobias"]
    assert named("Let's see what's there") == []


def test_a_capital_alone_is_no_sign_in_german() -> None:
    assert named("Wann kommt die Lieferung nach Hause?") == []
    assert named("Wo steht der Datenbankrechner im Serverraum?") == []
    assert named("Haben Sie Ihre Schlüssel gefunden?") == []


def test_two_words_that_german_does_not_have_are_a_name_together() -> None:
    assert named("Wann hat Marta Lindqvist Urlaub?") == ["Marta Lindqvist"]


@pytest.mark.parametrize("name", ("Neo4j", "GitHub", "HTTP", "ZX-000171", "MariaDB"))
def test_what_is_written_as_no_plain_word_is_a_name_in_every_language(name: str) -> None:
    assert named(f"Wer hat das Handbuch von {name} gelesen?") == [name]
    assert named(f"Who has read the manual of {name} today?") == [name]
    assert named(f"谁看过{name}的手册？") == [name]


@pytest.mark.parametrize("name", ("src/zaxy/core.py", "max_tokens", "db.example.com", "Kestrel-7", "ops@example.com"))
def test_an_identifier_is_one_name(name: str) -> None:
    assert named(f"Where is {name} used?") == [name]


@pytest.mark.parametrize(
    "text",
    (
        "We met e.g. at noon",
        "It took 10ms on the 3rd try",
        "It is 3.5 times faster",
        "Is it on and/or off?",
        "a well-known cat",
    ),
)
def test_marks_between_plain_words_make_no_name(text: str) -> None:
    assert named(text) == []


@pytest.mark.parametrize(
    "name", ("Leonardo da Vinci", "Vincent van Gogh", "Jean-Luc Picard", "J. K. Rowling", "Dr. Okafor", "Bank of Ghana")
)
def test_particles_hyphens_and_initials_hold_a_name_together(name: str) -> None:
    assert named(f"Who has called {name} today?") == [name]


def test_a_text_in_capitals_and_a_title_have_no_names_by_capitals() -> None:
    assert named("WHO LEADS NEPTUNE NOW?") == []
    assert named("How To Reset The Main Router of the House") == []
    assert named("HOW DO WE RESET NEO4J?") == ["NEO4J"]


def test_one_small_word_in_the_sentence_tells_it_from_a_title() -> None:
    assert named("When is Marta Lindqvist Olsson in?") == ["Marta Lindqvist Olsson"]


def test_english_function_words_and_dates_are_no_names() -> None:
    assert named("I think that I knew it on Monday in March") == []


@pytest.mark.parametrize("language", ("ar", "el", "fa", "hi", "ja", "ko", "ta", "th", "zh"))
def test_questions_of_other_scripts_without_names_have_none(language: str) -> None:
    assert [named(question) for question in listed(QUESTIONS[language]) if named(question)] == []


def test_a_capital_in_a_script_without_capitals_is_a_name_at_the_beginning_too() -> None:
    assert named("Kubernetes集群在哪里？") == ["Kubernetes"]


def test_names_say_everything_though_the_table_lists_them() -> None:
    (paris,) = [word for word in weighed_words("Did we ship it to Paris?") if word.is_name]
    assert paris.common == 1 > common("paris", "en")


# Any text


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_words_with_weights(text: str) -> None:
    for word in weighed_words(text):
        assert 0.05 <= word.common <= 1
        assert word.text


@pytest.mark.parametrize("part", ("a.", "Aa ", "a-", "你", "ที่", "A. ", "Neo4j_", "de "))
def test_twice_the_text_takes_about_twice_the_time(part: str) -> None:
    def cost(times: int) -> float:
        costs = []
        for _ in range(3):
            start = time.process_time()
            weighed_words(part * times, "en")
            costs.append(time.process_time() - start)
        return min(costs)

    assert cost(4000) < 8 * cost(1000)
