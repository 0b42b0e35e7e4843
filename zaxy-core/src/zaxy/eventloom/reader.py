"""Reads a session's log through its own descriptor, up to the end that was durable when reading began."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, nullcontext
from itertools import islice

from zaxy.errors import Conflict, Unavailable, ZaxyError
from zaxy.eventloom.record import MAX_LINE_BYTES, Damaged, NewerFormat
from zaxy.eventloom.tail import EMPTY, Tail, read_tail, readable_tail, unchecked_tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from zaxy.eventloom.disk import Disk
    from zaxy.eventloom.lock import SessionLock
    from zaxy.eventloom.record import Line

LOCK_TIMEOUT = 30.0
SMALL_CHUNK = 1 << 13
FIRST_CHUNK = 1 << 16
CHUNK = 1 << 20
TO_UPGRADE = "Upgrade zaxy-core. Until then the log is left unchanged."


class Reader:
    """A view of the log that does not change: it does not see later appends, cuts and erasures."""

    def __init__(
        self,
        path: str,
        session: str,
        *,
        lock: SessionLock | None,
        disk: Disk,
        timeout: float = LOCK_TIMEOUT,
        even_if_damaged: bool = False,
        synced: Line | None = None,
    ) -> None:
        """`lock` is None if the caller holds it. `even_if_damaged`: damage does not stop the caller, who looks for it.

        `synced`: a proven line up to which the log is known to be durable.
        """
        self.session = session
        self._even_if_damaged = even_if_damaged
        self._synced = synced
        self._disk = disk
        self._fd: int | None = None
        self.tail: Tail = EMPTY
        """The durable end of what can be read."""
        self.damage = ""
        """What is wrong at that end or behind it; empty if nothing is."""
        try:
            if disk.identity_at(path) is None:
                return
            try:
                with lock.shared(timeout) if lock else nullcontext():
                    self._open(path)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                    raise
                self._open(path)  # the folder is read-only, so nobody with our rights is writing
        except OSError as error:
            raise explained(error, session, os.path.dirname(path)) from None

    def _open(self, path: str) -> None:
        self._fd = self._disk.open_to_read(path)
        try:
            size = self._disk.size(self._fd)
            if self._even_if_damaged:
                self.tail = unchecked_tail(self._disk, self._fd, size)
                return
            refuse_foreign(self._disk, self._fd, self.session)
            with damage_explained(self.session, "its last event"):
                self.tail, self.damage = readable_tail(
                    self._disk, self._fd, size, session=self.session, known=self._synced
                )
            # A writer may have died between its write and its sync. What we rely on from here on must not vanish.
            # A second sync costs as much as the first (4 ms here), so what is known to be durable is not synced again.
            if self.tail.line != self._synced:
                self._disk.sync(self._fd)
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        return self.tail.size

    def lines(self, start: int = 0, first_chunk: int = FIRST_CHUNK) -> Iterator[tuple[int, bytes]]:
        """The raw lines from an offset to the durable end, each with its offset. The chunks it reads grow.

        Of a line that is longer than any may be, there is one byte too much, and nothing behind it.
        """
        parts: list[bytes] = []
        position, pending, size = start, 0, first_chunk
        while start < self.size and self._fd is not None:
            chunk = self._disk.read(self._fd, min(size, self.size - start), start)
            if not chunk:
                return
            start += len(chunk)
            size = min(size * 2, CHUNK)
            first, *whole = chunk.split(b"\n")
            parts.append(first)
            pending += len(first)
            if pending > MAX_LINE_BYTES:
                yield position, b"".join(parts)[: MAX_LINE_BYTES + 1]
                return
            if not whole:
                continue
            rest = whole.pop()
            for line in (b"".join(parts), *whole):
                yield position, line
                position += len(line) + 1
            parts, pending = [rest], len(rest)

    def first_lines(self, start: int, count: int) -> list[bytes]:
        """The next lines from an offset, up to a number, read in as few pieces as they need."""
        return [line for _, line in islice(self.lines(start, SMALL_CHUNK), count)]

    def line_at(self, offset: int) -> bytes | None:
        """The raw line that begins at an offset, or None if no line begins there.

        It may be newer than this view, because another process may have brought the index further.
        """
        return None if self._fd is None or offset < 0 else line_at(self._disk, self._fd, offset)

    def offset_of(self, seq: int) -> int | None:
        """Where the event with that number begins, found by counting lines. It reads the log up to there."""
        ahead, start = seq - 1, 0
        for chunk in self.bytes_between(0, self.size):
            ends = chunk.count(b"\n")
            if ends >= ahead:
                at = 0
                for _ in range(ahead):
                    at = chunk.index(b"\n", at) + 1
                return start + at if start + at < self.size else None
            ahead -= ends
            start += len(chunk)
        return None

    def bytes_between(self, start: int, end: int) -> Iterator[bytes]:
        """The raw bytes from one offset to another, in large chunks."""
        while start < end and self._fd is not None:
            chunk = self._disk.read(self._fd, min(CHUNK, end - start), start)
            if not chunk:
                return
            yield chunk
            start += len(chunk)

    def close(self) -> None:
        if self._fd is not None:
            self._disk.close(self._fd)
            self._fd = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def line_at(disk: Disk, fd: int, offset: int) -> bytes | None:
    if offset and disk.read(fd, 1, offset - 1) != b"\n":
        return None
    parts: list[bytes] = []
    length, step = 0, 1 << 12
    while length < MAX_LINE_BYTES:
        chunk = disk.read(fd, step, offset + length)
        found = chunk.find(b"\n")
        if found >= 0:
            return b"".join([*parts, chunk[:found]])
        if not chunk:
            return None
        parts.append(chunk)
        length, step = length + len(chunk), 1 << 16
    return None


def checked_tail(disk: Disk, fd: int, size: int, *, session: str) -> Tail:
    """The end for a writer, who does not go on behind damage."""
    with damage_explained(session, "its last event"):
        return read_tail(disk, fd, size)


@contextmanager
def damage_explained(session: str, what: str = "an event") -> Iterator[None]:
    """Turn a wrong line into an error that says what to do about it."""
    try:
        yield
    except NewerFormat as error:
        raise unusable(session, f"{what} cannot be read: {error}", TO_UPGRADE) from None
    except Damaged as error:
        raise unusable(
            session, f"{what} is damaged: {error}", f"Run 'zaxy verify {session}' to see what is intact."
        ) from None


def refuse_foreign(disk: Disk, fd: int, session: str) -> None:
    """Refuse a file that was copied under another session's name: its citations would be wrong."""
    first = line_at(disk, fd, 0) or b""
    own = first.rfind(b'"thread":"')  # keys are sorted, so the payload comes before it
    if own >= 0 and not first.startswith(b'"thread":"%b"' % session.encode(), own):
        raise Conflict(
            f"{session}.jsonl holds the log of another session",
            "Rename the file to the session that its first line names.",
        )


def after_damage(session: str) -> str:
    """What is to be done about a damaged log, in the same words wherever it is met."""
    return (
        f"Restore {session}.jsonl from a copy, then 'zaxy repair {session}' lets it be written again; "
        "or go on in another session."
    )


def unusable(session: str, reason: str, fix: str) -> ZaxyError:
    return Unavailable(f"the session {session} cannot be used: {reason}", fix)


def explained(error: OSError, session: str, folder: str) -> ZaxyError:
    """What an error of the system means here, and what to do about it."""
    advice = {
        errno.ENOSPC: ("the disk is full", "Free some space. Nothing was written, and no repair is needed."),
        errno.EDQUOT: ("the disk quota is used up", "Free some space. Nothing was written."),
        errno.EFBIG: ("the file would exceed the size limit", "Raise the limit. Nothing was written."),
        errno.EACCES: ("permission was denied", f"Make {folder} and its files readable and writable for this user."),
        errno.EPERM: ("permission was denied", f"Make {folder} and its files readable and writable for this user."),
        errno.EROFS: ("the file system is read-only", "Mount it writable, or set EVENTLOOM_PATH."),
        errno.EMFILE: ("too many files are open", "Close some, or raise the limit (ulimit -n)."),
        errno.ENFILE: ("too many files are open on this machine", "Close some programs."),
        errno.EIO: ("the disk reported an error", "Check the disk. Nothing was acknowledged."),
        errno.ELOOP: ("the log's file is a link", "Put the file itself there: links are not followed."),
        errno.ENXIO: ("the log's file is not a regular file", "Move it away."),
    }
    reason, fix = advice.get(error.errno or 0, (error.strerror or str(error), "Nothing was acknowledged."))
    return unusable(session, reason, fix)
