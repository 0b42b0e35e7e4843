"""The log of a workspace: its sessions, and everything that can be done with them.

Appending imports little. What reading, indexing and verifying need is imported when it is used.
"""

from __future__ import annotations

import os
import time
from threading import Lock

from zaxy.errors import Conflict, NotFound, Unavailable, ZaxyError
from zaxy.eventloom.disk import DISK, rests_when_files_are_scarce
from zaxy.eventloom.grammar import Malformed, fault_of
from zaxy.eventloom.log import SessionLog, utc_now
from zaxy.eventloom.reader import LOCK_TIMEOUT, TO_UPGRADE, after_damage, damage_explained, explained, unusable
from zaxy.eventloom.record import Line
from zaxy.security.paths import own_folder, unusable_folder
from zaxy.security.session_ids import check_new_session, check_session_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeVar

    from zaxy.api.models import Report
    from zaxy.eventloom.citation import Citation
    from zaxy.eventloom.disk import Disk
    from zaxy.eventloom.file_log import FileLog
    from zaxy.eventloom.index import LogIndex
    from zaxy.eventloom.reader import Reader
    from zaxy.eventloom.record import Entry
    from zaxy.eventloom.tail import Tail
    from zaxy.eventloom.view import LogView

    T = TypeVar("T")

MAX_OPEN = 16
"""Sessions whose log and index stay open."""
INDEX_FOLDER = os.path.join("followers", "log")


class Eventloom:
    """`folder` is the Eventloom path, such as `.eventloom`. The first append makes it."""

    def __init__(
        self,
        folder: str,
        disk: Disk = DISK,
        clock: Callable[[], str] = utc_now,
        *,
        begin: Callable[[], None] | None = None,
    ) -> None:
        """`begin` is called before a session's first event is written."""
        self.folder = folder
        self._begin = begin
        self._disk = disk
        self._clock = clock
        self._logs: dict[str, SessionLog] = {}
        self._indexes: dict[str, LogIndex] = {}
        self._recent: dict[str, None] = {}
        """The sessions whose files may be open, those that were used last at the end."""
        self._mutex = Lock()
        rests_when_files_are_scarce(self)

    # Writing

    def append(self, session: str, entries: Sequence[Entry], timeout: float = LOCK_TIMEOUT) -> list[Line]:
        """Append all entries or none, and return when they are durable. Entries come from `admission`."""
        if not entries:
            return []
        log = self._log(session)
        if not log.exists():
            self._make_folder(session)
            check_new_session(session, self.sessions())
        if not any(entry.key for entry in entries):
            return log.append(entries, timeout=timeout)
        index = self._index(session)
        with log.reader(timeout) as reader, damage_explained(session):
            self._unless_broken(lambda: index.catch_up(reader), None)
        return log.append(entries, find=lambda key, tail: self._find_key(log, index, key, tail), timeout=timeout)

    def _make_folder(self, session: str) -> None:
        """Make the folder, and sync its parent, so that the folder survives a loss of power."""
        if self._begin:
            self._begin()
        own_folder(self.folder, create=True)
        try:
            self._disk.sync_folder(os.path.dirname(os.path.abspath(self.folder)))
        except PermissionError:
            pass  # somebody else made the folder, in one that this user may not read
        except OSError as error:
            raise explained(error, session, self.folder) from None

    def _find_key(self, log: SessionLog, index: LogIndex, key: str, tail: Tail) -> Line | None:
        """Under the lock: the event that used a key, from the index or from the lines that are newer than it."""
        if not tail.size:
            return None
        with log.reader_under_lock() as reader, damage_explained(log.session):
            return self._event_of_key(reader, index, key)

    def _event_of_key(self, reader: Reader, index: LogIndex, key: str) -> Line | None:
        from zaxy.eventloom.bulk import parse_quickly
        from zaxy.eventloom.places import chained_record

        unknown: tuple[int, int | None] = (0, None)
        reach, offset = self._unless_broken(lambda: index.find_key(reader, key), unknown)
        if offset is not None:
            return parse_quickly(reader.line_at(offset) or b"")
        for _, data in reader.lines(reach):
            if (record := chained_record(data)).get("idempotency_key") == key:
                return Line(record, data)
        return None

    # Reading

    def by_key(self, session: str, key: str) -> Line | None:
        """The event that used an idempotency key."""
        index = self._index(session)
        with self._log(session).reader() as reader, damage_explained(session):
            if not reader.size:
                return None
            self._unless_broken(lambda: index.catch_up(reader), None)
            return self._event_of_key(reader, index, key)

    def sessions(self) -> list[str]:
        """The sessions that have a log, sorted."""
        if not self._folder_exists():
            return []
        try:
            names = os.listdir(self.folder)
        except OSError as error:
            raise unusable_folder(self.folder, error) from None
        found = []
        for name in names:
            session = name.removesuffix(".jsonl")
            try:
                if name.endswith(".jsonl") and check_session_id(session):
                    found.append(session)
            except ZaxyError:
                continue  # not a file of ours
        return sorted(found)

    def end(self, session: str) -> Tail:
        """The durable end of a session's log."""
        with self._log(session).reader() as reader:
            return reader.tail

    def last_event(self, session: str) -> Line:
        last = self.end(session).line
        if last is None:
            raise NotFound(f"the session {session} has no events", "Append one first.")
        return last

    def state(self, session: str) -> str:
        """Whether a session can be written: `ok`, `damaged` or `poisoned`."""
        log = self._log(session)
        return next((kind for kind in ("damaged", "poisoned") if log.is_known_as(kind)), "ok")

    def read(self, session: str, from_seq: int = 1, to_seq: int | None = None) -> Iterator[Line]:
        """The durable events of a range, oldest first, each verified. The rest of the log is not read."""
        for record, data in self.records(session, from_seq, to_seq):
            if type(record) is not Malformed:
                yield Line(record, data)

    def records(
        self, session: str, from_seq: int = 1, to_seq: int | None = None
    ) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The same as records with their lines: who reads a whole log needs no `Line` for each.

        In the place of an event that breaks the grammar is a `Malformed`.
        """
        from zaxy.eventloom.index import lines_from
        from zaxy.eventloom.places import UNKNOWN, record_at
        from zaxy.eventloom.record import Damaged, NewerFormat

        with self._log(session).reader(even_if_damaged=True) as reader:
            expected, before = max(from_seq, 1), UNKNOWN
            if expected > reader.size:
                return  # an event has more than one byte
            for offset, data in lines_from(reader, self._seek(session, reader, (expected,))[expected], expected):
                if to_seq is not None and expected > to_seq:
                    return
                try:
                    record = record_at(data, session, seq=expected, before=before)
                except NewerFormat as error:
                    raise unusable(session, f"event {expected} cannot be read: {error}", TO_UPGRADE) from None
                except Damaged as error:
                    raise self._damaged(session, expected, offset, str(error)) from None
                if type(record) is Malformed:
                    self.note_damage(session, expected, record.reason)
                yield record, data
                expected, before = expected + 1, record["hash"]

    def get(self, session: str, seq: int) -> Line | None:
        return next(self.read(session, seq, seq), None) if seq > 0 else None

    def resolve(self, citation: Citation) -> Line:
        """The event that a citation names. A wrong hash never resolves."""
        line = self.get(citation.session, citation.seq)
        if line is not None and citation.names(line.hash):
            return line
        reason = "there is no such event" if line is None else "the event there has another hash"
        raise NotFound(f"{citation} does not resolve: {reason}", "Check the citation, or run 'zaxy verify'.")

    def follow(self, session: str, from_seq: int, poll: float = 0.2) -> Iterator[Line]:
        """Events from a number on, as they become durable. It never ends by itself."""
        while True:
            for line in self.read(session, from_seq):
                from_seq = line.seq + 1
                yield line
            time.sleep(poll)

    def view(self, session: str) -> LogView:
        """One state of a session's log: what is durable now, whatever is written or erased later."""
        from zaxy.eventloom.store import event_of
        from zaxy.eventloom.view import LogView

        stored = self.stored(session)
        known = [event_of(stored.tail.line)] if stored.tail.line else ()
        return LogView(
            session,
            stored,
            damaged=lambda seq, _: self._wrong(session, seq),
            note=lambda seq, reason: self.note_damage(session, seq, reason),
            known=known,
        )

    def _wrong(self, session: str, seq: int) -> ZaxyError:
        """Why a line is not what was written: it is damaged, or the file was replaced and only the index knew that."""
        try:
            list(self.read(session, max(seq - 1, 1), seq))
        except ZaxyError as error:
            return error
        return unusable(session, "its log was replaced while it was read", "Try again.")

    def stored(self, session: str) -> FileLog:
        """The same as lines that nobody has proven."""
        from zaxy.eventloom.file_log import FileLog

        reader = self._log(session).reader()
        return FileLog(
            reader,
            lambda seqs: self._seek(session, reader, seqs),
            places=lambda seqs: self._unless_broken(lambda: self._index(session).places(seqs), {}),
        )

    def _seek(self, session: str, reader: Reader, seqs: Sequence[int]) -> dict[int, tuple[int, int]]:
        start = dict.fromkeys(seqs, (1, 0))
        if not reader.size or all(seq <= 1 for seq in seqs):
            return start
        index = self._index(session)
        return self._unless_broken(lambda: index.seek(reader, seqs), start)

    def _unless_broken(self, use: Callable[[], T], otherwise: T) -> T:
        """Use the index, or do without it: if it fails, the log is read from the start."""
        from zaxy.eventloom.record import Damaged, NewerFormat

        try:
            return use()
        except (OSError, ValueError, ZaxyError, Damaged, NewerFormat):
            return otherwise
        except Exception as error:  # sqlite3 is only imported with the index
            if type(error).__module__ != "sqlite3":
                raise
            return otherwise

    # Proof, repair, erasure

    def check_writable(self, session: str) -> None:
        """Refuse as an append would, and write nothing."""
        self._log(session).check_writable()

    def verify(
        self, session: str, progress: Callable[[int, int], None] | None = None, since: Citation | None = None
    ) -> Report:
        """Verify the whole log. Damage makes the session read-only."""
        from zaxy.eventloom.verify import verify

        log = self._existing(session)
        with log.reader(even_if_damaged=True) as reader:
            report = verify(reader, progress, since)
        if report.damage is not None and report.log_at_fault:
            self.note_damage(session, report.damage.seq, report.damage.reason)
        return report

    def verify_index(self, session: str) -> list[str]:
        """Where the index of a session is not what its log gives."""
        with self._existing(session).reader(even_if_damaged=True) as reader:
            return self._index(session).verify(reader)

    def repair(self, session: str) -> tuple[Report, int]:
        """Verify. If the log is intact, cut an interrupted write and make the session writable again."""
        from zaxy.eventloom.verify import verify

        log = self._existing(session)
        with log.reader(even_if_damaged=True) as reader:
            report = verify(reader)
        return (report, log.repair() if report.ok else 0)

    def erase(self, session: str, seq: int, actor: str, reason: str, *, closings: Sequence[object] = ()) -> Line:
        """Erase one event's payload and salt for good. Returns the event that records it.

        `closings`: what the erased event had closed. It stays closed.
        """
        from zaxy.eventloom.admission import admit_own
        from zaxy.eventloom.erase import ERASED, erasure_payload

        with self._existing(session).reader() as reader, damage_explained(session):
            line = _located(reader, seq)[1]
        payload = erasure_payload(seq, line.hash, reason, closings)
        return self.erase_with(session, seq, admit_own(ERASED, actor, payload))

    def erase_with(self, session: str, seq: int, entry: Entry) -> Line:
        """The same with a given record, which names the event by its hash too."""
        from zaxy.eventloom.erase import refuse_unerasable, without_payload

        log = self._existing(session)
        with log.reader() as reader, damage_explained(session):
            offset, line = _located(reader, seq)
        refuse_unerasable(line)
        if entry.payload.get("hash") != line.hash:
            raise _changed(seq)

        def replaced(reader: Reader) -> Iterator[bytes]:
            if reader.line_at(offset) == line.data:
                return without_payload(reader, offset, line)
            with damage_explained(session):
                moved, now = _located(reader, seq)  # another erasure moved it meanwhile
            if now != line:
                raise _changed(seq)
            return without_payload(reader, moved, line)

        recorded = log.rewrite(replaced, entry)
        self._close_index(session)
        return recorded

    def remove(self, session: str, last: int) -> bool:
        """Remove a whole log, unless events came behind `last` meanwhile: a spool, when it was delivered."""
        removed = self._existing(session).remove(last)
        if removed:
            self._close_index(session)
        return removed

    # Refs

    def refs(self, session: str) -> dict[str, Line]:
        """All refs, each with the event that set it last."""
        return {line.record["payload"]["name"]: line for line in self.ref_lines(session) if "payload" in line.record}

    def ref_lines(self, session: str) -> list[Line]:
        """The events that set refs, oldest first. One that breaks the grammar sets none."""
        from zaxy.eventloom.index import SETS_REF
        from zaxy.eventloom.places import chained_record
        from zaxy.eventloom.refs import UPDATED

        log, index = self._existing(session), self._index(session)
        nothing: tuple[int, list[int]] = (0, [])
        with log.reader() as reader, damage_explained(session):
            reach, offsets = self._unless_broken(lambda: index.ref_offsets(reader), nothing)
            found = [data for offset in offsets if (data := reader.line_at(offset))]
            found += [data for _, data in reader.lines(reach) if data.endswith(SETS_REF)]
            lines = [Line(chained_record(data), data) for data in found]
        # The index only compares bytes. A payload may hold the same bytes without setting a ref.
        return [line for line in lines if line.record["type"] == UPDATED]

    def set_ref(self, name: str, target: Line) -> Line:
        """Set a ref to an event of its session. Returns the event that records it."""
        from zaxy.eventloom.admission import OWN_ACTOR, admit_own
        from zaxy.eventloom.refs import UPDATED, check_ref_name, ref_payload

        session = str(target.record["thread"])
        payload = ref_payload(check_ref_name(name), session, target.seq, target.hash)
        return self.append(session, [admit_own(UPDATED, OWN_ACTOR, payload)])[0]

    def resolve_ref(self, session: str, name: str) -> Line:
        """The event that a ref names. HEAD and refs/heads/main are the last event, unless they were set."""
        from zaxy.eventloom.refs import OF_THE_END, check_ref_name

        check_ref_name(name)
        setting = self.refs(session).get(name)
        if setting is not None:
            payload = setting.record["payload"]
            line = self.get(session, payload["target_seq"])
            if line is not None and line.hash == payload["target_hash"]:
                return line
            raise NotFound(f"{name} names an event that is not in {session}", "Run 'zaxy verify'.")
        if name in OF_THE_END:
            return self.last_event(session)
        raise NotFound(f"{session} has no ref {name}", f"'zaxy refs list --session-id {session}' shows those it has.")

    # The sessions' own logs

    def _log(self, session: str) -> SessionLog:
        if isinstance(session, str) and session in self._logs:
            self._use(session)
            return self._logs[session]
        check_session_id(session)
        with self._mutex:
            if session not in self._logs:
                self._folder_exists()
                self._logs[session] = SessionLog(self.folder, session, self._disk, self._clock)
        self._use(session)
        return self._logs[session]

    def _use(self, session: str) -> None:
        """Note that a session is used. Beyond a few, those that were not used for longest rest: descriptors are few."""
        if session in self._recent and len(self._recent) < MAX_OPEN:
            return
        with self._mutex:
            self._recent.pop(session, None)
            self._recent[session] = None
            oldest = list(self._recent)[: max(len(self._recent) - MAX_OPEN, 0)]
            for unused in oldest:
                del self._recent[unused]
        for unused in oldest:
            self._rest(unused)

    def rest(self) -> None:
        """Close all descriptors that no thread uses just now."""
        for session in list(self._logs):
            self._rest(session)

    def _rest(self, session: str) -> None:
        for part in (self._logs.get(session), self._indexes.get(session)):
            if part is not None:
                part.rest()

    def _folder_exists(self) -> bool:
        try:
            own_folder(self.folder, create=False)
        except ZaxyError as error:
            if error.code != "not_found":
                raise
            return False
        return True

    def _existing(self, session: str) -> SessionLog:
        log = self._log(session)
        if log.exists():
            return log
        from zaxy.rights import usable

        known = ", ".join(usable(self.sessions())[:8]) or "none"
        raise NotFound(f"there is no session {session} (there are: {known})", "'zaxy sessions' lists them.")

    def _index(self, session: str) -> LogIndex:
        from zaxy.eventloom.index import LogIndex

        with self._mutex:
            if session not in self._indexes:
                self._indexes[session] = LogIndex(os.path.join(self.folder, INDEX_FOLDER), session)
            return self._indexes[session]

    def note_damage(self, session: str, seq: int, reason: str) -> None:
        """Keep every process from appending, and let reads warn."""
        self._log(session).mark("damaged", f"event {seq}: {reason}")

    def _damaged(self, session: str, seq: int, offset: int, reason: str) -> ZaxyError:
        self.note_damage(session, seq, reason)
        return Unavailable(
            f"event {seq} of {session} is damaged, at byte {offset}: {reason}",
            f"The events before it are intact. {after_damage(session)}",
        )

    def close(self) -> None:
        with self._mutex:
            logs, indexes = self._logs, self._indexes
            self._logs, self._indexes = {}, {}
        for log in logs.values():
            log.rest()
        for index in indexes.values():
            index.close()

    def _close_index(self, session: str) -> None:
        with self._mutex:
            index = self._indexes.pop(session, None)
        if index is not None:
            index.close()


def _changed(seq: int) -> ZaxyError:
    return Conflict(f"event {seq} is not what it was a moment ago", "Look it up again.")


def _located(reader: Reader, seq: int) -> tuple[int, Line]:
    """The offset and line of an event, found without the index, which every erasure makes out of date."""
    from zaxy.eventloom.bulk import parse_quickly
    from zaxy.eventloom.record import Damaged

    offset = reader.offset_of(seq) if seq > 0 else None
    data = reader.line_at(offset) if offset is not None else None
    if offset is None or data is None:
        raise NotFound(f"{reader.session} has no event {seq}", "Look the event up before erasing it.")
    line = parse_quickly(data)
    if line.seq != seq:
        raise Damaged(f"it has the number {line.seq}")
    if reason := fault_of(line.record):
        raise Damaged(reason)
    return offset, line
