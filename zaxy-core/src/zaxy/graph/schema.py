"""How the graph lies in its file, and the number by which a name is looked up."""

from __future__ import annotations

import hashlib

FORMAT = 5
SCHEMA = """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL DEFAULT 0, hash TEXT, offset INTEGER, fed_by TEXT,
    entities INTEGER NOT NULL DEFAULT 0, edges INTEGER NOT NULL DEFAULT 0,
    open_entities INTEGER NOT NULL DEFAULT 0, open_edges INTEGER NOT NULL DEFAULT 0,
    open_by_type TEXT NOT NULL DEFAULT '{}', seal INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE events (
    session INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL,
    first_entity INTEGER NOT NULL, end_of_entities INTEGER NOT NULL,
    first_edge INTEGER NOT NULL, end_of_edges INTEGER NOT NULL, seal INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE TABLE things (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, key INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL,
    spelled TEXT, versions INTEGER NOT NULL, edges INTEGER NOT NULL, seal INTEGER NOT NULL
);
CREATE INDEX things_by_key ON things (key);
CREATE TABLE entities (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, thing INTEGER NOT NULL, type TEXT NOT NULL, spelled TEXT,
    summary TEXT NOT NULL, properties TEXT NOT NULL, observed_at TEXT NOT NULL,
    valid_from TEXT NOT NULL, valid_to TEXT NOT NULL, opened INTEGER NOT NULL, closed INTEGER, earlier TEXT,
    seal INTEGER NOT NULL, end_seal INTEGER NOT NULL
);
CREATE INDEX entities_by_thing ON entities (thing, valid_from);
CREATE INDEX entities_by_type ON entities (session, type, valid_to = '', opened);
CREATE INDEX entities_by_end ON entities (session, type, valid_to) WHERE valid_to <> '';
CREATE TABLE edges (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL, relation TEXT NOT NULL,
    source_spelled TEXT, target_spelled TEXT, confidence REAL NOT NULL, inferred INTEGER NOT NULL, method TEXT NOT NULL,
    evidence TEXT NOT NULL, given_to TEXT NOT NULL, given_from TEXT NOT NULL,
    valid_from TEXT NOT NULL, valid_to TEXT NOT NULL, opened INTEGER NOT NULL, closed INTEGER, earlier TEXT,
    seal INTEGER NOT NULL, end_seal INTEGER NOT NULL
);
CREATE INDEX edges_by_ends ON edges (max(source, target), min(source, target), relation, source, valid_from);
CREATE INDEX edges_by_source ON edges (source, relation, valid_to = '', opened);
CREATE INDEX edges_by_target ON edges (target, relation, valid_to = '', opened);
CREATE INDEX edges_by_end_at_source ON edges (source, valid_to) WHERE valid_to <> '';
CREATE INDEX edges_by_end_at_target ON edges (target, valid_to) WHERE valid_to <> '';
"""
"""A thing is what entities are versions of and what edges join: a type and a folded name, described or only pointed to.
Its name is as it was first spelled; a row that spells it in another way says so itself.

The rows of an event have consecutive ids, so that the event finds them without an index.

The versions of a thing, and those of an edge, never overlap: only the last that begins by a moment can hold at it, and
only the last of all can be without an end. So what holds is found without going through the others. Of a type, or
around a node, what holds now is what has no end, and the few rows whose end is still to come: an index finds those.

`earlier` has the ends that a row had before its end moved, as JSON: `[[seq, valid_to], ...]`. `given_from` and
`given_to` are what an edge's event said of its window.

Every row has a seal over what a read believes of it. Those of entities and edges cover the names of their things and
the hash of their event too, so that one seal is enough for all that is shown. Their ends have seals of their own: a row
that ends need not be read again.

A row that was edited so that a query passes it by has nobody to check its seal. So lists have sealed lengths: a thing
says how many versions and how many edges it has, and a session how many entities of each type have no end. A list that
is short is read whole, and what is missing in it is noticed.

An edge is found by its younger end first: mostly that is the event's own entity, and the index then grows at its end.
"""


def name_key(session: int, name: str) -> int:
    """A number by which a folded name is looked up: an index of texts is ten times as large, and slower to add to."""
    return int.from_bytes(hashlib.blake2b(b"%d/%b" % (session, name.encode()), digest_size=8).digest(), signed=True)
