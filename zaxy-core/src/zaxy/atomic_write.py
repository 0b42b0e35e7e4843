"""Files that are written whole or not at all, and are on the disk when the call returns."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from os import urandom
from time import monotonic

from zaxy.file_lock import try_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

SECONDS_TO_LOCK = 1.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def atomic_write(
    path: str, data: bytes, *, mode: int | None = 0o600, put: Callable[[str, str], None] = os.replace
) -> None:
    """Make `data` the content of a file; see `atomic_file`."""
    with atomic_file(path, mode=mode, put=put) as file:
        file.write(data)


@contextmanager
def atomic_file(
    path: str, *, mode: int | None = 0o600, put: Callable[[str, str], None] = os.replace
) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place in one step once all of it is on the disk. If anything fails, nothing
    is left of it, and what stood there before still does. A link in its place is replaced and never followed.

    `mode` None leaves the mode to the umask. `put` is `os.link` for a file that must not be there yet.
    """
    folder, name = os.path.split(os.path.abspath(path))
    partial, fd = _new_partial(folder, name, 0o666 if mode is None else mode)
    with ExitStack() as held:
        held.callback(_unlink, partial)
        with open(fd, "wb") as file:
            if os.name == "posix":
                held.callback(os.close, os.dup(fd))  # which holds the lock until the file has its name
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
            yield file
            file.flush()
            sync_data(fd)
        put(partial, path)
    with suppress(PermissionError):  # of a folder that this user may write to and not read
        sync_folder(folder)


def _new_partial(folder: str, name: str, mode: int) -> tuple[str, int]:
    """A file that is locked as long as it is being written: one that is not was left by a process that was killed."""
    while True:
        partial = os.path.join(folder, f".{name}.{urandom(4).hex()}.partial")
        fd = os.open(partial, _NEW | _PLAIN, mode)
        if os.name != "posix":
            return partial, fd  # while it is open nobody can remove it there
        with suppress(OSError):  # of a file system that has no locks
            try_until(fd, monotonic() + SECONDS_TO_LOCK)
        if os.fstat(fd).st_nlink:
            return partial, fd
        os.close(fd)  # it was taken for a left-over in the instant before it was locked


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def sync_data(fd: int) -> None:
    """Return when what was written would survive a loss of power."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # fsync leaves the data in the drive's own cache there
    elif sys.platform == "linux":
        os.fdatasync(fd)
    else:
        os.fsync(fd)


def sync_folder(path: str) -> None:
    """Make names that were added, replaced or removed survive a loss of power; Windows has no such call."""
    if os.name != "posix":
        return
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
