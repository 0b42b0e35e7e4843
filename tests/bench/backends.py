"""What each graph engine costs over the same log: SQLite, Kuzu and Neo4j side by side, and Neo4j's bare driver.

Following is the graph's alone, from the log, against writing the same rows with the bare driver in batches of 500, a
transaction each: things with a key, versions and edges with an index for each look-up, without the time to make the
rows. Asking is a whole query, on every engine in turn, against SQLite's and three round trips of the driver.
The server is the one of the tests, started here, or the one that NEO4J_URI names.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.log import Row, print_table, shown
from bench.scale import BATCH, SESSION, events, p95, questions, write_log
from folders import made_folder
from servers.neo4j_server import GIVEN, Address, Neo4jServer, NotToBeHad
from zaxy.extract.rules import extract
from zaxy.follow.loop import Loop
from zaxy.memory import Memory
from zaxy.workspace import find_workspace

if TYPE_CHECKING:
    from neo4j import Driver

SETTINGS = {"sqlite": {}, "kuzu": {"ZAXY_EMBEDDED_ENGINE": "kuzu"}, "neo4j": {"PROJECTION_BACKEND": "neo4j"}}
GROUND = 10_000
"""Where a question is compared with SQLite's, and later sizes with it."""
WARM_UP = 5_000
"""Events that are followed and written before anything is measured: the server's Java is slow at first."""
ROUNDS = 3
ASKED = 12
"""How often each question is asked; the last time counts. The rounds before fill caches and let Java compile."""
ROUND_TRIPS = 3

BARE_SCHEMA = (
    "CREATE CONSTRAINT bare_thing IF NOT EXISTS FOR (t:BareThing) REQUIRE t.key IS UNIQUE",
    "CREATE INDEX bare_name IF NOT EXISTS FOR (v:BareVersion) ON (v.name)",
    "CREATE INDEX bare_event IF NOT EXISTS FOR (v:BareVersion) ON (v.seq)",
    "CREATE INDEX bare_source IF NOT EXISTS FOR ()-[e:BARE_EDGE]-() ON (e.source)",
    "CREATE INDEX bare_target IF NOT EXISTS FOR ()-[e:BARE_EDGE]-() ON (e.target)",
    "CALL db.awaitIndexes(60)",
)
BARE_WRITES = (
    "UNWIND $rows AS r CREATE (:BareThing {key: r[0], name: r[1], type: r[2]})",
    "UNWIND $rows AS r MATCH (t:BareThing {key: r[0]}) CREATE (t)-[:BARE_VERSION]->(:BareVersion {name: r[1], "
    "summary: r[2], properties: r[3], valid_from: r[4], seq: r[5]})",
    "UNWIND $rows AS r MATCH (s:BareThing {key: r[0]}) MATCH (t:BareThing {key: r[1]}) "
    "CREATE (s)-[:BARE_EDGE {source: r[0], target: r[1], relation: r[2], valid_from: r[3], seq: r[4]}]->(t)",
)
CLEAR = "MATCH (n:BareThing|BareVersion) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"


@contextmanager
def neo4j_server(home: Path) -> Iterator[Address]:
    """The server that the environment names, or one of our own for as long as this lasts."""
    if GIVEN.get("NEO4J_URI"):
        yield Address(GIVEN["NEO4J_URI"], GIVEN.get("NEO4J_USER", "neo4j"), GIVEN.get("NEO4J_PASSWORD", ""))
        return
    server = Neo4jServer(home, heap="1g", lasting=True)
    server.start()
    try:
        yield server.address
    finally:
        server.kill()


# Following


def workspace_of(folder: Path, engine: str) -> str:
    """A folder's path, after its workspace was told which engine to use."""
    for setting, value in SETTINGS[engine].items():
        find_workspace(str(made_folder(folder))).store_setting(setting, value)
    return str(folder)


def follow(folder: Path, engine: str) -> float:
    """Seconds in which an engine takes a whole log, from reading it to the last commit."""
    with closing(Memory.open(workspace_of(folder, engine))) as memory:
        memory.append("fact.recorded", {"fact": "All that is made at first use is there now."}, session="before")
        memory.follow("before")
        recall = memory.recall
        loop = Loop(
            recall.store, {"graph": recall.backend}, recall.extractors, folder=folder / ".eventloom" / "bench-locks"
        )
        began = time.perf_counter()
        states = loop.catch_up(SESSION)
        spent = time.perf_counter() - began
    if any(state.behind or state.problem for state in states):
        raise RuntimeError(f"not all was followed: {states}")
    return spent


def forget(folder: Path, engine: str) -> None:
    with closing(Memory.open(workspace_of(folder, engine))) as memory:
        memory.recall.backend.wipe(SESSION)
        memory.recall.backend.close()


class BareBatch(NamedTuple):
    things: list[list[Any]]
    versions: list[list[Any]]
    edges: list[list[Any]]


def bare_batches(count: int) -> Iterator[BareBatch]:
    """The rows of the same events, without the rules that versions follow."""
    source = events(count)
    things: set[tuple[str, str]] = set()
    told: set[tuple[str, ...]] = set()
    while chunk := list(islice(source, BATCH)):
        batch = BareBatch([], [], [])
        for event in chunk:
            rows = extract(event)
            refs = {(entity.entity_type, entity.name) for entity in rows.entities}
            refs |= {(end.entity_type, end.name) for edge in rows.edges for end in (edge.source, edge.target)}
            for type_, name in sorted(refs - things):
                batch.things.append([f"{type_}/{name}", name, type_])
            things |= refs
            for entity in rows.entities:
                row = (entity.entity_type, entity.name, entity.summary, json.dumps(dict(entity.properties)))
                if row not in told:  # as ours, which writes nothing for what it knows
                    batch.versions.append([f"{row[0]}/{row[1]}", *row[1:], event.time, event.seq])
                    told.add(row)
            for edge in rows.edges:
                ends = [f"{end.entity_type}/{end.name}" for end in (edge.source, edge.target)]
                batch.edges.append([*ends, edge.relation_type, event.time, event.seq])
        yield batch


def write_bare(driver: Driver, count: int) -> float:
    """Seconds in which the bare driver writes the rows of that many events."""
    spent = 0.0
    with driver.session() as session:
        session.run(CLEAR).consume()
        for statement in BARE_SCHEMA:
            session.run(statement).consume()
        for batch in bare_batches(count):
            began = time.perf_counter()
            session.execute_write(_write, batch)
            spent += time.perf_counter() - began
    return spent


def _write(transaction: Any, batch: BareBatch) -> None:
    for statement, rows in zip(BARE_WRITES, batch, strict=True):
        transaction.run(statement, rows=rows).consume()


# Asking


def ask(folders: dict[str, Path], count: int, driver: Driver | None) -> dict[str, list[float]]:
    """Milliseconds of each question on each engine, asked in turn; and of a `trip` of the bare driver among them.

    A trip in a row of trips would be quicker: the server's threads have not gone to sleep then.
    """
    spent: dict[str, list[float]] = {name: [] for name in (*folders, "trip")}
    with ExitStack() as opened:
        session = opened.enter_context(driver.session()) if driver else None
        memories = {
            engine: opened.enter_context(closing(Memory.open(workspace_of(folder, engine))))
            for engine, folder in folders.items()
        }
        for turn in range(ASKED):
            for words in questions(count):
                asked = f"what did they say about {' '.join(words)}"
                seqs = set()
                for engine, memory in memories.items():
                    began = time.perf_counter()
                    answer = memory.query(asked, session=SESSION)
                    if turn == ASKED - 1:
                        spent[engine].append((time.perf_counter() - began) * 1000)
                    seqs.add(tuple(row.seq for row in answer.results))
                    if answer.warnings:
                        raise RuntimeError(f"{engine}: {answer.warnings}")
                began = time.perf_counter()
                if session:
                    session.run("RETURN 1").consume()
                if turn == ASKED - 1:
                    spent["trip"].append((time.perf_counter() - began) * 1000)
                if len(seqs) > 1:
                    raise RuntimeError(f"the engines differ on {asked!r}")
    return spent


# The table


def measure(counts: list[int], rounds: int, address: Address | None) -> Iterator[Row]:
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
        engines = [engine for engine in SETTINGS if engine != "neo4j" or address]
        driver = None
        if address:
            from neo4j import GraphDatabase

            driver = stack.enter_context(GraphDatabase.driver(address.uri, auth=(address.user, address.password)))
            warm_up(home / "warm-up", driver)
        grown: dict[str, float] = {}
        for count in counts:
            folders = {engine: home / f"{engine}-{count}" for engine in engines}
            write_log(home / f"log-{count}", count)
            for folder in folders.values():
                shutil.copytree(home / f"log-{count}", folder)
            yield from following(folders, count, rounds if count <= GROUND else 1, driver)
            yield from asking(folders, count, driver, grown)
            if driver:
                forget(folders["neo4j"], "neo4j")
                with driver.session() as session:
                    session.run(CLEAR).consume()


def warm_up(folder: Path, driver: Driver) -> None:
    write_log(folder, WARM_UP)
    for _ in range(3):
        write_bare(driver, WARM_UP)
        follow(folder, "neo4j")
        forget(folder, "neo4j")


def following(folders: dict[str, Path], count: int, rounds: int, driver: Driver | None) -> Iterator[Row]:
    at = f"at {count:,}"
    spent: dict[str, list[float]] = {engine: [] for engine in folders}
    bare = []
    for engine, folder in folders.items():
        for turn in range(rounds if engine == "neo4j" else 1):  # the others are only shown
            if turn:
                forget(folder, engine)
            spent[engine].append(follow(folder, engine))
            if driver and engine == "neo4j":
                bare.append(write_bare(driver, count))
    rates = {engine: count / statistics.median(seconds) for engine, seconds in spent.items()}
    for engine in folders:
        if engine == "neo4j":
            by_hand = count / statistics.median(bare)
            figures = f"{rates[engine]:,.0f} events a second against {by_hand:,.0f}"
            yield Row(f"follow {at}: neo4j / its bare driver", rates[engine] / by_hand, 0.4, True, figures)
        else:
            yield shown(f"follow {at}: {engine}", f"{rates[engine]:,.0f} events a second")


def asking(folders: dict[str, Path], count: int, driver: Driver | None, grown: dict[str, float]) -> Iterator[Row]:
    at = f"at {count:,}"
    spent = ask(folders, count, driver)
    middle = {name: statistics.median(figures) for name, figures in spent.items()}
    for engine in folders:
        told = f"p50 {middle[engine]:.2f} ms, p95 {p95(spent[engine]):.2f}"
        if engine == "neo4j":
            trip = middle["trip"]
            allowed = middle["sqlite"] + ROUND_TRIPS * trip
            told += f", against {middle['sqlite']:.2f} and {ROUND_TRIPS} round trips of {trip:.2f}"
            judged = count == GROUND
            name = f"query {at}: neo4j / sqlite + {ROUND_TRIPS} trips"
            yield Row(name, middle[engine] / allowed, 1.0, False, told, judged=judged)
        else:
            yield shown(f"query {at}: {engine}", told)
        if count > GROUND and engine in grown:
            figure = f"p50 {middle[engine]:.2f} ms against {grown[engine]:.2f}"
            name = f"query {at} / at {GROUND:,}: {engine}"
            yield Row(name, middle[engine] / grown[engine], 2.0, False, figure, judged=engine == "neo4j")
        elif count == GROUND:
            grown[engine] = middle[engine]


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    counts, rounds = ([GROUND], 2) if quick else ([GROUND, 100_000], ROUNDS)
    with ExitStack() as stack:
        home = stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
        try:
            address = stack.enter_context(neo4j_server(Path(home, "server")))
            os.environ.update(address.settings)
        except (NotToBeHad, ImportError) as reason:
            address = None
            print(f"without Neo4j: {reason}")
        print_table(measure(counts, rounds, address))


if __name__ == "__main__":
    main()
