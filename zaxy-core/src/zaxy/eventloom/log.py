"""One session's log: durable appends by one writer at a time, reads up to the durable end.

An append is acknowledged after its bytes are synced. Threads that append at the same time share a sync: the one with
the lock writes for all that wait. A writer undoes its own failed write, still under the lock. If even that fails, the
session is poisoned, and nothing is appended until it was repaired.
"""

from __future__ import annotations

import errno
import os
import time
from itertools import chain
from threading import Lock

from zaxy.errors import ZaxyError
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.eventloom.plan import Append, WritePlan, key_conflict, repeated_keys
from zaxy.eventloom.reader import LOCK_TIMEOUT, Reader, after_damage, checked_tail, explained, refuse_foreign, unusable
from zaxy.eventloom.record import make_line, same_content
from zaxy.eventloom.tail import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zaxy.eventloom.disk import Disk
    from zaxy.eventloom.plan import Find
    from zaxy.eventloom.record import Entry, Line

MAX_GROUP = 512
"""How many waiting appends are written together at most."""


class SessionLog:
    """The log in `<folder>/<session>.jsonl`. The caller has checked the session's id."""

    def __init__(self, folder: str, session: str, disk: Disk = DISK, clock: Callable[[], str] | None = None) -> None:
        self.session = session
        self.folder = folder
        self._beside = os.path.join(folder, session)
        self.path = f"{self._beside}.jsonl"
        self.lock = SessionLock(f"{self._beside}.lock", disk)
        self._disk = disk
        self._clock = clock or utc_now
        self._fd: int | None = None
        self._identity: tuple[int, int] | None = None
        self._pid = os.getpid()
        self._tail = EMPTY
        self._synced: Line | None = None
        """The last line that is known to be durable."""
        self._plan = WritePlan(EMPTY)
        self._waiting: list[Append] = []
        self._last_group, self._last_took = 1, 0.0
        self._queue = Lock()
        self._led = False
        self._marks: set[str] = set()

    # Writing

    def append(self, entries: Sequence[Entry], find: Find | None = None, timeout: float = LOCK_TIMEOUT) -> list[Line]:
        """Append all entries or none, and return when they are durable.

        `find` looks up the event that used an idempotency key before. It is called under the lock.
        """
        self._forget_parent()
        mine = Append(entries, find)
        with self._queue:
            self._waiting.append(mine)
            lead, self._led = not self._led, True
            if not lead:
                mine.sleep()
        if lead or not self._await_turn(mine, timeout):
            self._lead(timeout)
        if mine.error is not None:
            raise mine.error
        return mine.lines

    def _await_turn(self, mine: Append, timeout: float) -> bool:
        """Wait until this append was written, or until its thread must write for all. True if it was written."""
        if not mine.wait(timeout):
            with self._queue:
                if mine in self._waiting and self._waiting[0] is not mine:
                    self._waiting.remove(mine)  # nobody has started to write it, so it can be withdrawn
                    raise unusable(self.session, f"its writers were busy for {timeout:g} s", "Try again.")
            mine.wait(None)
        return mine.done

    def _lead(self, timeout: float) -> None:
        """Write for all that wait, wake them, and let the first that came meanwhile lead next."""
        self._gather()
        with self._queue:
            group, self._waiting = self._waiting[:MAX_GROUP], self._waiting[MAX_GROUP:]
        began = time.monotonic()
        try:
            self._commit(group, timeout)
        finally:
            self._last_group, self._last_took = len(group), time.monotonic() - began
            for waiting in group:
                waiting.wake()
            with self._queue:
                self._led = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].wake()

    def _gather(self) -> None:
        """Give threads whose append was just acknowledged a moment to bring the next one.

        Without this, the first one back would sync alone: with eight threads, 0.58 syncs an event instead of 0.2.
        """
        if self._last_group == 1 and len(self._waiting) == 1:
            return
        deadline = time.monotonic() + min(self._last_took / 2, 0.002)
        while len(self._waiting) < self._last_group and time.monotonic() < deadline:
            time.sleep(0.00002)

    def _commit(self, group: list[Append], timeout: float) -> None:
        """Write the waiting appends together. Each gets its own outcome."""
        try:
            with self.lock.exclusive(timeout):
                self._prepare()
                data = b"".join(self._place(waiting) for waiting in group)
                if data:
                    self._write(data)
                    self._tail = self._plan.tail(self._tail.size + len(data))
                    self._synced = self._tail.line
        except (ZaxyError, OSError) as error:
            failure = error if isinstance(error, ZaxyError) else explained(error, self.session, self.folder)
            for waiting in group:
                waiting.fail(failure)
        except BaseException as error:  # an interrupt: nothing was acknowledged, and every append must fail
            for waiting in group:
                waiting.fail(error)
            raise
        finally:
            for waiting in group:
                waiting.done = True

    def _place(self, waiting: Append) -> bytes:
        """Give the entries of one append their places behind what is planned so far. Returns the bytes to write."""
        entries = waiting.entries
        try:
            repeats = repeated_keys(entries)
            new = [at for at, entry in enumerate(entries) if at not in repeats and not self._known(entry, waiting.find)]
        except ZaxyError as error:
            waiting.fail(error)
            return b""
        batch = os.urandom(8).hex() if len(new) > 1 else ""
        now = self._clock()
        lines: dict[int, Line] = {}
        for index, at in enumerate(new):
            entry = entries[at]
            if batch:
                marked = {**entry.fields, "batch": {"id": batch, "index": index, "count": len(new)}}
                entry = entry._replace(fields=marked)
            lines[at] = make_line(entry, self.session, seq=self._plan.seq + 1, prev=self._plan.hash, time=now)
            self._plan.take(entry, lines[at])
        waiting.lines = [lines.get(at) or self._plan.keys[entry.key] for at, entry in enumerate(entries)]
        return b"".join(line.data + b"\n" for line in lines.values())

    def _known(self, entry: Entry, find: Find | None) -> bool:
        """Whether the entry's key was used before, even in the same group. Other content is a conflict."""
        if not entry.key:
            return False
        line = self._plan.keys.get(entry.key) or (find(entry.key, self._tail) if find else None)
        if line is None:
            return False
        if not same_content(entry, line):
            raise key_conflict(entry.key, f"in event {line.seq}")
        self._plan.keys[entry.key] = line
        return True

    def _write(self, data: bytes) -> None:
        """Write and sync, or leave the log as it was."""
        fd = self._opened
        try:
            taken = self._disk.write(fd, data)
            if taken != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._disk.sync(fd)
        except BaseException:
            self._undo(fd)
            raise

    def _undo(self, fd: int) -> None:
        """Undo a failed write. After a failed sync, this descriptor is not trusted any more."""
        try:
            self._disk.truncate(fd, self._tail.size)
            self._disk.sync(fd)
        except OSError as error:
            self.mark("poisoned", f"a failed write could not be undone: {error.strerror}")
        finally:
            self._drop()

    def _prepare(self) -> None:
        """Under the lock: open the right file, find its end, make it durable, and cut an interrupted write."""
        self._refuse_marked()
        try:
            self._follow_file()
            size = self._disk.size(self._opened)
            if size != self._tail.size:
                self._tail = checked_tail(self._disk, self._opened, size, session=self.session)
                self.cut_torn()
                # Another process wrote this, and may have died before its sync. A loss of power could then keep what
                # we write next, and leave a hole before it.
                self._sync_others()
        except BaseException:
            self._drop()  # what was not checked or not synced is read again
            raise
        self._plan = WritePlan(self._tail)
        self._synced = self._tail.line

    def _sync_others(self) -> None:
        """Make durable what others wrote. It cannot be undone, and a later sync may succeed without it."""
        try:
            self._disk.sync(self._opened)
        except OSError as error:
            self.mark("poisoned", f"what another process wrote could not be synced: {error.strerror}")
            raise

    def cut_torn(self) -> int:
        """Cut an unterminated last line or an incomplete last batch, and keep its bytes beside the log.

        The caller holds the lock. Nothing that was acknowledged is ever cut.
        """
        tail, fd = self._tail, self._opened
        if not tail.torn:
            return 0
        kept = self._disk.open(f"{self._beside}.torn", create=True)
        try:
            header = f"# {tail.torn} bytes from offset {tail.size}, cut {self._clock()}\n"
            torn = self._disk.read(fd, tail.torn, tail.size)
            self._write_whole(kept, header.encode() + torn + b"\n")
            self._disk.sync(kept)
        finally:
            self._disk.close(kept)
        self._disk.sync_folder(self.folder)
        self._disk.truncate(fd, tail.size)
        self._sync_others()
        self._tail = tail._replace(torn=0)
        return tail.torn

    def rewrite(self, replaced: Callable[[Reader], Iterator[bytes]], entry: Entry) -> Line:
        """Replace the log by a new file that ends in a new event. Readers of the old file notice by its name.

        `replaced` yields the bytes of the new file from a reader of the old one. A crash leaves one of the two.
        """
        try:
            with self.lock.exclusive(LOCK_TIMEOUT):
                self._prepare()
                next_seq, prev = self._plan.seq + 1, self._plan.hash
                line = make_line(entry, self.session, seq=next_seq, prev=prev, time=self._clock())
                self._put_in_place(lambda reader: chain(replaced(reader), (line.data + b"\n",)), keep_torn=False)
                return line
        except OSError as error:
            raise explained(error, self.session, self.folder) from None

    def _put_in_place(self, replaced: Callable[[Reader], Iterator[bytes]], keep_torn: bool) -> None:
        partial = f"{self._beside}.rewriting"
        if self._disk.identity_at(partial) is not None:
            self._disk.remove(partial)  # left by a process that died
        try:
            fd = self._disk.open(partial, create=True)
            try:
                with self.reader_under_lock() as reader:
                    for chunk in replaced(reader):
                        self._write_whole(fd, chunk)
                self._disk.sync(fd)
            finally:
                self._disk.close(fd)
            if not keep_torn and self.marked("torn"):
                # Before the new file appears, so that an erasure on record has left nothing behind.
                self._disk.remove(f"{self._beside}.torn")
                self._disk.sync_folder(self.folder)
            self._drop()  # Windows does not replace a file that is open
            self._disk.replace(partial, self.path)
        finally:
            if self._disk.identity_at(partial) is not None:
                self._disk.remove(partial)
            self._drop()
        self._disk.sync_folder(self.folder)

    def _write_whole(self, fd: int, data: bytes) -> None:
        if self._disk.write(fd, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def repair(self) -> int:
        """Cut what an interrupted writer left, and make a poisoned session writable again.

        Returns how many bytes were cut. The caller has verified the log.
        """
        try:
            with self.lock.exclusive(LOCK_TIMEOUT):
                self._drop()
                self._follow_file()
                self._tail = checked_tail(self._disk, self._opened, self._disk.size(self._opened), session=self.session)
                cut = self.cut_torn()
                self._sync_others()
                if self.marked("poisoned"):
                    # What a failed sync left in memory may not be on the disk, whatever the next sync says.
                    self._put_in_place(lambda reader: reader.bytes_between(0, reader.size), keep_torn=True)
                for kind in ("poisoned", "damaged"):
                    self._marks.discard(kind)
                    if self.marked(kind):
                        self._disk.remove(f"{self._beside}.{kind}")
                self._disk.sync_folder(self.folder)
                return cut
        except OSError as error:
            raise explained(error, self.session, self.folder) from None

    def remove(self, last: int) -> bool:
        """Remove the file if it ends with the event of that number. Writers that wait begin a new one."""
        try:
            with self.lock.exclusive(LOCK_TIMEOUT):
                if self._disk.identity_at(self.path) is None:
                    return False
                self._prepare()
                if self._tail.seq != last:
                    return False
                self._drop()
                self._disk.remove(self.path)
                self._disk.sync_folder(self.folder)
                return True
        except OSError as error:
            raise explained(error, self.session, self.folder) from None

    # Reading

    def reader(self, timeout: float = LOCK_TIMEOUT, even_if_damaged: bool = False) -> Reader:
        """A reader of what is durable now, to be closed by the caller. A log without a file has no events."""
        reader = Reader(
            self.path,
            self.session,
            lock=self.lock,
            disk=self._disk,
            timeout=timeout,
            even_if_damaged=even_if_damaged,
            synced=self._synced,
        )
        if not even_if_damaged:
            self._synced = reader.tail.line
            if reader.damage:
                self.mark("damaged", f"at event {reader.tail.seq} or behind it: {reader.damage}")
        return reader

    def reader_under_lock(self) -> Reader:
        """The same for the writer, which holds the lock."""
        return Reader(self.path, self.session, lock=None, disk=self._disk, synced=self._synced)

    def exists(self) -> bool:
        try:
            return self._disk.identity_at(self.path) is not None
        except OSError as error:
            raise explained(error, self.session, self.folder) from None

    # The file and its markers

    def _follow_file(self) -> None:
        """Open the file that has the name now. An erasure puts a new file in its place."""
        named = self._disk.identity_at(self.path)
        if self._fd is not None and named == self._identity:
            return
        self._drop()
        self._fd = self._disk.open(self.path, create=named is None)
        self._identity = self._disk.identity(self._fd)
        # Even if the file exists: the process that made it may have died before it synced the folder.
        self._disk.sync_folder(self.folder)
        refuse_foreign(self._disk, self._fd, self.session)

    def mark(self, kind: str, reason: str) -> None:
        """Write `<session>.<kind>` beside the log, unless it is there. It keeps every process from appending."""
        self._marks.add(kind)
        try:
            if self._disk.identity_at(f"{self._beside}.{kind}") is not None:
                return
            marker = self._disk.open(f"{self._beside}.{kind}", create=True)
            try:
                self._disk.write(marker, f"{self._clock()} {reason}\n".encode())
                self._disk.sync(marker)
            finally:
                self._disk.close(marker)
        except OSError:
            pass  # nothing can be written any more; the error being raised says so

    def is_known_as(self, kind: str) -> bool:
        """Whether it is marked, or this process would have marked it if it could write to the folder."""
        return kind in self._marks or self.marked(kind)

    def marked(self, kind: str) -> bool:
        return self._disk.identity_at(f"{self._beside}.{kind}") is not None

    def check_writable(self) -> None:
        """Refuse as an append would, and write nothing."""
        self._refuse_marked()
        try:
            if self.exists():
                with self.lock.exclusive(LOCK_TIMEOUT):
                    self._disk.close(self._disk.open(self.path))
        except OSError as error:
            raise explained(error, self.session, self.folder) from None

    def _refuse_marked(self) -> None:
        if self.marked("poisoned"):
            raise unusable(self.session, "a failed write could not be undone", f"Run 'zaxy repair {self.session}'.")
        if self.marked("damaged"):
            raise unusable(
                self.session,
                "it is marked as damaged and can only be read",
                f"'zaxy verify {self.session}' names the place. {after_damage(self.session)}",
            )

    @property
    def _opened(self) -> int:
        assert self._fd is not None, "the log is opened before it is used"
        return self._fd

    def _drop(self) -> None:
        """Close the descriptor, and forget what was known about the file."""
        if self._fd is not None and self._pid == os.getpid():
            self._disk.close(self._fd)
        self._fd, self._identity, self._tail = None, None, EMPTY

    def _forget_parent(self) -> None:
        """After a fork, use neither the parent's descriptor nor locks that its threads may have held."""
        if self._pid != os.getpid():
            self._drop()
            self._pid, self._queue, self._led, self._waiting = os.getpid(), Lock(), False, []

    def rest(self) -> None:
        """Close the descriptors unless they are in use. They are opened again when they are needed."""
        self._forget_parent()
        self.lock.close(self._drop)


def utc_now() -> str:
    """The current time as the log writes it: ISO 8601 in UTC with microseconds."""
    nanoseconds = time.time_ns()
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1000:06d}Z"
