"""A disk that remembers what would survive a loss of power, and the states that such a loss may leave.

What was written to a file survives from its next sync on; a name that was given, changed or taken away survives from
the next sync of the folder on. Until then each write may be on the disk or not, or only its beginning, and so may each
change of a name. Where a later write survives and an earlier one does not, there are zeros between. What was unsynced
when a sync failed stays doubtful for ever: the system may have dropped it, and the next sync succeeds all the same.
"""

from __future__ import annotations

import errno
import itertools
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from zaxy.eventloom.disk import Disk
from zaxy.eventloom.record import Line

MAX_PER_CALL = 40
"""At most so many states are built for one moment."""


class Change(NamedTuple):
    """A write of `data` at `offset`; or, without data, a cut to `offset` bytes."""

    offset: int
    data: bytes | None
    synced: bool = False
    doubtful: bool = False

    def applied(self, content: bytes) -> bytes:
        content = content[: self.offset].ljust(self.offset, b"\0") + content[self.offset :]
        if self.data is None:
            return content[: self.offset]
        return content[: self.offset] + self.data + content[self.offset + len(self.data) :]

    def outcomes(self, rng: random.Random) -> list[Change | None]:
        """All that may have become of it: for a write also that only its beginning has arrived."""
        if self.synced:
            return [self]
        if not self.data:
            return [None, self]
        ends = [at + 1 for at, byte in enumerate(self.data) if byte == ord("\n")][:-1]
        cuts = {1, len(self.data) // 3, len(self.data) - 1, rng.randrange(len(self.data)), *ends} - {0}
        return [None, self, *(self._replace(data=self.data[:cut]) for cut in sorted(cuts))]


class File(NamedTuple):
    """`base` is on the disk for certain; the changes are in the order in which they were made."""

    base: bytes = b""
    changes: tuple[Change, ...] = ()

    def content(self) -> bytes:
        """What a running system sees."""
        return self._after(self.changes)

    def changed(self, change: Change) -> File:
        return self._replace(changes=(*self.changes, change))

    def synced(self) -> File:
        changes = tuple(c if c.doubtful else c._replace(synced=True) for c in self.changes)
        for index, change in enumerate(changes):
            if change.synced and change.data is None:  # what stood behind the cut is gone, doubtful or not
                kept = [c for c in changes[:index] if c.synced or c.offset < change.offset]
                changes = (*kept, *changes[index:])
                break
        if all(change.synced for change in changes):
            return File(self._after(changes))
        return File(self.base, changes)

    def failed_to_sync(self) -> File:
        """Writes stay doubtful; a cut does not: the size is kept with the next sync."""
        changes = (c if c.synced or c.data is None else c._replace(doubtful=True) for c in self.changes)
        return self._replace(changes=tuple(changes))

    def survivors(self, rng: random.Random) -> list[bytes]:
        """Every content that a loss of power may leave: nothing of what is unsynced first, all of it second."""
        choices = list(itertools.islice(itertools.product(*(c.outcomes(rng) for c in self.changes)), 400))
        contents = [self._after(chosen) for chosen in choices]
        return list(dict.fromkeys([contents[0], self.content(), *contents]))

    def _after(self, changes: Iterable[Change | None]) -> bytes:
        content = self.base
        for change in changes:
            content = change.applied(content) if change else content
        return content


class Moment(NamedTuple):
    """The disk after one of the calls, and what had been promised by then."""

    call: str
    files: dict[int, File]
    names: dict[str, int]
    """The names that are on the disk for certain."""
    renamings: tuple[dict[str, int | None], ...]
    """Changes of names since the folder was last synced; each happens as a whole or not at all."""
    acknowledged: tuple[Line, ...]
    erased: tuple[str, ...]
    """Texts of which the erasure was acknowledged."""

    def seen(self) -> dict[str, bytes]:
        """The folder as a running system sees it: also as it is found when only the process dies."""
        return {name: self.files[id_].content() for name, id_ in self.names_after(self.renamings).items()}

    @property
    def is_undoing(self) -> bool:
        """Whether a sync has failed and what it left is not taken back yet."""
        return any(change.doubtful for file in self.files.values() for change in file.changes)

    def names_after(self, renamings: Iterable[dict[str, int | None]]) -> dict[str, int]:
        names: dict[str, int | None] = dict(self.names)
        for renaming in renamings:
            names.update(renaming)
        return {name: id_ for name, id_ in names.items() if id_ is not None}

    def survivors(self, rng: random.Random, most: int = MAX_PER_CALL) -> Iterator[dict[str, bytes]]:
        """The folders that a loss of power at this moment may leave."""
        contents = {id_: file.survivors(rng) for id_, file in self.files.items()}
        states: list[dict[str, bytes]] = []
        for subset in itertools.product((False, True), repeat=len(self.renamings)):
            names = self.names_after(itertools.compress(self.renamings, subset))
            choices = list(itertools.islice(itertools.product(*(contents[id_] for id_ in names.values())), 2000))
            states += [dict(zip(names, choice, strict=True)) for choice in choices]
        extremes, others = [states[0], states[-1]], states[1:-1]
        return iter(extremes + rng.sample(others, min(len(others), most - 2)))


class RecordingDisk(Disk):
    """A real disk, and what of it would survive; `moments` has one entry for each call that changes anything."""

    def __init__(self, folder: Path, since: Moment | None = None) -> None:
        """`since` is where another process left off; its files are in the folder already."""
        self._folder = str(folder)
        self._mutex = RLock()
        self._now = since or Moment("the beginning", {}, {}, (), (), ())
        self._ids: dict[tuple[int, int], int] = {}
        self._open: dict[int, int] = {}
        self._next = max(self._now.files, default=0) + 1
        self.moments: list[Moment] = [self._now]
        self.folders_synced: list[str] = []
        self.failing_syncs = 0
        """So many of the next syncs fail."""
        self.short_write: int | None = None
        """The next write takes so many bytes and no more."""
        self.dead = False
        """From now on every call raises `Died`, as if the process had ended; set by `dies_at_sync`."""
        self.dies_at_sync = False
        for name, id_ in self._now.names_after(self._now.renamings).items():
            status = os.lstat(os.path.join(self._folder, name))
            self._ids[(status.st_dev, status.st_ino)] = id_

    def acknowledge(self, lines: Sequence[Line]) -> None:
        with self._mutex:
            self._note("acknowledged", acknowledged=(*self._now.acknowledged, *lines))

    def acknowledge_erasure(self, text: str) -> None:
        with self._mutex:
            self._note("erasure acknowledged", erased=(*self._now.erased, text))

    def _note(self, call: str, **new: object) -> None:
        self._now = self._now._replace(call=call, **new)  # type: ignore[arg-type]
        self.moments.append(self._now)

    def _rename(self, call: str, change: dict[str, int | None]) -> None:
        self._note(call, renamings=(*self._now.renamings, change))

    def _alter(self, call: str, fd: int, change: Change) -> None:
        id_ = self._open[fd]
        self._note(f"{call} {id_}", files={**self._now.files, id_: self._now.files[id_].changed(change)})

    def _live(self) -> None:
        if self.dead:
            raise Died

    # The calls

    def open(self, path: str, create: bool = False) -> int:
        with self._mutex:
            self._live()
            new = self.identity_at(path) is None
            fd = super().open(path, create)
            if new:
                id_, self._next = self._next, self._next + 1
                self._ids[self.identity(fd)] = id_
                self._now = self._now._replace(files={**self._now.files, id_: File()})
                self._rename(f"create {os.path.basename(path)}", {os.path.basename(path): id_})
            self._open[fd] = self._ids[self.identity(fd)]
            return fd

    def open_to_read(self, path: str) -> int:
        with self._mutex:
            self._live()
            fd = super().open_to_read(path)
            self._open[fd] = self._ids[self.identity(fd)]
            return fd

    def write(self, fd: int, data: bytes) -> int:
        with self._mutex:
            self._live()
            if self.short_write is not None:
                data, self.short_write = data[: self.short_write], None
            offset = self.size(fd)
            taken = super().write(fd, data)
            self._alter("write", fd, Change(offset, data[:taken]))
            return taken

    def truncate(self, fd: int, size: int) -> None:
        with self._mutex:
            self._live()
            super().truncate(fd, size)
            self._alter("truncate", fd, Change(size, None))

    def sync(self, fd: int) -> None:
        with self._mutex:
            self.dead = self.dead or self.dies_at_sync
            self._live()
            id_ = self._open[fd]
            if self.failing_syncs:
                self.failing_syncs -= 1
                failed = self._now.files[id_].failed_to_sync()
                self._note(f"failed sync {id_}", files={**self._now.files, id_: failed})
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            self._note(f"sync {id_}", files={**self._now.files, id_: self._now.files[id_].synced()})

    def replace(self, source: str, target: str) -> None:
        with self._mutex:
            self._live()
            id_ = self._ids[self.identity_at(source) or (0, 0)]
            super().replace(source, target)
            names = (os.path.basename(source), os.path.basename(target))
            self._rename(f"rename {names[0]} to {names[1]}", {names[0]: None, names[1]: id_})

    def remove(self, path: str) -> None:
        with self._mutex:
            self._live()
            super().remove(path)
            self._rename(f"remove {os.path.basename(path)}", {os.path.basename(path): None})

    def sync_folder(self, path: str) -> None:
        with self._mutex:
            self._live()
            self.folders_synced.append(path)
            if path == self._folder:
                self._note("sync the folder", names=self._now.names_after(self._now.renamings), renamings=())


class Died(BaseException):
    """The process that made the call is no more."""


class ForgetfulDisk(RecordingDisk):
    """Says that a sync was done when it was not."""

    def sync(self, fd: int) -> None:
        self._note("a sync that does nothing")


class NamelessDisk(RecordingDisk):
    """Never makes names survive."""

    def sync_folder(self, path: str) -> None:
        self._note("a sync of the folder that does nothing")


class QuickDisk(Disk):
    """To open the many states: what is on it need not survive anything."""

    def sync(self, fd: int) -> None:
        pass

    def sync_folder(self, path: str) -> None:
        pass


def lay_out(folder: Path, state: dict[str, bytes]) -> None:
    """Write the files of a state into a new folder."""
    folder.mkdir(parents=True)
    for name, content in state.items():
        path = folder / name
        path.write_bytes(content)
        path.chmod(0o600)
