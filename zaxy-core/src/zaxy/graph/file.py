"""The SQLite file of the graph: opened safely among processes, threads and forks, set aside when it is broken."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import TypeVar

from zaxy.errors import Unavailable, ZaxyError
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.security.paths import is_own_file, own_folder

T = TypeVar("T")
FILES = ("", "-wal", "-shm")
WAIT = 30.0
BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
SETTINGS = """
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA cache_size = -32000;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA journal_size_limit = 67108864;
"""


class _Unusable(Exception):
    """What stands in the file's place is not ours, or not of this format."""


class GraphFile:
    """One connection, used by one thread at a time. Whatever is asked of it is one transaction."""

    def __init__(self, path: Path, schema: str, version: int, warn: Callable[[str], None]) -> None:
        self._path = str(path)
        self._schema = schema
        self._version = version
        self._warn = warn
        self._db: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._mutex = RLock()
        self._lock = SessionLock(os.path.join(path.parent, f"{path.stem}.lock"), DISK)
        self._pid = os.getpid()
        self._of_parents: list[sqlite3.Connection | None] = []
        self.generation = 0
        """Grows when it is opened and when a transaction fails: what was remembered of it before may be wrong."""

    def read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """Answer from one state of the file, whatever others write meanwhile."""
        return self._guarded(lambda db: self._transact(db, "BEGIN", ask))

    def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Make all of a change or nothing of it."""
        return self._guarded(lambda db: self._transact(db, "BEGIN IMMEDIATE", change))

    def scrub(self) -> None:
        """Leave no byte of what was deleted: not in the file, not in its log, not in files that were set aside."""
        self._guarded(_rewrite)
        folder, name = os.path.split(self._path)
        for other in os.listdir(folder):
            if other.startswith(f"{name}.broken-"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, other))

    def close(self) -> None:
        if self._pid != os.getpid():
            return  # it is the parent's
        with self._mutex:
            self._let_go()
            self._lock.close()

    def _guarded(self, use: Callable[[sqlite3.Connection], T]) -> T:
        """Use the database; a file that is broken, of another format or no database makes place for a new one."""
        if self._pid != os.getpid():
            # A connection must not be used after a fork, nor be closed there, as it would be if it were let go of.
            self._of_parents.append(self._db)
            self._db, self._mutex, self._pid = None, RLock(), os.getpid()
        with self._mutex:
            try:
                try:
                    return use(self._opened())
                except (_Unusable, sqlite3.DatabaseError) as error:
                    if not _is_broken(error):
                        raise
                    self._set_aside(str(error))
                return use(self._opened())
            except (sqlite3.OperationalError, OSError) as error:
                raise self._unavailable(error) from error

    def _transact(self, db: sqlite3.Connection, begin: str, use: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with db:
                db.execute(begin)
                return use(db)
        except BaseException:
            self.generation += 1
            raise

    def _opened(self) -> sqlite3.Connection:
        if self._db is not None and DISK.identity_at(self._path) == self._identity:
            return self._db
        self._let_go()
        folder = os.path.dirname(self._path)
        own_folder(os.path.dirname(folder), create=True)
        own_folder(folder, create=True)
        with self._lock.exclusive(WAIT):  # while a file is being set aside, its name and its log's mean two files
            self._identity = self._placed()
            db = sqlite3.connect(self._path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
        self._db = db
        self.generation += 1
        return db

    def _placed(self) -> tuple[int, int] | None:
        """The file's identity, once there is one. It is not opened here: closing it again would drop SQLite's locks."""
        if not all(is_own_file(self._path + ending) for ending in FILES):
            self._identity = DISK.identity_at(self._path)
            raise _Unusable("it is not a file of its own")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return DISK.identity_at(self._path)

    def _prepare(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, self._version):
            raise _Unusable(f"it has the format {version}, and this is for format {self._version}")
        if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SETTINGS)
        if version == self._version:
            return
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise _Unusable("it is another program's database")
        db.executescript(f"BEGIN IMMEDIATE; {self._schema}; PRAGMA user_version = {self._version}; COMMIT")

    def _set_aside(self, why: str) -> None:
        broken = self._identity
        self._let_go()
        with self._lock.exclusive(WAIT):
            if DISK.identity_at(self._path) != broken:
                return  # another process has made place already
            number = 1
            while os.path.lexists(f"{self._path}.broken-{number}"):
                number += 1
            aside = f"{self._path}.broken-{number}"
            for ending in FILES:
                with contextlib.suppress(FileNotFoundError):
                    os.rename(self._path + ending, aside + ending)
        self._warn(f"the graph was unusable ({why}) and is being built again; the old one is {os.path.basename(aside)}")

    def _let_go(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
        self._db = None

    def _unavailable(self, error: sqlite3.OperationalError | OSError) -> ZaxyError:
        if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Unavailable(
                f"the graph was held by another process for {WAIT:g} s",
                "Try again; if it stays so, look for a process of zaxy that hangs.",
            )
        return Unavailable(
            f"the graph cannot be used: {getattr(error, 'strerror', None) or error}",
            f"Look at the disk and the permissions of {os.path.dirname(self._path)}; the folder may be deleted, and is "
            "then built again from the log.",
        )


def _rewrite(db: sqlite3.Connection) -> None:
    # Secure deletion leaves what b-trees copied from page to page: only a rewritten file is without it, and only when
    # the rewritten pages have come out of the log, which keeps older ones, is nothing left.
    db.execute("VACUUM")
    (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise Unavailable(
            "the session was forgotten, but a process that is reading the graph keeps its bytes on disk",
            "Forget it again when that read has ended.",
        )


def _is_broken(error: Exception) -> bool:
    return isinstance(error, _Unusable) or _code(error) in BROKEN or "no such " in str(error)


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 for errors of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
