"""Lines, for stores that keep them elsewhere than in files: made of drafts, proven, erased and verified.

A store looks up the head and the keys, calls `plan_append`, and keeps what comes back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from zaxy.api.models import Cursor, Draft, Event, NewLine, PlannedAppend
from zaxy.eventloom.drafts import entry_of
from zaxy.eventloom.places import chained_record, refused_if_malformed
from zaxy.eventloom.plan import key_conflict, repeated_keys
from zaxy.eventloom.reader import damage_explained
from zaxy.eventloom.record import Entry, Line, erased_line, make_line, same_content
from zaxy.eventloom.store import event_of_record
from zaxy.eventloom.verify import verify_lines as verify_lines


def plan_append(
    session: str,
    drafts: Sequence[Draft],
    *,
    head: Cursor | None,
    find: Callable[[str], bytes | None],
    time: str,
) -> PlannedAppend:
    """The lines of drafts behind a head. Call it where nobody else can append, and write all of `new` or nothing.

    `find` gives the session's line that has an idempotency key. A key that was used for other content is a conflict.
    """
    entries = [entry_of(draft) for draft in drafts]
    repeats = repeated_keys(entries)
    known = {at: line for at, entry in enumerate(entries) if (line := _known(session, entry, find)) is not None}
    fresh = [at for at in range(len(entries)) if at not in known and at not in repeats]
    made = dict(zip(fresh, _chained(session, [entries[at] for at in fresh], head, time), strict=True))
    by_key = {entries[at].key: line for at, line in {**known, **made}.items()}
    lines = tuple((known.get(at) or made.get(at) or by_key[entry.key]).data for at, entry in enumerate(entries))
    return PlannedAppend(tuple(_new(line) for line in made.values()), lines)


def _new(line: Line) -> NewLine:
    record = line.record
    return NewLine(line.seq, line.hash, record["type"], record.get("idempotency_key", ""), line.data)


def _known(session: str, entry: Entry, find: Callable[[str], bytes | None]) -> Line | None:
    data = find(entry.key) if entry.key else None
    if data is None:
        return None
    with damage_explained(session):
        line = Line(refused_if_malformed(chained_record(data)), data)
    if not same_content(entry, line):
        raise key_conflict(entry.key, f"in event {line.seq}")
    return line


def _chained(session: str, entries: Sequence[Entry], head: Cursor | None, time: str) -> list[Line]:
    """The lines of new events, with the marks by which a batch is known to be whole."""
    batch = os.urandom(8).hex() if len(entries) > 1 else ""
    seq, prev = (head.seq, head.hash) if head else (0, None)
    lines = []
    for index, entry in enumerate(entries):
        if batch:
            marked = {**entry.fields, "batch": {"id": batch, "index": index, "count": len(entries)}}
            entry = entry._replace(fields=marked)
        lines.append(make_line(entry, session, seq=seq + 1, prev=prev, time=time))
        seq, prev = lines[-1].seq, lines[-1].hash
    return lines


def prove_line(line: bytes, session: str) -> Event:
    """The event of a session's line, if its bytes, its digest and its hash are right; `unavailable` if not."""
    with damage_explained(session):
        return event_of_record(refused_if_malformed(chained_record(line)))


def erase_payload(line: bytes, session: str) -> bytes:
    """The same line without payload and salt. Its hash stays the same."""
    with damage_explained(session):
        return erased_line(Line(refused_if_malformed(chained_record(line)), line)).data
