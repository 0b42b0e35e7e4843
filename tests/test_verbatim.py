"""`memory_verbatim` is verbatim: each row has what was asked for, and says whether it still holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remembered import SESSION, decision, fact, turn
from zaxy.memory import Memory
from zaxy.retrieve.results import Answer, Result
from zaxy.text import tokens
from zaxy.text.literals import literals_of
from zaxy.text.tokens import folded


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path) as opened:
        yield opened


def asked(memory: Memory, query: str, **given: int) -> list[Result]:
    return list(memory.verbatim(query, SESSION, **{"limit": 100, "max_tokens": 100_000, **given}).results)


def contents(memory: Memory, query: str) -> list[str]:
    return [row.content for row in asked(memory, query)]


@pytest.fixture
def talk(memory: Memory) -> Memory:
    """One episode of turns, so that each stands beside others; and things that are known by their names."""
    for text in (
        "Good morning, the kettle is on.",
        "The harbour crane lifts nine tons.",
        "That is more than I thought.",
        "It was built by a company from Gdansk.",
        "Lunch was soup again.",
    ):
        turn(memory, text, source="chat", speaker="Maya")
    fact(memory, "The lamp burns oil.", key="lamp")
    memory.append("task.proposed", {"task": "Paint the pier", "goal": "harbour"}, actor="grace", session=SESSION)
    return memory


@pytest.mark.parametrize("query", ("harbour crane", "what does the crane lift?", "cranes", "lifting"))
def test_every_row_has_a_word_of_the_query(talk: Memory, query: str) -> None:
    stems = set(tokens.words(query))
    found = contents(talk, query)
    assert "The harbour crane lifts nine tons." in found
    assert [text for text in found if stems.isdisjoint(tokens.words(text))] == []


def test_neither_the_speaker_nor_the_month_nor_the_channel_makes_a_row_fit(talk: Memory) -> None:
    for query in ("Maya", "chat", "grace", "January February March April May June July August October November"):
        assert contents(talk, query) == []
    assert contents(talk, "What did Maya say about the crane in the chat?") == ["The harbour crane lifts nine tons."]


OTHER_LANGUAGES = {
    "ฐานข้อมูลอยู่ที่ไหน": ("ฐานข้อมูลย้ายไปที่เครื่องใหม่แล้ว", "แมวนอนอยู่บนเครื่องพิมพ์", "ฐานข้อมูล"),
    "港のクレーンはどこですか": ("クレーンは倉庫の前にある。", "このシーンは長いですか。とても長いです。", "クレーン"),
    "数据库在哪里": ("数据库已经迁移到新服务器。", "猫在打印机上睡觉。", "数据库"),
    "Wann wurde der Heizkessel repariert?": ("Der Heizkessel läuft wieder.", "Der Hund wurde gebadet.", "Heizkessel"),
    "где находится кран": ("Кран стоит у третьего причала.", "Собака спит под столом.", "кран"),
}  # fmt: skip


@pytest.mark.parametrize("query", OTHER_LANGUAGES)
def test_a_row_in_another_language_has_a_telling_word_too(memory: Memory, query: str) -> None:
    fitting, other, word = OTHER_LANGUAGES[query]
    for text in (other, fitting, other.replace("。", "！")):
        turn(memory, text, source="chat")
    found = contents(memory, query)
    assert found == [fitting]
    assert folded(word) in folded(found[0])


NAMED = (
    "The ticket ABC-123 is about the importer.",
    "The ticket ABC-1234 is about the exporter.",
    "The importer is in src/zaxy/importer.py since March.",
    "The importer is in src/other/importer.py since May.",
    "Commit 9f3c1a7e broke the importer.",
    "Release 1.2.3 has the importer, release 1.2 has not.",
    "Release 1.2.4 of the importer is late.",
    "The setting max_tokens bounds the importer.",
    "The module zaxy.importer.rows reads the importer's rows.",
    "The importer reads a CSV file.",
)


@pytest.mark.parametrize(
    ("query", "only"),
    (
        ("ABC-123 importer", [0]),
        ("what does src/zaxy/importer.py do for the importer?", [2]),
        ("importer.py", [2, 3]),
        ("which importer did 9f3c1a7e break", [4]),
        ("importer in 1.2.3", [5]),
        ("importer 1.2", [5]),
        ("the importer and max_tokens", [7]),
        ("zaxy.importer.rows importer", [8]),
        ("ABC-999 importer", []),
        ('"importer reads a" ticket', [9]),
        ("`setting max_tokens` of the importer", [7]),
    ),
)
def test_only_rows_with_the_identifier_or_the_phrase_come(memory: Memory, query: str, only: list[int]) -> None:
    for text in NAMED:
        fact(memory, text)
    assert sorted(contents(memory, query)) == sorted(NAMED[place] for place in only)


def test_rows_with_all_that_was_named_come_alone_and_else_those_with_some(memory: Memory) -> None:
    for text in NAMED:
        fact(memory, text)
    both = memory.verbatim("ABC-123 max_tokens", SESSION)
    assert {row.content for row in both.results} == {NAMED[0], NAMED[7]}
    assert both.notices == ("no passage has all of abc-123, max_tokens: these have some of it",)
    fact(memory, "ABC-123 raises max_tokens.")
    assert contents(memory, "ABC-123 max_tokens") == ["ABC-123 raises max_tokens."]


def test_what_is_nowhere_as_it_stands_is_named_in_a_notice(memory: Memory) -> None:
    fact(memory, NAMED[0])
    answer = memory.verbatim("importer XYZ-9", SESSION)
    assert answer.results == ()
    assert "xyz-9" in answer.notices[0]


def test_numbers_dates_and_words_with_hyphens_are_words(memory: Memory) -> None:
    for query in ("follow-up on 2026-03-01 at 10:30", "3 days and 10ms", "24-hour and/or CI/CD", "e.g. 2026"):
        assert literals_of(query).total == 0


def test_a_document_is_found_by_its_path_and_a_phrase_over_a_line_end(memory: Memory) -> None:
    document = {"path": "docs/pier.md", "text": "The pier was painted\nin blue.\n"}
    memory.append("document.indexed", document, actor="ada", session=SESSION)
    fact(memory, "The pier is long.")
    for query in ("docs/pier.md", '"painted in blue"'):
        (row,) = asked(memory, query)
        assert row.metadata["path"] == "docs/pier.md"
        assert (row.metadata["start_line"], row.metadata["end_line"]) == (1, 2)


def bm25_by_hand(passages: int, having: int, *, times: int, length: float) -> float:
    from math import log

    return log(1 + (passages - having + 0.5) / (having + 0.5)) * times * 1.9 / (times + 0.9 * (0.6 + 0.4 * length))


def test_the_score_is_the_bm25_value_and_no_share_of_the_best(memory: Memory) -> None:
    for text in ("The crane lifts.", "The lamp burns.", "The kettle boils."):
        fact(memory, text)  # each has the same length
    (row,) = asked(memory, "crane")
    assert row.score == pytest.approx(bm25_by_hand(3, 1, times=1, length=1.0), rel=1e-6)
    (both,) = [one for one in asked(memory, "crane lifts") if "crane" in one.content]
    assert both.score == pytest.approx(2 * row.score, rel=1e-6)
    scores = [one.score for one in asked(memory, "crane kettle")]
    assert scores == sorted(scores, reverse=True)
    assert row.as_dict()["score_explanation"]["source"] == "verbatim"


def test_no_row_is_said_to_come_from_the_graph(talk: Memory) -> None:
    rows = [*asked(talk, "crane"), *asked(talk, "lamp"), *asked(talk, '"Paint the pier"')]
    assert {row.source_lane for row in rows} == {"verbatim"}
    assert {row.metadata["kind"] for row in rows} == {"transcript", "event"}


def ends(answer: Answer) -> dict[int, bool]:
    return {row.seq: bool(row.valid_to) for row in answer.results}


def test_a_superseded_row_says_when_it_ceased_to_hold(memory: Memory) -> None:
    first = decision(memory, "The cache lives in SQLite.", key="cache")
    again = decision(memory, "The cache lives in SQLite.", key="cache")
    second = decision(memory, "The cache lives in Redis.", key="cache")
    other = fact(memory, "The cache is warm.")
    cited = fact(memory, "The cache is cold.", supersedes=other.citation)
    found = memory.verbatim("cache", SESSION)
    assert ends(found) == {first.seq: True, again.seq: True, second.seq: False, other.seq: True, cited.seq: False}
    (row,) = [row for row in found.results if row.seq == first.seq]
    assert row.valid_to == memory.query("cache", SESSION, temporal_filter=first.time).results[0].valid_to
    assert found.notices == ()


def test_an_invalidated_row_says_so_and_one_that_ends_later_does_not_yet(memory: Memory) -> None:
    gone = fact(memory, "The pier is closed.", key="pier")
    later = fact(memory, "The pier is painted blue.", key="paint")
    memory.invalidate("pier", "fact", session=SESSION)
    memory.invalidate("paint", "fact", invalid_at="2999-01-01", session=SESSION)
    found = ends(memory.verbatim("pier", SESSION))
    assert (found[gone.seq], found[later.seq]) == (True, False)


def test_what_was_replaced_at_the_moment_that_it_names_is_marked(memory: Memory) -> None:
    first = fact(memory, "The office is in Bern.", key="office", occurred_at="2026-02-01")
    second = fact(memory, "The office is in Basel.", key="office", occurred_at="2026-02-01")
    assert ends(memory.verbatim("office", SESSION)) == {first.seq: True, second.seq: False}


def test_without_a_graph_passages_come_unmarked_and_a_notice_says_so(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = fact(memory, "The pier is closed.", key="pier")
    fact(memory, "The pier is open.", key="pier")
    monkeypatch.setenv("PROJECTION_BACKEND", "nowhere")
    with Memory.open(memory.workspace.root) as other:
        found = other.verbatim("closed", SESSION)
    assert ends(found) == {event.seq: False}
    assert found.notices == ("which of the passages no longer hold is not known: the graph does not take part",)
    assert found.warnings == ()


def test_the_graph_of_a_plugin_marks_as_far_as_it_has_come(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kuzu")
    first = fact(memory, "The pier is closed.", key="pier")
    second = fact(memory, "The pier is open.", key="pier")
    monkeypatch.setenv("PROJECTION_BACKEND", "kuzu")
    with Memory.open(memory.workspace.root) as other:
        before = other.verbatim("pier", SESSION)
        assert (ends(before), len(before.notices)) == ({first.seq: False, second.seq: False}, 1)
        other.follow(SESSION)
        after = other.verbatim("pier", SESSION)
        assert (ends(after), after.notices) == ({first.seq: True, second.seq: False}, ())
