"""How the graph lies on the server, for everybody who wants to ask it in Cypher too."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from functools import lru_cache
from hashlib import blake2b

FORMAT = 2
BEING_WIPED = 0
"""The format of a session that is being forgotten: the next one who meets it goes on with that."""
OPEN, CLOSED = "+", "-"
"""The last character of a key under which only the rows are found that have no end, or that have one."""
ENDING = ">"
"""Stands, in a question, for rows that have an end which is still to come."""

SCHEMA = {
    "zaxy_place": "CREATE CONSTRAINT zaxy_place IF NOT EXISTS FOR (p:ZaxyPlace) REQUIRE p.space IS UNIQUE",
    "zaxy_thing": "CREATE CONSTRAINT zaxy_thing IF NOT EXISTS FOR (t:ZaxyThing) REQUIRE t.key IS UNIQUE",
    "zaxy_version_by_thing": (
        "CREATE INDEX zaxy_version_by_thing IF NOT EXISTS FOR (v:ZaxyVersion) ON (v.thing, v.valid_from)"
    ),
    "zaxy_version_by_event": (
        "CREATE INDEX zaxy_version_by_event IF NOT EXISTS FOR (v:ZaxyVersion) ON (v.space, v.opened_seq)"
    ),
    "zaxy_version_by_type": (
        "CREATE INDEX zaxy_version_by_type IF NOT EXISTS FOR (v:ZaxyVersion) ON (v.kind, v.opened_seq)"
    ),
    "zaxy_version_by_end": (
        "CREATE INDEX zaxy_version_by_end IF NOT EXISTS FOR (v:ZaxyVersion) ON (v.kind, v.valid_to)"
    ),
    "zaxy_edge_by_ends": (
        "CREATE INDEX zaxy_edge_by_ends IF NOT EXISTS FOR ()-[e:ZAXY_EDGE]-() ON (e.join, e.valid_from)"
    ),
    "zaxy_edge_by_event": (
        "CREATE INDEX zaxy_edge_by_event IF NOT EXISTS FOR ()-[e:ZAXY_EDGE]-() ON (e.space, e.opened_seq)"
    ),
    "zaxy_edge_by_source": (
        "CREATE INDEX zaxy_edge_by_source IF NOT EXISTS FOR ()-[e:ZAXY_EDGE]-() ON (e.out, e.opened_seq)"
    ),
    "zaxy_edge_by_target": (
        "CREATE INDEX zaxy_edge_by_target IF NOT EXISTS FOR ()-[e:ZAXY_EDGE]-() ON (e.into, e.opened_seq)"
    ),
    "zaxy_edge_by_end_at_source": (
        "CREATE INDEX zaxy_edge_by_end_at_source IF NOT EXISTS FOR ()-[e:ZAXY_EDGE]-() ON (e.out, e.valid_to)"
    ),
    "zaxy_edge_by_end_at_target": (
        "CREATE INDEX zaxy_edge_by_end_at_target IF NOT EXISTS FOR ()-[e:ZAXY_EDGE]-() ON (e.into, e.valid_to)"
    ),
}
"""Every constraint and index by its name.

A place is where a session of a workspace stands: its cursor, how many rows it has, and the latest time at which one
begins or ends. A thing is what entities are versions of and what edges join, described or only pointed to. The versions
of a thing, and those of an edge, never overlap, so only the last can be without an end. `earlier_seqs` and
`earlier_ends` are the ends that a row had before its end moved, with the events that brought them.

Every key begins with the `space` of its workspace and session, so that no lookup can find a row of another. Keys hold
names as digests: the server refuses texts of more than 8 kB in an index.

Edges are found by index and not by walking from a node: an actor has as many as there are events.

A row without an end has no `valid_to` and no `closed_seq`; whatever is empty is left out.
"""


def for_older(statement: str) -> str:
    """A statement for servers before 5.23, in which a subquery says itself, in each of its parts, what it uses."""
    used = ""

    def say(found: re.Match[str]) -> str:
        nonlocal used
        if found["used"] is None:
            return f"{found[0]}{used}"
        used = f"WITH {found['used']} " if found["used"] else ""
        return f"CALL {{ {used}"

    return re.sub(r"CALL \((?P<used>[\w, ]*)\) \{ |UNION (ALL )?", say, statement)


def space_of(workspace: str, session: str) -> str:
    return _digest(f"{workspace}/{session}")


def name_key(space: str, name: str) -> str:
    """What the keys of all things of a name begin with, whatever their types; the name is a folded one."""
    return f"{space}{_digest(name)}"


def thing_key(space: str, kind: str, name: str) -> str:
    return f"{name_key(space, name)}{_digest(kind)}"


def join_key(space: str, source: str, target: str, relation: str) -> str:
    """The key of an edge by the keys of its ends and its relation."""
    return f"{space}{_digest(f'{source}{target}{relation}')}"


def kind_key(space: str, kind: str) -> str:
    return f"{space}{_digest(kind)}"


@lru_cache(maxsize=4096)
def _digest(text: str) -> str:
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=12).digest()).decode()
