"""An SQLite file whose content can be made again: one that is broken is set aside, and an empty one begun."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from zlib import crc32

from zaxy.api import Unavailable

ENDINGS = ("", "-wal", "-shm")
ASIDE = ".broken"
WAIT_SECONDS = 30.0
SCRUB_SECONDS = 5.0
"""How long those who read are waited for when bytes are to leave the disk."""
SETTINGS = "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 67108864"

_of_parents: list[sqlite3.Connection] = []
"""In a forked child: a connection of the parent must not be used here, nor closed."""


class BrokenFile(Exception):
    """The file is not one of ours, or cannot be read any more."""


class PrivateDatabase:
    """One connection, used by one thread at a time. Only this user can read the file."""

    def __init__(self, path: Path, what: str, *, schema: str, warn: Callable[[str], None]) -> None:
        self.path = path
        self._what = what
        self._schema = schema
        self._format = crc32(schema.encode()) >> 1 or 1
        self._warn = warn
        self._lock = RLock()
        self._db: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._pid = os.getpid()

    @property
    def is_there(self) -> bool:
        return os.path.lexists(self.path)

    @contextmanager
    def transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """All of what is done within, or nothing. A broken file is replaced before, never in the middle."""
        with self._lock, self._errors():
            db = self._opened()
            db.execute(begin)
            try:
                yield db
            except BaseException:
                with suppress(sqlite3.Error):
                    db.rollback()
                raise
            db.commit()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the file, whatever others write meanwhile."""
        with self.transaction("BEGIN") as db:
            yield db

    def scrub(self, seconds: float = SCRUB_SECONDS) -> bool:
        """Leave no byte of what was deleted; whether nobody kept it from that."""
        with suppress(FileNotFoundError):
            os.unlink(f"{self.path}{ASIDE}")
        if not self.is_there:
            return True
        with self._lock, self._errors():
            db = self._opened()
            db.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
            try:
                # Secure deletion leaves what moved from page to page, and the log of changes keeps older pages.
                db.execute("VACUUM")
                return not db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    return False
                raise
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(WAIT_SECONDS * 1000)}")

    def close(self) -> None:
        with self._lock:
            if self._db is not None and self._pid == os.getpid():
                self._db.close()
            self._db = None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (BrokenFile, sqlite3.DatabaseError, OSError) as error:
            if _is_broken(error):
                self._set_aside(error)
            raise Unavailable(
                f"{self._what} cannot be used: {error}",
                f"Try again; if it stays so, look at the disk and the permissions of {self.path.parent}.",
            ) from error

    def _opened(self) -> sqlite3.Connection:
        """The connection. One that was opened before a fork, or to a file that is gone, is not used any more."""
        if self._pid != os.getpid():
            _of_parents.extend([self._db] if self._db else [])
            self._db, self._pid = None, os.getpid()
        if self._db is not None and self._identity == _identity_of(self.path):
            return self._db
        self.close()
        try:
            self._db = self._connected()
        except (BrokenFile, sqlite3.DatabaseError) as error:
            if not _is_broken(error):
                raise
            self._set_aside(error)
            self._db = self._connected()
        self._identity = _identity_of(self.path)
        return self._db

    def _connected(self) -> sqlite3.Connection:
        os.makedirs(self.path.parent, mode=0o700, exist_ok=True)  # it may be deleted at any time
        _make_private(self.path)
        db = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SETTINGS)
        db.execute("BEGIN IMMEDIATE")
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if not found and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in self._schema.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {self._format}")
        elif found != self._format:
            raise BrokenFile("it has another format")
        db.commit()

    def _set_aside(self, error: Exception) -> None:
        """Make place for a new file; the old one stays beside it until something is forgotten."""
        self.close()
        for ending in ENDINGS[1:]:
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}{ending}")
        with suppress(FileNotFoundError):
            os.replace(self.path, f"{self.path}{ASIDE}")
        self._warn(f"{self._what} was unusable ({error}) and is begun again; the old one is {self.path.name}{ASIDE}")


def _is_broken(error: Exception) -> bool:
    """Whether the file is at fault, and not the disk, the permissions, another process or what was asked."""
    broken = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, BrokenFile) or (isinstance(error, sqlite3.DatabaseError) and code in broken)


def _make_private(path: Path) -> None:
    """An empty file that only this user can read, unless there is one; a link or a second name is refused."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        # A file that is there is not opened here: closing it again would drop the locks that SQLite has on it.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        raise BrokenFile("it is not a file of its own")


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
