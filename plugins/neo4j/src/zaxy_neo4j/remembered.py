"""What a writer knows of a session's graph: fetched when a batch touches it, and kept while nobody else has written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from zaxy.api import Version, folded_name
from zaxy_neo4j.schema import thing_key

Run = Callable[..., list[list[Any]]]
"""Runs a statement with values in the transaction of the batch."""

WINDOW = "{0}.number, {0}.valid_from, {0}.valid_to, {0}.opened_seq, {0}.closed_seq, {0}.earlier_seqs, {0}.earlier_ends"
VERSION = f"{WINDOW.format('v')}, v.summary, v.properties"
EDGE = f"{WINDOW.format('e')}, e.confidence, e.inferred, e.method, e.evidence, e.given_to"
# The order names the index's first property too: only so does the server read it from the index, and stop at the first.
OF_THING, LAST_OF_THING = "MATCH (v:ZaxyVersion) WHERE v.thing = key", "v.thing DESC, v.valid_from DESC, v.number DESC"
OF_JOIN, LAST_OF_JOIN = "MATCH ()-[e:ZAXY_EDGE]->() WHERE e.join = key", "e.join DESC, e.valid_from DESC, e.number DESC"
NOT_VOID = "AND ({0}.valid_to IS NULL OR {0}.valid_from < {0}.valid_to)"
ALIVE, ALIVE_EDGE = NOT_VOID.format("v"), NOT_VOID.format("e")
THINGS = (
    f"UNWIND $keys AS key MATCH (t:ZaxyThing {{key: key}}) CALL (key) {{ OPTIONAL {OF_THING} AND "
    f"v.valid_from IS NOT NULL {ALIVE} RETURN v ORDER BY {LAST_OF_THING} LIMIT 1 }} RETURN key, t.name, {VERSION}"
)
JOINS = (
    f"UNWIND $keys AS key CALL (key) {{ {OF_JOIN} AND e.valid_from IS NOT NULL {ALIVE_EDGE} "
    f"RETURN e ORDER BY {LAST_OF_JOIN} LIMIT 1 }} RETURN key, {EDGE}"
)
PLACES = "UNWIND $places AS place WITH place[0] AS key, place[1] AS begins CALL (key, begins) { "
BY_THEN = f"{OF_THING} AND v.valid_from <= begins {ALIVE} RETURN v ORDER BY {LAST_OF_THING} LIMIT 1"
LATER = f"{OF_THING} AND v.valid_from > begins {ALIVE} RETURN v ORDER BY v.thing, v.valid_from"
EDGE_BY_THEN = f"{OF_JOIN} AND e.valid_from <= begins {ALIVE_EDGE} RETURN e ORDER BY {LAST_OF_JOIN} LIMIT 1"
LATER_EDGE = f"{OF_JOIN} AND e.valid_from > begins {ALIVE_EDGE} RETURN e ORDER BY e.join, e.valid_from"
VERSIONS_AROUND = f"{PLACES}{BY_THEN} UNION ALL {LATER} LIMIT 1 }} RETURN key, {VERSION}"
VERSIONS_SINCE = f"{PLACES}{BY_THEN} UNION ALL {LATER} }} RETURN key, {VERSION}"
EDGES_AROUND = f"{PLACES}{EDGE_BY_THEN} UNION ALL {LATER_EDGE} LIMIT 1 }} RETURN key, {EDGE}"
EDGES_SINCE = f"{PLACES}{EDGE_BY_THEN} UNION ALL {LATER_EDGE} }} RETURN key, {EDGE}"
VERSIONS_OF_EVENTS = (
    f"UNWIND $seqs AS seq MATCH (v:ZaxyVersion) WHERE v.space = $space AND v.opened_seq = seq RETURN v.thing, {VERSION}"
)
EDGES_OF_EVENTS = (
    "UNWIND $seqs AS seq MATCH ()-[e:ZAXY_EDGE]->() WHERE e.space = $space AND e.opened_seq = seq "
    f"RETURN e.join, {EDGE}"
)


@dataclass(slots=True, eq=False)
class Held:
    """A version in the line of its thing or edge."""

    key: str
    """Of the thing or the edge."""
    version: Version
    unwritten: list[Any] | None = None
    """The row that is to be written, until it is."""


@dataclass
class Remembered:
    """What was met of a session. It is right as long as nobody else has written, which `stamp` tells."""

    stamp: str = ""
    refs: dict[tuple[str, str], str] = field(default_factory=dict)
    """The key of a thing by its type and its name as spelled."""
    things: dict[str, str] = field(default_factory=dict)
    """The things that are there by their keys: their names as first spelled."""
    versions: dict[str, Held | None] = field(default_factory=dict)
    """The last version of a thing."""
    edges: dict[str, Held | None] = field(default_factory=dict)
    """The last version of an edge."""
    new_things: set[str] = field(default_factory=set)
    """Things that were not there before, so that of their edges none is there that is not remembered."""

    @property
    def size(self) -> int:
        return len(self.refs) + len(self.things) + len(self.edges)

    def key(self, space: str, ref: tuple[str, str]) -> str:
        key = self.refs.get(ref)
        if key is None:
            key = self.refs[ref] = thing_key(space, ref[0], folded_name(ref[1]))
        return key

    def fetch_things(self, run: Run, keys: Iterable[str]) -> None:
        missing = [key for key in dict.fromkeys(keys) if key not in self.things]
        if not missing:
            return
        for key, name, *row in run(THINGS, keys=missing):
            self.things[key] = name
            self.versions[key] = version_of(key, row) if row[0] is not None else None

    def fetch_edges(self, run: Run, joins: Iterable[tuple[str, str, str]]) -> None:
        """Of joins, each with its ends: an edge can be there only if both its ends were before."""
        missing = [join for join, *ends in joins if join not in self.edges and all(map(self._was_there, ends))]
        if missing:
            self.edges |= dict.fromkeys(missing)
            self.edges |= {key: edge_of(key, row) for key, *row in run(JOINS, keys=list(dict.fromkeys(missing)))}

    def clear(self) -> None:
        for known in (self.refs, self.things, self.versions, self.edges, self.new_things):
            known.clear()

    def _was_there(self, thing: str) -> bool:
        return thing in self.things and thing not in self.new_things


def fetch_around(run: Run, statement: str, places: Iterable[tuple[str, str]]) -> list[Held]:
    """For each line and moment: the last row that begins by then, and the first, or all, that begin later."""
    wanted = [list(place) for place in dict.fromkeys(places)]
    read = edge_of if statement in (EDGES_AROUND, EDGES_SINCE) else version_of
    return [read(key, row) for key, *row in run(statement, places=wanted)] if wanted else []


def fetch_opened(run: Run, statement: str, space: str, seqs: list[int]) -> list[Held]:
    """The rows that events opened."""
    read = edge_of if statement is EDGES_OF_EVENTS else version_of
    return [read(key, row) for key, *row in run(statement, space=space, seqs=seqs)] if seqs else []


def version_of(key: str, row: list[Any]) -> Held:
    *window, summary, properties = row
    return Held(key, _version(window, (summary, properties or "{}")))


def edge_of(key: str, row: list[Any]) -> Held:
    *window, confidence, inferred, method, evidence, given_to = row
    sure = 1.0 if confidence is None else confidence
    return Held(key, _version(window, (sure, bool(inferred), method or "", evidence or "", given_to or "")))


def _version(window: list[Any], content: tuple[object, ...]) -> Version:
    number, begins, ends, opened, closed, seqs, earlier_ends = window
    earlier = tuple(zip(seqs or (), earlier_ends or (), strict=True))
    return Version(number, begins, ends or "", opened, closed, content, earlier)
