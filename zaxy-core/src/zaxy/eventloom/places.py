"""The record at a place of a log: proven by itself, and to stand where it is looked for."""

from __future__ import annotations

from typing import Any

from zaxy.eventloom.bulk import prove
from zaxy.eventloom.grammar import Malformed, fault_of, malformed
from zaxy.eventloom.record import Damaged

UNKNOWN = ""
"""In place of the hash of the event before: the chain is not checked there."""


def record_at(data: bytes, session: str, *, seq: int, before: str | None = UNKNOWN) -> dict[str, Any]:
    """The record of the line that must be event `seq`, behind the event with the hash `before` (None: the first).

    A record that breaks the grammar, and still has its place in the chain, comes back as `Malformed`.
    """
    record = chained_record(data)
    if record["seq"] != seq:
        raise Damaged(f"it has the number {record['seq']}")
    if before != UNKNOWN and record["prev"] != before:
        raise Damaged("it does not continue the event before it")
    if type(record) is Malformed:
        record["thread"] = session
    elif record["thread"] != session:
        return malformed(record, f"it belongs to the session {record['thread']!r:.80}", session)
    return record


def chained_record(data: bytes) -> dict[str, Any]:
    """The record of a line that has a place in some chain; `Malformed` if it breaks the grammar."""
    try:
        record = prove(data)
        reason = fault_of(record)
    except Damaged as error:
        if error.record is None:
            raise
        record, reason = error.record, str(error)
    return malformed(record, reason) if reason else record


def refused_if_malformed(record: dict[str, Any]) -> dict[str, Any]:
    """The record, for those who need what it says."""
    if type(record) is Malformed:
        raise Damaged(record.reason)
    return record
