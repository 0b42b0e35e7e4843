"""An edit in the files of the graph and of the names counts as damage: reads refuse it, and a check lists it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from folders import made_folder
from generated_rows import random_events
from zaxy.api import AsOf, EntityRef
from zaxy.graph.sqlite_graph import SqliteGraph
from zaxy.memory import Memory
from zaxy_testkit.checks import Workbench
from zaxy_testkit.checks.followers import follow
from zaxy_testkit.checks.projection_backends import ProjectionBackendCase

CASE = ProjectionBackendCase(SqliteGraph)
COUNT = 40
NAMES = ("ada", "bob", "café", "dora", "émile")
STARTS = [EntityRef(kind, name) for kind in ("actor", "task", "fact") for name in NAMES]
FIELDS = {
    "sessions": ("seq", "hash", "offset", "fed_by", "entities", "open_edges", "open_by_type"),
    "events": ("hash", "end_of_entities"),
    "things": ("name", "spelled"),
    "entities": ("type", "summary", "properties", "observed_at", "valid_from", "opened", "spelled", "earlier"),
    "edges": ("relation", "confidence", "evidence", "source_spelled", "valid_from", "given_to", "earlier"),
}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture
def graph(bench: Workbench) -> Iterator[SqliteGraph]:
    with closing(bench.make(CASE)) as made:
        follow(made, random_events(3, COUNT), batch_size=7)
        yield made


def edit(path: Path, statement: str) -> int:
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement).rowcount


def file_of(graph: SqliteGraph) -> Path:
    return Path(graph._file._path)


def reads(graph: SqliteGraph) -> dict[str, object]:
    return {
        "stats": graph.stats("graph"),
        "rows": graph.rows_of_events("graph", range(COUNT + 1), AsOf()),
        "entities": graph.entities("graph", NAMES, AsOf(), 100),
        "current": graph.current("graph", ("actor", "task", "fact"), AsOf(), 100),
        "edges": graph.neighbours("graph", STARTS, relations=[], depth=2, as_of=AsOf(), limit=100),
        "cursor": graph.cursor("graph"),
    }


@pytest.mark.parametrize(("table", "field"), [(table, field) for table, fields in FIELDS.items() for field in fields])
def test_an_edited_field_is_never_believed(graph: SqliteGraph, table: str, field: str) -> None:
    before = reads(graph)
    changed = edit(file_of(graph), f"UPDATE {table} SET {field} = '5' || ifnull({field}, '')")
    assert changed
    assert reads(graph)["cursor"] is None, "it was set aside, and is built again"
    assert all(not rows for read, rows in reads(graph).items() if read != "stats")
    assert before["cursor"] and len(list(file_of(graph).parent.glob("graph.db.broken-*"))) >= 1


def test_an_end_that_was_edited_in_or_out_is_never_believed(graph: SqliteGraph) -> None:
    assert edit(file_of(graph), "UPDATE entities SET valid_to = '', closed = NULL WHERE valid_to <> ''")
    assert graph.rows_of_events("graph", range(COUNT + 1), AsOf()) == []
    assert graph.cursor("graph") is None


def test_a_row_that_was_deleted_is_missed_by_the_read_of_its_event(graph: SqliteGraph) -> None:
    edit(file_of(graph), "DELETE FROM entities WHERE id = 2")
    assert graph.rows_of_events("graph", range(COUNT + 1), AsOf()) == []
    assert graph.cursor("graph") is None


def test_a_row_that_was_moved_to_another_session_is_not_believed(bench: Workbench, graph: SqliteGraph) -> None:
    copied = "9, 'other', seq, hash, offset, fed_by, 0, 0, 0, 0, '{}', seal"
    edit(file_of(graph), f"INSERT INTO sessions SELECT {copied} FROM sessions")
    for table in ("events", "things", "entities"):
        edit(file_of(graph), f"UPDATE {table} SET session = 9")
    assert graph.current("other", ("actor", "task", "fact"), AsOf(), 100) == []
    assert graph.cursor("graph") is None


def test_following_refuses_to_merge_into_what_was_edited(bench: Workbench, graph: SqliteGraph) -> None:
    events = random_events(3, 2 * COUNT)
    edit(file_of(graph), "UPDATE entities SET summary = 'planted'")
    with closing(bench.make(CASE)) as other, pytest.raises(Exception, match="followed graph to event 0"):
        follow(other, events[COUNT:])


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE entities SET summary = 'x' WHERE id = 3", "entity 3 does not hold its seal"),
        ("UPDATE entities SET valid_to = '2020' WHERE id = 3", "entity 3 does not hold its seal"),
        ("UPDATE edges SET relation = 'x' WHERE id = 4", "edge 4 does not hold its seal"),
        ("UPDATE events SET hash = 'x' WHERE seq = 5", "event 5 does not hold its seal"),
        ("UPDATE things SET key = 1 WHERE id = 2", "thing 2 does not hold its seal"),
        ("DELETE FROM entities WHERE id = 3", "entities: events name"),
        ("DELETE FROM edges WHERE id = 3", "edges: events name"),
        ("DELETE FROM events WHERE seq = 5", "edges: events name"),
    ],
)
def test_the_check_says_what_was_changed(graph: SqliteGraph, statement: str, problem: str) -> None:
    assert graph.verify("graph") == []
    assert edit(file_of(graph), statement) == 1
    found = graph.verify("graph")
    assert [one for one in found if problem in one], found


def test_the_check_of_a_session_that_was_never_followed_finds_nothing(graph: SqliteGraph) -> None:
    assert graph.verify("nobody") == []


# Names


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(made_folder(tmp_path / "here")) as made:
        made.append("task.proposed", {"id": "T-1", "title": "the first name"}, session="s")
        made.append("task.claimed", {"id": "T-1", "owner": "bob"}, session="s")
        assert made.query("the first name", session="s").results
        yield made


@pytest.mark.parametrize("field", ["name", "alias", "seq"])
def test_an_edited_alias_is_not_believed(memory: Memory, field: str) -> None:
    names = memory.recall.identities
    assert names.verify("s") == []
    (meant,) = names.refs("s", [EntityRef("task", "the first name")])
    assert meant.name == "T-1"
    path = Path(names._file._path)
    edit(path, f"UPDATE aliases SET {field} = CASE '{field}' WHEN 'seq' THEN seq + 1 ELSE 'planted' END WHERE kind = 0")
    assert any("does not hold its seal" in problem for problem in names.verify("s"))
    asked = EntityRef("task", "planted" if field == "alias" else "the first name")
    assert names.refs("s", [asked]) == [asked], "the file was set aside"
    assert names.cursor("s") is None
    memory.follow("s")
    assert names.refs("s", [EntityRef("task", "the first name")]) == [meant]


def test_an_alias_that_was_deleted_is_missed_by_the_check(memory: Memory) -> None:
    names = memory.recall.identities
    edit(Path(names._file._path), "DELETE FROM aliases WHERE kind = 0")
    assert [problem for problem in names.verify("s") if "rows of aliases, and" in problem]
    (found,) = [of for of in memory.verify_followers("s") if of.problems]
    assert (found.follower, list(found.problems)) == ("names", names.verify("s"))
