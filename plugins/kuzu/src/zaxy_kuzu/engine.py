"""The database engine behind the graph: Kuzu, or its fork Ladybug, which takes the same calls.

Nothing else in this package knows which one it is.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from zaxy.api import InvalidRequest, Unavailable, install_hint

ENDINGS = {"kuzu": ".kuzu", "ladybug": ".lbug"}
"""The engines by the ending of their files: neither opens the other's."""
PARTS = ("", ".wal", ".shadow", ".wal.checkpoint", ".tmp")
"""What an engine keeps beside a database, by ending."""

TOGETHER = 10


class Unreadable(Exception):
    """The file is not a database of this engine, or of another version of it."""


class CommitFailed(Exception):
    """The file may be in a state that the engine itself cannot open again."""

    def __init__(self, error: RuntimeError) -> None:
        super().__init__(str(error))
        self.cause = explained(error)


class Database:
    """One open database, with one connection. Values are always parameters."""

    def __init__(self, path: Path, engine: str, buffer_pool_mb: int, max_db_gb: int) -> None:
        module = _module(engine)
        try:
            # Without these two it takes 80 % of the memory, and maps 8 TiB of address space.
            self._database = module.Database(
                str(path), buffer_pool_size=buffer_pool_mb << 20, max_db_size=_power_of_two(max_db_gb << 30)
            )
            # One thread: statements are small, and handing them to others costs more than it saves.
            self._connection = module.Connection(self._database, num_threads=1)
        except RuntimeError as error:
            if "lock" in str(error):
                raise Unavailable(
                    f"the graph's database {path.name} is open in another program",
                    "Close what has it open, such as a shell of the database engine, and try again.",
                ) from None
            if "Unable to open" in str(error) or "version" in str(error) or "orrupt" in str(error):
                raise Unreadable(str(error)) from None
            raise
        self._prepared: dict[str, Any] = {}

    def run(self, statement: str, **values: object) -> list[list[Any]]:
        if statement not in self._prepared:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # preparing once halves the time of a statement
                self._prepared[statement] = self._connection.prepare(statement)
        try:
            result = self._connection.execute(self._prepared[statement], values)
            rows = []
            while result.has_next():
                rows.append(result.get_next())
            result.close()
        except RuntimeError as error:
            raise explained(error) from error
        return rows

    def run_for(self, statement: str, keys: list[str], **values: object) -> list[list[Any]]:
        """The rows of a statement for each `$key`, several in one go: that halves the time of each."""
        rows = []
        # A list in more than one part of a statement ends the process.
        together = 1 if any(isinstance(value, list) for value in values.values()) else TOGETHER
        for at in range(0, len(keys), together):
            some = keys[at : at + together]
            union = " UNION ALL ".join(statement.replace("$key", f"$key{n}") for n in range(len(some)))
            rows += self.run(union, **{f"key{n}": key for n, key in enumerate(some)}, **values)
        return rows

    def define(self, statements: tuple[str, ...]) -> None:
        """Make tables; these statements cannot be prepared, and have no values."""
        for statement in statements:
            self._connection.execute(statement).close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN TRANSACTION").close()
        try:
            yield
        except BaseException:
            with suppress(RuntimeError):  # some failures have rolled back already
                self._connection.execute("ROLLBACK").close()
            raise
        try:
            self._connection.execute("COMMIT").close()
        except RuntimeError as error:
            raise CommitFailed(error) from error

    def close(self) -> None:
        self._prepared.clear()
        self._connection.close()
        self._database.close()


def remove(path: Path) -> None:
    """Delete a database and all that the engine keeps beside it."""
    for part in PARTS:
        path.with_name(path.name + part).unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Rename a database and all that belongs to it, so that a new one can be made in its place."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.broken-{number}")):
        number += 1
    for part in PARTS:
        beside = path.with_name(path.name + part)
        if os.path.lexists(beside):
            beside.rename(aside.with_name(aside.name + part))
    return aside


def explained(error: RuntimeError) -> Exception:
    """The engine's complaint; where memory is what it lacks, with what to do about it."""
    if "buffer pool is full" not in str(error):
        return error
    return Unavailable(
        "the graph's database needs more memory than it may use",
        "Set ZAXY_KUZU_BUFFER_POOL_MB higher, or use the built-in graph: PROJECTION_BACKEND=sqlite.",
    )


def _module(engine: str) -> Any:
    if engine not in ENDINGS:
        raise InvalidRequest(
            f"ZAXY_KUZU_ENGINE is {engine!r}, which is no engine",
            f"Set it to one of {', '.join(ENDINGS)}.",
        )
    for other in ENDINGS:
        if other != engine and other in sys.modules:  # they bring symbols of one name, and confuse each other
            raise Unavailable(
                f"{other} is loaded in this process already, and {engine} cannot be used beside it",
                "Use one of them: set ZAXY_KUZU_ENGINE alike everywhere.",
            )
    try:
        return import_module(engine)
    except ImportError as error:
        hint = "kuzu>=0.11.3,<0.12" if engine == "kuzu" else "zaxy-kuzu[ladybug]"
        raise Unavailable(f"{engine} cannot be imported: {error}", f"Install it: {install_hint(hint)}") from None


def _power_of_two(size: int) -> int:
    return int(1 << (size - 1).bit_length())


if sys.platform != "win32":
    import fcntl

    def try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

else:
    import msvcrt

    def try_lock(fd: int) -> bool:
        os.lseek(fd, 1 << 30, os.SEEK_SET)  # far behind the text, which others must be able to read
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
