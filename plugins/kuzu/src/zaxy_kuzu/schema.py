"""How a session's graph lies in its database, for everybody who wants to ask it in Cypher too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

FORMAT = 3
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WINDOW = "row STRING, valid_from STRING, valid_to STRING, opened INT64, closed INT64, earlier STRING, hash STRING"
TABLES = (
    "CREATE NODE TABLE Place(id INT64 PRIMARY KEY, format INT64, seq INT64, hash STRING, offset INT64, fed_by STRING, "
    "versions INT64, edges INT64, open_versions INT64, open_edges INT64, moved INT64, latest INT64)",
    "CREATE NODE TABLE Name(name STRING PRIMARY KEY, types STRING[])",
    "CREATE NODE TABLE Thing(key STRING PRIMARY KEY, type STRING, name STRING, born INT64, last STRING)",
    "CREATE NODE TABLE Type(name STRING PRIMARY KEY, code INT64)",
    "CREATE NODE TABLE Version(id STRING PRIMARY KEY, number INT64, type_code INT64, type STRING, folded STRING, "
    f"name STRING, summary STRING, properties STRING, observed_at STRING, from_us INT64, to_us INT64, {WINDOW})",
    "CREATE NODE TABLE Event(seq STRING PRIMARY KEY, versions STRING[], facts STRING[])",
    "CREATE REL TABLE HasVersion(FROM Thing TO Version)",
    "CREATE NODE TABLE Fact(id STRING PRIMARY KEY, relation STRING, source_type STRING, source_name STRING, "
    "target_type STRING, target_name STRING, confidence DOUBLE, inferred BOOLEAN, method STRING, evidence STRING, "
    f"given_from STRING, given_to STRING, {WINDOW})",
    "CREATE REL TABLE Edge(FROM Thing TO Thing, id INT64, relation STRING, from_us INT64, to_us INT64, opened INT64, "
    "closed INT64)",
)
"""A thing is what entities are versions of and what edges join; an edge's own versions are edges side by side.

An edge holds only what a walk needs, its window in microseconds since 1970: the engine writes all edges of a node again
when it takes one more into its files, and its memory must hold them. What else it says is in the fact of its id.

Keys are texts, also those that are numbers: the engine casts a number that is a parameter, and then scans the table.
But columns that are read whole are numbers, as versions' types are too: of texts that takes ten times as long.

`row` is a row in one text: reading it back from its columns takes four times as long. `given_from` and `given_to` are
what an edge's event said of its window.

Versions are numbered from 1 on, without gaps, in the order of the events that opened them.

A row without an end has `closed` 0 and an empty `valid_to`; `earlier` has the ends that it had before its end moved, as
JSON. The versions of a thing, and those of an edge, never overlap. A thing knows the last of them, those aside that
hold at no time.

A place knows how many ends have `moved`, and the `latest` time, in microseconds, at which a row begins or ends: only
before that can what holds differ from what has no end.
"""


def microseconds(moment: str) -> int:
    """A time as a number; 0 for none."""
    if not moment:
        return 0
    return (datetime.fromisoformat(moment) - EPOCH) // timedelta(microseconds=1)


def thing_key(kind: str, name: str) -> str:
    """The key of a thing by its type and folded name; the length keeps one from running into the other."""
    return f"{len(kind)}:{kind}:{name}"
