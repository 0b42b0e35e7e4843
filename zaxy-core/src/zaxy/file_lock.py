"""A lock on a file, held by one process at a time: the system frees it when its holder ends, however that ends."""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import contextmanager

from zaxy.errors import Forbidden, Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_WAIT = 0.0005
MAX_WAIT = 0.02
_OPEN = os.O_RDWR | os.O_CREAT
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def locked(path: str, timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock of a file that is made for nothing else; it is never removed, or two could hold one each."""
    try:
        fd = os.open(path, _OPEN | _PLAIN, 0o600)
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be opened: {error.strerror}",
            "Make the folder writable; if that is no plain file, move it away: Zaxy makes a new one.",
        ) from None
    try:
        if not _is_plain(fd):
            raise Forbidden(f"{path} is not a plain file of its own", "Move it away: Zaxy makes a new one.")
        if not try_until(fd, time.monotonic() + timeout):
            raise Unavailable(
                f"{path} was held by another process for {timeout:g} s",
                "Try again; if it stays so, look for a process that hangs while it holds the lock.",
            )
        try:
            yield
        finally:
            unlock(fd)
    finally:
        os.close(fd)


def try_until(fd: int, deadline: float, *, shared: bool = False) -> bool:
    """Try to lock a file until a moment of the monotonic clock, at least once."""
    wait = FIRST_WAIT
    while not try_lock(fd, shared):
        if time.monotonic() >= deadline:
            return False
        time.sleep(wait)
        wait = min(wait * 2, MAX_WAIT)
    return True


def _is_plain(fd: int) -> bool:
    status = os.fstat(fd)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


if sys.platform != "win32":
    import fcntl

    def try_lock(fd: int, shared: bool = False) -> bool:
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)

else:
    import msvcrt

    def try_lock(fd: int, shared: bool = False) -> bool:
        """Windows has no shared lock of this kind: readers take turns too, each for an instant."""
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
