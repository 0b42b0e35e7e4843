"""The built-in graph: what its point's conformance checks cannot prove."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import zaxy_testkit
from generated_rows import answers, many_moments, random_events
from reference.projection_backends import Backend
from zaxy.api import (
    AsOf,
    Batch,
    Edge,
    Entity,
    EntityRef,
    ExtractedEvent,
    Extraction,
    GraphStats,
    ZaxyError,
)
from zaxy.eventloom import disposable_database
from zaxy.graph.sqlite_graph import SqliteGraph
from zaxy_testkit.checks import Workbench
from zaxy_testkit.checks.followers import cursor_after, follow, history, sample_event
from zaxy_testkit.checks.projection_backends import ProjectionBackendCase, sample

CASE = ProjectionBackendCase(SqliteGraph)
SECRET = "quixzbarq"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture
def graph(bench: Workbench) -> Iterator[SqliteGraph]:
    with closing(bench.make(CASE)) as made:
        yield made


def in_another_process(code: str, state: Path, *arguments: str) -> subprocess.Popen[str]:
    """Run code that has `graph`, a graph over the same files, and the conformance checks' helpers."""
    opening = """
        import sys, time
        from pathlib import Path
        from zaxy_testkit.checks import Workbench
        from zaxy_testkit.checks.followers import *
        from zaxy_testkit.checks.projection_backends import ProjectionBackendCase
        from zaxy.graph.sqlite_graph import SqliteGraph
        state = Path(sys.argv[1])
        graph = Workbench(state.parent).make(ProjectionBackendCase(SqliteGraph), state.name)
    """
    program = textwrap.dedent(opening) + textwrap.dedent(code)
    command = [sys.executable, "-c", program, str(state), *arguments]
    environ = {**os.environ, "PYTHONPATH": str(Path(zaxy_testkit.__file__).parents[1])}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, text=True)


def line_from(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def files_with(folder: Path, text: str) -> list[str]:
    # Read by a process of its own: closing a file that SQLite has open in this one would drop its locks.
    return subprocess.run(
        ["grep", "-rlai", text, str(folder)], capture_output=True, text=True, check=False
    ).stdout.splitlines()


# The same answers as the plain implementation


@pytest.mark.parametrize("seed", range(6))
def test_it_answers_as_the_plain_implementation_does(bench: Workbench, seed: int) -> None:
    events = random_events(seed, 60)
    with (
        closing(bench.make(CASE, "ours")) as ours,
        closing(bench.make(ProjectionBackendCase(Backend), "plain")) as plain,
    ):
        follow(ours, events, batch_size=1 + seed * 5)
        follow(plain, events)
        moments = many_moments(60)
        expected = answers(plain, 60, moments)
        for asked, found in answers(ours, 60, moments).items():
            assert found == expected[asked], asked


def test_several_kinds_are_asked_together_and_answered_as_each_alone(bench: Workbench) -> None:
    kinds = [("actor",), ("task", "fact"), (), ("nothing",), ("fact",)]
    with closing(bench.make(CASE)) as graph:
        assert graph.current_of_each("graph", kinds, AsOf(), 3) == [[] for _ in kinds]
        follow(graph, random_events(3, 60))
        for as_of in (AsOf(), AsOf(known_at=30)):
            found = graph.current_of_each("graph", kinds, as_of, 3)
            assert found == [list(graph.current("graph", kind, as_of, 3)) for kind in kinds]
            assert [bool(of_kind) for of_kind in found] == [True, True, False, False, True]


def test_two_that_take_turns_write_what_one_would(bench: Workbench) -> None:
    """What one remembers of its last batch is wrong once the other has written."""
    events = random_events(11, 90)
    with closing(bench.make(CASE, "alone")) as alone:
        follow(alone, events)
        digest, stats = alone.digest("graph"), alone.stats("graph")
    with closing(bench.make(CASE)) as one, closing(bench.make(CASE)) as other:
        for at in range(0, 90, 3):
            follow((one, other)[at % 2], events[at : at + 3])
        assert (one.digest("graph"), other.stats("graph")) == (digest, stats)


def test_a_batch_that_failed_is_forgotten_also_in_memory(bench: Workbench) -> None:
    events = random_events(5, 40)
    broken = ExtractedEvent(events[30].event, Extraction((Entity("ada", "actor", "x", {"no": object()}),)))
    with closing(bench.make(CASE, "alone")) as alone, closing(bench.make(CASE)) as graph:
        follow(alone, events)
        follow(graph, events[:20])
        with pytest.raises(TypeError):
            follow(graph, [*events[20:30], broken])
        follow(graph, events[20:])
        assert (graph.digest("graph"), graph.stats("graph")) == (alone.digest("graph"), alone.stats("graph"))


def test_a_batch_that_does_not_follow_on_is_refused(graph: SqliteGraph) -> None:
    events = history("s", 9)
    follow(graph, events[:4])
    before = graph.cursor("s"), graph.digest("s")
    with pytest.raises(ZaxyError, match="to event 4, and the batch begins at 7") as refused:
        follow(graph, events[6:])
    assert refused.value.code == "conflict"
    assert (graph.cursor("s"), graph.digest("s")) == before


# Constant work


def connections(graph: SqliteGraph) -> list[sqlite3.Connection]:
    """The one that reads and the one that writes, both open."""
    graph.cursor("s")
    graph._file.write(lambda db: None)
    graph.cursor("s")
    writer, idle = graph._file._writer, graph._file._idle
    assert writer is not None and len(idle) == 1
    return [writer, *idle]


def statements(graph: SqliteGraph, do: object) -> set[str]:
    """The SQL that something runs, with its values in it."""
    seen: set[str] = set()
    assert callable(do)
    for db in connections(graph):
        db.set_trace_callback(seen.add)
    do()
    for db in connections(graph):
        db.set_trace_callback(None)
    return {text for text in seen if text.startswith(("SELECT", "INSERT", "UPDATE"))}


def plans(graph: SqliteGraph, found: set[str]) -> Iterator[tuple[str, str]]:
    db = connections(graph)[0]
    for text in found:
        for _, _, _, step in db.execute(f"EXPLAIN QUERY PLAN {text}"):
            yield text, step


def test_no_statement_on_the_way_of_an_event_scans_what_is_there(graph: SqliteGraph) -> None:
    found = statements(graph, lambda: follow(graph, random_events(3, 60), batch_size=7))
    assert len({text.split(" VALUES")[0][:60] for text in found}) > 10
    for text, step in plans(graph, found):
        assert not step.startswith("SCAN") or step == "SCAN CONSTANT ROW", (step, text)
        assert "TEMP B-TREE" not in step, (step, text)


def test_things_are_looked_for_only_in_a_session_that_was_there_before_and_never_by_a_scan(bench: Workbench) -> None:
    def looked_for(graph: SqliteGraph, seqs: range) -> set[str]:
        found = statements(graph, lambda: follow(graph, [turn(seq) for seq in seqs]))
        return {text for text in found if "FROM things AS t WHERE t.key" in text}

    with closing(bench.make(CASE)) as graph:
        assert not looked_for(graph, range(1, 4)) and not looked_for(graph, range(4, 7))
    with closing(bench.make(CASE)) as opened_again:
        found = looked_for(opened_again, range(7, 10))
        assert found and not any(step.startswith("SCAN") for _, step in plans(opened_again, found))


def test_no_read_scans_what_is_there_or_sorts_more_than_the_rows_of_an_event(graph: SqliteGraph) -> None:
    follow(graph, random_events(3, 60))
    found = statements(graph, lambda: answers(graph, 20, many_moments(20)))
    assert len(found) > 100
    for text, step in plans(graph, found):
        of_the_question = ("SCAN (join", "SCAN json_each")  # the names that were asked for
        assert not step.startswith("SCAN") or "subquery" in step or step.startswith(of_the_question), (step, text)
        few = "e.valid_to <> '' AND" in text  # the rows that are still to end
        assert few or step != "USE TEMP B-TREE FOR ORDER BY", (step, text)


def test_the_steps_that_an_event_costs_do_not_grow_with_the_graph(graph: SqliteGraph) -> None:
    """Counted by SQLite itself, so that the machine's mood is no matter."""
    events = [turn(seq) for seq in range(1, 6001)]
    costs = {}
    for at in range(0, 6000, 500):
        costs[at] = steps_of(graph, lambda at=at: follow(graph, events[at : at + 500], batch_size=500))
    assert costs[5500] < 1.2 * costs[500], costs
    hub = EntityRef("session", "s")
    near = steps_of(graph, lambda: graph.neighbours("s", [hub], relations=[], depth=2, as_of=AsOf(), limit=20))
    narrow = steps_of(
        graph, lambda: graph.neighbours("s", [hub], relations=["works_in"], depth=2, as_of=AsOf(), limit=20)
    )
    assert near < 200 and narrow < 200, "6,000 edges lead to the session"


def turn(seq: int) -> ExtractedEvent:
    """A new thing, two edges to it, and an actor, a session and an edge that are always the same."""
    event = sample_event("s", 1, event_type="transcript.turn", actor="ada", payload={})
    event = type(event)(**{**{name: getattr(event, name) for name in event.__slots__}, "seq": seq})
    said, ada, session = (
        EntityRef("turn", f"t{seq * 7919 % 10007}"),
        EntityRef("actor", "ada"),
        EntityRef("session", "s"),
    )
    entities = [Entity(ref.name, ref.entity_type, ref.name) for ref in (said, ada, session)]
    edges = (Edge(ada, said, "said"), Edge(session, said, "has_turn"), Edge(ada, session, "works_in"))
    return ExtractedEvent(event, Extraction(tuple(entities), edges))


def steps_of(graph: SqliteGraph, do: object) -> int:
    """How many hundreds of SQLite's own instructions something takes."""
    count = 0

    def one_more() -> int:
        nonlocal count
        count += 1
        return 0

    assert callable(do)
    for db in connections(graph):
        db.set_progress_handler(one_more, 100)
    do()
    for db in connections(graph):
        db.set_progress_handler(None, 0)
    return count


# Many processes, threads and forks


FOLLOWING = """
    events = history("shared", 400)
    while (cursor := graph.cursor("shared")) is None or cursor.seq < 400:
        at = cursor.seq if cursor else 0
        try:
            graph.apply(Batch("shared", events[at:at + 7]), cursor_after(events[min(at + 7, 400) - 1].event))
        except Exception as error:
            if getattr(error, "code", "") != "conflict":
                raise
    own = sys.argv[2]
    follow(graph, history(own, 100), batch_size=9)
    graph.close()
"""


def test_many_processes_that_follow_at_once_take_every_event_once(bench: Workbench, graph: SqliteGraph) -> None:
    state = bench.scratch / "state"
    followers = [in_another_process(FOLLOWING, state, f"own-{n}") for n in range(5)]
    while any(process.poll() is None for process in followers):
        graph.stats("shared")  # a reader is never in their way, nor they in its
        time.sleep(0.002)
    assert [process.wait(60) for process in followers] == [0] * 5
    with closing(bench.make(CASE, "alone")) as alone:
        for name, count in [("shared", 400), *((f"own-{n}", 100) for n in range(5))]:
            follow(alone, history(name, count))
            assert graph.digest(name) == alone.digest(name), name
            assert graph.stats(name) == alone.stats(name), name
    assert not bench.warnings


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_killed_in_the_middle_it_goes_on_and_takes_every_event_once(bench: Workbench) -> None:
    state = bench.scratch / "state"
    going_on = """
        events = history("killed", 1700)
        cursor = graph.cursor("killed")
        for at in range(cursor.seq if cursor else 0, 1700, 50):
            follow(graph, events[at:at + 50])
            print("taken", flush=True)
            sys.stdin.readline()  # it must not be done before it is killed, however slow the one is who kills it
    """
    rnd = random.Random(4)
    reached = []
    for _ in range(8):
        process = in_another_process(going_on, state)
        for _ in range(rnd.randint(1, 3)):
            assert line_from(process) == "taken"
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        time.sleep(rnd.uniform(0, 0.01))  # about as long as a batch takes
        process.kill()
        process.wait(60)
        with closing(bench.make(CASE)) as graph:
            cursor = graph.cursor("killed")
            reached.append(cursor.seq if cursor else 0)
            assert reached[-1] % 50 == 0
            with closing(bench.make(CASE, f"to {len(reached)}")) as clean:
                follow(clean, history("killed", reached[-1]))
                assert graph.digest("killed") == clean.digest("killed")
    assert reached == sorted(set(reached)), "what was taken stays taken"
    rest = in_another_process(going_on, state)
    rest.communicate(timeout=60)
    assert rest.returncode == 0
    with closing(bench.make(CASE)) as graph, closing(bench.make(CASE, "clean")) as clean:
        follow(clean, history("killed", 1700))
        assert graph.digest("killed") == clean.digest("killed")
        assert graph.stats("killed") == clean.stats("killed")
    assert not bench.warnings


def test_threads_take_turns(bench: Workbench, graph: SqliteGraph) -> None:
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for at in range(0, 60, 5):
                follow(graph, history(name, 60)[at : at + 5])
                assert graph.entities(name, ["ada", "grace"], AsOf(), 10)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"thread-{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    with closing(bench.make(CASE, "alone")) as alone:
        for n in range(6):
            follow(alone, history(f"thread-{n}", 60))
            assert graph.digest(f"thread-{n}") == alone.digest(f"thread-{n}")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_opens_a_connection_of_its_own(bench: Workbench, graph: SqliteGraph) -> None:
    follow(graph, history("s", 10))
    child = os.fork()
    if not child:
        try:
            follow(graph, history("s", 20))
            graph.close()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    follow(graph, history("s", 30))
    with closing(bench.make(CASE, "alone")) as alone:
        follow(alone, history("s", 30))
        assert graph.digest("s") == alone.digest("s")


# The file


@pytest.mark.skipif(sys.platform == "win32", reason="modes are another matter there")
def test_its_files_are_the_users_alone(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    folder = tmp_path / "made" / "by" / "it"
    with closing(SqliteGraph(context_in(bench, folder))) as graph:
        follow(graph, history("s", 3))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == dict.fromkeys(["graph.db", "graph.db-wal", "graph.db-shm", "graph.lock"], 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def context_in(bench: Workbench, folder: Path) -> object:
    from dataclasses import replace

    contexts: list[object] = []
    bench.make(ProjectionBackendCase(contexts.append))
    return replace(contexts[0], state_dir=folder)  # type: ignore[type-var]


def broken_files(state: Path) -> dict[str, object]:
    def shortened() -> None:
        os.truncate(state / "graph.db", (state / "graph.db").stat().st_size // 2)

    def overwritten() -> None:
        with (state / "graph.db").open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (os.path.getsize(state / "graph.db") - 4096))

    def of_another_format() -> None:
        with closing(sqlite3.connect(state / "graph.db")) as db:
            db.execute("PRAGMA user_version = 99")

    def of_another_program() -> None:
        (state / "graph.db").unlink()
        with closing(sqlite3.connect(state / "graph.db")) as db:
            db.execute("CREATE TABLE songs (title)")

    def without_a_table() -> None:
        with closing(sqlite3.connect(state / "graph.db")) as db:
            db.execute("DROP TABLE events")

    def no_database() -> None:
        (state / "graph.db").write_bytes(b"Dear diary, today I was not a database.\n" * 300)

    def a_link() -> None:
        (state / "graph.db").rename(state / "elsewhere.db")
        (state / "graph.db").symlink_to(state / "elsewhere.db")

    def a_folder() -> None:
        (state / "graph.db").unlink()
        (state / "graph.db").mkdir()

    made = (
        shortened,
        overwritten,
        of_another_format,
        of_another_program,
        without_a_table,
        no_database,
        a_link,
        a_folder,
    )
    return {function.__name__: function for function in made}


@pytest.mark.parametrize("how", broken_files(Path()))
def test_a_file_that_cannot_be_used_is_set_aside_and_built_again(bench: Workbench, how: str) -> None:
    state = bench.scratch / "state"
    events = history("s", 300)
    with closing(bench.make(CASE)) as graph:
        follow(graph, events)
        digest = graph.digest("s")
    make_broken = broken_files(state)[how]
    assert callable(make_broken)
    make_broken()
    with closing(bench.make(CASE)) as graph:
        assert graph.digest("s") != digest
        assert graph.cursor("s") is None
        follow(graph, events)
        assert graph.digest("s") == digest
    assert len(bench.warnings) == 1 and "graph.db.broken-1" in bench.warnings[0]
    assert os.path.lexists(state / "graph.db.broken-1")
    assert not (state / "graph.db").is_symlink()


def test_a_file_that_breaks_under_a_batch_is_built_again_from_the_first_event(bench: Workbench) -> None:
    """Never from the middle: what the broken file held would be missing from the new one."""
    events = history("s", 600)
    with closing(bench.make(CASE)) as graph:
        follow(graph, events[:500])
    broken_files(bench.scratch / "state")["overwritten"]()  # type: ignore[operator]
    with closing(bench.make(CASE)) as graph:
        with pytest.raises(ZaxyError, match="followed s to event 0"):
            follow(graph, events[500:])
        assert graph.cursor("s") is None
        assert graph.stats("s") == GraphStats(0, 0, 0, 0)


def test_processes_that_find_the_file_broken_at_once_set_it_aside_once(bench: Workbench) -> None:
    state = bench.scratch / "state"
    state.mkdir()
    (state / "graph.db").write_bytes(b"no database" * 1000)
    followers = [in_another_process(FOLLOWING, state, f"own-{n}") for n in range(4)]
    assert [process.wait(60) for process in followers] == [0] * 4
    assert [path.name for path in state.glob("*broken*")] == ["graph.db.broken-1"]
    with closing(bench.make(CASE)) as graph, closing(bench.make(CASE, "alone")) as alone:
        for name, count in [("shared", 400), *((f"own-{n}", 100) for n in range(4))]:
            follow(alone, history(name, count))
            assert graph.digest(name) == alone.digest(name), name


def test_deleted_while_it_is_open_it_begins_anew(bench: Workbench, graph: SqliteGraph) -> None:
    follow(graph, history("s", 20))
    for path in (bench.scratch / "state").iterdir():
        path.unlink()
    assert graph.cursor("s") is None
    follow(graph, history("s", 20))
    with closing(bench.make(CASE)) as other:
        assert other.digest("s") == graph.digest("s")


def test_a_disk_that_refuses_is_an_error_that_says_so(bench: Workbench) -> None:
    state = bench.scratch / "state"
    state.mkdir()
    (state / "graph.lock").mkdir()
    with closing(bench.make(CASE)) as graph, pytest.raises(ZaxyError, match="the graph cannot be used") as refused:
        graph.cursor("s")
    assert refused.value.code == "unavailable"


# Wiping


def test_a_wiped_session_leaves_no_byte_in_any_file(bench: Workbench, graph: SqliteGraph) -> None:
    state = bench.scratch / "state"
    (state / "graph.db.broken-1").write_text(f"an old graph that knew of {SECRET}")
    follow(graph, history("kept", 200))
    follow(graph, history("wiped", 600, about=SECRET), batch_size=37)
    kept = graph.digest("kept")
    assert len(files_with(state, SECRET)) > 1
    graph.wipe("wiped")
    assert files_with(state, SECRET) == []
    assert graph.digest("kept") == kept
    assert graph.cursor("wiped") is None
    follow(graph, history("wiped", 20))
    with closing(bench.make(CASE, "alone")) as alone:
        follow(alone, history("wiped", 20))
        assert graph.digest("wiped") == alone.digest("wiped")


def test_a_wiped_session_leaves_no_byte_while_another_process_has_the_graph_open(bench: Workbench) -> None:
    state = bench.scratch / "state"
    follow_and_wait = f"""
        follow(graph, history("wiped", 200, about="{SECRET}"), batch_size=11)
        print(graph.entities("wiped", ["{SECRET}"], AsOf(), 1)[0].entity.name, flush=True)
        sys.stdin.readline()
        print(graph.cursor("wiped"), graph.stats("wiped").entities, flush=True)
        follow(graph, history("wiped", 30))
        print(graph.digest("wiped"), flush=True)
    """
    other = in_another_process("from zaxy.api import AsOf\n" + textwrap.dedent(follow_and_wait), state)
    assert line_from(other) == SECRET
    assert files_with(state, SECRET)
    with closing(bench.make(CASE)) as graph:
        graph.wipe("wiped")
        assert files_with(state, SECRET) == []
        answered = other.communicate("go on\n", timeout=60)[0].splitlines()
        assert answered == ["None 0", graph.digest("wiped")]


def test_a_wipe_that_a_reader_keeps_from_ending_says_so(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disposable_database, "SCRUB_WAIT", 0.2)
    state = bench.scratch / "state"
    with closing(bench.make(CASE)) as graph:
        follow(graph, history("wiped", 50, about=SECRET))
        with closing(sqlite3.connect(state / "graph.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM things").fetchone()[0] > 50
            with pytest.raises(ZaxyError, match="a process that is reading the graph keeps its bytes") as refused:
                graph.wipe("wiped")
            assert refused.value.code == "unavailable"
            assert graph.cursor("wiped") is None
        graph.wipe("wiped")
        assert files_with(state, SECRET) == []


def test_a_writer_that_hangs_is_an_error_that_says_so(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disposable_database, "WAIT", 0.2)
    with closing(bench.make(CASE)) as graph:
        follow(graph, history("s", 5))
        with closing(sqlite3.connect(bench.scratch / "state" / "graph.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(ZaxyError, match="held by another process") as refused:
                graph.apply(Batch("s", (sample(6, session="s"),)), cursor_after(sample(6, session="s").event))
            assert refused.value.code == "unavailable"
            assert graph.entities("s", ["grace"], AsOf(), 1), "a reader need not wait"
        follow(graph, history("s", 9))
