"""The lock of a session: held alone to write, shared for an instant to learn how far the log is durable."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from threading import RLock

from zaxy.errors import Unavailable, ZaxyError
from zaxy.file_lock import try_until, unlock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from zaxy.eventloom.disk import Disk

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
            if not try_until(fd, deadline, shared=shared):
                raise self._busy(timeout)
            try:
                yield
            finally:
                unlock(fd)
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
