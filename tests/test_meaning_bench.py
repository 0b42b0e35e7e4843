"""The meaning bench measures what it says: no question shares a content word with the record that answers it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product, takewhile
from pathlib import Path

import pytest

import outside_lane
from bench.meaning import __main__ as bench, asking
from bench.meaning.asking import SENTENCE, STATIC, WORDS, Lanes, NoLane, Outcome, ask, found_at
from bench.meaning.histories import DOMAINS, REPORT, TUNE, History, Question, Recorded, histories, load
from zaxy.text.tokens import STOP_WORDS, folded, words

MIN_BEGINNING = 5
"""Letters: two words with a common beginning this long, if it is most of the longer one, count as the same word."""
MIN_SHARE = 0.6
FORMS = """run ran|pay paid|buy bought|come came|take took taken|give gave given|go went gone|make made|sell sold sale|
send sent|leave left|lose lost loss|write wrote written|drive drove driven|break broke broken|speak spoke spoken|
choose chose chosen choice|bring brought|teach taught|find found|hold held|keep kept|sleep slept|say said|see saw seen|
eat ate eaten|fall fell fallen|grow grew grown|know knew known|throw threw thrown|fly flew flown|draw drew drawn|
begin began begun|drink drank drunk|ring rang rung|stand stood|sit sat|meet met|feel felt|build built|spend spent|
lend lent|steal stole stolen|wear wore worn|tear tore torn|freeze froze frozen|hide hid hidden|rise rose risen|
win won|hang hung|stick stuck|strike struck|child children|man men|woman women|foot feet|tooth teeth|two twice|
good better best|bad worse worst|wake woke|hear heard|mean meant|feed fed|prove proof|day daily"""
FORM_OF = {form: forms.split()[0] for forms in FORMS.replace("\n", "").split("|") for form in forms.split()}
"""Of words whose forms do not begin alike the first one."""
DISTRACTORS = 150


def content_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", folded(text))) - STOP_WORDS


def begin_alike(one: str, other: str) -> bool:
    length = sum(1 for _ in takewhile(lambda letters: letters[0] == letters[1], zip(one, other, strict=False)))
    return length >= MIN_BEGINNING and length >= MIN_SHARE * max(len(one), len(other))


def shared(question: str, record: Recorded) -> set[str]:
    """The words of a question that the record has too, in whatever form."""
    text = " ".join([record.type.replace(".", " "), record.actor, *map(str, record.payload.values())])
    stems = set(words(question)) & set(words(text))
    pairs = product(content_words(question), content_words(text))
    return stems | {one for one, other in pairs if begin_alike(one, other) or _same_form(one, other)}


def _same_form(one: str, other: str) -> bool:
    return FORM_OF.get(one, one) == FORM_OF.get(other, other)


@pytest.fixture(scope="module", params=DOMAINS)
def history(request: pytest.FixtureRequest) -> History:
    return load(request.param)


def test_there_are_two_hundred_questions_about_three_domains() -> None:
    counts = {history.name: len(history.questions) for history in histories()}
    assert counts == {"team": 70, "household": 65, "office": 65}


def test_no_question_shares_a_content_word_with_its_record(history: History) -> None:
    records = {event.label: event for event in history.events}
    found = {question.ask: shared(question.ask, records[question.record]) for question in history.questions}
    assert {ask: words for ask, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("ask", "fact"),
    [
        ("Why did the run fail?", "The archive ran full."),
        ("Who complained?", "She complains about the lift."),
        ("Who will analyse it?", "The analysis is late."),
        ("What did Omar pay?", "Omar was there."),
        ("Who paid?", "They pay in cash."),
        ("Which bills are open?", "A bill from May."),
    ],
)
def test_another_form_of_a_word_is_the_same_word(ask: str, fact: str) -> None:
    assert shared(ask, Recorded("e1", "fact.recorded", "ann", {"fact": fact}))


def test_other_words_of_the_same_meaning_are_not_shared() -> None:
    record = Recorded("e1", "fact.recorded", "ann", {"fact": "Our physician is away until Monday."})
    assert shared("When will the doctor be back?", record) == set()


def test_every_record_exists_and_hardly_any_answers_two_questions(history: History) -> None:
    labels = [event.label for event in history.events]
    records = Counter(question.record for question in history.questions)
    assert len(labels) == len(set(labels))
    assert records.keys() <= set(labels)
    assert max(records.values()) <= 2
    assert len(labels) - len(records) >= DISTRACTORS


def test_no_text_and_no_question_stands_twice() -> None:
    every = histories()
    texts = Counter(str(event.payload) for history in every for event in history.events)
    asks = Counter(question.ask for history in every for question in history.questions)
    assert [text for text, times in (texts + asks).items() if times > 1] == []


def test_the_halves_alternate(history: History) -> None:
    assert [question.half for question in history.questions] == [
        (TUNE, REPORT)[number % 2] for number in range(len(history.questions))
    ]


def test_records_lie_among_the_other_events_from_the_first_part_to_the_last(history: History) -> None:
    wanted = {question.record for question in history.questions}
    part = len(history.events) // 5
    for begin in range(0, part * 5, part):
        assert any(event.label in wanted for event in history.events[begin : begin + part])


def outcome(place: int) -> Outcome:
    return Outcome("team", Question("Why?", "e1", REPORT), place)


def test_a_share_counts_what_came_in_time_and_nothing_that_did_not_come() -> None:
    outcomes = [outcome(place) for place in (0, 1, 5, 6)]
    assert [found_at(outcomes, cut) for cut in (1, 5, 10)] == [25, 50, 75]


def test_words_must_find_little_and_vectors_much() -> None:
    assert [WORDS.is_within_limit(share) for share in (15.0, 15.1)] == [True, False]
    assert [STATIC.is_within_limit(STATIC.limit + more) for more in (0.0, -0.1)] == [True, False]
    assert [SENTENCE.is_within_limit(share) for share in (70.0, 69.9)] == [True, False]


def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(asking, "is_installed", lambda package: False)
    monkeypatch.setattr("sys.argv", ["meaning", "--lanes", "static", "sentence"])
    assert bench.main() == 2
    assert capsys.readouterr().err == "not installed: zaxy-vectors, zaxy-sentence-transformers\n"


def test_the_record_is_looked_for_in_a_real_memory(tmp_path_factory: pytest.TempPathFactory) -> None:
    events = [
        Recorded("e1", "fact.recorded", "ann", {"fact": "The boat is painted green."}),
        Recorded("e2", "fact.recorded", "ann", {"fact": "The harbour closes at nine."}),
    ]
    questions = (Question("When does the harbour close?", "e2", REPORT), Question("Which dentist?", "e1", REPORT))
    answers = asking.ask(tmp_path_factory.mktemp("words"), [History("small", tuple(events), questions)], WORDS)
    assert [one.place for one in answers.outcomes] == [1, 0]
    assert answers.without == 0


def test_a_lane_of_meaning_takes_part_and_a_lane_that_is_not_there_is_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    lane = Lanes("meaning", outside_lane.install(tmp_path / "site"), 100, 100)
    events = [Recorded("e1", "fact.recorded", "ann", {"fact": "Granny sees Dr. Okafor for her ears."})]
    questions = (Question("Which physician treats grandmother's hearing?", "e1", REPORT),)
    written = [History("small", tuple(events), questions)]
    assert [one.place for one in ask(tmp_path / "with", written, lane).outcomes] == [1]
    with pytest.raises(NoLane, match="nowhere"):
        ask(tmp_path / "none", written, lane._replace(plugin="nowhere"))
