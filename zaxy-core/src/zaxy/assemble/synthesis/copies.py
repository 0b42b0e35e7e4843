"""Records that may be one and the same, though each of them counts."""

from __future__ import annotations

from collections.abc import Sequence

from zaxy.api.models import JsonObject
from zaxy.assemble.synthesis.ledger import TALK_TYPES, LedgerEntry
from zaxy.assemble.synthesis.values import DAY_FROM_FIELD, TIMES
from zaxy.extract.times import utc_text

ONE_ID = "several rows have one id, and may be one thing"
ONE_MOMENT = "several rows say the same of one moment, and differ only in where they come from"
PROVENANCE = frozenset("id uid source via channel origin note notes comment recorded_by imported_from".split())
"""Fields that say where a record comes from, and not what happened."""


def may_be_one(entries: Sequence[LedgerEntry]) -> str:
    """Why some of the records that count may be one and the same; empty if none may be."""
    ids: set[tuple[str, str]] = set()
    said: dict[tuple[str, str], list[JsonObject]] = {}
    for entry in entries:
        event, payload = entry.found.event, entry.found.event.payload or {}
        if event.type in TALK_TYPES or entry.when.source != DAY_FROM_FIELD:
            continue
        own = (event.type, str(payload["id"])) if payload.get("id") else None
        if own is not None and own in ids:
            return ONE_ID
        ids |= {own} if own else set()
        others = said.setdefault((event.type, entry.when.time), [])
        facts = {name: value for name, value in payload.items() if name not in PROVENANCE}
        if facts in others:
            return ONE_MOMENT
        others.append(facts)
    return ""


def repeats_a_day(entry: LedgerEntry) -> bool:
    """Whether the fields of a row name its day and no time of the day: two of one day may be two."""
    payload = entry.found.event.payload or {}
    dated = next((value for field in TIMES if isinstance(value := payload.get(field), str) and utc_text(value)), "")
    return 0 < len(dated) <= 10
