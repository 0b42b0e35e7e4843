"""A small index of one session's log: where events begin, which keys were used, which refs were set.

It is a follower like any other: derived from the log, checked against it whenever it is used, and built again when it
is missing, stale or broken. Every 16th event's offset is kept, so it stays small.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from zaxy.eventloom.disposable_database import DisposableDatabase
from zaxy.eventloom.places import chained_record
from zaxy.eventloom.record import Damaged, NewerFormat
from zaxy.eventloom.sealed_connection import SealedConnection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zaxy.eventloom.reader import Reader

FORMAT = 5
EVERY = 16
NOT_YET_INDEXED = 256
"""Events behind the last place that are found by reading on from there, which costs less than indexing them first."""
SETS_REF = b'"type":"memory.ref.updated","v":1}'
"""How the line of an event ends that sets a ref: the names of fields are sorted."""
KEY = b'"idempotency_key":"'
SCHEMA = """
CREATE TABLE place (seq INTEGER, hash TEXT, start INTEGER);
CREATE TABLE offsets (seq INTEGER PRIMARY KEY, offset INTEGER, seal INTEGER);
CREATE TABLE keys (key TEXT PRIMARY KEY, offset INTEGER, seal INTEGER) WITHOUT ROWID;
CREATE TABLE refs (seq INTEGER PRIMARY KEY, offset INTEGER, seal INTEGER);
INSERT INTO place VALUES (0, '', 0)
"""
"""The place needs no seal: it counts only if the log has that event there."""
LAST_OFFSET = "SELECT seq, offset, seal FROM offsets ORDER BY seq DESC LIMIT 1"
OFFSETS = "SELECT seq, offset, seal FROM offsets WHERE seq IN (SELECT value FROM json_each(?))"


class LogIndex:
    def __init__(self, folder: str, session: str) -> None:
        path = os.path.join(folder, f"{session}.index")
        self._file = DisposableDatabase(path, f"the index of {session}", schema=SCHEMA, version=FORMAT)

    def catch_up(self, reader: Reader) -> None:
        """Follow the log to the reader's end."""
        if self._file.read(lambda db: self._place(db, reader)[2]) < reader.size:
            self._file.write(lambda db: self._follow(db, reader))

    def seek(self, reader: Reader, seqs: Sequence[int]) -> dict[int, tuple[int, int]]:
        """For each number an event at or before it, and the offset at which that one begins."""
        self.catch_up(reader)
        places = {seq: seq - (seq - 1) % EVERY for seq in seqs}
        _, rows = self._ask(reader, OFFSETS, json.dumps(sorted(set(places.values()))))
        known: dict[int, int] = dict(rows)
        return {seq: (place, known[place]) if place in known else (1, 0) for seq, place in places.items()}

    def places(self, seqs: Sequence[int]) -> dict[int, tuple[int, int]]:
        """What `seek` gives, as the index has it now, for numbers that are indexed or stand a little behind the last.

        Whether it speaks for the reader's file is not looked at: who reads a line there sees which event it is.
        """
        places = {seq: seq - (seq - 1) % EVERY for seq in seqs}
        known = dict(self._peek(OFFSETS, json.dumps(sorted(set(places.values())))))
        found = {seq: (place, known[place]) for seq, place in places.items() if place in known}
        if len(found) < len(places) and (last := self._peek(LAST_OFFSET)):
            near = [seq for seq in places if seq not in found and 0 < seq - last[0][0] <= NOT_YET_INDEXED]
            found.update((seq, (last[0][0], last[0][1])) for seq in near)
        return found

    def _peek(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._file.peek(lambda db: db.unsealed(db.execute(query, values)))

    def find_key(self, reader: Reader, key: str) -> tuple[int, int | None]:
        """The size up to which the index speaks for this log, and where the event of a key begins, if it is within."""
        reach, rows = self._ask(reader, "SELECT key, offset, seal FROM keys WHERE key = ?", key)
        return (reach, rows[0][1] if rows else None)

    def ref_offsets(self, reader: Reader) -> tuple[int, list[int]]:
        """The size up to which the index speaks, and where the events that set refs begin, oldest first."""
        self.catch_up(reader)
        reach, rows = self._ask(reader, "SELECT seq, offset, seal FROM refs ORDER BY seq")
        return (reach, [offset for _, offset in rows])

    def verify(self, reader: Reader) -> list[str]:
        """Where the rows are not those that the log gives. An index of another history is never asked."""
        return self._file.examine(lambda db: self._problems(db, reader))

    def _problems(self, db: SealedConnection, reader: Reader) -> list[str]:
        if db.execute("SELECT count(*) FROM place").fetchone() != (1,):
            return ["it does not say how far it has followed the log"]
        size = self._place(db, reader)[2]
        expected: dict[str, dict[object, int]] = {"offsets": {}, "keys": {}, "refs": {}}
        for seq, (start, data) in enumerate(reader.lines(0), 1):
            if start >= size:
                break
            for table, name in _rows_of(seq, data):
                expected[table].setdefault(name, start)
        found = {table: dict(db.unsealed(db.execute(f"SELECT * FROM {table}"))) for table in expected}
        return [
            f"the {table} are not those of the log" for table in expected if size and found[table] != expected[table]
        ]

    def _ask(self, reader: Reader, query: str, *values: object) -> tuple[int, list[tuple[Any, ...]]]:
        """What is indexed, each with its offset, and the size up to which that speaks for this log; nothing if it is of
        another history.

        One transaction: a process that still reads the file from before an erasure may index that one meanwhile.
        """

        def ask(db: SealedConnection) -> tuple[int, list[tuple[Any, ...]]]:
            reach = self._place(db, reader)[2]
            return (reach, db.unsealed(db.execute(query, values)) if reach else [])

        return self._file.read(ask)

    def _follow(self, db: SealedConnection, reader: Reader) -> None:
        seq, start, size = self._place(db, reader)
        if size >= reader.size:
            return  # another process has followed meanwhile
        if not size:
            self._clear(db)
        last = b""
        for start, last in reader.lines(size):
            seq += 1
            if seq % EVERY == 1 or KEY in last or last.endswith(SETS_REF):
                self._take(db, seq, start, last)
        if last:
            record = chained_record(last)
            db.execute("UPDATE place SET seq = ?, hash = ?, start = ?", (record["seq"], record["hash"], start))

    def _place(self, db: SealedConnection, reader: Reader) -> tuple[int, int, int]:
        """How far the log was followed: the last event's number, where it begins, where it ends.

        All zero if that event no longer stands there: the log was cut back, replaced, or moved by an erasure.
        """
        seq, hash_, start = db.execute("SELECT seq, hash, start FROM place").fetchone()
        data = reader.line_at(start) if seq else None
        try:
            record = chained_record(data) if data is not None else None
        except (Damaged, NewerFormat):
            record = None
        if data is None or record is None or (record["seq"], record["hash"]) != (seq, hash_):
            return (0, 0, 0)
        return (seq, start, start + len(data) + 1)  # an erasure makes a line shorter, so its end is not kept

    def _take(self, db: SealedConnection, seq: int, offset: int, data: bytes) -> None:
        row = (seq, offset, db.seal((seq, offset)))
        if seq % EVERY == 1:
            db.execute("INSERT OR REPLACE INTO offsets VALUES (?, ?, ?)", row)
        if KEY in data:
            key = chained_record(data).get("idempotency_key")
            if key is not None:
                db.execute("INSERT OR IGNORE INTO keys VALUES (?, ?, ?)", (key, offset, db.seal((key, offset))))
        if data.endswith(SETS_REF):
            db.execute("INSERT OR REPLACE INTO refs VALUES (?, ?, ?)", row)

    def _clear(self, db: SealedConnection) -> None:
        for table in ("offsets", "keys", "refs"):
            db.execute(f"DELETE FROM {table}")

    def rest(self) -> None:
        self._file.close_if_idle()

    def close(self) -> None:
        self._file.close()


def _rows_of(seq: int, data: bytes) -> Iterator[tuple[str, object]]:
    """The tables that have a row of an event, and what it is under there."""
    if seq % EVERY == 1:
        yield "offsets", seq
    if KEY in data and (key := chained_record(data).get("idempotency_key")) is not None:
        yield "keys", key
    if data.endswith(SETS_REF):
        yield "refs", seq


def lines_from(reader: Reader, seek: tuple[int, int], seq: int) -> Iterator[tuple[int, bytes]]:
    """The raw lines from event `seq` on, given an event at or before it."""
    known, offset = seek
    lines = reader.lines(offset)
    for _ in range(seq - known):
        if next(lines, None) is None:
            break
    return lines
