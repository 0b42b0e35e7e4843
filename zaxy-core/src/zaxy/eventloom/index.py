"""A small index of one session's log: where events begin, which keys were used, which refs were set.

It is a follower like any other: derived from the log, checked against it whenever it is used, and built again when it
is missing, stale or broken. Every 64th event's offset is kept, so it stays small.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from zaxy.eventloom.bulk import parse_quickly
from zaxy.eventloom.record import Damaged, NewerFormat
from zaxy.security.paths import is_own_file, own_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from zaxy.eventloom.reader import Reader

T = TypeVar("T")
FORMAT = 1
EVERY = 64
FILES = ("", "-wal", "-shm")
REF = b'"type":"memory.ref.updated"'
KEY = b'"idempotency_key":"'
SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS place (format INTEGER, seq INTEGER, hash TEXT, start INTEGER);
CREATE TABLE IF NOT EXISTS offsets (seq INTEGER PRIMARY KEY, offset INTEGER);
CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, offset INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refs (seq INTEGER PRIMARY KEY, offset INTEGER);
INSERT INTO place SELECT {FORMAT}, 0, '', 0 WHERE NOT EXISTS (SELECT 1 FROM place);
COMMIT;
"""


class LogIndex:
    def __init__(self, folder: str, session: str) -> None:
        self._path = os.path.join(folder, f"{session}.index")
        self._folder = folder
        self._db: sqlite3.Connection | None = None
        self._mutex = RLock()
        self._pid = os.getpid()

    def catch_up(self, reader: Reader) -> None:
        """Follow the log to the reader's end."""
        self._guarded(lambda db: self._follow(db, reader))

    def seek(self, reader: Reader, seq: int) -> tuple[int, int]:
        """An event at or before `seq`, and the offset at which it begins."""
        self.catch_up(reader)
        query = "SELECT seq, offset FROM offsets WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
        _, rows = self._ask(reader, query, seq)
        return rows[0] if rows else (1, 0)

    def find_key(self, reader: Reader, key: str) -> tuple[int, int | None]:
        """The size up to which the index speaks for this log, and where the event of a key begins, if it is within."""
        reach, rows = self._ask(reader, "SELECT offset FROM keys WHERE key = ?", key)
        return (reach, rows[0][0] if rows else None)

    def ref_offsets(self, reader: Reader) -> tuple[int, list[int]]:
        """The size up to which the index speaks, and where the events that set refs begin, oldest first."""
        self.catch_up(reader)
        reach, rows = self._ask(reader, "SELECT offset FROM refs ORDER BY seq")
        return (reach, [row[0] for row in rows])

    def _ask(self, reader: Reader, query: str, *values: object) -> tuple[int, list[Any]]:
        """The rows, and the size up to which they speak for this log; nothing if they are of another history.

        One transaction: a process that still reads the file from before an erasure may index that one meanwhile.
        """

        def ask(db: sqlite3.Connection) -> tuple[int, list[Any]]:
            with db:
                db.execute("BEGIN")
                reach = self._place(db, reader)[2]
                return (reach, db.execute(query, values).fetchall() if reach else [])

        return self._guarded(ask)

    def _follow(self, db: sqlite3.Connection, reader: Reader) -> None:
        if self._place(db, reader)[2] >= reader.size:
            return
        with db:
            db.execute("BEGIN IMMEDIATE")
            seq, start, size = self._place(db, reader)  # another process may have followed meanwhile
            if not size:
                self._clear(db)
            last = b""
            for start, last in reader.lines(size):
                seq += 1
                if seq % EVERY == 1 or KEY in last or REF in last:
                    self._take(db, seq, start, last)
            if last:
                record = parse_quickly(last).record
                place = (record["seq"], record["hash"], start)
                db.execute("UPDATE place SET seq = ?, hash = ?, start = ?", place)

    def _place(self, db: sqlite3.Connection, reader: Reader) -> tuple[int, int, int]:
        """How far the log was followed: the last event's number, where it begins, where it ends.

        All zero if that event no longer stands there: the log was cut back, replaced, or moved by an erasure.
        """
        seq, hash_, start = db.execute("SELECT seq, hash, start FROM place").fetchone()
        data = reader.line_at(start) if seq else None
        try:
            line = parse_quickly(data) if data is not None else None
        except (Damaged, NewerFormat):
            line = None
        if line is None or (line.seq, line.hash) != (seq, hash_):
            return (0, 0, 0)
        return (seq, start, start + len(line.data) + 1)  # an erasure makes a line shorter, so its end is not kept

    def _take(self, db: sqlite3.Connection, seq: int, offset: int, data: bytes) -> None:
        if seq % EVERY == 1:
            db.execute("INSERT OR REPLACE INTO offsets VALUES (?, ?)", (seq, offset))
        if KEY in data:
            key = parse_quickly(data).record.get("idempotency_key")
            if key is not None:
                db.execute("INSERT OR IGNORE INTO keys VALUES (?, ?)", (key, offset))
        if REF in data:
            db.execute("INSERT OR REPLACE INTO refs VALUES (?, ?)", (seq, offset))

    def _clear(self, db: sqlite3.Connection) -> None:
        for table in ("offsets", "keys", "refs"):
            db.execute(f"DELETE FROM {table}")

    def _guarded(self, use: Callable[[sqlite3.Connection], T]) -> T:
        """Use the database; a file that is not one, or of another format, is replaced by a new one.

        Threads take turns: one connection has one transaction, and closing it under another thread ends the process.
        """
        if self._pid != os.getpid():
            # A connection must not be used after a fork, nor be closed there, as it would be if it were let go of.
            self._of_parent, self._db, self._mutex, self._pid = self._db, None, RLock(), os.getpid()
        with self._mutex:
            try:
                return use(self._opened())
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                    raise
                self.remove()
                return use(self._opened())

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            own_folder(os.path.dirname(self._folder), create=True)
            own_folder(self._folder, create=True)
            if not all(is_own_file(self._path + ending) for ending in FILES):
                raise sqlite3.DatabaseError("something else stands in its place")
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(self._path, timeout=30, isolation_level=None, check_same_thread=False)
            self._db.executescript(SCHEMA)
            if self._db.execute("SELECT format FROM place").fetchone()[0] != FORMAT:
                raise sqlite3.DatabaseError("another format")
        return self._db

    def remove(self) -> None:
        self.close()
        for ending in FILES:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path + ending)

    def close(self) -> None:
        if self._pid != os.getpid():
            return  # it is the parent's
        with self._mutex:
            if self._db is not None:
                self._db.close()
            self._db = None


def lines_from(reader: Reader, seek: tuple[int, int], seq: int) -> Iterator[tuple[int, bytes]]:
    """The raw lines from event `seq` on, given an event at or before it."""
    known, offset = seek
    lines = reader.lines(offset)
    for _ in range(seq - known):
        if next(lines, None) is None:
            break
    return lines
