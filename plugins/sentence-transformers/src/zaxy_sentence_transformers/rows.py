"""What the lane keeps of one session: for each event its windows, and the vector of each text.

No text is kept, only keys of texts, which say nothing without the user's secret. Vectors are committed as they come,
before the rows that use them: a process that ends in the middle leaves what is not made a second time.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import blake2b, sha256
from pathlib import Path
from typing import NamedTuple

from zaxy.api import Cursor
from zaxy_sentence_transformers.database import PrivateDatabase

SCHEMA = """
CREATE TABLE place (
  only INTEGER PRIMARY KEY CHECK (only = 1), run BLOB NOT NULL, model TEXT NOT NULL,
  seq INTEGER NOT NULL, hash TEXT NOT NULL, "offset" INTEGER NOT NULL, fed_by TEXT NOT NULL
);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);
CREATE TABLE windows (
  seq INTEGER NOT NULL, number INTEGER NOT NULL, vector INTEGER NOT NULL REFERENCES vectors (id),
  PRIMARY KEY (seq, number)
) WITHOUT ROWID
"""
MANY = 500
"""Keys that are looked up in one statement."""


class Window(NamedTuple):
    """A part of what an event says, as long as the model can take."""

    seq: int
    number: int
    key: bytes


class Place(NamedTuple):
    """How far a session was read, with which model, in which run through its log."""

    run: bytes
    model: str
    cursor: Cursor | None


class SessionRows:
    def __init__(self, folder: Path, session: str, warn: Callable[[str], None]) -> None:
        # Not the session's own name: two names that differ in case are one file on some disks.
        name = blake2b(session.encode(), digest_size=16).hexdigest()
        self._database = PrivateDatabase(
            folder / f"{name}.db", f"the sentence vectors of {session}", schema=SCHEMA, warn=warn
        )

    def place(self) -> Place | None:
        """None where nothing was begun. Its cursor is None before the first batch is whole."""
        if not self._database.is_there:
            return None
        with self._database.reading() as db:
            return _place(db)

    def begin(self, model: str) -> None:
        """Forget all that is there, and begin with a model."""
        with self._database.transaction() as db:
            _clear(db)
            db.execute("INSERT INTO place VALUES (1, ?, ?, 0, '', 0, '')", (os.urandom(16), model))

    def missing(self, keys: Collection[bytes]) -> set[bytes]:
        """The keys of which no vector is here yet."""
        wanted: list[bytes] = list(keys)
        found: set[bytes] = set()
        with self._database.reading() as db:
            for at in range(0, len(wanted), MANY):
                some = wanted[at : at + MANY]
                marks = ",".join("?" * len(some))
                found.update(key for (key,) in db.execute(f"SELECT key FROM vectors WHERE key IN ({marks})", some))
        return set(wanted) - found

    def add_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        with self._database.transaction() as db:
            db.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", vectors.items())

    def commit(self, windows: Iterable[Window], cursor: Cursor) -> None:
        """Add the windows of a batch and the cursor after it; windows up to the cursor that is there are left out."""
        with self._database.transaction() as db:
            place = _place(db)
            seq = place.cursor.seq if place and place.cursor else 0
            if cursor.seq <= seq:
                return
            db.executemany(
                "INSERT INTO windows SELECT ?, ?, id FROM vectors WHERE key = ?",
                [window for window in windows if window.seq > seq],
            )
            values = (cursor.seq, cursor.hash, cursor.offset, cursor.fed_by)
            db.execute('UPDATE place SET seq = ?, hash = ?, "offset" = ?, fed_by = ?', values)

    def after(self, seq: int, run: bytes) -> list[tuple[int, bytes]] | None:
        """Events after a seq with the vectors of their windows; None if another run through the log has begun."""
        with self._database.reading() as db:
            place = _place(db)
            if place is None or place.run != run:
                return None
            return db.execute(
                "SELECT seq, vectors.vector FROM windows JOIN vectors ON id = windows.vector WHERE seq > ? "
                "ORDER BY seq, number",
                (seq,),
            ).fetchall()

    def digest(self) -> str:
        """A hash over which texts stand where, and for which model.

        Not over the vectors: their last bits depend on which texts the model took together.
        """
        whole = sha256()
        if self._database.is_there:
            with self._database.reading() as db:
                place = _place(db)
                if place and place.cursor:
                    whole.update(place.model.encode())
                for seq, number, key in _windows(db):
                    whole.update(b"%d %d %b\n" % (seq, number, key))
        return whole.hexdigest()

    def wipe(self) -> None:
        if self._database.is_there:
            with self._database.transaction() as db:
                _clear(db)

    def scrub(self, seconds: float) -> bool:
        return self._database.scrub(seconds)

    def close(self) -> None:
        self._database.close()


def _place(db: sqlite3.Connection) -> Place | None:
    row = db.execute('SELECT run, model, seq, hash, "offset", fed_by FROM place').fetchone()
    if row is None:
        return None
    run, model, seq, *rest = row
    return Place(run, model, Cursor(seq, *rest) if seq else None)


def _windows(db: sqlite3.Connection) -> Iterator[tuple[int, int, bytes]]:
    return db.execute(
        "SELECT seq, number, vectors.key FROM windows JOIN vectors ON id = windows.vector ORDER BY seq, number"
    )


def _clear(db: sqlite3.Connection) -> None:
    for table in ("windows", "vectors", "place"):
        db.execute(f"DELETE FROM {table}")
