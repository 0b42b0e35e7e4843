"""An SQLite file that may be deleted at any time, because the log holds all that is in it.

The log's own index, the text index and the graph are such files. It stands beside the log, and not with the followers,
because the log uses it too. A file that is broken, of another format or not made by this user is set aside, and an
empty one begun.

A file in which a row does not hold its seal counts as broken: see `sealed_connection`.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from hashlib import blake2b
from hmac import compare_digest
from os import urandom
from threading import RLock, local
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from zaxy.errors import InternalError, Unavailable, ZaxyError
from zaxy.eventloom.database_errors import (
    MISTAKES,
    SUSPICIOUS,
    Unsealed,
    Unusable,
    is_broken,
    reason_of,
    result_code,
)
from zaxy.eventloom.disk import DISK, close_idle_files, retried_with_room
from zaxy.eventloom.lock import SessionLock
from zaxy.eventloom.sealed_connection import SEAL_BYTES, SealedConnection
from zaxy.security.paths import is_own_file, own_folder_within
from zaxy.user_state import user_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
FILES = ("", "-wal", "-shm")
WAIT = 30.0
SCRUB_WAIT = 5.0
"""How long an erasure waits for those who read: what they keep on disk is removed later."""
MAX_IDLE_READERS = 2
"""Connections that are kept open between reads."""
SETTINGS = """
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA journal_size_limit = 67108864;
"""
STAMP = "CREATE TABLE stamp (id TEXT NOT NULL, mark TEXT NOT NULL)"

_of_parents: list[sqlite3.Connection] = []
"""In a forked child: a connection must not be used here, nor closed, as it would be if nothing held it any more."""


class BrokenFollower(Exception):
    """A file was found to be broken while it was held. It is set aside by `set_aside`, and then asked again."""

    def __init__(self, file: DisposableDatabase, why: str, identity: tuple[int, int] | None) -> None:
        super().__init__(f"{file.what} is broken: {why}")
        self.what = file.what
        self._file, self._why, self._identity = file, why, identity

    def set_aside(self) -> None:
        self._file.set_aside(self._why, self._identity)


def _silent(_: str) -> None:
    pass


class DisposableDatabase:
    """One connection to write, and some to read; each is used by one thread at a time. Each `read` and each `write` is
    one transaction, and all reads within `hold` are."""

    def __init__(
        self,
        path: str,
        what: str,
        *,
        schema: str,
        version: object,
        bound_to: str = "",
        cache_kib: int = 16_000,
        warn: Callable[[str], None] = _silent,
    ) -> None:
        """`what` names it in messages; another `schema` or another `version` makes it another file, and so does
        another workspace's id in `bound_to`."""
        self.what = what
        self._path = path
        self._schema = f"{STAMP};\n{schema}"
        self._format = crc32(f"{version}\n{self._schema}".encode()) >> 1 or 1
        self._bound_to = bound_to
        self._cache = cache_kib
        self._warn = warn
        self._writer: SealedConnection | None = None
        self._idle: list[SealedConnection] = []
        self._held = local()
        self._mutex = RLock()
        """Guards the connections that wait to read."""
        self._writing = RLock()
        """Held for as long as a change takes; reads do not wait for it."""
        self._lock = SessionLock(f"{os.path.splitext(path)[0]}.lock", DISK)
        self._pid = os.getpid()
        self._suspected: dict[str, tuple[int, int] | None] = {}
        """The failures that made a file suspicious, and which file that was."""
        self.generation = 0
        """Grows when it is opened and when a transaction fails: what was remembered of it before may be wrong."""

    # Reading and writing

    def read(self, ask: Callable[[SealedConnection], T]) -> T:
        """Answer from one state of the file, whatever others write meanwhile."""
        held = getattr(self._held, "db", None)
        if held is not None:
            return self._ask_held(held, ask)
        return self._guarded(lambda: self._read(ask))

    def peek(self, ask: Callable[[SealedConnection], T]) -> T:
        """What `read` does for a single statement, which needs no transaction around it."""
        held = getattr(self._held, "db", None)
        if held is not None:
            return self._ask_held(held, ask)
        return self._guarded(lambda: self._read(ask, begin=False))

    def write(self, change: Callable[[SealedConnection], T]) -> T:
        """Make all of a change or nothing of it."""
        return self._guarded(lambda: self._write(change))

    def examine(self, look: Callable[[SealedConnection], list[str]]) -> list[str]:
        """What `look` finds wrong. A file that cannot be read is wrong too, and stays where it is; none is no fault."""
        self._leave_parents()
        if not os.path.lexists(self._path):
            return []
        error: Exception
        try:
            return self._read(look)
        except _Found as found:
            error = found.error
        except (Unusable, sqlite3.DatabaseError, OSError, UnicodeDecodeError) as problem:
            error = problem
        if is_broken(error) or isinstance(error, SUSPICIOUS):
            return [reason_of(error)]
        raise self._unavailable(error) from error

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Let every `read` of this thread be of one state. One that finds the file broken raises `BrokenFollower`."""
        if getattr(self._held, "db", None) is not None:
            yield
            return
        db = self._guarded(self._borrow)
        self._held.db = db
        try:
            yield
        finally:
            self._held.db = None
            self._give_back(db)

    def scrub(self) -> None:
        """Leave no byte of what was deleted: not in the file, not in its log, not in files that were set aside."""
        self._delete_asides()
        if not self._guarded(lambda: self._rewrite(SCRUB_WAIT)):
            raise Unavailable(
                f"the session was forgotten, but a process that is reading {self.what} keeps its bytes on disk",
                "Each later read, and each server, tries again to remove them; end that process if it hangs.",
            )

    def try_scrub(self) -> bool:
        """The same, as far as nobody reads at the moment; whether all is gone."""
        self._delete_asides()
        try:
            return self._guarded(lambda: self._rewrite(0))
        except Unavailable:
            return False

    def _delete_asides(self) -> None:
        folder, name = os.path.split(self._path)
        for left in os.scandir(folder) if os.path.isdir(folder) else ():
            # A folder that was set aside is none of ours: it stays.
            if left.name.startswith(f"{name}.broken-") and not left.is_dir(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(left.path)

    def close(self) -> None:
        self._leave_parents()
        self._let_go()

    def close_if_idle(self) -> None:
        """Close what is open unless it is being written. It is opened again when it is needed."""
        self._leave_parents()
        if self._writing.acquire(blocking=False):
            try:
                self._let_go()
            finally:
                self._writing.release()

    def _read(self, ask: Callable[[SealedConnection], T], begin: bool = True) -> T:
        db = self._borrow(begin)
        try:
            return ask(db)
        except (Unsealed, sqlite3.DatabaseError, *SUSPICIOUS) as error:
            raise _Found(error, db.identity) from error
        finally:
            self._give_back(db)

    def _write(self, change: Callable[[SealedConnection], T]) -> T:
        with self._writing:
            db = self._opened_writer()
            try:
                with db:
                    db.execute("BEGIN IMMEDIATE")
                    return change(db)
            except BaseException as error:
                self.generation += 1
                # Another error is mostly of what was to be written, and no reason to build the file again.
                if isinstance(error, (Unsealed, sqlite3.DatabaseError, UnicodeDecodeError)):
                    raise _Found(error, db.identity) from error
                raise

    def _ask_held(self, db: SealedConnection, ask: Callable[[SealedConnection], T]) -> T:
        try:
            return ask(db)
        except (Unsealed, sqlite3.DatabaseError, *SUSPICIOUS) as error:
            if self._counts_as_broken(error, db.identity):
                raise BrokenFollower(self, reason_of(error), db.identity) from None
            if isinstance(error, MISTAKES):
                raise
            raise self._unavailable(error) from error

    def _guarded(self, use: Callable[[], T]) -> T:
        """Use the database; a file that cannot be used makes place for a new one, once."""
        self._leave_parents()
        error: Exception
        for last_try in (False, True):
            try:
                return use()
            except _Found as found:
                error, identity = found.error, found.identity
            except (Unusable, sqlite3.DatabaseError, OSError, UnicodeDecodeError) as problem:
                error, identity = problem, DISK.identity_at(self._path)
            if not self._counts_as_broken(error, identity) or last_try:
                break
            self.set_aside(reason_of(error), identity)
        if isinstance(error, MISTAKES):
            raise error
        raise self._unavailable(error) from error

    def _counts_as_broken(self, error: Exception, identity: tuple[int, int] | None) -> bool:
        """Whether the file is to be built again. What fails in the same way in a file that was is a mistake of ours,
        and is said as one, without the message: that may quote what was recorded."""
        if is_broken(error) or not isinstance(error, SUSPICIOUS):
            return is_broken(error)
        failure = reason_of(error)
        if self._suspected.setdefault(failure, identity) != identity:
            raise InternalError(
                f"{self.what} cannot be used, though it was built again: {failure}",
                "Run 'zaxy followers rebuild'; if it comes again, it is a mistake in Zaxy: please report it.",
            ) from error
        return True

    # Connections

    def _borrow(self, begin: bool = True) -> SealedConnection:
        """A connection, in a transaction that reads if `begin` is set; `_give_back` ends it."""
        with self._mutex:
            while self._idle:
                db = self._idle.pop()
                if db.identity == DISK.identity_at(self._path):
                    break
                _close(db)
            else:
                db = self._connected()
        if begin:
            db.execute("BEGIN")
        return db

    def _give_back(self, db: SealedConnection) -> None:
        if db.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                db.rollback()
        with self._mutex:
            if len(self._idle) < MAX_IDLE_READERS and self._pid == os.getpid():
                self._idle.append(db)
                return
        _close(db)

    def _opened_writer(self) -> SealedConnection:
        if self._writer is not None and self._writer.identity == DISK.identity_at(self._path):
            return self._writer
        if self._writer is not None:
            _close(self._writer)
        self._writer = self._connected()
        self.generation += 1
        return self._writer

    def _connected(self) -> SealedConnection:
        around, name = os.path.split(os.path.dirname(self._path))
        own_folder_within(around, name, create=True)
        with self._alone():
            identity = retried_with_room(self._placed)
            try:
                db = self._prepared()
            except sqlite3.OperationalError as error:
                if result_code(error) != sqlite3.SQLITE_CANTOPEN:
                    raise
                close_idle_files()  # that is how SQLite says that too many are open
                db = self._prepared()
        db.identity = identity
        return db

    def _prepared(self) -> SealedConnection:
        db = sqlite3.connect(
            self._path, timeout=WAIT, isolation_level=None, check_same_thread=False, factory=SealedConnection
        )
        try:
            self._prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    def _leave_parents(self) -> None:
        """In a forked child: begin with connections of its own, and a mutex that no thread of the parent holds."""
        if self._pid == os.getpid():
            return
        _of_parents.extend(db for db in (self._writer, *self._idle, getattr(self._held, "db", None)) if db)
        self._writer, self._idle, self._held = None, [], local()
        self._mutex, self._writing, self._pid = RLock(), RLock(), os.getpid()

    def _let_go(self) -> None:
        with self._writing, self._mutex:
            for db in (self._writer, *self._idle):
                if db is not None:
                    _close(db)
            self._writer, self._idle = None, []

    # The file

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
            raise Unusable("it is not a file of its own")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return DISK.identity_at(self._path)

    def _prepare(self, db: SealedConnection) -> None:
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, self._format):
            raise Unusable("it has another format")
        if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(f"{SETTINGS} PRAGMA cache_size = -{self._cache}")
        if found == 0:
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise Unusable("it is another program's database, or of an older format")
            db.executescript(f"BEGIN IMMEDIATE; {self._schema}; {self._new_stamp()}; COMMIT")
        db.keyed = self._keyed_of(db)

    def _new_stamp(self) -> str:
        number = urandom(16).hex()
        return f"INSERT INTO stamp VALUES ('{number}', '{self._mark(number)}'); PRAGMA user_version = {self._format}"

    def _keyed_of(self, db: SealedConnection) -> object:
        """What the seals of a file begin with that this user has made for this place."""
        stamps = db.execute("SELECT id, mark FROM stamp LIMIT 2").fetchall()
        if len(stamps) != 1 or not compare_digest(str(stamps[0][1]).encode(), self._mark(stamps[0][0]).encode()):
            raise Unusable("this user did not make it here")
        key = blake2b(f"rows {stamps[0][0]}".encode(), key=user_key(), digest_size=32).digest()
        keyed = blake2b(key=key, digest_size=SEAL_BYTES)
        keyed.update(b"\n")  # so that the key is mixed in here, once, and not again with every row
        return keyed

    def _mark(self, number: object) -> str:
        bound = f"{self._bound_to}\n{self.what}\n{number}"
        return blake2b(bound.encode(), key=user_key(), digest_size=32).hexdigest()

    def set_aside(self, why: str, broken: tuple[int, int] | None) -> None:
        """Make place for a new file, unless that was done since the broken one was seen."""
        self._let_go()
        with self._alone():
            if DISK.identity_at(self._path) != broken:
                return  # another thread or process has made place already
            number = 1
            while os.path.lexists(f"{self._path}.broken-{number}"):
                number += 1
            aside = f"{self._path}.broken-{number}"
            for ending in FILES:
                with contextlib.suppress(FileNotFoundError):
                    os.rename(self._path + ending, aside + ending)
        name = os.path.basename(aside)
        self._warn(f"{self.what} was unusable ({why}) and is being built again; the old one is {name}")

    def _rewrite(self, wait: float) -> bool:
        """Whether it was rewritten and its log emptied. `wait`: the seconds that those who read are waited for."""
        # Secure deletion leaves what b-trees copied from page to page: only a rewritten file is without it, and only
        # when the rewritten pages have come out of the log, which keeps older ones, is nothing left.
        with self._writing:
            db = self._opened_writer()
            db.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
            try:
                if wait or _emptied(db):  # while somebody reads, rewriting would be in vain
                    db.execute("VACUUM")
                    return _emptied(db)
                return False
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(WAIT * 1000)}")

    def _unavailable(self, error: Exception) -> ZaxyError:
        if result_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Unavailable(
                f"{self.what} was held by another process for {WAIT:g} s",
                "Try again; if it stays so, look for a process of zaxy that hangs.",
            )
        return Unavailable(
            f"{self.what} cannot be used: {reason_of(error)}",
            f"Look at the disk and the permissions of {os.path.dirname(self._path)}; the folder may be deleted, and is "
            "then built again from the log.",
        )


class _Found(Exception):
    """An error of a read or write, and the file in which it was found."""

    def __init__(self, error: Exception, identity: tuple[int, int] | None) -> None:
        super().__init__(reason_of(error))
        self.error, self.identity = error, identity


def _close(db: SealedConnection) -> None:
    with contextlib.suppress(sqlite3.Error):
        db.close()


def _emptied(db: SealedConnection) -> bool:
    """Whether all of the log has come into the file, and the log is cut to nothing."""
    (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
