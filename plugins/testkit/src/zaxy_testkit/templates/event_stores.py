"""Keeps the log in a SQLite database, which several servers of one machine may share.

What is kept is lines, as `plan_append` makes them. So this store decides nothing about an event: it looks up the head
and the keys, writes in one transaction, and finds lines again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from zaxy.api import Conflict, Cursor, Draft, NewLine, NotFound, ProviderContext, erase_payload, plan_append, prove_line

# EXTRA, not FULL: without a sync of the folder a power loss can bring back the journal, which undoes the last commit.
SCHEMA = """
PRAGMA synchronous = EXTRA;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS lines (
    session TEXT, seq INTEGER, hash TEXT, type TEXT, key TEXT, line BLOB, PRIMARY KEY (session, seq)
);
CREATE UNIQUE INDEX IF NOT EXISTS by_key ON lines (session, key) WHERE key <> '';
CREATE INDEX IF NOT EXISTS refs ON lines (session, seq) WHERE type = 'memory.ref.updated';
"""
CHECK_EVERY = 0.2


class StoreLog:
    """A session's log up to the head that it had when this was made: nothing before a head ever moves."""

    def __init__(self, store: Store, session: str) -> None:
        self._store = store
        self._session = session
        self.head = store.head(session)

    def lines(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        found = {seq: self._store.line(self._session, seq) for seq in seqs if seq <= self._end}
        return {seq: line for seq, line in found.items() if line is not None}

    def lines_after(self, seq: int, limit: int) -> Sequence[bytes]:
        last = min(seq + limit, self._end)
        return self._store.found("seq > ? AND seq <= ? ORDER BY seq", self._session, seq, last)

    @property
    def _end(self) -> int:
        return self.head.seq if self.head else 0

    def close(self) -> None:
        pass  # it holds nothing of its own


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
        return [name for (name,) in self._db.execute("SELECT DISTINCT session FROM lines ORDER BY session")]

    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        with self._db as db:
            db.execute("BEGIN IMMEDIATE")
            return self._append(session, drafts)

    def _append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        now = self._clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        head = self.head(session)
        plan = plan_append(session, drafts, head=head, find=lambda key: self.by_key(session, key), time=now)
        for new in plan.new:
            self._keep(session, new)
        return plan.lines

    def _keep(self, session: str, new: NewLine) -> None:
        row = (session, new.seq, new.hash, new.type, new.key, new.line)
        self._db.execute("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?)", row)

    def open(self, session: str) -> StoreLog:
        return StoreLog(self, session)

    def head(self, session: str) -> Cursor | None:
        last = "SELECT seq, hash, seq FROM lines WHERE session = ? ORDER BY seq DESC LIMIT 1"
        found = self._db.execute(last, (session,)).fetchone()
        return Cursor(*found) if found else None

    def line(self, session: str, seq: int) -> bytes | None:
        return next(iter(self.found("seq = ?", session, seq)), None)

    def by_key(self, session: str, key: str) -> bytes | None:
        return next(iter(self.found("key = ? AND key <> ''", session, key)), None)

    def refs(self, session: str) -> Sequence[bytes]:
        return self.found("type = 'memory.ref.updated' ORDER BY seq", session)

    def found(self, which: str, session: str, *values: Any) -> list[bytes]:
        rows = self._db.execute(f"SELECT line FROM lines WHERE session = ? AND {which}", (session, *values))
        return [line for (line,) in rows]

    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        with self._db as db:
            db.execute("BEGIN IMMEDIATE")
            line = self.line(session, seq)
            if line is None:
                raise NotFound(f"{session} has no event {seq}", "Look the event up before erasing it.")
            event = prove_line(line, session)
            if event.payload is None or event.hash != record.payload.get("hash"):
                raise Conflict(f"event {seq} of {session} is another one, or erased already", "Look it up again.")
            erased = erase_payload(line, session)
            db.execute("UPDATE lines SET line = ? WHERE session = ? AND seq = ?", (erased, session, seq))
            (recorded,) = self._append(session, [record])
        self._db.execute("VACUUM")  # pages that were split before may still hold pieces of it
        return recorded

    def wait(self, session: str, after: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while (head := self.head(session)) is None or head.seq <= after:
            if time.monotonic() >= deadline:
                return False
            time.sleep(CHECK_EVERY)
        return True

    def close(self) -> None:
        self._db.close()
