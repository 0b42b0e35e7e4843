"""The SQL of the graph's reads. What is asked for comes in as JSON, so that many things are one statement."""

from __future__ import annotations

from collections.abc import Iterable

AFTER_ALL_EVENTS = 2**62

SESSION = (
    "SELECT id, seq, hash, offset, fed_by, entities, edges, open_entities, open_edges, open_by_type, name, seal "
    "FROM sessions WHERE name = ?"
)

# A row is chosen as it was known. An end that came later does not count; where it had moved, the one before it does.
EARLIER = (
    "(SELECT json_extract({0}.earlier, '$[' || max(key) || '][1]') FROM json_each({0}.earlier) "
    "WHERE json_extract(value, '$[0]') <= :known)"
)
KNOWN_END = f"iif({{0}}.closed > :known, ifnull({EARLIER}, ''), {{0}}.valid_to)"
HOLDS = f"{{0}}.opened <= :known AND {{0}}.valid_from <= :at AND ({KNOWN_END} = '' OR :at < {KNOWN_END})"
HELD = HOLDS.format("e")
NOT_VOID = "(valid_to = '' OR valid_from < valid_to)"

# Each has the fields of one seal, that seal, the fields of the seal of its end, and that one.
ENTITY = (
    "SELECT {0}, r.id, r.thing, t.name, coalesce(r.spelled, t.spelled, t.name), r.type, r.summary, r.properties, "
    "r.observed_at, r.valid_from, r.opened, {1}, r.seal, r.id, r.valid_to, r.closed, r.earlier, r.end_seal"
)
EDGE = (
    "SELECT {0}, r.id, r.source, r.target, s.type, s.name, coalesce(r.source_spelled, s.spelled, s.name), t.type, "
    "t.name, coalesce(r.target_spelled, t.spelled, t.name), r.relation, r.confidence, r.inferred, r.method, "
    "r.evidence, r.given_from, r.given_to, r.valid_from, r.opened, {1}, r.seal, r.id, r.valid_to, r.closed, r.earlier, "
    "r.end_seal"
)
READ_ENTITY, READ_EDGE = (row.format("v.session", "v.hash") for row in (ENTITY, EDGE))
EVENT = "v.session, v.seq, v.hash, v.first_entity, v.end_of_entities, v.first_edge, v.end_of_edges, v.seal"
THING = "t.id, t.session, t.key, t.type, t.name, t.spelled, t.versions, t.edges, t.seal"
OPENED_BY = "LEFT JOIN events AS v ON v.session = :session AND v.seq = r.opened"
"""Where the event or the thing of a row is gone the row is fetched all the same, and does not hold its seal."""

# The key is of one session, so that the session needs no condition, which would pass by what was edited.
THINGS = f"SELECT {THING} FROM json_each(:keys) CROSS JOIN things AS t ON t.key = json_each.value"
THINGS_BY_ID = f"SELECT {THING} FROM json_each(:nodes) CROSS JOIN things AS t ON t.id = json_each.value"

MAX_VERSIONS = 16
"""Of a thing, that are all read, whether they hold or not: one that was edited to be passed by is so noticed."""
# With all that is known only the last version that begins by a moment can hold at it. Of what was known earlier it may
# be one before that, so that one is looked for among them.
LAST_BY = "SELECT id FROM entities AS e WHERE thing = t.id AND {} ORDER BY valid_from DESC, id DESC LIMIT 1"
LAST_VERSIONS = f"SELECT id FROM entities WHERE thing = t.id ORDER BY valid_from DESC LIMIT {MAX_VERSIONS}"
NAMED = (
    f"{READ_ENTITY}, {THING} FROM json_each(:keys) CROSS JOIN things AS t ON t.key = json_each.value "
    f"LEFT JOIN entities AS r ON r.id IN (SELECT * FROM ({LAST_VERSIONS}) UNION SELECT * FROM ({LAST_BY})) {OPENED_BY}"
)
NAMED_NOW, NAMED_THEN = NAMED.format(f"valid_from <= :at AND {NOT_VOID}"), NAMED.format(HELD)
OF_EVENTS = (
    f"{READ_ENTITY}, {EVENT}, {THING} FROM json_each(:seqs) "
    "CROSS JOIN events AS v ON v.session = :session AND v.seq = json_each.value "
    "LEFT JOIN entities AS r ON r.id >= v.first_entity AND r.id < v.end_of_entities "
    "LEFT JOIN things AS t ON t.id = r.thing"
)
OF_TYPES = (
    f"{READ_ENTITY} FROM json_each(:types) CROSS JOIN entities AS r ON r.id IN ("
    "SELECT e.id FROM entities AS e INDEXED BY {} LEFT JOIN things AS t ON t.id = e.thing "
    "WHERE e.session = :session AND e.type = json_each.value AND {} "
    f"ORDER BY e.opened DESC, t.name LIMIT :limit) LEFT JOIN things AS t ON t.id = r.thing {OPENED_BY}"
)
WITHOUT_END, WITH_END = "(e.valid_to = '') = 1", "(e.valid_to = '') = 0"
ENDS_OF_TYPES = (
    "SELECT r.id, r.valid_to, r.closed, r.earlier, r.end_seal FROM json_each(:types) CROSS JOIN entities AS r "
    "ON r.id IN (SELECT e.id FROM entities AS e INDEXED BY entities_by_type WHERE e.session = :session "
    f"AND e.type = json_each.value AND {WITH_END} AND e.opened >= :newer ORDER BY e.opened DESC LIMIT :limit)"
)
TO_END = "e.valid_to <> '' AND e.valid_to > :at"
"""With all that is known, of the rows with an end only those hold whose end is still to come."""

# The relations of nodes' edges, each found by a step in the index.
NEXT_RELATION = (
    "SELECT relation FROM edges INDEXED BY edges_by_{0} WHERE {0} = {1} AND relation > {2} ORDER BY relation LIMIT 1"
)
RELATIONS = (
    "WITH RECURSIVE subquery_{0}(node, relation) AS ("
    f"SELECT value, ({NEXT_RELATION.format('{0}', 'value', repr(''))}) FROM json_each(:nodes) UNION ALL "
    f"SELECT node, ({NEXT_RELATION.format('{0}', 'node', 'subquery_{0}.relation')}) FROM subquery_{{0}} "
    "WHERE subquery_{0}.relation IS NOT NULL) SELECT '{0}', node, relation FROM subquery_{0} WHERE relation IS NOT NULL"
)
NEWEST_AROUND = (
    "SELECT {0}, json_each.key, r.id, r.opened FROM json_each(:asked_{0}) CROSS JOIN edges AS r ON r.id IN ("
    "SELECT e.id FROM edges AS e INDEXED BY edges_by_{2} {4} WHERE e.{1} = json_extract(json_each.value, '$[0]') "
    f"AND e.relation = json_extract(json_each.value, '$[1]') AND {{3}} AND e.opened >= :newer AND {HELD} "
    "ORDER BY e.opened DESC{5} LIMIT :count)"
)
ROUGHLY = ("", "")
EXACTLY = (
    "CROSS JOIN things AS s ON s.id = e.source CROSS JOIN things AS t ON t.id = e.target",
    ", s.type, s.name, t.type, t.name",
)
"""The order of edges that one event opened costs two look-ups for each, and matters only at the end of what is asked
for."""
ALL_AROUND = (
    f"{READ_EDGE}, json_each.value FROM json_each(:nodes) CROSS JOIN edges AS r ON r.id IN ("
    "SELECT id FROM edges WHERE source = json_each.value UNION SELECT id FROM edges WHERE target = json_each.value) "
    f"LEFT JOIN things AS s ON s.id = r.source LEFT JOIN things AS t ON t.id = r.target {OPENED_BY}"
)
EDGES = (
    f"{READ_EDGE} FROM json_each(:ids) CROSS JOIN edges AS r ON r.id = json_each.value "
    f"LEFT JOIN things AS s ON s.id = r.source LEFT JOIN things AS t ON t.id = r.target {OPENED_BY}"
)

ALL_ENTITIES = (
    "SELECT e.opened, v.hash, t.name, coalesce(e.spelled, t.spelled, t.name), e.type, e.summary, e.properties, "
    "e.observed_at, e.valid_from, e.valid_to, e.closed, e.earlier FROM events AS v "
    "CROSS JOIN entities AS e ON e.id >= v.first_entity AND e.id < v.end_of_entities "
    "CROSS JOIN things AS t ON t.id = e.thing WHERE v.session = ? ORDER BY v.seq"
)
ALL_EDGES = (
    "SELECT e.opened, v.hash, s.type, s.name, coalesce(e.source_spelled, s.spelled, s.name), t.type, t.name, "
    "coalesce(e.target_spelled, t.spelled, t.name), e.relation, e.confidence, e.inferred, e.method, e.evidence, "
    "e.given_from, e.given_to, e.valid_from, e.valid_to, e.closed, e.earlier FROM events AS v "
    "CROSS JOIN edges AS e ON e.id >= v.first_edge AND e.id < v.end_of_edges "
    "CROSS JOIN things AS s ON s.id = e.source CROSS JOIN things AS t ON t.id = e.target "
    "WHERE v.session = ? ORDER BY v.seq"
)


def parts(known: int, at: str, newest: str, ending: str) -> list[tuple[str, str]]:
    """Where the rows are that can hold at the moment, as an index and a condition.

    With all that is known, rows without an end and those whose end is still to come; else any.
    """
    if known != AFTER_ALL_EVENTS:
        return [(newest, WITHOUT_END), (newest, WITH_END)]
    return [(newest, WITHOUT_END), (ending, TO_END)] if at else [(newest, WITHOUT_END)]


def together(selects: Iterable[str]) -> str:
    return " UNION ALL ".join(selects)
