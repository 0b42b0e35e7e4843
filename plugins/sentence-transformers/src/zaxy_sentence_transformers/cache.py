"""Vectors by their texts' keys, for all sessions and processes of a user: no text is given to the model twice.

The cache knows which session uses which key. A session that is read again from its start begins a new round; once it
has come as far as it was before, what it did not use in this round leaves the cache, unless another session uses it.
So what was erased from a log is erased here too, whatever becomes of the files beside that log.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path

from zaxy.api import Unavailable, atomic_file, open_named_file
from zaxy_sentence_transformers.database import SCRUB_SECONDS, PrivateDatabase

FILE, SECRET_FILE = "vectors.db", "secret"
SECRET_BYTES = 32
KEY_BYTES = 16
SEAL_BYTES = 8
SCHEMA = """
CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, day INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX vectors_by_day ON vectors (day);
CREATE TABLE uses (session BLOB NOT NULL, key BLOB NOT NULL, round INTEGER NOT NULL, PRIMARY KEY (session, key))
  WITHOUT ROWID;
CREATE INDEX uses_by_key ON uses (key);
CREATE TABLE rounds (session BLOB PRIMARY KEY, round INTEGER NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE unscrubbed (only INTEGER PRIMARY KEY CHECK (only = 1))
"""
NOT_USED_NOW = "key IN (SELECT key FROM uses WHERE session = :session AND round < :round)"
MANY = 500
SHARE_TO_DROP = 10
"""Where the cache is full, a tenth of it goes, what was used longest ago first."""


class Keys:
    """Keys of texts, made with a secret of the user: without it nobody can try out what a text was."""

    def __init__(self, folder: Path) -> None:
        self._secret = _kept_secret(folder)

    @property
    def mark(self) -> str:
        """Which secret it is, without saying it."""
        return self._keyed(b"mark").hexdigest()

    def of_text(self, model: str, text: str) -> bytes:
        return self._keyed(b"text", model.encode(), text.encode()).digest()

    def of_session(self, workspace_id: str, session: str) -> bytes:
        return self._keyed(b"session", workspace_id.encode(), session.encode()).digest()

    def seal(self, key: bytes, vector: bytes) -> bytes:
        """What shows that a vector is as it was put there."""
        return self._keyed(b"vector", key, vector).digest()[:SEAL_BYTES]

    def _keyed(self, *parts: bytes) -> blake2b:
        keyed = blake2b(key=self._secret, digest_size=KEY_BYTES)
        for part in parts:
            keyed.update(len(part).to_bytes(8, "big") + part)
        return keyed


class VectorCache:
    """`max_bytes` 0: nothing more is kept. What an earlier setting has left is erased with its texts all the same."""

    def __init__(self, folder: Path, keys: Keys, *, max_bytes: int, warn: Callable[[str], None]) -> None:
        self._keys = keys
        self._max_bytes = max_bytes
        self._database = _database_in(folder, warn)

    def get(self, session: bytes, keys: Collection[bytes], day: int) -> dict[bytes, bytes]:
        """The vectors that are here, which the session uses from now on."""
        if not self._max_bytes:
            return {}
        wanted, found = list(keys), {}
        with self._database.transaction() as db:
            for at in range(0, len(wanted), MANY):
                some = wanted[at : at + MANY]
                marks = ",".join("?" * len(some))
                for key, kept in db.execute(
                    f"SELECT key, CAST(vector AS BLOB) FROM vectors WHERE key IN ({marks})", some
                ):
                    seal, vector = kept[:SEAL_BYTES], kept[SEAL_BYTES:]
                    if compare_digest(seal, self._keys.seal(key, vector)):
                        found[key] = vector
            db.executemany("UPDATE vectors SET day = ? WHERE key = ? AND day <> ?", [(day, key, day) for key in found])
            _use(db, session, found)
        return found

    def put(self, session: bytes, vectors: Mapping[bytes, bytes], day: int) -> None:
        if not self._max_bytes:
            return
        rows = [(key, self._keys.seal(key, vector) + vector, day) for key, vector in vectors.items()]
        with self._database.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            _use(db, session, vectors)
            if _bytes_in(db) > self._max_bytes:
                _drop_oldest(db)

    def use(self, session: bytes, keys: Collection[bytes]) -> None:
        """The session has these texts too, whose vectors it has from before."""
        if self._database.is_there and keys:
            with self._database.transaction() as db:
                _use(db, session, keys)

    def begin(self, session: bytes, until: int) -> None:
        """A session is read again from its start. `until`: how far it was read before; 0 if that is not known."""
        if not self._database.is_there:
            return
        with self._database.transaction() as db:
            round_, before = _round(db, session)
            pending = db.execute("SELECT 1 FROM uses WHERE session = ? AND round < ?", (session, round_)).fetchone()
            until = max(until, before) if pending or not until else until
            db.execute("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?)", (session, round_ + 1, until))

    def reached(self, session: bytes, seq: int) -> bool:
        """The session was read up to a seq. If that is how far it was before, what it does not use any more goes.

        False: it is deleted, and bytes of it are still on disk, because somebody reads.
        """
        if not self._database.is_there:
            return True
        with self._database.transaction() as db:
            round_, until = _round(db, session)
            if seq > until:
                db.execute("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?)", (session, round_, seq))
            if seq >= until:
                _forget_unused(db, session, round_)
        return self.scrub()

    def scrub(self, seconds: float = SCRUB_SECONDS) -> bool:
        """Let no byte of what was deleted be on disk, if anything was since the last time."""
        if not self._database.is_there:
            return True
        with self._database.reading() as db:
            if not db.execute("SELECT 1 FROM unscrubbed").fetchone():
                return True
        if not self._database.scrub(seconds):
            return False
        with self._database.transaction() as db:
            db.execute("DELETE FROM unscrubbed")
        return True

    def close(self) -> None:
        self._database.close()


def cache_size(folder: Path, warn: Callable[[str], None]) -> tuple[int, int]:
    """How many vectors the cache in a folder holds, and in how many bytes. Nothing is made where there is none."""
    database = _database_in(folder, warn)
    if not database.is_there:
        return 0, 0
    with database.reading() as db:
        found = int(db.execute("SELECT count(*) FROM vectors").fetchone()[0]), _bytes_in(db)
    database.close()
    return found


def _database_in(folder: Path, warn: Callable[[str], None]) -> PrivateDatabase:
    return PrivateDatabase(folder / FILE, "the cache of sentence vectors", schema=SCHEMA, warn=warn)


def _round(db: sqlite3.Connection, session: bytes) -> tuple[int, int]:
    """The round that a session is in, and how far it was read in all rounds."""
    row = db.execute("SELECT round, until FROM rounds WHERE session = ?", (session,)).fetchone()
    return row or (0, 0)


def _use(db: sqlite3.Connection, session: bytes, keys: Collection[bytes]) -> None:
    round_, _ = _round(db, session)
    rows = [(session, key, round_, key) for key in keys]
    db.executemany(
        "INSERT OR REPLACE INTO uses SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM vectors WHERE key = ?)", rows
    )


def _forget_unused(db: sqlite3.Connection, session: bytes, round_: int) -> None:
    values = {"session": session, "round": round_}
    others = "SELECT 1 FROM uses AS other WHERE other.key = vectors.key AND (session <> :session OR round = :round)"
    gone = db.execute(f"DELETE FROM vectors WHERE {NOT_USED_NOW} AND NOT EXISTS ({others})", values).rowcount
    db.execute("DELETE FROM uses WHERE session = :session AND round < :round", values)
    if gone:
        db.execute("INSERT OR IGNORE INTO unscrubbed VALUES (1)")


def _bytes_in(db: sqlite3.Connection) -> int:
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _drop_oldest(db: sqlite3.Connection) -> None:
    count = db.execute("SELECT count(*) FROM vectors").fetchone()[0] // SHARE_TO_DROP + 1
    oldest = db.execute("SELECT key FROM vectors ORDER BY day, key LIMIT ?", (count,)).fetchall()
    db.executemany("DELETE FROM uses WHERE key = ?", oldest)
    db.executemany("DELETE FROM vectors WHERE key = ?", oldest)


def _kept_secret(folder: Path) -> bytes:
    """The secret in the user's folder, made on first use: of two processes that make one, one wins."""
    path = folder / SECRET_FILE
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.chmod(folder, 0o700)
        secret = _read_secret(path)
        if secret is None:
            with suppress(FileExistsError), atomic_file(str(path), put=os.link) as file:
                file.write(os.urandom(SECRET_BYTES))
            secret = _read_secret(path)
        if secret is None:  # it was cut short: another one, and all is made again
            with atomic_file(str(path)) as file:
                file.write(os.urandom(SECRET_BYTES))
            secret = _read_secret(path)
    except OSError as error:
        raise Unavailable(
            f"{folder} cannot be used: {error.strerror or error}", "Make it writable: the cache of vectors is there."
        ) from None
    if secret is None:
        raise Unavailable(f"{path} cannot be kept", f"Look at the disk and the permissions of {folder}.")
    return secret


def _read_secret(path: Path) -> bytes | None:
    try:
        with open_named_file(str(path)) as file:
            secret = file.read(SECRET_BYTES + 1)
    except FileNotFoundError:
        return None
    return secret if len(secret) == SECRET_BYTES else None
