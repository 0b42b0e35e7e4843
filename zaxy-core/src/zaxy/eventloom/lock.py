"""The lock of a session: held alone to write, shared for an instant to learn how far the log is durable."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from threading import RLock

from zaxy.errors import Unavailable, ZaxyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from zaxy.eventloom.disk import Disk

FIRST_WAIT = 0.0005
MAX_WAIT = 0.02
_open_here: set[int] = set()


def _close_parents() -> None:
    """In a forked child: as long as it had the descriptor too, a lock would outlive the parent that held it."""
    for fd in _open_here:
        os.close(fd)
    _open_here.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_parents)


class SessionLock:
    """A lock on `<session>.lock`, a file that is never renamed or removed, and a mutex among this process's threads.

    The system's lock belongs to the descriptor, so threads that share it must take turns; and a descriptor that came
    with a fork would share the parent's lock, so the child opens its own.
    """

    def __init__(self, path: str, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._mutex = RLock()
        self._fd: int | None = None
        self._holders = 0
        self._pid = os.getpid()

    def exclusive(self, timeout: float) -> AbstractContextManager[None]:
        return self._held(timeout, shared=False)

    def shared(self, timeout: float) -> AbstractContextManager[None]:
        return self._held(timeout, shared=True)

    @contextmanager
    def _held(self, timeout: float, shared: bool) -> Iterator[None]:
        self._forget_parent()
        deadline = time.monotonic() + timeout
        if not self._mutex.acquire(timeout=max(timeout, 0)):
            raise self._busy(timeout)
        self._holders += 1
        try:
            fd = self._descriptor()
            wait = FIRST_WAIT
            while not _try_lock(fd, shared):
                if time.monotonic() >= deadline:
                    raise self._busy(timeout)
                time.sleep(wait)
                wait = min(wait * 2, MAX_WAIT)
            try:
                yield
            finally:
                _unlock(fd)
        finally:
            self._holders -= 1
            self._mutex.release()

    def close(self, also: Callable[[], None] | None = None) -> None:
        """Close the descriptor, and do what else is to be done, unless a thread holds the lock just now.

        Under the mutex: threads that closed it at the same moment would close a file that another one has opened since.
        """
        self._forget_parent()
        if not self._mutex.acquire(blocking=False):
            return
        try:
            if self._holders:
                return
            if also:
                also()
            if self._fd is not None:
                _open_here.discard(self._fd)
                self._disk.close(self._fd)
                self._fd = None
        finally:
            self._mutex.release()

    def _descriptor(self) -> int:
        if self._fd is None:
            self._fd = self._disk.open(self._path, create=True)
            _open_here.add(self._fd)
        return self._fd

    def _forget_parent(self) -> None:
        """In a forked child, leave the parent's descriptor and a mutex that one of its threads may have held."""
        if self._pid != os.getpid():
            self._mutex, self._fd, self._holders, self._pid = RLock(), None, 0, os.getpid()

    def _busy(self, timeout: float) -> ZaxyError:
        session = os.path.basename(self._path).removesuffix(".lock")
        return Unavailable(
            f"the session {session} is being written by another process, and was not free within {timeout:g} s",
            "Try again; if it stays so, look for a process that hangs while it holds the lock.",
        )


if sys.platform != "win32":
    import fcntl

    def _try_lock(fd: int, shared: bool) -> bool:
        try:
            fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)

else:
    import msvcrt

    def _try_lock(fd: int, shared: bool) -> bool:
        """Windows has no shared lock of this kind: readers take turns too, each for an instant."""
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
