"""What the conformance checks cannot prove: many workspaces in one database, several writers, and no scan."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from generated_rows import HOSTILE, NAMES, RELATIONS, TYPES, answers, many_moments, random_events
from servers.neo4j_server import Address
from zaxy.api import AsOf, Edge, Entity, EntityRef, ExtractedEvent, Extraction, GraphStats, Unavailable, ZaxyError
from zaxy.api.models import Batch
from zaxy.graph.sqlite_graph import SqliteGraph
from zaxy_neo4j import graph as neo4j_graph, reader
from zaxy_neo4j.connection import Connection
from zaxy_neo4j.schema import FORMAT, SCHEMA, for_older, space_of
from zaxy_testkit import ProjectionBackendCase, Workbench
from zaxy_testkit.checks.followers import cursor_after, follow, history, moment, sample_event

pytestmark = pytest.mark.xdist_group("neo4j")
BUILT_IN = ProjectionBackendCase(SqliteGraph)
ALL_OF_SPACE = (
    "CALL () { MATCH (p:ZaxyPlace {space: $space}) RETURN count(*) AS rows UNION ALL "
    "MATCH (t:ZaxyThing) WHERE t.key STARTS WITH $space RETURN count(*) AS rows UNION ALL "
    "MATCH (v:ZaxyVersion {space: $space}) RETURN count(*) AS rows UNION ALL "
    "MATCH ()-[e:ZAXY_EDGE {space: $space}]->() RETURN count(*) AS rows } RETURN rows"
)

"""How many rows there are of each kind."""
PARAMETERS = (
    "space workspace session now keys places seqs rows names kinds relations enough at known since until seq hash "
    "offset fed_by stamp entities edges open_entities open_edges count"
).split()


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture
def driver(neo4j_address: Address) -> Iterator[Driver]:
    """The bare driver, to look at what is really there."""
    with GraphDatabase.driver(neo4j_address.uri, auth=(neo4j_address.user, neo4j_address.password)) as opened:
        yield opened


def rows_there(driver: Driver, bench: Workbench, session: str, state: str = "state") -> list[int]:
    """How many places, things, versions and edges the database has of a session."""
    space = space_of(str(bench.scratch / state), session)
    return [row["rows"] for row in driver.execute_query(ALL_OF_SPACE, space=space).records]


# The same answers as the built-in graph


@pytest.mark.parametrize("seed", range(4))
def test_one_history_gives_the_same_rows_in_the_same_order_as_in_the_built_in_graph(
    bench: Workbench, case: ProjectionBackendCase, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # also by the way in which it finds out that it has to ask for more
        monkeypatch.setattr(reader, "MORE", 1)
    events = random_events(seed, 60)
    with closing(bench.make(case, "neo4j")) as ours, closing(bench.make(BUILT_IN, "sqlite")) as sqlite:
        follow(ours, events, batch_size=1 + seed * 7)
        follow(sqlite, events)
        expected = answers(sqlite, 60, many_moments(60))
        for asked, found in answers(ours, 60, many_moments(60)).items():
            assert found == expected[asked], asked


def test_an_event_with_more_rows_than_are_asked_for_is_put_in_order_whole(
    bench: Workbench, case: ProjectionBackendCase
) -> None:
    many = [f"name {number:03}" for number in range(150)]
    hub = EntityRef("hub", "hub")
    entities = tuple(Entity(name, "thing", "one of many") for name in reversed(many))
    edges = tuple(Edge(hub, EntityRef("thing", name), "has") for name in reversed(many))
    event = sample_event("graph", 1, event_type="note.taken", actor="tester", payload={})
    with closing(bench.make(case)) as graph:
        follow(graph, [ExtractedEvent(event, Extraction(entities, edges))])
        assert [row.entity.name for row in graph.current("graph", ["thing"], AsOf(), 3)] == many[:3]
        walked = graph.neighbours("graph", [hub], relations=[], depth=2, as_of=AsOf(), limit=3)
    assert [row.edge.target.name for row in walked] == many[:3]


def test_what_is_told_is_never_part_of_a_query(bench: Workbench, case: ProjectionBackendCase) -> None:
    long = "n" * 20_000  # more than an index of the server takes
    entity = Entity(HOSTILE + long, HOSTILE, HOSTILE, {HOSTILE: HOSTILE})
    edge = Edge(EntityRef(HOSTILE, HOSTILE + long), EntityRef("person", HOSTILE), HOSTILE + long, evidence=HOSTILE)
    event = sample_event("graph", 1, event_type="note.taken", actor="tester", payload={})
    with closing(bench.make(case)) as graph:
        follow(graph, [ExtractedEvent(event, Extraction((entity,), (edge,)))])
        (row,) = graph.entities("graph", [HOSTILE + long], AsOf(), 9)
        (same,) = graph.current("graph", [HOSTILE], AsOf(), 9)
        (walked,) = graph.neighbours("graph", [edge.target], relations=[HOSTILE + long], depth=1, as_of=AsOf(), limit=9)
    assert row == same and row.entity == entity
    assert walked.edge == edge


# Many workspaces in one database


def marked(events: list[ExtractedEvent], mark: str) -> list[ExtractedEvent]:
    """The same events, in every text of which stands whose they are."""
    marks = []
    for event, rows in ((of.event, of.rows) for of in events):
        entities = tuple(replace(entity, summary=f"{entity.summary} of {mark}") for entity in rows.entities)
        edges = tuple(replace(edge, evidence=f"{edge.evidence} of {mark}") for edge in rows.edges)
        marks.append(ExtractedEvent(event, replace(rows, entities=entities, edges=edges)))
    return marks


def generated_question(rnd: random.Random) -> tuple[str, dict[str, Any]]:
    as_of = AsOf(rnd.choice(["", moment(rnd.randint(0, 62))]), rnd.choice([None, rnd.randint(0, 62)]))
    refs = [EntityRef(rnd.choice(TYPES), rnd.choice(NAMES)) for _ in range(rnd.randint(1, 3))]
    limit = rnd.randint(1, 60)
    relations, depth = rnd.choice([[], [rnd.choice(RELATIONS)]]), rnd.randint(1, 3)
    return rnd.choice(
        [
            ("entities", {"names": rnd.sample(NAMES, 3), "as_of": as_of, "limit": limit}),
            ("current", {"entity_types": rnd.sample(TYPES, 2), "as_of": as_of, "limit": limit}),
            ("rows_of_events", {"seqs": [rnd.randint(1, 60) for _ in range(8)], "as_of": as_of}),
            ("neighbours", {"start": refs, "relations": relations, "depth": depth, "as_of": as_of, "limit": limit}),
        ]
    )


def test_two_workspaces_in_one_database_never_show_a_row_of_the_other(
    bench: Workbench, case: ProjectionBackendCase
) -> None:
    rnd = random.Random(200)
    mine, theirs = marked(random_events(21, 60), "mine"), marked(random_events(22, 60), "theirs")
    with (
        closing(bench.make(case, "mine")) as ours,
        closing(bench.make(case, "theirs")) as other,
        closing(bench.make(BUILT_IN, "alone")) as alone,
    ):
        for at in range(0, 60, 10):  # turn by turn, under the same names in a session of the same name
            follow(ours, mine[at : at + 10])
            follow(other, theirs[at : at + 10])
        follow(alone, mine)
        seen = 0
        for number in range(200):
            method, arguments = generated_question(rnd)
            found = list(getattr(ours, method)("graph", **arguments))
            assert found == list(getattr(alone, method)("graph", **arguments)), f"{number}: {method}{arguments}"
            assert "of theirs" not in repr(found)
            seen += len(found)
        assert seen > 500, "the questions must have answers"
        assert ours.stats("graph") == alone.stats("graph") != other.stats("graph")


def test_a_wiped_session_leaves_no_node_and_no_relationship_and_the_others_as_they_were(
    bench: Workbench, case: ProjectionBackendCase, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_graph, "DELETED_TOGETHER", 7)
    with closing(bench.make(case)) as graph, closing(bench.make(case, "neighbour")) as neighbour:
        for backend in (graph, neighbour):
            follow(backend, random_events(5, 40))
        follow(graph, history("kept", 9))
        kept = graph.digest("kept"), neighbour.digest("graph")
        assert all(rows_there(driver, bench, "graph"))
        graph.wipe("graph")
        assert rows_there(driver, bench, "graph") == [0, 0, 0, 0]
        assert (graph.digest("kept"), neighbour.digest("graph")) == kept
        graph.wipe("graph")
        graph.wipe("never-followed")
        assert rows_there(driver, bench, "never-followed") == [0, 0, 0, 0]


def test_a_wipe_that_was_interrupted_is_gone_on_with(
    bench: Workbench, case: ProjectionBackendCase, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_graph, "DELETED_TOGETHER", 7)
    write = Connection.write
    calls = []

    def fails_at_the_third(self: Connection, *arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise Unavailable("the server is gone", "Start it.")
        return write(self, *arguments)

    with closing(bench.make(case)) as graph, closing(bench.make(case)) as second:
        follow(graph, history("graph", 40))
        monkeypatch.setattr(Connection, "write", fails_at_the_third)
        with pytest.raises(ZaxyError, match="is gone"):
            graph.wipe("graph")
        monkeypatch.setattr(Connection, "write", write)
        with pytest.raises(ZaxyError) as refused:  # nobody goes on with half a graph
            follow(second, history("graph", 50)[40:])
        assert refused.value.code == "conflict"
        assert not second.current("graph", ["actor"], AsOf(), 9)
        assert second.stats("graph") == GraphStats(0, 0, 0, 0)
        assert second.cursor("graph") is None
        assert rows_there(driver, bench, "graph") == [0, 0, 0, 0]


# Several writers


def test_two_that_follow_in_turn_know_what_the_other_has_written(bench: Workbench, case: ProjectionBackendCase) -> None:
    events = random_events(31, 60)
    with (
        closing(bench.make(case)) as first,
        closing(bench.make(case)) as second,
        closing(bench.make(case, "alone")) as alone,
    ):
        for at in range(0, 60, 4):
            follow(second if at % 8 else first, events[at : at + 4])
        follow(alone, events)
        assert first.digest("graph") == second.digest("graph") == alone.digest("graph")
        assert first.stats("graph") == alone.stats("graph")


FOLLOWING = """
    import json, sys
    from dataclasses import replace
    from pathlib import Path
    from zaxy.api import ZaxyError
    from zaxy_testkit.checks.followers import follow
    from zaxy_neo4j.graph import Neo4jGraph
    from generated_rows import random_events
    from zaxy_testkit import ProjectionBackendCase, Workbench

    state, settings, size = Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
    made = ProjectionBackendCase(
        lambda context: Neo4jGraph(replace(context, workspace_id=str(context.state_dir))), settings=settings
    )
    graph = Workbench(state.parent).make(made, state.name)
    events = random_events(41, 400)
    print("ready", flush=True)
    sys.stdin.readline()
    taken = 0
    while True:
        cursor = graph.cursor("graph")
        at = cursor.seq if cursor else 0
        if at >= len(events):
            break
        try:
            follow(graph, events[at : at + size])
            taken += 1
        except ZaxyError as error:
            assert error.code == "conflict", error
    print(taken, flush=True)
"""


def test_two_processes_that_follow_one_session_take_every_event_once(
    bench: Workbench, case: ProjectionBackendCase, neo4j_address: Address
) -> None:
    (bench.scratch / "state").mkdir()
    command = [sys.executable, "-c", textwrap.dedent(FOLLOWING), str(bench.scratch / "state")]
    settings = json.dumps(neo4j_address.settings)
    tests = Path(__file__).parents[3] / "tests"
    processes = [
        subprocess.Popen(
            [*command, settings, size],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tests)},
        )
        for size in ("3", "5")
    ]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    told = []
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        out, _ = process.communicate(timeout=240)
        assert process.returncode == 0
        told.append(int(out))
    assert all(told), "each of them must have taken its part"
    with closing(bench.make(case)) as graph, closing(bench.make(case, "alone")) as alone:
        follow(alone, random_events(41, 400))
        assert graph.digest("graph") == alone.digest("graph")
        assert graph.stats("graph") == alone.stats("graph")
        assert graph.cursor("graph") == alone.cursor("graph")


def test_a_batch_that_does_not_follow_on_is_refused(bench: Workbench, case: ProjectionBackendCase) -> None:
    with closing(bench.make(case)) as graph:
        follow(graph, history("s", 4))
        with pytest.raises(ZaxyError, match="to event 4, and the batch begins at 7") as refused:
            follow(graph, history("s", 9)[6:])
        assert refused.value.code == "conflict"


def test_a_batch_that_comes_again_with_another_cursor_changes_nothing(
    bench: Workbench, case: ProjectionBackendCase
) -> None:
    events = history("s", 6)
    with closing(bench.make(case)) as graph:
        follow(graph, events)
        before = graph.cursor("s"), graph.digest("s")
        other = replace(cursor_after(events[-1].event), fed_by="somebody else")
        graph.apply(Batch("s", tuple(events)), other)
        assert (graph.cursor("s"), graph.digest("s")) == before


# What a newer one has made, and what an older one has


def test_a_graph_of_a_newer_format_is_left_alone_and_one_of_an_older_is_built_again(
    bench: Workbench, case: ProjectionBackendCase, driver: Driver
) -> None:
    change = "MATCH (p:ZaxyPlace {space: $space}) SET p.format = $format"
    space = space_of(str(bench.scratch / "state"), "s")
    with closing(bench.make(case)) as graph:
        follow(graph, history("s", 4))
        there = rows_there(driver, bench, "s")
        driver.execute_query(change, space=space, format=FORMAT + 1)
        for refused in (lambda: graph.cursor("s"), lambda: follow(graph, history("s", 9)[4:])):
            with pytest.raises(ZaxyError, match="newer zaxy-neo4j") as error:
                refused()
            assert "upgrade" in error.value.remediation.lower()
        assert rows_there(driver, bench, "s") == there
        driver.execute_query(change, space=space, format=FORMAT - 1)
        assert graph.cursor("s") is None
        assert rows_there(driver, bench, "s") == [0, 0, 0, 0]


@pytest.mark.parametrize("session", ["../out", "", "a/b", ".hidden", "x" * 200])
def test_a_session_that_is_no_session_id_is_refused(
    bench: Workbench, case: ProjectionBackendCase, session: str
) -> None:
    with closing(bench.make(case)) as graph, pytest.raises(ZaxyError, match="no session id"):
        graph.wipe(session)


# Clusters


def test_a_cluster_is_asked_by_routing_and_a_read_sees_what_was_written(
    bench: Workbench, case: ProjectionBackendCase
) -> None:
    """One server is the smallest cluster: it has a routing table, and gives and takes bookmarks."""
    uri = str(case.settings["NEO4J_URI"]).replace("bolt", "neo4j", 1)
    routed = replace(case, settings={**case.settings, "NEO4J_URI": uri})
    with closing(bench.make(routed)) as graph:
        events = history("s", 20)
        marks = set()
        for number, event in enumerate(events, 1):
            follow(graph, [event])
            assert graph.cursor("s").seq == number
            marks.update(graph._connection._bookmarks.get_bookmarks())
        assert len(marks) >= len(events), "every write must be a mark that later reads wait for"


# How it is asked


def test_constraints_and_indexes_are_made_at_the_first_write(
    bench: Workbench, case: ProjectionBackendCase, driver: Driver
) -> None:
    driver.execute_query("DROP INDEX zaxy_edge_by_target IF EXISTS")
    with closing(bench.make(case)) as graph:
        follow(graph, history("s", 1))
    found = driver.execute_query("SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'zaxy_' RETURN name, state")
    assert {row["name"]: row["state"] for row in found.records} == dict.fromkeys(SCHEMA, "ONLINE")


def operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def test_no_statement_scans(
    bench: Workbench, case: ProjectionBackendCase, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the server's own plans: what is asked or written costs the same, however much is there."""
    seen: dict[str, Any] = {}
    adapted = Connection.adapted

    def noted(self: Connection, statement: str) -> str:
        seen[statement] = None
        return adapted(self, statement)

    monkeypatch.setattr(Connection, "adapted", noted)
    with closing(bench.make(case)) as graph:
        follow(graph, random_events(3, 60), batch_size=7)
        answers(graph, 60, [AsOf()])
        graph.digest("graph")
        seen |= dict.fromkeys((*neo4j_graph.DELETE, neo4j_graph.GO_ON, neo4j_graph.BEGIN_WIPE, neo4j_graph.END_WIPE))
    assert len(seen) > 20
    for statement in seen:
        found = driver.execute_query(f"EXPLAIN {statement}", dict.fromkeys(PARAMETERS))
        scans = [name for name in operators(found.summary.plan) if "Scan" in name]
        assert not scans, f"{scans} in {statement}"


def test_each_question_takes_one_round_trip_and_a_walk_one_for_each_step(
    bench: Workbench, case: ProjectionBackendCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    read = Connection.read

    def noted(self: Connection, statement: str, *arguments: Any, **values: Any) -> list[list[Any]]:
        asked.append(statement)
        return read(self, statement, *arguments, **values)

    with closing(bench.make(case)) as graph:
        follow(graph, history("graph", 40))
        ada = [EntityRef("actor", "Ada")]
        monkeypatch.setattr(Connection, "read", noted)
        questions = {
            "cursor": lambda: graph.cursor("graph"),
            "entities": lambda: graph.entities("graph", ["ada", "grace", "nobody"], AsOf(), 50),
            "rows_of_events": lambda: graph.rows_of_events("graph", range(20, 32), AsOf()),
            "current": lambda: graph.current("graph", ["actor", "topic"], AsOf(), 50),
            "stats": lambda: graph.stats("graph"),
            "one step": lambda: graph.neighbours("graph", ada, relations=[], depth=1, as_of=AsOf(), limit=20),
            "two steps": lambda: graph.neighbours("graph", ada, relations=[], depth=2, as_of=AsOf(), limit=100),
        }
        trips = {}
        for question, ask in questions.items():
            asked.clear()
            assert ask()
            trips[question] = len(asked)
    assert trips == {**dict.fromkeys(questions, 1), "two steps": 2}


def test_older_servers_are_asked_in_their_own_words() -> None:
    """The forms were tried on a Neo4j 5.12: before 5.23 each part of a subquery names what it uses."""
    now = "UNWIND $k AS key CALL (key) { MATCH (a) RETURN a UNION ALL MATCH (b) RETURN b AS a } CALL () { RETURN 1 }"
    then = (
        "UNWIND $k AS key CALL { WITH key MATCH (a) RETURN a UNION ALL WITH key MATCH (b) RETURN b AS a } "
        "CALL { RETURN 1 }"
    )
    assert for_older(now) == then
