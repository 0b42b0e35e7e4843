"""An SQLite file that may be deleted at any time, because the log holds all that is in it.

The log's own index, the text index and the graph are such files. It stands beside the log, and not with the followers,
because the log uses it too. A file that is broken, of another format or not ours is set aside, and an empty one begun.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from threading import RLock
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from zaxy.errors import Unavailable, ZaxyError
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.security.paths import is_own_file, own_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
FILES = ("", "-wal", "-shm")
WAIT = 30.0
BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
MISTAKES = (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.DataError, sqlite3.NotSupportedError)
"""Of our own code: the file is as good as before."""
SETTINGS = """
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA journal_size_limit = 67108864;
"""

_of_parents: list[sqlite3.Connection] = []
"""In a forked child: a connection must not be used here, nor closed, as it would be if nothing held it any more."""


class _Unusable(Exception):
    """What stands in the file's place is not ours, or not of this format."""


def _silent(_: str) -> None:
    pass


class DisposableDatabase:
    """One connection, used by one thread at a time. Each `read` and each `write` is one transaction."""

    def __init__(
        self,
        path: str,
        what: str,
        *,
        schema: str,
        version: object,
        cache_kib: int = 16_000,
        warn: Callable[[str], None] = _silent,
    ) -> None:
        """`what` names it in messages; another `schema` or another `version` makes it another file."""
        self._path = path
        self._what = what
        self._schema = schema
        self._format = crc32(f"{version}\n{schema}".encode()) >> 1 or 1
        self._cache = cache_kib
        self._warn = warn
        self._db: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._mutex = RLock()
        self._lock = SessionLock(f"{os.path.splitext(path)[0]}.lock", DISK)
        self._pid = os.getpid()
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
        self._guarded(self._rewrite)
        folder, name = os.path.split(self._path)
        for left in os.scandir(folder):
            # A folder that was set aside is none of ours: it stays.
            if left.name.startswith(f"{name}.broken-") and not left.is_dir(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(left.path)

    def close(self) -> None:
        self._leave_parents()
        with self._mutex:
            self._let_go()

    def _guarded(self, use: Callable[[sqlite3.Connection], T]) -> T:
        """Use the database; a file that cannot be used makes place for a new one, once."""
        self._leave_parents()
        with self._mutex:
            try:
                try:
                    return use(self._opened())
                except (_Unusable, sqlite3.DatabaseError) as error:
                    if not _is_broken(error):
                        raise
                    self._set_aside(str(error))
                return use(self._opened())
            except MISTAKES:
                raise
            except (sqlite3.DatabaseError, OSError) as error:
                raise self._unavailable(error) from error

    def _leave_parents(self) -> None:
        """In a forked child: begin with a connection of its own, and a mutex that no thread of the parent holds."""
        if self._pid == os.getpid():
            return
        if self._db is not None:
            _of_parents.append(self._db)
        self._db, self._mutex, self._pid = None, RLock(), os.getpid()

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
        with self._alone():
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

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Among processes: while a file is being set aside, its name and that of its log mean two files."""
        try:
            with self._lock.exclusive(WAIT):
                yield
        finally:
            self._lock.close()  # it is seldom needed, and descriptors are few

    def _placed(self) -> tuple[int, int] | None:
        """The file's identity, once there is one. It is not opened here: closing it again would drop SQLite's locks."""
        if not all(is_own_file(self._path + ending) for ending in FILES):
            self._identity = DISK.identity_at(self._path)
            raise _Unusable("it is not a file of its own")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return DISK.identity_at(self._path)

    def _prepare(self, db: sqlite3.Connection) -> None:
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, self._format):
            raise _Unusable("it has another format")
        if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(f"{SETTINGS} PRAGMA cache_size = -{self._cache}")
        if found == self._format:
            return
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise _Unusable("it is another program's database, or of an older format")
        db.executescript(f"BEGIN IMMEDIATE; {self._schema}; PRAGMA user_version = {self._format}; COMMIT")

    def _set_aside(self, why: str) -> None:
        broken = self._identity
        self._let_go()
        with self._alone():
            if DISK.identity_at(self._path) != broken:
                return  # another process has made place already
            number = 1
            while os.path.lexists(f"{self._path}.broken-{number}"):
                number += 1
            aside = f"{self._path}.broken-{number}"
            for ending in FILES:
                with contextlib.suppress(FileNotFoundError):
                    os.rename(self._path + ending, aside + ending)
        name = os.path.basename(aside)
        self._warn(f"{self._what} was unusable ({why}) and is being built again; the old one is {name}")

    def _rewrite(self, db: sqlite3.Connection) -> None:
        # Secure deletion leaves what b-trees copied from page to page: only a rewritten file is without it, and only
        # when the rewritten pages have come out of the log, which keeps older ones, is nothing left.
        db.execute("VACUUM")
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise Unavailable(
                f"the session was forgotten, but a process that is reading {self._what} keeps its bytes on disk",
                "Forget it again when that read has ended.",
            )

    def _let_go(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
        self._db = None

    def _unavailable(self, error: sqlite3.DatabaseError | OSError) -> ZaxyError:
        if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Unavailable(
                f"{self._what} was held by another process for {WAIT:g} s",
                "Try again; if it stays so, look for a process of zaxy that hangs.",
            )
        return Unavailable(
            f"{self._what} cannot be used: {getattr(error, 'strerror', None) or error}",
            f"Look at the disk and the permissions of {os.path.dirname(self._path)}; the folder may be deleted, and is "
            "then built again from the log.",
        )


def _is_broken(error: Exception) -> bool:
    return isinstance(error, _Unusable) or _code(error) in BROKEN or "no such " in str(error)


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 for errors of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
