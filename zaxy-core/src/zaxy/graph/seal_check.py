"""Goes through all that a file holds of a session: which rows do not hold their seals, and which are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import orjson

from zaxy.eventloom.disposable_database import SealedConnection, Unsealed
from zaxy.graph.rows import check_edge, check_entity
from zaxy.graph.statements import EVENT, READ_EDGE, READ_ENTITY, THING

MAX_PROBLEMS = 100
"""That are listed one by one."""
ENTITIES = (
    f"{READ_ENTITY} FROM events AS v CROSS JOIN entities AS r ON r.id >= v.first_entity AND r.id < v.end_of_entities "
    "CROSS JOIN things AS t ON t.id = r.thing WHERE v.session = ?"
)
EDGES = (
    f"{READ_EDGE} FROM events AS v CROSS JOIN edges AS r ON r.id >= v.first_edge AND r.id < v.end_of_edges "
    "CROSS JOIN things AS s ON s.id = r.source CROSS JOIN things AS t ON t.id = r.target WHERE v.session = ?"
)
KINDS = (("entity", "entities", ENTITIES, check_entity, 14), ("edge", "edges", EDGES, check_edge, 22))
"""What it is called, one and many; how it is fetched and checked, and where in the row its end is."""
OF_SESSION = "SELECT {} FROM {} WHERE session = ?"


def graph_problems(db: SealedConnection, session: Any) -> list[str]:
    """What is wrong with the graph of a session, given its row in the file."""
    own, taken, counts = session[0], session[1], session[5:9]
    open_by_type: Counter[str] = Counter()
    problems: list[str] = []
    in_events = [0, 0]
    for row in db.execute(OF_SESSION.format(EVENT, "events AS v"), (own,)):
        problems += _unsealed(f"event {row[1]}", partial(db.check, row[:7], row[7]))
        problems += [f"event {row[1]} is later than the last that was followed"] if row[1] > taken else []
        in_events = [in_events[0] + row[4] - row[3], in_events[1] + row[6] - row[5]]
    for row in db.execute(OF_SESSION.format(THING, "things AS t"), (own,)):
        problems += _unsealed(f"thing {row[0]}", partial(db.check, row[:8], row[8]))
    for place, (kind, kinds, query, check, end) in enumerate(KINDS):
        rows = db.execute(query, (own,)).fetchall()
        for row in rows:
            problems += _unsealed(f"{kind} {row[1]}", partial(check, db, row))
        expected, open_rows = counts[place], counts[place + 2]
        without_end = sum(row[end] == "" for row in rows)
        if not expected == in_events[place] == len(rows):
            named = f"events name {in_events[place]}, and {len(rows)} are there"
            problems.append(f"there should be {expected} {kinds}: {named}")
        elif without_end != open_rows:
            problems.append(f"{open_rows} {kinds} should be without an end, and {without_end} are")
        if kind == "entity":
            open_by_type.update(row[5] for row in rows if row[end] == "")
    if open_by_type != orjson.loads(session[9]):
        problems.append("the entities without an end are not those that the session has of each type")
    problems += _unused_things(db, own)
    problems += _wrong_counts(db, own)
    return _listed(problems)


def _unused_things(db: SealedConnection, session: int) -> Iterator[str]:
    """Rows whose thing is gone are missing above; here are the numbers that no thing has."""
    query = (
        "SELECT count(*) FROM (SELECT thing FROM entities WHERE session = :own UNION SELECT source FROM edges UNION "
        "SELECT target FROM edges) WHERE thing NOT IN (SELECT id FROM things)"
    )
    (gone,) = db.execute(query, {"own": session}).fetchone()
    if gone:
        yield f"{gone} things are missing that rows are about"


def _wrong_counts(db: SealedConnection, session: int) -> Iterator[str]:
    """Things that have other versions or edges than they say."""
    query = (
        "SELECT t.id, t.versions, t.edges, (SELECT count(*) FROM entities WHERE thing = t.id), (SELECT count(*) FROM "
        "edges WHERE source = t.id) + (SELECT count(*) FROM edges WHERE target = t.id AND source <> t.id) "
        "FROM things AS t WHERE t.session = ?"
    )
    for thing, versions, edges, versions_there, edges_there in db.execute(query, (session,)):
        if (versions, edges) != (versions_there, edges_there):
            there = f"and there are {versions_there} and {edges_there}"
            yield f"there should be {versions} versions and {edges} edges of thing {thing}, {there}"


def name_problems(db: SealedConnection, session: Any) -> list[str]:
    """What is wrong with the names of a session, given its row in the file."""
    problems: list[str] = []
    for table, expected in (("aliases", session[6]), ("late", session[7])):
        rows = db.execute(OF_SESSION.format("*", table), session[:1]).fetchall()
        for place, row in enumerate(rows, 1):
            problems += _unsealed(f"row {place} of {table}", partial(db.check, row[:-1], row[-1]))
        if len(rows) != expected:
            problems.append(f"there should be {expected} rows of {table}, and {len(rows)} are there")
    return _listed(problems)


def without_session(db: SealedConnection, tables: Iterable[str]) -> list[str]:
    """What is wrong where a session has no row: others may have rows, but none may be of no session at all."""
    query = "SELECT count(*) FROM {} WHERE session NOT IN (SELECT id FROM sessions)"
    counts = {table: db.execute(query.format(table)).fetchone()[0] for table in tables}
    return [f"{count} rows of {table} are of a session that is not listed" for table, count in counts.items() if count]


def _unsealed(what: str, check: Callable[[], None]) -> Iterator[str]:
    try:
        check()
    except Unsealed:
        yield f"{what} does not hold its seal"


def _listed(problems: Iterable[str]) -> list[str]:
    """The first of them, and how many more there are."""
    every = list(problems)
    more = len(every) - MAX_PROBLEMS
    return [*every[:MAX_PROBLEMS], f"and {more} more"] if more > 0 else every
