"""What is so now of things that were found as they were before: their version of now, or what took their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zaxy.extract.names import entity_keys

if TYPE_CHECKING:
    from zaxy.api.models import AsOf, EntityRef, EntityRow
    from zaxy.graph.dated import DatedGraph

SUPERSEDES = "supersedes"
MAX_SUPERSEDED_BY = 4
"""What may have taken the place of one thing."""


def present_of(graph: DatedGraph, session: str, things: Sequence[EntityRef], *, as_of: AsOf) -> list[EntityRow | None]:
    """Of each thing the row that holds at a moment, else that of the thing which superseded it, if one did."""
    rows = graph.version_of_each(session, things, as_of)
    gone = [thing for thing, row in zip(things, rows, strict=True) if row is None]
    later = _superseding(graph, session, gone, as_of=as_of) if gone else {}
    keys = entity_keys(things)
    return [later.get(key) if row is None else row for key, row in zip(keys, rows, strict=True)]


def _superseding(
    graph: DatedGraph, session: str, gone: Sequence[EntityRef], *, as_of: AsOf
) -> dict[str, EntityRow | None]:
    """By the key of a thing that is no more: what superseded it, as it is at that moment."""
    edges = graph.neighbours(
        session, gone, relations=[SUPERSEDES], depth=1, as_of=as_of, limit=MAX_SUPERSEDED_BY * len(gone)
    )
    newest_last = sorted(edges, key=lambda row: row.opened_seq)
    rows = graph.version_of_each(session, [row.edge.source for row in newest_last], as_of) if edges else []
    return dict(zip(entity_keys([row.edge.target for row in newest_last]), rows, strict=True))
