"""One process owns the graph: the engine locks everybody else out, and does not notice a second opening in its own."""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime
from pathlib import Path

from zaxy.api import Forbidden, Unavailable, ZaxyError, read_small_json
from zaxy_kuzu.engine import try_lock

_open_here: set[int] = set()


def _close_parents() -> None:
    """In a forked child: as long as it had the descriptor too, the lock would outlive the parent that held it."""
    for fd in _open_here:
        os.close(fd)
    _open_here.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_parents)


class Ownership:
    """A lock on the file `owner.json`, which says who holds it; the system lets go of it when that process ends."""

    def __init__(self, folder: Path, now: datetime) -> None:
        path = folder / "owner.json"
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe in its place is not waited for
        self._fd = os.open(path, flags, 0o600)
        if not _is_plain(self._fd):
            os.close(self._fd)
            raise Forbidden(f"{path} is not a plain file of its own", "Move it away: a new one is made.")
        if not try_lock(self._fd):
            os.close(self._fd)
            raise _held(path)
        _open_here.add(self._fd)
        os.ftruncate(self._fd, 0)
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, json.dumps({"pid": os.getpid(), "since": now.isoformat(timespec="seconds")}).encode())

    def release(self) -> None:
        if self._fd in _open_here:
            _open_here.discard(self._fd)
            os.close(self._fd)


def _is_plain(fd: int) -> bool:
    """Whether it is a file with one name: what has a second one elsewhere would be emptied there too."""
    status = os.fstat(fd)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _held(path: Path) -> ZaxyError:
    try:
        holder = read_small_json(str(path))
        pid, since = int(holder["pid"]), str(holder["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return Unavailable("the graph is open in another process", "End that process, or try again when it has ended.")
    if pid == os.getpid():
        return Unavailable(
            f"the graph is open in this process already, since {since}",
            "Use the one that is open, or close it first: the engine allows one at a time.",
        )
    return Unavailable(
        f"the graph is open in process {pid}, since {since}",
        f"Ask that process (a running 'zaxy serve'), end it (kill {pid}), or use the built-in graph, which many "
        "processes can share: PROJECTION_BACKEND=sqlite.",
    )
