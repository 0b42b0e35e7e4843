"""How a session's graph lies in its database, for everybody who wants to ask it in Cypher too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

FORMAT = 2
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WINDOW = "told STRING, valid_from STRING, valid_to STRING, opened INT64, closed INT64, hash STRING"
TABLES = (
    "CREATE NODE TABLE Place(id INT64 PRIMARY KEY, format INT64, seq INT64, hash STRING, offset INT64, fed_by STRING, "
    "versions INT64, edges INT64, open_versions INT64, open_edges INT64)",
    "CREATE NODE TABLE Name(name STRING PRIMARY KEY, types STRING[])",
    "CREATE NODE TABLE Thing(key STRING PRIMARY KEY, type STRING, name STRING, born INT64, last STRING)",
    "CREATE NODE TABLE Type(name STRING PRIMARY KEY, code INT64)",
    "CREATE NODE TABLE Version(id STRING PRIMARY KEY, number INT64, type_code INT64, type STRING, folded STRING, "
    f"name STRING, summary STRING, properties STRING, told_from STRING, {WINDOW})",
    "CREATE NODE TABLE Event(seq STRING PRIMARY KEY, things STRING[], joins STRING)",
    "CREATE REL TABLE HasVersion(FROM Thing TO Version)",
    "CREATE NODE TABLE Fact(id STRING PRIMARY KEY, relation STRING, source_type STRING, source_name STRING, "
    "target_type STRING, target_name STRING, confidence DOUBLE, inferred BOOLEAN, method STRING, evidence STRING, "
    f"told_from STRING, told_to STRING, {WINDOW})",
    "CREATE REL TABLE Edge(FROM Thing TO Thing, id INT64, relation STRING, from_us INT64, to_us INT64, opened INT64, "
    "closed INT64)",
)
"""A thing is what entities are versions of and what edges join; an edge's own versions are edges side by side.

An edge holds only what a walk needs, its window in microseconds since 1970: the engine writes all edges of a node anew
when it takes one more into its files, and its memory must hold them. What was told of it is in the fact of its id.

Keys are texts, also those that are numbers: the engine casts a number that is a parameter, and then scans the table.
But columns that are read whole are numbers, as versions' types are too: of texts that takes ten times as long.

`told` is a row as it was told, in one text: reading it back from its columns takes four times as long.

Versions are numbered from 1 on, without gaps, in the order of the events that opened them.

An open row has `closed` 0 and an empty `valid_to`. The versions of a thing, and those of an edge, never overlap, so
only the last can be open; a thing knows its last one.
"""


def microseconds(moment: str) -> int:
    """A time as a number; 0 for none."""
    if not moment:
        return 0
    return (datetime.fromisoformat(moment) - EPOCH) // timedelta(microseconds=1)


def thing_key(kind: str, name: str) -> str:
    """The key of a thing by its type and folded name; the length keeps one from running into the other."""
    return f"{len(kind)}:{kind}:{name}"
