"""The text index: what it makes of texts in ten scripts, what it finds, what it survives, what it forgets."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from indexed import SESSION, Index
from zaxy.api.models import AsOf, Query
from zaxy.errors import ZaxyError
from zaxy.eventloom.sealed_connection import SealedConnection
from zaxy.extract.rules import extract
from zaxy.text import tokens
from zaxy.text.passages import MAX_CHARS, passages
from zaxy_testkit.checks.followers import sample_event


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(tmp_path / "state")
    yield made
    made.texts.close()


# Words


def test_words_are_stemmed_and_stop_words_leave_none() -> None:
    assert tokens.words("The migrations were migrating") == tokens.words("a migration that migrated")
    assert tokens.words("to be or not to be") == []
    assert tokens.words("") == []


SCRIPTS = {
    "English": ("The lighthouse keepers repaired both lamps.", "repairing lamp"),
    "Russian, inflected": ("Мы починили старые маяки на берегу.", "старый маяк"),
    "Chinese": ("我们昨天修理了灯塔的灯。", "灯塔"),
    "Japanese": ("昨日、灯台のランプを修理しました。", "ランプ 修理"),
    "Korean, with endings": ("우리는 어제 등대를 수리했습니다.", "등대"),
    "Arabic, with vowels": ("أَصْلَحْنَا مِصْبَاحَ المَنَارَةِ أمس.", "مصباح المنارة"),
    "Hindi": ("हमने कल लाइटहाउस की मरम्मत की।", "मरम्मत"),
    "Thai": ("เราซ่อมประภาคารเมื่อวานนี้", "ประภาคาร"),
    "Hebrew, with points": ("תִּקַּנּוּ אֶת הַמִּגְדַּלּוֹר אתמול.", "המגדלור"),
    "Greek, accented": ("Επισκευάσαμε τον φάρο χθες.", "ΦΑΡΟ"),
    "pictures": ("The deploy went out 🚀 at noon", "🚀"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_text_is_found_in_its_own_script(index: Index, script: str) -> None:
    for text, _ in SCRIPTS.values():
        index.say(text)
    text, question = SCRIPTS[script]
    wanted = next(event.seq for event in index.events if event.payload and event.payload["content"] == text)
    assert index.first(question) == wanted


def test_accents_and_case_and_width_make_no_difference(index: Index) -> None:
    index.say("The café in Malmö serves ＡＢＣ tea")
    for question in ("cafe", "CAFÉ", "malmo", "Malmo\u0308", "abc"):
        assert index.first(question) == 1, question


IDENTIFIERS = (
    "ZX-000171",
    "src/zaxy/core.py",
    "E1234",
    "max_tokens",
    "v2.14.3",
    "user@host.example",
    "parseHtml",
    "$HOME/.x",
)


@pytest.mark.parametrize("name", IDENTIFIERS)
@pytest.mark.parametrize("form", ["{}", "({})", '"{}",', "`{}`.", "see {}: it fails", "[{}]!", "<{}>;"])
def test_an_identifier_is_found_whole_whatever_stands_around_it(index: Index, name: str, form: str) -> None:
    index.say("zx 000171 src zaxy core py e 1234 max tokens v2 14 3 user host example parse html home x")
    index.say(f"Something about {form.format(name)} was said")
    index.say("ZX-000172 src/zaxy/cores.py E12345 max_token v2.14.4 user@hosts.example parseHtmls $HOME/.y")
    assert index.first(form.format(name)) == 2


def test_a_path_is_found_by_the_name_of_its_file(index: Index) -> None:
    index.say("core py is elsewhere")
    index.say("Edited src/zaxy/core.py today")
    index.say(r"Edited C:\work\main.rs today")
    assert index.first("core.py") == 2
    assert index.first("main.rs") == 3


def test_a_quoted_phrase_counts_as_it_stands(index: Index) -> None:
    index.say("the lamp is out and the keeper is in")
    index.say("out is the lamp")
    index.say("the keeper is out of the lamp oil")
    for quoted in ('"out of the lamp"', "“out of the lamp”", "`Out of the LAMP`", "«out of the lamp»"):
        assert index.first(quoted) == 3, quoted


def test_long_names_and_long_words_cost_no_more_than_their_length(index: Index) -> None:
    began = time.process_time()
    for filling in ("a" * 200_000 + "_", "aB" * 100_000, "a." * 100_000, "_" * 200_000, "é" * 200_000 + "_1"):
        index.say(filling)
    assert time.process_time() - began < 10


# Passages


def test_a_long_document_is_cut_into_passages_that_know_their_lines() -> None:
    lines = [f"Line {number} tells of subject {number}." for number in range(1, 301)]
    lines[100:100] = [""] * 3000  # a passage has words: what is between them is in none
    event = sample_event(
        SESSION,
        1,
        event_type="document.indexed",
        actor="Ada",
        payload={"path": "docs/a.md", "source": "repo", "content": "\n".join(lines)},
    )
    parts = list(passages(event, extract(event)))
    assert len(parts) > 5
    expected = 1
    for part in parts:
        assert len(part.text) <= MAX_CHARS
        assert part.metadata["path"] == "docs/a.md"
        first, last = part.metadata["start_line"], part.metadata["end_line"]
        assert isinstance(first, int) and isinstance(last, int)
        assert not any(lines[expected - 1 : first - 1])
        assert part.text.split("\n") == lines[first - 1 : last]
        assert part.text.strip() == part.text
        expected = last + 1
    assert expected == 3301


def test_a_part_of_a_document_counts_its_lines_from_where_it_begins() -> None:
    payload: dict[str, object] = {"path": "a.md", "content": "one\ntwo\nthree\n", "start_line": 40, "end_line": 42}
    event = sample_event(SESSION, 1, event_type="document.indexed", actor="Ada", payload=payload)
    (part,) = passages(event, extract(event))
    assert (part.metadata["start_line"], part.metadata["end_line"]) == (40, 42)


def test_a_turn_keeps_its_source_and_its_number(index: Index) -> None:
    index.say("the lamp is out", source="chat/7", turn_index=12, speaker="Grace")
    (candidate,) = index.texts.search(Query("lamp", SESSION))
    assert candidate.metadata == {"kind": "transcript", "source": "chat/7", "turn_index": 12}
    assert candidate.content == "the lamp is out"
    assert index.first("what did Grace say?") == 1


def test_an_event_is_found_by_any_of_its_passages_and_is_there_once(index: Index) -> None:
    index.take(
        "document.indexed", path="a.md", content="filling words here\n" * 200 + "the heliograph\n" + "more\n" * 400
    )
    index.say("nothing of that")
    assert index.found("heliograph") == [1]
    assert "heliograph" in index.texts.search(Query("heliograph", SESSION))[0].content


def test_the_month_of_an_event_and_who_said_it_are_words_of_it(index: Index) -> None:
    index.say("we painted the tower", occurred_at="2024-11-05")
    index.say("we painted the tower", occurred_at="2024-06-05")
    index.say("we painted the tower", speaker="Edsger", occurred_at="2024-01-05")
    assert index.first("painted in November") == 1
    assert index.first("painted in June 2024") == 2
    assert index.first("what did Edsger paint?") == 3


def test_what_was_said_beside_a_hit_is_found_with_it(index: Index) -> None:
    index.say("Which key opens the archive?", source="chat", occurred_at="2026-01-01T10:00:00Z")
    index.say("The small brass one.", source="chat", occurred_at="2026-01-01T10:01:00Z")
    index.say("Unrelated.", source="chat", occurred_at="2026-01-01T15:00:00Z")
    index.say("Unrelated too.", source="mail", occurred_at="2026-01-01T10:02:00Z")
    assert index.found("archive key") == [2]  # what asks points to what was said next, and is not found itself
    assert not {3, 4} & set(index.found("archive key"))


def test_housekeeping_and_records_of_erasures_stay_out(index: Index) -> None:
    index.take("memory.checkout.completed", actor="zaxy", query="lamp")
    index.take("event.erased", actor="user", seq=1, reason="the lamp was private")
    index.take("memory.checkout.completed", actor="Ada", query="lamp")
    assert index.found("lamp") == [3]


def test_feedback_on_an_event_is_counted_for_it_and_for_its_entity(index: Index) -> None:
    told = index.take("decision.made", decision="use the brass key", key="archive key")
    index.take("memory.reinforced", citation=told.citation, importance=0.5)
    index.take("memory.reinforced", entity_type="decision", entity_name="Archive Key")
    index.take("memory.reinforced", citation=told.citation.replace(SESSION, "another"))
    (text,) = index.texts.texts(SESSION, [1])
    assert index.texts.reinforcement(SESSION, [text], 4) == {1: 1.5}
    assert index.texts.reinforcement(SESSION, [text], 2) == {1: 0.5}
    assert index.texts.reinforcement(SESSION, [text], 1) == {}


def test_as_of_an_event_everything_is_as_it_was_then(index: Index) -> None:
    for number in range(30):
        index.say(f"remark {number % 7} on the lamp {'and the oil ' * (number % 4)}", source="chat")
    query = Query("remark 3 on oil", SESSION, 100, AsOf(known_at=30))
    then = index.texts.search(query)
    for _ in range(400):
        index.say("oil remark 3", source="chat")
    assert index.texts.search(query) == then
    assert len(then) == 30


def test_what_happened_by_a_moment_is_found_among_much_that_came_later(index: Index) -> None:
    index.say("the oil of long ago, of which much was said at the time", occurred_at="2020-01-01")
    for _ in range(400):
        index.say("oil", occurred_at="2025-01-01")
    assert index.found("oil", AsOf("2021-01-01T00:00:00.000000Z")) == [1]


# Hostile questions

HOSTILE = (
    '" OR "', "NEAR(lamp, 2)", "lamp*", "words:lamp", "^lamp", "{words names}: lamp", "lamp AND NOT", "-lamp", "+",
    "MATCH (n) DETACH DELETE n", "'; DROP TABLE passages; --", "lamp\0oil", "\ud800lamp", "\udfff", "\ue02d\ue05f",
    "🙂🙃", "the of and", "", " \t\n", "lamp " * 900, "a" * 5000, "“”«»「」", '""', "``", "\u202e\u200b\ufeff",
)  # fmt: skip


@pytest.mark.parametrize("question", HOSTILE)
def test_a_hostile_question_is_answered(index: Index, question: str) -> None:
    index.say("the lamp is out")
    before = index.texts.digest(SESSION)
    index.found(question)
    assert index.texts.digest(SESSION) == before
    assert index.first("lamp") == 1


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(alphabet=st.characters(), max_size=60) | st.text(alphabet="\"*^:(){}-+ANDORT \x00\ud800'`", max_size=30))
def test_any_question_is_answered(shared: Index, question: str) -> None:
    shared.found(question)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=80))
def test_any_text_can_be_taken_and_leaves_tokens_that_mean_nothing_to_the_engine(text: str) -> None:
    wanted = tokens.wanted(text)
    for token in (*wanted.words, *wanted.identifiers):
        assert token and not any(mark in token for mark in '" \0\t\n'), token
        assert all(character.isalnum() or not character.isascii() for character in token), token


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    made = Index(tmp_path_factory.mktemp("shared"))
    made.say("the lamp is out")
    yield made
    made.texts.close()


# Beside a writer


def test_the_first_write_beside_a_read_of_the_cursor_is_no_damage(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The read has no transaction, so that each of its statements may see another state of the file."""
    other, written = Index(index.folder), list[str]()

    def beside_a_write(db: SealedConnection, sql: str, *values: Any) -> sqlite3.Cursor:
        found = db.cursor().execute(sql, *values)
        if "about" in sql and not written:
            written.append(sql)
            other.say("the lamp is out")
        return found

    assert index.texts.cursor(SESSION) is None
    monkeypatch.setattr(SealedConnection, "execute", beside_a_write)
    index.texts.cursor(SESSION)
    monkeypatch.undo()
    assert index.texts.cursor(SESSION) is not None
    assert not index.warnings and not other.warnings
    other.texts.close()


# Files that are broken


def write_text(path: Path) -> None:
    path.write_text("this is not a database " * 50)


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")


def later_format(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE about (format TEXT, cursor TEXT, passages INTEGER, words INTEGER, more TEXT)")
        db.execute("INSERT INTO about VALUES ('99', '', 0, 0, '')")


def folder(path: Path) -> None:
    path.mkdir()


def link(path: Path) -> None:
    write_text(path.parent / "elsewhere")
    path.symlink_to(path.parent / "elsewhere")


@pytest.mark.parametrize("spoil", [write_text, foreign, later_format, folder, link])
def test_what_cannot_be_the_index_is_set_aside_and_said(index: Index, spoil: Callable[[Path], None]) -> None:
    index.say("the lamp is out")
    digest = index.texts.digest(SESSION)
    index.texts.close()
    path = index.folder / f"{SESSION}.db"
    for left in index.folder.iterdir():
        left.unlink()
    spoil(path)
    index.open()
    assert index.texts.cursor(SESSION) is None
    assert len(index.warnings) == 1 and f"{SESSION}.db.broken-1" in index.warnings[0]
    index.apply(*index.events)
    assert index.texts.digest(SESSION) == digest
    aside = index.folder / f"{SESSION}.db.broken-1"
    assert aside.exists()
    index.texts.wipe(SESSION)
    assert aside.is_dir() == (spoil is folder) and not aside.is_file()


def test_an_index_that_breaks_while_it_is_open_is_set_aside(index: Index) -> None:
    for number in range(200):
        index.say(f"remark {number} on the lamp")
    index.texts.close()
    path = index.folder / f"{SESSION}.db"
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(size // 4)
        file.write(b"\x55" * (size // 2))
    index.open()
    index.found("lamp remark 7")
    index.texts.digest(SESSION)
    assert index.warnings
    assert index.texts.cursor(SESSION) is None


def test_an_index_that_was_deleted_while_it_is_open_begins_anew(index: Index) -> None:
    index.say("the lamp is out")
    digest = index.texts.digest(SESSION)
    shutil.rmtree(index.folder)
    assert index.texts.cursor(SESSION) is None
    index.apply(*index.events)
    assert index.texts.digest(SESSION) == digest


def test_a_wiped_text_is_in_no_file(index: Index) -> None:
    for number in range(300):
        index.say(f"quixzbarq number {number} of the heliotropium {'x' * number}")
    index.found("quixzbarq")
    index.texts.wipe(SESSION)
    index.say("something harmless")
    for path in index.folder.rglob("*"):
        held = path.read_bytes().lower()
        assert b"quixzbarq" not in held and b"heliotrop" not in held, path


def test_a_reader_that_keeps_the_bytes_of_a_wiped_text_is_reported(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.say("quixzbarq")
    reader = sqlite3.connect(index.folder / f"{SESSION}.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM passages").fetchall()
    db = index.texts._files[SESSION]._writer
    assert db is not None
    db.execute("PRAGMA busy_timeout = 50")
    with pytest.raises(ZaxyError) as refused:
        index.texts.wipe(SESSION)
    assert refused.value.code == "unavailable"
    reader.close()
    index.texts.wipe(SESSION)


def test_the_digest_tells_any_change_and_no_rebuild(index: Index) -> None:
    index.say("the lamp is out", source="chat")
    index.say("the lamp is on", source="chat")
    whole = index.texts.digest(SESSION)
    path = index.folder / f"{SESSION}.db"
    for change in ("passages SET text = text || '.'", "passages SET speaker = 'Eve'", "episodes SET words = 7"):
        with sqlite3.connect(path) as db:
            db.execute(f"UPDATE {change}")
        assert index.texts.digest(SESSION) != whole, change
        index.texts.wipe(SESSION)
        index.apply(*index.events)
        assert index.texts.digest(SESSION) == whole


@pytest.mark.skipif(os.name != "posix", reason="modes and fork are POSIX")
def test_its_files_are_the_owners_alone_and_a_fork_opens_its_own(index: Index) -> None:
    index.say("the lamp is out")
    assert {path.stat().st_mode & 0o777 for path in index.folder.iterdir()} == {0o600}
    pid = os.fork()
    if not pid:
        os._exit(0 if index.found("lamp") == [1] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert index.found("lamp") == [1]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain words. Another sentence, and one more: done", []),
        ("see ZX-000171", ["zx\ue02d000171"]),
        ("E1234", ["e1234"]),
        ("the max_tokens of it", ["max\ue05ftokens"]),
        ("camelCase", ["camelcase"]),
        ("a/b", ["a\ue02fb", "b"]),
        ("v٣", ["v٣"]),
        ("user@host", ["user\ue040host"]),
    ],
)
def test_identifiers_are_found_by_any_of_their_signs(text: str, names: list[str]) -> None:
    assert tokens.identifiers(text) == names


SIGN_OF_IDENTIFIER = re.compile(r"\d|\w_\w|[a-z][A-Z]|[\w$][-./\\:@#+~]+[\w$]")


@given(st.text("aBc1_$-./\\:@#+~,;!?()'\"`| éÉ٣中\n", max_size=24))
@settings(max_examples=400)
def test_no_identifier_is_passed_over_for_the_marks_around_it(text: str) -> None:
    assert bool(tokens.identifiers(text)) == any(map(SIGN_OF_IDENTIFIER.search, text.split()))
