"""Every call that touches the disk for the log, in one place, so that a loss of power can be rehearsed.

A recorder takes the place of `DISK` in tests: it notes the calls, and the states in which some unsynced writes are
missing are built from them and opened.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from _weakrefset import WeakSet  # what `threading` has loaded anyway

from zaxy.atomic_write import sync_data, sync_folder
from zaxy.errors import Forbidden

if sys.platform != "win32":
    import fcntl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


_resting: WeakSet[Any] = WeakSet()
"""Logs that can close descriptors which they do not use just now."""


def rests_when_files_are_scarce(log: Any) -> None:
    """Call `log.rest()` when this process may open no more files."""
    _resting.add(log)


def retried_with_room(open_it: Callable[[], T]) -> T:
    """Open something. If too many files are open, those that nobody uses are closed, and it is tried once more."""
    try:
        return open_it()
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    close_idle_files()
    return open_it()


def close_idle_files() -> None:
    for log in list(_resting):
        log.rest()


class Disk:
    """Plain files of ours: mode 0600, never a link, never anything but a regular file with one name."""

    def open(self, path: str, create: bool = False) -> int:
        """A descriptor that reads anywhere and writes at the end."""
        flags = os.O_RDWR | os.O_APPEND | _BINARY | _NO_LINK | (os.O_CREAT if create else 0)
        return self._ours(retried_with_room(lambda: os.open(path, flags, 0o600)), path)

    def open_to_read(self, path: str) -> int:
        return self._ours(retried_with_room(lambda: os.open(path, os.O_RDONLY | _BINARY | _NO_LINK)), path)

    def _ours(self, fd: int, path: str) -> int:
        if fd < 3 and sys.platform != "win32":
            # A standard stream was closed and its number is free: whatever prints there would print into the log.
            low, fd = fd, fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(low)
        status = os.fstat(fd)
        if stat.S_ISREG(status.st_mode) and status.st_nlink <= 1:
            return fd
        os.close(fd)
        what = "has a second name (a hard link)" if stat.S_ISREG(status.st_mode) else "is not a regular file"
        raise Forbidden(f"{os.path.basename(path)} {what}", "Move it away: the log writes only to its own files.")

    def close(self, fd: int) -> None:
        os.close(fd)

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def identity(self, fd: int) -> tuple[int, int]:
        """Which file a descriptor holds, to tell whether its name has come to mean another one."""
        status = os.fstat(fd)
        return (status.st_dev, status.st_ino)

    def identity_at(self, path: str) -> tuple[int, int] | None:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
        return (status.st_dev, status.st_ino)

    def read(self, fd: int, count: int, offset: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(fd, count, offset)
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, count)

    def write(self, fd: int, data: bytes) -> int:
        """One write at the end; how many bytes were taken."""
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        """Return when what was written would survive a loss of power."""
        sync_data(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def replace(self, source: str, target: str) -> None:
        os.replace(source, target)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def sync_folder(self, path: str) -> None:
        """Make names that were added, replaced or removed survive a loss of power; Windows has no such call."""
        sync_folder(path)


DISK = Disk()
