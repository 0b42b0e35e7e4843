"""An edit that makes a query pass a row by is noticed, although nobody reads that row: lists have sealed lengths."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from folders import made_folder
from generated_rows import random_events
from indexed import SESSION, Index
from zaxy.api import AsOf, Cursor, EntityRef, ExtractedEvent, Extraction
from zaxy.graph import identities
from zaxy.graph.sqlite_graph import SqliteGraph
from zaxy.memory import Memory
from zaxy.text import store
from zaxy.text.candidates import POOL
from zaxy_testkit.checks import Workbench
from zaxy_testkit.checks.followers import follow
from zaxy_testkit.checks.projection_backends import ProjectionBackendCase

TYPES = ("actor", "task", "fact")
NAMES = ("ada", "bob", "café", "dora", "émile")
STARTS = [EntityRef(kind, name) for kind in TYPES for name in NAMES]
NOW = AsOf("2027-01-01T00:00:00.000000Z")
AN_ENTITY = (
    "SELECT max(e.id) FROM entities AS e JOIN things AS t ON t.id = e.thing "
    f"WHERE e.valid_to = '' AND e.valid_from < '2027' AND t.name IN {NAMES}"
)
AN_EDGE = (
    "SELECT max(e.id) FROM edges AS e JOIN things AS s ON s.id = e.source "
    f"WHERE e.valid_to = '' AND e.valid_from < '2027' AND s.name IN {NAMES}"
)
READS: dict[str, Callable[[SqliteGraph], object]] = {
    "current": lambda graph: graph.current("graph", TYPES, NOW, 100),
    "newest": lambda graph: graph.current("graph", TYPES, NOW, 1),
    "named": lambda graph: graph.entities("graph", NAMES, NOW, 100),
    "events": lambda graph: graph.rows_of_events("graph", range(60), NOW),
    "edges": lambda graph: graph.neighbours("graph", STARTS, relations=[], depth=1, as_of=NOW, limit=100),
    "known": lambda graph: graph.neighbours("graph", STARTS, relations=["knows", "made"], depth=2, as_of=NOW, limit=9),
}


def edit(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(statement).rowcount == 1


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[SqliteGraph]:
    with closing(Workbench(tmp_path).make(ProjectionBackendCase(SqliteGraph))) as made:
        follow(made, random_events(5, 40), batch_size=7)
        assert made.verify("graph") == []
        yield made


@pytest.mark.parametrize("seed", range(6))
def test_lengths_are_those_of_the_lists_whatever_happens_and_in_whichever_batches(tmp_path: Path, seed: int) -> None:
    bench, events = Workbench(tmp_path), random_events(seed, 40 + 30 * seed)
    for part in (events[:30], events[30:]):
        with closing(bench.make(ProjectionBackendCase(SqliteGraph))) as graph:
            follow(graph, part, batch_size=1 + 4 * seed)
            assert graph.verify("graph") == []
            assert graph.cursor("graph").seq == part[-1].event.seq


@pytest.mark.parametrize(
    ("read", "change"),
    [
        *[("current", change) for change in ("valid_to = '2019'", "type = 'x'", "session = 9", "thing = 999")],
        *[("current", change) for change in ("valid_from = '2031'", "opened = 0")],
        *[("named", change) for change in ("valid_to = '2019'", "valid_from = '2031'", "valid_from = '2019'")],
        *[("named", change) for change in ("thing = 999", "opened = 9999")],
    ],
)
def test_an_edit_that_hides_an_entity_is_noticed(graph: SqliteGraph, read: str, change: str) -> None:
    assert READS[read](graph)
    edit(Path(graph._file._path), f"UPDATE entities SET {change} WHERE id = ({AN_ENTITY})")
    assert READS[read](graph) == []
    assert graph.cursor("graph") is None, "it was set aside, and is built again"


@pytest.mark.parametrize("read", ["edges", "known"])
@pytest.mark.parametrize(
    "change",
    ["valid_to = '2019'", "valid_from = '2031'", "relation = 'x'", "source = 999", "target = 999", "opened = 9999"],
)
def test_an_edit_that_hides_an_edge_is_noticed(graph: SqliteGraph, read: str, change: str) -> None:
    assert READS[read](graph)
    edit(Path(graph._file._path), f"UPDATE edges SET {change} WHERE id = ({AN_EDGE})")
    assert READS[read](graph) == []
    assert graph.cursor("graph") is None


@pytest.mark.parametrize("read", ["current", "named", "events", "edges"])
def test_a_row_that_was_deleted_from_a_short_list_is_noticed(graph: SqliteGraph, read: str) -> None:
    table, which = ("edges", AN_EDGE) if read == "edges" else ("entities", AN_ENTITY)
    edit(Path(graph._file._path), f"DELETE FROM {table} WHERE id = ({which})")
    assert READS[read](graph) == []
    assert graph.cursor("graph") is None


@pytest.mark.parametrize("change", ["key = 1", "session = 9", "versions = 0", "edges = 0"])
def test_a_thing_that_its_name_does_not_find_is_met_by_the_read_of_its_events(graph: SqliteGraph, change: str) -> None:
    assert READS["events"](graph)
    entity = f"SELECT thing FROM entities WHERE id = ({AN_ENTITY})"
    edit(Path(graph._file._path), f"UPDATE things SET {change} WHERE id = ({entity})")
    assert READS["events"](graph) == []
    assert graph.cursor("graph") is None


def test_an_end_that_was_edited_into_the_newest_of_many_is_noticed(graph: SqliteGraph) -> None:
    newest = "SELECT id FROM entities WHERE valid_to = '' AND type = '{}' ORDER BY opened DESC, id DESC LIMIT 1"
    (row,) = READS["newest"](graph)  # type: ignore[misc]
    which = newest.format(row.entity.entity_type)
    edit(Path(graph._file._path), f"UPDATE entities SET valid_to = '2019' WHERE id = ({which})")
    assert READS["newest"](graph) == []
    assert graph.cursor("graph") is None


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM edges WHERE id = 3", "edges of thing"),
        ("DELETE FROM entities WHERE id = 3", "versions and"),
        ("UPDATE entities SET valid_to = '2019' WHERE id = ({})", "of each type"),
    ],
)
def test_the_check_of_all_rows_compares_the_lists_with_their_lengths(
    graph: SqliteGraph, statement: str, problem: str
) -> None:
    edit(Path(graph._file._path), statement.format(AN_ENTITY))
    assert [one for one in graph.verify("graph") if problem in one]


# Names


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(made_folder(tmp_path / "here")) as made:
        made.append("task.proposed", {"id": "T-1", "title": "the first name"}, session="s")
        made.append("task.proposed", {"id": "T-2", "title": "the second name"}, session="s")
        assert made.query("the first name", session="s").results
        yield made


HIDE_A_NAME = [
    f"{change} WHERE alias = 'the first name'"
    for change in ("DELETE FROM aliases", "UPDATE aliases SET alias = 'x'", "UPDATE aliases SET type = 'x'")
]


@pytest.mark.parametrize("change", [*HIDE_A_NAME, "UPDATE aliases SET seq = 99 WHERE alias = 'the first name'"])
def test_a_name_that_was_hidden_is_noticed_whatever_is_asked_for(memory: Memory, change: str) -> None:
    names = memory.recall.identities
    (meant,) = names.refs("s", [EntityRef("task", "the second name")])
    assert meant.name == "T-2"
    edit(Path(names._file._path), change)
    names.refs("s", [EntityRef("task", "the second name")])
    assert names.cursor("s") is None
    memory.follow("s")
    assert names.refs("s", [EntityRef("task", "the first name")]) == [EntityRef("task", "T-1")]


@pytest.mark.parametrize("change", HIDE_A_NAME)
def test_a_name_that_was_hidden_is_noticed_before_anything_is_learned(memory: Memory, change: str) -> None:
    edit(Path(memory.recall.identities._file._path), change)
    memory.append("task.claimed", {"title": "the first name", "owner": "bob"}, session="s")
    assert {state.seq for state in memory.follow("s")} == {2}, "nothing was taken with what was left of the names"
    memory.follow("s")
    (row,) = memory.recall.versions("s", EntityRef("task", "T-1"), AsOf())
    assert row.opened_seq == 3, "the title still means the task"


def test_many_names_are_asked_for_one_by_one(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    names = memory.recall.identities
    asked = [EntityRef("task", name) for name in ("the first name", "THE SECOND NAME", "no name", "T-1")]
    few = names.refs("s", asked), names.refs("s", asked, 1), names.names("s", ["the first name", "x"], None)
    monkeypatch.setattr(identities, "MAX_READ_WHOLE", 0)
    many = names.refs("s", asked), names.refs("s", asked, 1), names.names("s", ["the first name", "x"], None)
    assert few == many
    assert [ref.name for ref in many[0]] == ["T-1", "T-2", "no name", "T-1"]


def test_the_time_of_a_late_event_that_was_hidden_is_noticed(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        first = memory.append("note.taken", {"text": "one"}, session="s")
        events = [replace(first, seq=1), replace(first, seq=2, time="2019-01-01T00:00:00.000000Z")]
        names = identities.Identities(tmp_path / "names", lambda _: None)
        names.resolve("s", [ExtractedEvent(event, Extraction()) for event in events], Cursor(2, "x", 0, ""))
        assert names.time(events[1]) == first.time and names.time(events[0]) == first.time
        edit(tmp_path / "names" / "identities.db", "UPDATE late SET seq = 1")
        names.time(events[0])
        assert names.cursor("s") is None
        names.close()


# Texts


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(tmp_path)
    for number in range(8):
        made.say(f"the lamp number {number} burns oil")
    event = made.events[2]
    made.take("memory.reinforced", citation=event.citation, importance=0.5)
    yield made
    made.texts.close()


def path_of(index: Index) -> Path:
    return index.folder / f"{SESSION}.db"


@pytest.mark.parametrize("change", ["seq = -1", "seq = 999", "part = 3", "seq = NULL"])
@pytest.mark.parametrize("which", [8, 5])
def test_a_passage_that_its_event_does_not_find_is_noticed(index: Index, change: str, which: int) -> None:
    assert index.texts.latest(SESSION, 6, 9) == [9, 8, 7, 6, 5, 4]
    edit(path_of(index), f"UPDATE passages SET {change} WHERE id = {which}")
    assert index.texts.latest(SESSION, 6, 9) == []
    assert index.texts.cursor(SESSION) is None


@pytest.mark.parametrize("change", ["seq = 999", "part = 3", "seq = NULL"])
def test_the_very_first_passage_is_missed_where_all_are_asked_for(index: Index, change: str) -> None:
    assert index.texts.latest(SESSION, 20, 9) == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    edit(path_of(index), f"UPDATE passages SET {change} WHERE id = 1")
    assert index.texts.latest(SESSION, 20, 9) == []
    assert index.texts.cursor(SESSION) is None


@pytest.fixture
def asked(index: Index) -> Index:
    """With three questions behind the record of feedback, and a statement at the end."""
    for lamp in ("red", "green", "blue"):
        index.say(f"where does the {lamp} lamp hang?")
    index.say("it hangs in the hall")
    return index


@pytest.mark.parametrize("change", ["seq = -1", "seq = 999", "part = 3", "seq = NULL"])
@pytest.mark.parametrize("which", [1, 2, 4])
def test_a_question_that_its_event_does_not_find_is_noticed(asked: Index, change: str, which: int) -> None:
    assert asked.texts.latest(SESSION, 6, 13) == [13, 12, 11, 10, 9, 8]
    edit(path_of(asked), f"UPDATE asides SET {change} WHERE id = {which}")
    assert asked.texts.latest(SESSION, 6, 13) == []
    assert asked.texts.cursor(SESSION) is None


@pytest.mark.parametrize("change", ["seq = 999", "seq = NULL"])
def test_the_last_question_is_missed_by_a_search(asked: Index, change: str) -> None:
    assert asked.first("where does the blue lamp hang") == 13
    edit(path_of(asked), f"UPDATE asides SET {change} WHERE id = 4")
    assert asked.found("where does the blue lamp hang") == []
    assert asked.texts.cursor(SESSION) is None


@pytest.mark.parametrize("which", [1, 4])
def test_a_question_that_was_deleted_is_missed_by_the_check_of_all_rows(asked: Index, which: int) -> None:
    assert asked.texts.verify(SESSION) == []
    edit(path_of(asked), f"DELETE FROM asides WHERE id = {which}")
    assert "there should be 4 asides, and there are 3" in asked.texts.verify(SESSION)
    asked.say("why is it dark?")
    assert "there should be 5 asides, and there are 4" in asked.texts.verify(SESSION)


def test_a_cursor_that_was_deleted_is_missed_where_there_are_only_questions(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.say("where does the red lamp hang?")
    edit(path_of(index), "DELETE FROM about")
    assert index.texts.cursor(SESSION) is None
    assert index.texts.latest(SESSION, 5, 1) == []
    index.texts.close()


def test_as_many_events_that_ask_are_read_as_were_asked_for(asked: Index) -> None:
    assert asked.texts.latest(SESSION, 2, 12) == [12, 11]
    assert asked.texts.latest(SESSION, 3, 10) == [10, 9, 8]


@pytest.mark.parametrize("change", ["seq = -1", "seq = 999", "part = 3"])
def test_the_first_passage_of_an_event_is_missed_by_the_read_of_its_event(index: Index, change: str) -> None:
    assert [text.seq for text in index.texts.texts(SESSION, [3, 5, 77])] == [3, 5]
    edit(path_of(index), f"UPDATE passages SET {change} WHERE id = 5")
    assert index.texts.texts(SESSION, [3, 5, 77]) == []
    assert index.texts.cursor(SESSION) is None


@pytest.mark.parametrize("change", ["place = 99", "episode = 99"])
def test_a_passage_that_is_not_in_its_place_is_missed_beside_the_best(index: Index, change: str) -> None:
    index.say("an owl hoots")
    index.say("it is late")
    assert index.first("owl") == 10
    edit(path_of(index), f"UPDATE passages SET {change} WHERE id = 10")
    assert index.found("owl") == []
    assert index.texts.cursor(SESSION) is None


@pytest.mark.parametrize("change", ["words = ' lamp '", "length = 9999", "time = '2031-01-01T00:00:00.000000Z'"])
def test_a_passage_that_was_edited_not_to_be_picked_from_a_large_pool_is_noticed(index: Index, change: str) -> None:
    best = index.say("the oil lamp that Bob lit", source="the best").seq
    for number in range(POOL):
        index.say(f"another lamp, number {number}, for oil", source=f"chat {number}")
    asked, now = "which oil lamp was lit by bob", AsOf(valid_at="2030-01-01T00:00:00.000000Z")
    assert index.found(asked, now)[0] == best
    edit(path_of(index), f"UPDATE passages SET {change} WHERE seq = {best}")
    assert index.found(asked, now) == []
    assert index.texts.cursor(SESSION) is None


@pytest.mark.parametrize("listed", [" burn  oil ", " lamp  number  1  burn  oil  zzz ", " lamp  number  1  burn  gas "])
def test_lists_with_fewer_with_more_and_with_other_words_are_found_by_the_check_of_all_rows(
    index: Index, listed: str
) -> None:
    with closing(sqlite3.connect(path_of(index))) as db, db:
        row, words = db.execute("SELECT id << 8 | length, words FROM passages WHERE id = 2").fetchone()
        db.execute("INSERT INTO fts (fts, rowid, words, names) VALUES ('delete', ?, ?, '')", (row, words))
        db.execute("INSERT INTO fts (rowid, words, names) VALUES (?, ?, '')", (row, listed))
    assert "the lists of words are not those of the passages" in index.texts.verify(SESSION)


def test_feedback_that_was_edited_to_be_of_another_event_is_noticed(index: Index) -> None:
    texts = index.texts.texts(SESSION, [3])
    assert index.texts.reinforcement(SESSION, texts, 9) == {3: 0.5}
    edit(path_of(index), "UPDATE reinforced SET target = 7, entity = ''")
    assert index.texts.reinforcement(SESSION, texts, 9) == {}
    assert index.texts.cursor(SESSION) is None


def test_much_feedback_is_found_by_what_it_is_about(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = index.texts.texts(SESSION, [2, 3, 4])
    few = index.texts.reinforcement(SESSION, texts, 9)
    monkeypatch.setattr(store, "MAX_FEEDBACK", 0)
    assert index.texts.reinforcement(SESSION, texts, 9) == few == {3: 0.5}
    assert index.texts.reinforcement(SESSION, texts, 8) == {}
