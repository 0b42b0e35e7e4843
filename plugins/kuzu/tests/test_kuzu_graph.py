"""What the conformance checks cannot prove: one owner, one history on every engine, broken files, crashes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from generated_rows import HOSTILE, answers, many_moments, random_events
from zaxy.api import (
    AsOf,
    Edge,
    Entity,
    EntityRef,
    ExtractedEvent,
    Extraction,
    ProjectionBackend,
    ZaxyError,
)
from zaxy.graph.sqlite_graph import SqliteGraph
from zaxy_kuzu import graph as kuzu_graph, lookups, reader
from zaxy_kuzu.engine import Database
from zaxy_kuzu.graph import KuzuGraph
from zaxy_kuzu.writer import CODES
from zaxy_testkit import ProjectionBackendCase, Workbench
from zaxy_testkit.checks.followers import follow, history, sample_event

CASE = ProjectionBackendCase(KuzuGraph)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def in_another_process(code: str, state: Path) -> subprocess.Popen[str]:
    opening = """
        import sys
        from pathlib import Path
        from zaxy_testkit.checks.followers import *
        from zaxy_kuzu.graph import KuzuGraph
        from zaxy_testkit import ProjectionBackendCase, Workbench
        state = Path(sys.argv[1])
        graph = Workbench(state.parent).make(ProjectionBackendCase(KuzuGraph), state.name)
    """
    program = textwrap.dedent(opening) + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", program, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def line_from(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# The same answers as the built-in graph


@pytest.mark.parametrize("seed", range(4))
def test_one_history_gives_the_same_rows_in_the_same_order_as_in_the_built_in_graph(
    bench: Workbench, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # also by the way that nodes with very many edges are read
        monkeypatch.setattr(reader, "FEW_ROWS", 0)
        monkeypatch.setattr(reader, "MANY_ROWS", 1)
    events = random_events(seed, 60)
    built_in = ProjectionBackendCase(SqliteGraph)
    with closing(bench.make(CASE, "kuzu")) as ours, closing(bench.make(built_in, "sqlite")) as sqlite:
        follow(ours, events, batch_size=1 + seed * 7)
        follow(sqlite, events)
        expected = answers(sqlite, 60, many_moments(60))
        for asked, found in answers(ours, 60, many_moments(60)).items():
            assert found == expected[asked], asked


@pytest.mark.parametrize("remembered", [5_000, 3])
def test_what_is_read_between_batches_is_never_out_of_date(
    bench: Workbench, remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "REMEMBERED", remembered)
    events = random_events(9, 60)
    built_in = ProjectionBackendCase(SqliteGraph)
    with closing(bench.make(CASE, "kuzu")) as ours, closing(bench.make(built_in, "sqlite")) as sqlite:
        for last in range(3, 61, 3):
            for backend in (ours, sqlite):
                follow(backend, events[last - 3 : last])
            moments = [AsOf(), *(AsOf(known_at=known) for known in (last - 1, last, last + 1))]
            expected = answers(sqlite, last, moments)
            for asked, found in answers(ours, last, moments).items():
                assert found == expected[asked], f"after {last}: {asked}"
        assert len(ours._open["graph"].reader._lookups._known) <= remembered


def test_what_was_read_before_and_has_not_changed_asks_nothing_of_the_engine(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    run = Database.run

    def noted(self: Database, statement: str, **values: object) -> list[list[object]]:
        asked.append(statement)
        return run(self, statement, **values)

    monkeypatch.setattr(Database, "run", noted)

    def read(graph: ProjectionBackend) -> list[object]:
        asked.clear()
        ada = [EntityRef("actor", "ada")]
        rows: list[object] = [*graph.entities("graph", ["ada", "nobody"], AsOf(), 9)]
        return [
            *rows,
            *graph.neighbours("graph", ada, relations=[], depth=1, as_of=AsOf(), limit=9),
            *graph.rows_of_events("graph", [1], AsOf()),
        ]

    def sample(seq: int, name: str) -> ExtractedEvent:
        event = sample_event("graph", seq, event_type="note.taken", actor="tester", payload={})
        edge = Edge(EntityRef("actor", name), EntityRef("task", f"task of {name}"), "made")
        return ExtractedEvent(event, Extraction((Entity(name, "actor", f"told by {seq}"),), (edge,)))

    with closing(bench.make(CASE)) as graph:
        follow(graph, [sample(1, "ada")])
        first = read(graph)
        assert len(first) == 3 and asked
        assert read(graph) == first and not asked
        follow(graph, [sample(2, "bob")])
        assert read(graph) == first and not asked
        follow(graph, [sample(3, "ada"), sample(4, "nobody")])
        assert len(read(graph)) == 3 and asked, "the first row of ada is closed, and nobody is there"
        assert read(graph) != first


def test_events_of_which_nothing_is_told_have_no_rows(bench: Workbench) -> None:
    silent = [
        ExtractedEvent(sample_event("graph", seq, event_type="note.taken", actor="tester", payload={}), Extraction())
        for seq in (1, 2)
    ]
    with closing(bench.make(CASE)) as graph:
        follow(graph, silent)
        assert not graph.rows_of_events("graph", [1, 2, 3], AsOf())
        assert graph.cursor("graph").seq == 2


def test_what_is_told_is_never_part_of_a_query(bench: Workbench) -> None:
    entity = Entity(HOSTILE, HOSTILE, HOSTILE, {HOSTILE: HOSTILE})
    edge = Edge(EntityRef(HOSTILE, HOSTILE), EntityRef("person", HOSTILE), HOSTILE, evidence=HOSTILE)
    event = sample_event("graph", 1, event_type="note.taken", actor="tester", payload={})
    with closing(bench.make(CASE)) as graph:
        follow(graph, [ExtractedEvent(event, Extraction((entity,), (edge,)))])
        (row,) = graph.entities("graph", [HOSTILE], AsOf(), 9)
        (same,) = graph.current("graph", [HOSTILE], AsOf(), 9)
        (walked,) = graph.neighbours("graph", [edge.target], relations=[HOSTILE], depth=1, as_of=AsOf(), limit=9)
    assert row == same and row.entity == entity
    assert walked.edge == edge


# One owner


def test_another_process_is_told_who_has_the_graph_open(bench: Workbench) -> None:
    holding = """
        follow(graph, history("s", 5))
        print("open", flush=True)
        sys.stdin.readline()
    """
    holder = in_another_process(holding, bench.scratch / "state")
    assert line_from(holder) == "open"
    with closing(bench.make(CASE)) as graph:
        with pytest.raises(ZaxyError, match=rf"open in process {holder.pid}, since 2026-06-15T00:00:00") as refused:
            graph.cursor("s")
        assert refused.value.code == "unavailable"
        assert "PROJECTION_BACKEND=sqlite" in refused.value.remediation
        holder.kill()  # what a dead process held is free
        holder.wait(60)
        assert len(graph.entities("s", ["grace"], AsOf(), 9)) == 1


def test_a_second_one_in_the_same_process_is_refused(bench: Workbench) -> None:
    with closing(bench.make(CASE)) as first, closing(bench.make(CASE)) as second:
        follow(first, history("s", 5))
        with pytest.raises(ZaxyError, match="open in this process already"):
            second.cursor("s")
        first.close()
        assert second.cursor("s") is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_refused_and_the_parent_goes_on(bench: Workbench) -> None:
    with closing(bench.make(CASE)) as graph:
        follow(graph, history("s", 5))
        child = os.fork()
        if not child:
            try:
                graph.stats("s")
            except ZaxyError:
                graph.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        follow(graph, history("s", 9))
        assert graph.cursor("s").seq == 9


# Files


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_killed_in_the_middle_it_goes_on_and_takes_every_event_once(bench: Workbench) -> None:
    going_on = """
        events = history("killed", 200)
        cursor = graph.cursor("killed")
        for at in range(cursor.seq if cursor else 0, 200, 10):
            follow(graph, events[at:at + 10])
            print("taken", flush=True)
    """
    reached = []
    for lines in (1, 3, 2):
        process = in_another_process(going_on, bench.scratch / "state")
        for _ in range(lines):
            assert line_from(process) == "taken"
        process.kill()
        process.wait(60)
        with closing(bench.make(CASE)) as graph:
            reached.append(graph.cursor("killed").seq)
    assert reached == sorted(set(reached)), "what was taken stays taken"
    assert in_another_process(going_on, bench.scratch / "state").wait(120) == 0
    with closing(bench.make(CASE)) as graph, closing(bench.make(CASE, "clean")) as clean:
        follow(clean, history("killed", 200))
        assert graph.digest("killed") == clean.digest("killed")
        assert graph.stats("killed") == clean.stats("killed")


def test_a_file_that_cannot_be_used_is_set_aside_and_built_again(bench: Workbench) -> None:
    path = bench.scratch / "state" / "s.kuzu"
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 1000)
    with closing(bench.make(CASE)) as graph:
        assert graph.cursor("s") is None
        follow(graph, history("s", 9))
        assert graph.cursor("s").seq == 9
    assert (path.parent / "s.kuzu.broken-1").exists()
    assert len(bench.warnings) == 1 and "s.kuzu.broken-1" in bench.warnings[0]
    with closing(bench.make(CASE)) as graph:
        graph.wipe("s")
    assert sorted(each.name for each in path.parent.iterdir()) == ["owner.json"]


def test_a_database_that_ended_the_process_which_opened_it_is_set_aside(bench: Workbench) -> None:
    state = bench.scratch / "state"
    with closing(bench.make(CASE)) as graph:
        follow(graph, history("s", 9))
    (state / "s.kuzu.opening").touch()
    with closing(bench.make(CASE)) as graph:
        assert graph.cursor("s") is None
        follow(graph, history("s", 9))
        assert graph.cursor("s").seq == 9
    assert len(bench.warnings) == 1 and "ended while it did so" in bench.warnings[0]
    assert sorted(each.name for each in state.iterdir()) == ["owner.json", "s.kuzu", "s.kuzu.broken-1"]


def test_too_little_memory_is_an_error_that_says_so_and_leaves_nothing_that_cannot_be_opened(bench: Workbench) -> None:
    small = ProjectionBackendCase(KuzuGraph, settings={"ZAXY_KUZU_BUFFER_POOL_MB": 12})
    with closing(bench.make(small)) as graph:
        with pytest.raises(ZaxyError, match="needs more memory than it may use") as refused:
            for at in range(0, 1400, 100):
                follow(graph, history("s", 1400)[at : at + 100])
        assert "ZAXY_KUZU_BUFFER_POOL_MB" in refused.value.remediation
    with closing(bench.make(CASE)) as graph:
        cursor = graph.cursor("s")
        follow(graph, history("s", 50)[cursor.seq if cursor else 0 :])
        assert graph.cursor("s") is not None


@pytest.mark.skipif(sys.platform == "win32", reason="modes are another matter there")
def test_its_folder_is_the_users_alone(bench: Workbench) -> None:
    with closing(bench.make(CASE)) as graph:
        follow(graph, history("s", 1))
    assert (bench.scratch / "state").stat().st_mode & 0o777 == 0o700


def test_more_sessions_than_are_open_at_once_keep_apart(bench: Workbench) -> None:
    sessions = [f"session-{n}" for n in range(kuzu_graph.OPEN_AT_ONCE + 2)]
    with closing(bench.make(CASE)) as graph:
        for _ in range(2):
            for n, session in enumerate(sessions):
                follow(graph, history(session, 3 + n))
        assert [graph.cursor(session).seq for session in sessions] == [3 + n for n in range(len(sessions))]
        assert len(graph._open) <= kuzu_graph.OPEN_AT_ONCE


@pytest.mark.parametrize("session", ["../out", "", "a/b", ".hidden", "x" * 200])
def test_a_session_that_is_no_session_id_touches_no_path(bench: Workbench, session: str) -> None:
    with closing(bench.make(CASE)) as graph, pytest.raises(ZaxyError, match="no session id"):
        graph.wipe(session)


def test_a_batch_that_does_not_follow_on_is_refused(bench: Workbench) -> None:
    with closing(bench.make(CASE)) as graph:
        follow(graph, history("s", 4))
        with pytest.raises(ZaxyError, match="to event 4, and the batch begins at 7"):
            follow(graph, history("s", 9)[6:])


def test_an_engine_that_is_none_is_refused(bench: Workbench) -> None:
    wrong = ProjectionBackendCase(KuzuGraph, settings={"ZAXY_KUZU_ENGINE": "oracle"})
    with closing(bench.make(wrong)) as graph, pytest.raises(ZaxyError, match="which is no engine"):
        follow(graph, history("s", 1))


def test_no_statement_on_the_way_of_an_event_scans_a_table(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the engine's own plans. Two small tables may be read whole: the cursor's one row, and the types."""
    seen: dict[str, dict[str, object]] = {}
    run = Database.run

    def noted(self: Database, statement: str, **values: object) -> list[list[object]]:
        seen.setdefault(statement, values)
        return run(self, statement, **values)

    with closing(bench.make(CASE)) as graph:
        follow(graph, history("graph", 1))
        graph.wipe("graph")
        monkeypatch.setattr(Database, "run", noted)
        follow(graph, random_events(3, 60), batch_size=7)
        monkeypatch.undo()
        of_events = {
            statement: values for statement, values in seen.items() if "Place" not in statement and statement != CODES
        }
        assert len(of_events) > 12
        for statement, values in of_events.items():
            ((plan,),) = graph._open["graph"].database._connection.execute(f"EXPLAIN {statement}", values).get_all()
            assert "PRIMARY_KEY" in plan or "MATCH" not in statement, statement
            whole = plan.replace("PRIMARY_KEY_SCAN_NODE_TABLE", "").count("SCAN_NODE_TABLE[")
            assert not whole or "SEMI_MASKER" in plan, statement  # masked, it reads only the nodes that it was given
