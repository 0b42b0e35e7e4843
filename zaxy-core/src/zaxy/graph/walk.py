"""The walk from things along their edges, newest first: a few statements a step, however many things there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import orjson

from zaxy.api.models import EdgeRow, EntityRef
from zaxy.api.names import folded_name
from zaxy.eventloom.disposable_database import MISSING, SealedConnection, Unsealed
from zaxy.graph.rows import Moment, checked_edges, edge_holds, edge_order, edge_row
from zaxy.graph.schema import name_key
from zaxy.graph.statements import (
    ALL_AROUND,
    EDGES,
    EXACTLY,
    NEWEST_AROUND,
    RELATIONS,
    ROUGHLY,
    THINGS,
    THINGS_BY_ID,
    parts,
    together,
)

ENDS = ("source", "target")
MIN_SHARE = 8
"""Edges that are asked of each node and relation at least, before it is known which have the newest."""

MAX_READ_WHOLE, MAX_READ_TOGETHER = 24, 400
"""Edges of a thing, and of all things of a step, that are all read, whether they hold or not: one that was edited to be
passed by is so noticed."""

Asked = dict[int, list[tuple[int, str]]]
"""For each way of asking the nodes and relations that are asked for."""
Chosen = tuple[int, int, int, int]
"""An edge: the way it was found, the place in what was asked for, its id, and the event that opened it."""


class Walk:
    """One walk through the state of the graph that a connection sees."""

    def __init__(self, db: SealedConnection, moment: Moment, *, relations: Sequence[str], limit: int) -> None:
        self._db = db
        self._moment = moment
        self._relations = list(dict.fromkeys(relations))
        self._limit = limit
        self._ways = [
            (end, index, which) for end in ENDS for index, which in parts(moment.known, moment.at, end, f"end_at_{end}")
        ]
        """The ends, the indexes and the conditions by which the edges of a node are found."""
        self._rows: dict[int, EdgeRow] = {}

    def edges(self, start: Iterable[EntityRef], depth: int) -> list[EdgeRow]:
        """The edges within a number of steps: the nearer first, then the newer."""
        outermost, reached = self._things(start), set[int]()
        for step in range(1, depth + 1):
            reached |= outermost.keys()
            found = self._step(outermost, self._limit - len(self._rows)) if outermost else []
            self._rows.update([(row[1], edge_row(row, self._moment, depth=step)) for row in found])
            if step == depth or len(self._rows) >= self._limit:  # what is farther comes later
                break
            outermost = self._counted({end for row in found for end in row[2:4]} - reached)
        return list(self._rows.values())

    def _things(self, refs: Iterable[EntityRef]) -> dict[int, int]:
        """The things that are meant, each with the number of its edges."""
        wanted = {(ref.entity_type, folded_name(ref.name)) for ref in refs}
        keys = [name_key(self._moment.session, name) for _, name in wanted]
        found = self._db.unsealed(self._db.execute(THINGS, {**self._moment.values, "keys": _json(keys)}))
        return {row[0]: row[7] for row in found if row[3:5] in wanted}

    def _counted(self, nodes: Collection[int]) -> dict[int, int]:
        """Things that edges lead to, each with the number of its edges."""
        rows = self._db.unsealed(self._db.execute(THINGS_BY_ID, {"nodes": _json(list(nodes))}))
        if len(rows) != len(nodes):
            raise Unsealed(MISSING)
        return {row[0]: row[7] for row in rows}

    def _step(self, nodes: Mapping[int, int], count: int) -> list[Any]:
        """The first `count` edges around nodes: where a node has few, of all that it has."""
        few = _with_few(nodes)
        many = [node for node in nodes if node not in few]
        found = {row[1]: row for row in self._whole(few)} if few else {}
        found.update([(row[1], row) for row in self._newest(self._asked(many), count)] if many else ())
        return sorted(found.values(), key=edge_order)[:count]

    def _whole(self, nodes: Mapping[int, int]) -> list[Any]:
        """The edges of nodes that hold and are new, chosen from all that there must be."""
        values = {**self._moment.values, "nodes": _json(list(nodes))}
        rows = checked_edges(self._db, self._db.execute(ALL_AROUND, values))
        there = Counter([row[26] for row in rows])
        if [node for node, edges in nodes.items() if there.get(node, 0) != edges]:
            raise Unsealed(MISSING)
        if self._relations:
            rows = [row for row in rows if row[10] in self._relations]
        return [row for row in rows if row[1] not in self._rows and edge_holds(row, self._moment)]

    def _asked(self, nodes: Iterable[int]) -> Asked:
        """All that may have edges: each node with the relations that are wanted, else with those that it has."""
        pairs: dict[str, list[tuple[int, str]]] = defaultdict(list)
        if self._relations:
            pairs.update((end, [(node, relation) for node in nodes for relation in self._relations]) for end in ENDS)
        else:
            query = together(f"SELECT * FROM ({RELATIONS.format(end)})" for end in ENDS)
            for end, node, relation in self._db.execute(query, {"nodes": _json(list(nodes))}):
                pairs[end].append((node, relation))
        return {way: pairs[end] for way, (end, _, _) in enumerate(self._ways) if pairs[end]}

    def _newest(self, asked: Asked, count: int) -> list[Any]:
        """The first `count` edges of all, and maybe some more.

        Each node and relation is asked for its share first; only where all of that is new enough it is asked for more.
        """
        share = min(max(MIN_SHARE, 4 * count // max(sum(map(len, asked.values())), 1)), self._limit)
        found = self._chosen(asked, share, 0, ROUGHLY)
        newer = self._newer(found, count)
        if rest := _with_more(found, asked, share, newer):
            found += self._chosen(rest, self._limit, newer, EXACTLY)
            newer = self._newer(found, count)
        ids = {row[2] for row in found if row[3] >= newer} - self._rows.keys()
        asked_for = {**self._moment.values, "ids": _json(list(ids))}
        return checked_edges(self._db, self._db.execute(EDGES, asked_for)) if ids else []

    def _newer(self, chosen: Iterable[Chosen], count: int) -> int:
        """The event that the last of the first edges is of: older ones are not among them."""
        opened = sorted({row[2]: row[3] for row in chosen if row[2] not in self._rows}.values(), reverse=True)
        return opened[count - 1] if len(opened) >= count else 0

    def _chosen(self, asked: Asked, count: int, newer: int, order: tuple[str, str]) -> list[Chosen]:
        """The first edges of each that is asked, none older than `newer`."""
        if not asked:
            return []
        query = together(NEWEST_AROUND.format(way, *self._ways[way], *order) for way in asked)
        pairs = {f"asked_{way}": _json(pairs) for way, pairs in asked.items()}
        return self._db.execute(query, {**self._moment.values, **pairs, "count": count, "newer": newer}).fetchall()


def _with_few(nodes: Mapping[int, int]) -> dict[int, int]:
    """Those of the nodes, each with the number of its edges, whose edges are all read."""
    few, room = {}, MAX_READ_TOGETHER
    for node, edges in sorted(nodes.items(), key=itemgetter(1)):
        room -= edges
        if edges > MAX_READ_WHOLE or room < 0:
            break
        few[node] = edges
    return few


def _with_more(chosen: Iterable[Chosen], asked: Asked, share: int, newer: int) -> Asked:
    """Those that gave all that was asked of them, none of it older than `newer`."""
    new_enough: dict[tuple[int, int], int] = defaultdict(int)
    for way, place, _, opened in chosen:
        new_enough[way, place] += opened >= newer
    rest: Asked = defaultdict(list)
    for (way, place), number in new_enough.items():
        if number >= share:
            rest[way].append(asked[way][place])
    return rest


def _json(values: object) -> str:
    return orjson.dumps(values).decode()
