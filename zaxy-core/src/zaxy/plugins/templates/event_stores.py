"""Keeps the log in a SQLite database, which several servers of one machine may share.

An event's hash covers its record, and the record holds a salted digest of the payload, not the payload itself: so a
payload can be erased, salt included, and every hash stays what it was.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from zaxy.api import Conflict, Cursor, Draft, Event, InvalidRequest, NotFound, Page, ProviderContext

# EXTRA, not FULL: without a sync of the folder a power loss can bring back the journal, which undoes the last commit.
SCHEMA = """
PRAGMA synchronous = EXTRA;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS events (
    session TEXT, seq INTEGER, key TEXT, hash TEXT, record TEXT, salt TEXT, payload TEXT, PRIMARY KEY (session, seq)
);
CREATE UNIQUE INDEX IF NOT EXISTS by_key ON events (session, key) WHERE key <> '';
"""


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def payload_text(draft: Draft) -> str:
    try:
        text = canonical(dict(draft.payload))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the payload of {draft.type} is not JSON: {error}", "Send JSON.") from None
    return text


class Store:
    def __init__(self, context: ProviderContext) -> None:
        self._path = context.state_dir / "events.db"
        self._clock = context.clock

    @cached_property
    def _db(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        db.executescript(SCHEMA)
        return db

    def sessions(self) -> Sequence[str]:
        return [name for (name,) in self._db.execute("SELECT DISTINCT session FROM events ORDER BY session")]

    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[Event]:
        with self._db as db:
            db.execute("BEGIN IMMEDIATE")
            return [self._first(session, draft) or self._append(session, draft) for draft in drafts]

    def _first(self, session: str, draft: Draft) -> Event | None:
        """The event that was appended under the draft's key before; once erased, its content cannot be compared."""
        found = self._events("session = ? AND key = ?", session, draft.idempotency_key) if draft.idempotency_key else []
        for first in found:
            before = (first.type, first.actor, first.sensitivity, first.caused_by, canonical(first.payload))
            now = (draft.type, draft.actor, draft.sensitivity, draft.caused_by, payload_text(draft))
            if first.payload is not None and before != now:
                message = f"the key {draft.idempotency_key!r} was used for other content, in {first.citation}"
                raise Conflict(message, "Send a new key with new content.")
            return first
        return None

    def _append(self, session: str, draft: Draft) -> Event:
        head = self.head(session)
        seq, salt, payload = head.seq + 1 if head else 1, secrets.token_hex(16), payload_text(draft)
        record = canonical(
            {
                "session": session,
                "seq": seq,
                "id": f"evt_{seq}_{secrets.token_hex(4)}",
                "type": draft.type,
                "actor": draft.actor,
                "time": self._clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "sensitivity": draft.sensitivity,
                "caused_by": draft.caused_by,
                "idempotency_key": draft.idempotency_key,
                "payload_digest": sha256(salt + payload),
                "prev": head.hash if head else None,
            }
        )
        row = (session, seq, draft.idempotency_key, sha256(record), record, salt, payload)
        self._db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return self._events("session = ? AND seq = ?", session, seq)[0]

    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        place = after.seq if after else 0
        known = self.get(session, place) if after else None
        if after and (known is None or known.hash != after.hash):
            message = f"{session} has no event {place} with the hash {after.hash[:12]}: its log is another one"
            raise Conflict(message, "Read it from the start.")
        events = self._events("session = ? AND seq > ? ORDER BY seq LIMIT ?", session, place, limit)
        return Page(tuple(events), Cursor(events[-1].seq, events[-1].hash, events[-1].seq) if events else after)

    def get(self, session: str, seq: int) -> Event | None:
        return next(iter(self._events("session = ? AND seq = ?", session, seq)), None)

    def head(self, session: str) -> Cursor | None:
        last = "SELECT seq, hash, seq FROM events WHERE session = ? ORDER BY seq DESC LIMIT 1"
        found = self._db.execute(last, (session,)).fetchone()
        return Cursor(*found) if found else None

    def _events(self, which: str, *values: Any) -> list[Event]:
        events = []
        for hash_, record, payload in self._db.execute(
            f"SELECT hash, record, payload FROM events WHERE {which}", values
        ):
            fields = json.loads(record)
            del fields["payload_digest"]
            events.append(Event(**fields, hash=hash_, payload=json.loads(payload) if payload else None))
        return events

    def erase(self, session: str, seq: int, actor: str, reason: str) -> Event:
        with self._db as db:
            db.execute("BEGIN IMMEDIATE")
            event = self.get(session, seq)
            if event is None:
                raise NotFound(f"{session} has no event {seq}", "Look the event up before erasing it.")
            db.execute("UPDATE events SET payload = NULL, salt = NULL WHERE session = ? AND seq = ?", (session, seq))
            erased = {"seq": seq, "hash": event.hash, "reason": reason}
            recorded = self._append(session, Draft("event.erased", actor, erased))
        self._db.execute("VACUUM")  # pages that were split before may still hold pieces of it
        return recorded

    def close(self) -> None:
        self._db.close()
