"""The grammar of a record: what a writer may put into its fields, by docs/eventloom.md.

A line that breaks it can have a right hash: anybody who can write the file can make one. Its place in the chain is
proven then, and nothing that it says is read. `Malformed` stands for it, so that the events around it stay readable.
"""

from __future__ import annotations

import re
from functools import lru_cache

from zaxy.eventloom.canonical import MAX_INTEGER
from zaxy.eventloom.record import is_hex
from zaxy.eventloom.refs import UPDATED, is_ref_payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SENSITIVITIES = ("public", "internal", "confidential", "restricted")
MAX_NAME_CHARS = 256
ERASED = "event.erased"
MALFORMED = "event.malformed"
"""The type of what stands for such a record. No event in a log has it."""
NO_TIME = "1970-01-01T00:00:00.000000Z"

_TYPE = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
_RANDOM = re.compile("[0-9a-f]{8}")
_MINUTE = re.compile(r"(?!0000)([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:")
_SECONDS = re.compile(r"[0-5][0-9]\.[0-9]{6}Z")
_BOTH_ENDS = re.compile(_RANDOM.pattern + _SECONDS.pattern)
_MINUTE_CHARS = len("2026-06-15T00:00:")
_FIELDS = 13
"""Fields of a record that was not erased and has none of the optional ones."""


class Malformed(dict[str, "Any"]):
    """Stands for a record that breaks the grammar: its place in the chain, and nothing of what it says."""

    reason: str


def fault_of(record: dict[str, Any]) -> str:
    """How a record of the right shape breaks the grammar; empty if it does not."""
    id_, time, type_, actor = record["id"], record["time"], record["type"], record["actor"]
    # Without optional fields but a batch: half the time of looking closely. Long texts must not be remembered.
    is_ordinary = (
        len(record) == _FIELDS + ("batch" in record)
        and (len(type_) <= MAX_NAME_CHARS and _is_ordinary_type(type_))
        and record["sensitivity"] in SENSITIVITIES
        and (len(actor) <= MAX_NAME_CHARS and _is_ordinary_name(actor))
        and id_[:-8] == f"evt_{record['seq']}_"
        and _is_minute(time[:_MINUTE_CHARS])
        and _BOTH_ENDS.fullmatch(id_[-8:] + time[_MINUTE_CHARS:])
    )
    return "" if is_ordinary else _fault_of(record)


def _fault_of(record: dict[str, Any]) -> str:
    if not is_type(record["type"]):
        return "its type is not dotted lower-case words"
    if not is_name(record["actor"]):
        return f"its actor is blank or has more than {MAX_NAME_CHARS} characters"
    if not is_time(record["time"]):
        return "its time is not a moment in UTC, such as 2026-06-15T00:00:00.000000Z"
    if record["sensitivity"] not in SENSITIVITIES:
        return f"its sensitivity is none of {', '.join(SENSITIVITIES)}"
    start = f"evt_{record['seq']}_"
    if not record["id"].startswith(start) or not _RANDOM.fullmatch(record["id"], len(start)):
        return "its id is not evt_, its number and 8 hex digits"
    if record["type"] in _SAYING and "payload" in record and not _SAYING[record["type"]](record):
        return "its payload is not what an event of its type says"
    return _optional_fault(record)


def _sets_ref(record: dict[str, Any]) -> bool:
    return is_ref_payload(record["payload"], record["thread"])


def _records_erasure(record: dict[str, Any]) -> bool:
    payload = record["payload"]
    seq = payload.get("seq")
    return (
        (type(seq) is int and 0 < seq <= MAX_INTEGER)
        and is_hex(payload.get("hash"), 64)
        and isinstance(payload.get("closings", []), list)
    )


_SAYING = {UPDATED: _sets_ref, ERASED: _records_erasure}
"""The types whose payload is a part of the format."""


def _optional_fault(record: dict[str, Any]) -> str:
    for key in ("caused_by", "idempotency_key"):
        if key in record and not is_name(record[key]):
            return f"its {key} is blank or has more than {MAX_NAME_CHARS} characters"
    return "its list of redactions is empty" if record.get("redacted") == [] else ""


def is_type(text: str) -> bool:
    return len(text) <= MAX_NAME_CHARS and _TYPE.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether a text may be an actor, a cause or an idempotency key."""
    return len(text) <= MAX_NAME_CHARS and bool(text.strip())


@lru_cache(1024)
def _is_ordinary_type(text: str) -> bool:
    return is_type(text) and text not in _SAYING


_is_ordinary_name = lru_cache(1024)(is_name)


def is_time(text: str) -> bool:
    """Whether a text is a moment as the log writes it."""
    return _SECONDS.fullmatch(text, _MINUTE_CHARS) is not None and _is_minute(text[:_MINUTE_CHARS])


@lru_cache(1024)
def _is_minute(text: str) -> bool:
    found = _MINUTE.fullmatch(text)
    return found is not None and int(found[3]) <= _days(int(found[1]), int(found[2]))


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def malformed(record: dict[str, Any], reason: str, session: str = "") -> Malformed:
    """What stands for a record whose `seq`, `prev` and `hash` are right."""
    time = record.get("time")
    stand_in = Malformed(
        v=1,
        seq=record["seq"],
        id=f"evt_{record['seq']}_{record['hash'][:8]}",
        type=MALFORMED,
        actor="zaxy",
        thread=session,
        time=time if type(time) is str and is_time(time) else NO_TIME,
        sensitivity="restricted",
        payload_digest=record["hash"],
        prev=record["prev"],
        hash=record["hash"],
    )
    stand_in.reason = reason
    return stand_in
