"""The recall bench measures what it says: its histories stay as they were, and are as hard as they should be."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from bench.recall.baseline import PlainBm25, plain_bm25, readable
from bench.recall.histories import Happening, History, make_history
from bench.recall.identifiers import IDENTIFIERS, make_identifiers
from bench.recall.measures import difference, mean, outcome, recall, reciprocal_rank, summary
from bench.recall.ours import write_log
from bench.recall.scripts import make_scripts
from zaxy.eventloom.citation import parse_citation
from zaxy.eventloom.loom import Eventloom

FROZEN = {
    1: "7a6967d516c6d87a699f8c64d56dd1db01c45efe1acf9cf799711ff19a80aa7d",
    2: "507a38eb9a4a530d7901cadc8070406780749bf533235b8e0c3c40caf28b4396",
    3: "e09fe4cfe2785b0a803e7595340ba197bceb8a56051da7b2351020486bce86a2",
}
"""SHA-256 of events and questions. Another digest makes all earlier figures void: do not just replace it."""
FROZEN_IDENTIFIERS = "c225bd2ad78e14893cdfdfe1cd92d7fdc2cb942b2b54b5c3bb1750ca9590588f"
FROZEN_SCRIPTS = "6b622ff254dab287918cf315f684adca7a8a15ec68501cb9435f8b401f03bd1b"
TUNING = (1, 3, 5)
KINDS = 8
OF_A_KIND = 12


@pytest.fixture(scope="module", params=TUNING, ids=lambda seed: f"seed{seed}")
def history(request: pytest.FixtureRequest) -> History:
    return make_history(request.param)


def digest(content: object) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize(("seed", "expected"), FROZEN.items())
def test_a_seed_always_gives_the_same_history(seed: int, expected: str) -> None:
    assert make_history(seed).digest() == expected


def test_the_identifiers_and_the_scripts_are_always_the_same() -> None:
    assert digest(make_identifiers()) == FROZEN_IDENTIFIERS
    assert digest(make_scripts()) == FROZEN_SCRIPTS


def test_plain_bm25_finds_between_45_and_70_percent_of_the_gold_events_within_ten() -> None:
    found = []
    for seed in TUNING:
        history = make_history(seed)
        plain = plain_bm25(history.events)
        found += [recall(plain.search(question.text, 10), question.gold, 10) for question in history.questions]
    assert 0.45 <= mean(found) <= 0.70


def test_a_history_is_long_and_has_many_questions_of_every_kind(history: History) -> None:
    assert 1500 <= len(history.events) <= 4000
    kinds = Counter(question.kind for question in history.questions)
    assert len(kinds) >= KINDS
    assert min(kinds.values()) >= OF_A_KIND


def test_every_gold_event_exists_and_no_question_is_asked_twice(history: History) -> None:
    for question in history.questions:
        assert question.gold
        assert all(1 <= seq <= len(history.events) for seq in question.gold), question
    assert len({question.text for question in history.questions}) == len(history.questions)


def test_no_question_holds_the_text_of_an_event_that_answers_it(history: History) -> None:
    for question in history.questions:
        for seq in question.gold:
            text = readable(history.events[seq - 1].payload)
            assert text.casefold() not in question.text.casefold()
            assert question.text.casefold() not in text.casefold()


def test_events_are_in_the_order_in_which_they_happened(history: History) -> None:
    times = [str(event.payload["occurred_at"]) for event in history.events]
    assert times == sorted(times)


def test_what_is_replaced_came_before_what_replaces_it(history: History) -> None:
    replacing = {seq: event.replaces for seq, event in enumerate(history.events, 1) if event.replaces}
    assert replacing
    assert all(replaced < seq for seq, replaced in replacing.items())


def test_the_turns_of_a_source_are_numbered_without_gaps(history: History) -> None:
    sources: dict[object, list[object]] = {}
    for event in history.events:
        if event.type == "transcript.turn":
            sources.setdefault(event.payload["source"], []).append(event.payload["turn_index"])
    assert len(sources) > 5
    assert all(indexes == list(range(len(indexes))) for indexes in sources.values())


def test_identifiers_differ_and_each_stands_in_one_event_only() -> None:
    events, questions = make_identifiers()
    assert len(events) == len(questions) == IDENTIFIERS
    assert len({readable(event.payload) for event in events}) == IDENTIFIERS
    assert [seq for _, seq in questions] == list(range(1, IDENTIFIERS + 1))


def test_ten_scripts_have_events_and_questions_of_their_own() -> None:
    events, questions = make_scripts()
    assert (
        Counter(name for name, _, _ in questions).keys()
        == Counter("Cyrillic Greek Chinese Japanese Korean Arabic Hebrew Hindi Thai emoji".split()).keys()
    )
    for name, text, seq in questions:
        assert events[seq - 1].payload["source"] == f"chat/{name}"
        assert text not in readable(events[seq - 1].payload) or len(text) == 1


def test_a_history_is_written_to_a_real_log_with_its_citations(tmp_path: Path) -> None:
    history = make_history(1)
    write_log(tmp_path, history.session, history.events)
    with closing(Eventloom(str(tmp_path / ".eventloom"))) as loom:
        report = loom.verify(history.session)
        assert (report.ok, report.events) == (True, len(history.events))
        seq, replaced = next((seq, event.replaces) for seq, event in enumerate(history.events, 1) if event.replaces)
        line = loom.get(history.session, seq)
        assert line is not None
        cited = loom.resolve(parse_citation(line.record["payload"]["supersedes"]))
    assert cited.seq == replaced


def test_the_measures_are_right_on_a_case_done_by_hand() -> None:
    found = [9, 4, 7, 2, 5, 1]
    assert recall(found, (4, 1), 5) == 0.5
    assert recall(found, (4, 1), 10) == 1.0
    assert recall(found, (3,), 10) == 0.0
    assert reciprocal_rank(found, (1, 7)) == pytest.approx(1 / 3)
    assert reciprocal_rank(found, (3,)) == 0.0
    both = summary([outcome("a", found, (4, 1)), outcome("b", [], (1,))])
    assert both.questions == 2
    assert both.recalls == (0.25, 0.5, 0.5)
    assert both.reciprocal_rank == 0.25


def test_a_difference_is_given_with_an_interval_that_holds_it() -> None:
    gain = difference([1.0] * 60 + [0.0] * 40, [1.0] * 40 + [0.0] * 60)
    assert gain.mean == pytest.approx(0.2)
    assert 0.1 < gain.low < 0.2 < gain.high < 0.3
    assert difference([0.5] * 10, [0.5] * 10) == (0.0, 0.0, 0.0)


def test_plain_bm25_agrees_with_the_formula_done_by_hand() -> None:
    plain = PlainBm25(["the red fox", "the red red door of the old house there", "a dog"])
    assert plain.search("Red", 5) == [1, 2]  # once in 3 words counts 1.17, twice in 9 words 1.09
    assert plain.search("DOG fox!", 5) == [3, 1]
    assert plain.search("nothing", 5) == []


def test_plain_bm25_reads_what_was_said_and_not_by_whom_or_when() -> None:
    turn = {"role": "user", "speaker": "Noor", "content": "Hello.", "source": "chat/heron", "occurred_at": "2025"}
    assert plain_bm25([Happening("transcript.turn", "Noor", turn)]).search("noor heron 2025", 5) == []
