"""What a writer knows of a session's graph: fetched when a batch touches it, and kept while nobody else has written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from zaxy.api import folded_name
from zaxy_neo4j.schema import thing_key

Run = Callable[..., list[list[Any]]]
"""Runs a statement with values in the transaction of the batch."""

VERSION = "v.number, v.valid_from, v.valid_to, v.opened_seq, v.summary, v.properties"
EDGE = "e.number, e.valid_from, e.valid_to, e.opened_seq, e.confidence, e.inferred, e.method, e.evidence, e.told_to"
# The order names the index's first property too: only so does the server read it from the index, and stop at the first.
OF_THING, LAST_OF_THING = "MATCH (v:ZaxyVersion) WHERE v.thing = key", "v.thing DESC, v.valid_from DESC, v.number DESC"
OF_JOIN, LAST_OF_JOIN = "MATCH ()-[e:ZAXY_EDGE]->() WHERE e.join = key", "e.join DESC, e.valid_from DESC, e.number DESC"
THINGS = (
    f"UNWIND $keys AS key MATCH (t:ZaxyThing {{key: key}}) CALL (key) {{ OPTIONAL {OF_THING} AND "
    f"v.valid_from IS NOT NULL RETURN v ORDER BY {LAST_OF_THING} LIMIT 1 }} RETURN key, t.name, {VERSION}"
)
JOINS = (
    f"UNWIND $keys AS key CALL (key) {{ {OF_JOIN} AND e.valid_from IS NOT NULL "
    f"RETURN e ORDER BY {LAST_OF_JOIN} LIMIT 1 }} RETURN key, {EDGE}"
)
VERSIONS_AROUND = (
    "UNWIND $places AS place WITH place[0] AS key, place[1] AS begins CALL (key, begins) { "
    f"{OF_THING} AND v.valid_from <= begins RETURN v ORDER BY {LAST_OF_THING} LIMIT 1 UNION ALL "
    f"{OF_THING} AND v.valid_from > begins RETURN v ORDER BY v.thing, v.valid_from LIMIT 1 }} RETURN key, {VERSION}"
)
EDGES_AROUND = (
    "UNWIND $places AS place WITH place[0] AS key, place[1] AS begins CALL (key, begins) { "
    f"{OF_JOIN} AND e.valid_from <= begins RETURN e ORDER BY {LAST_OF_JOIN} LIMIT 1 UNION ALL "
    f"{OF_JOIN} AND e.valid_from > begins RETURN e ORDER BY e.join, e.valid_from LIMIT 1 }} RETURN key, {EDGE}"
)
VERSIONS_OF_EVENTS = (
    "UNWIND $seqs AS seq MATCH (v:ZaxyVersion) WHERE v.space = $space AND v.opened_seq = seq AND v.valid_to IS NULL "
    f"RETURN v.thing, {VERSION}"
)
EDGES_OF_EVENTS = (
    "UNWIND $seqs AS seq MATCH ()-[e:ZAXY_EDGE]->() WHERE e.space = $space AND e.opened_seq = seq AND "
    f"e.valid_to IS NULL RETURN e.join, {EDGE}"
)


@dataclass(slots=True, eq=False)
class Held:
    """A row as far as the rules need it: its place in the line of its thing or edge, and its content."""

    key: str
    """Of the thing or the edge."""
    number: int
    begins: str
    ends: str
    opened: int
    content: tuple[object, ...]
    unwritten: list[Any] | None = None
    """The row that is to be written, until it is."""


@dataclass
class Memory:
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
    untold: set[str] = field(default_factory=set)
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

    def fetch_opened_versions(self, run: Run, space: str, seqs: list[int]) -> list[Held]:
        """The open rows of events: each is the last of its line, since no other can be open."""
        found = run(VERSIONS_OF_EVENTS, space=space, seqs=seqs) if seqs else []
        return [_kept(self.versions, version_of(key, row)) for key, *row in found]

    def fetch_opened_edges(self, run: Run, space: str, seqs: list[int]) -> list[Held]:
        found = run(EDGES_OF_EVENTS, space=space, seqs=seqs) if seqs else []
        return [_kept(self.edges, edge_of(key, row)) for key, *row in found]

    def _was_there(self, thing: str) -> bool:
        return thing in self.things and thing not in self.untold


def versions_around(run: Run, places: Iterable[tuple[str, str]]) -> list[Held]:
    """For each thing and moment: the last version that begins by then, and the first that begins later."""
    wanted = [list(place) for place in dict.fromkeys(places)]
    return [version_of(key, row) for key, *row in run(VERSIONS_AROUND, places=wanted)] if wanted else []


def edges_around(run: Run, places: Iterable[tuple[str, str]]) -> list[Held]:
    wanted = [list(place) for place in dict.fromkeys(places)]
    return [edge_of(key, row) for key, *row in run(EDGES_AROUND, places=wanted)] if wanted else []


def version_of(key: str, row: list[Any]) -> Held:
    number, begins, ends, opened, summary, properties = row
    return Held(key, number, begins, ends or "", opened, (summary, properties or "{}"))


def edge_of(key: str, row: list[Any]) -> Held:
    number, begins, ends, opened, confidence, inferred, method, evidence, told_to = row
    sure = 1.0 if confidence is None else confidence
    return Held(
        key, number, begins, ends or "", opened, (sure, bool(inferred), method or "", evidence or "", told_to or "")
    )


def _kept(rows: dict[str, Held | None], fetched: Held) -> Held:
    """The row that is remembered already, or else the fetched one."""
    known = rows.get(fetched.key)
    if known is None:
        known = rows[fetched.key] = fetched
    return known
