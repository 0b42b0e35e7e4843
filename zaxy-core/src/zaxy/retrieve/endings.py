"""When what passages say ended, by the graph: what was superseded or invalidated is marked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from zaxy.api.models import AsOf, EntityRef
from zaxy.errors import ZaxyError
from zaxy.extract.names import entity_keys
from zaxy.graph.dated import DatedGraph
from zaxy.retrieve.snapshot import Snapshot
from zaxy.text.schema import Text

UNKNOWN = "which of the passages no longer hold is not known"


def ends_of(snapshot: Snapshot, texts: Sequence[Text], notices: list[str]) -> dict[int, str]:
    """The moments at which passages ceased to hold, by event; those that still hold are left out.

    Of events that the graph has not come to nobody knows. Where it cannot say, a notice does.
    """
    graph = snapshot.graph
    known = [text for text in texts if text.entity and text.seq <= snapshot.followed]
    if graph is None and texts:
        notices.append(f"{UNKNOWN}: the graph does not take part")
    elif any(text.seq > snapshot.followed for text in texts):
        notices.append(f"{UNKNOWN} of those after event {snapshot.followed}: the graph has not come further")
    if graph is None or not known:
        return {}
    now = AsOf(snapshot.moment(AsOf()), snapshot.head)
    try:
        holding = _holding(snapshot, graph, known, now)
        ends = {text.seq: _end(snapshot, graph, text) for text in known if (text.seq, text.entity) not in holding}
    except ZaxyError as error:
        notices.append(f"{UNKNOWN}: {error.message}")
        return {}
    return {seq: end for seq, end in ends.items() if end and end <= now.valid_at}


def _holding(snapshot: Snapshot, graph: DatedGraph, texts: Iterable[Text], now: AsOf) -> set[tuple[int, str]]:
    """The events, each with what it is about, whose own rows hold."""
    rows = graph.rows_of_events(snapshot.session, [text.seq for text in texts], now)
    keys = entity_keys([EntityRef(row.entity.entity_type, row.entity.name) for row in rows])
    return {(row.opened_seq, key) for row, key in zip(rows, keys, strict=True)}


def _end(snapshot: Snapshot, graph: DatedGraph, text: Text) -> str:
    """The end of the version that held when the passage was said. One that was replaced at the same moment ended then.

    An event that repeats what was known has no row of its own: that of the earlier event counts.
    """
    entity = EntityRef(*json.loads(text.entity))
    rows = graph.versions(snapshot.session, entity, AsOf(text.time, snapshot.head))
    if rows and rows[0].opened_seq <= text.seq:
        return rows[0].valid_to
    was_known = graph.versions(snapshot.session, entity, AsOf(text.time, text.seq))
    return text.time if was_known else ""
