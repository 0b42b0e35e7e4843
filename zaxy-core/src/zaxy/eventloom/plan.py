"""Appends that wait to be written, and the plan that gives their events places in the log."""

from __future__ import annotations

from threading import Lock

from zaxy.errors import Conflict, ZaxyError
from zaxy.eventloom.tail import Tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zaxy.eventloom.record import Entry, Line

    Find = Callable[[str, Tail], "Line | None"]
    """Looks up an idempotency key in the durable log, which ends at the given tail."""


def repeated_keys(entries: Sequence[Entry]) -> set[int]:
    """The places of entries that repeat a key of the same append. They make one event; other content is refused."""
    firsts: dict[str, Entry] = {}
    repeats = set()
    for at, entry in enumerate(entries):
        if not entry.key:
            continue
        if entry.key not in firsts:
            firsts[entry.key] = entry
        elif (firsts[entry.key].fields, firsts[entry.key].canonical_payload) != (entry.fields, entry.canonical_payload):
            raise key_conflict(entry.key, "in the same batch")
        else:
            repeats.add(at)
    return repeats


def key_conflict(key: str, where: str) -> ZaxyError:
    return Conflict(
        f"the idempotency key {key!r} was used for other content, {where}",
        "Send a new key with new content; a key names one event.",
    )


class WritePlan:
    """Where the next event goes, and what is planned for this group so far."""

    def __init__(self, tail: Tail) -> None:
        self.seq = tail.seq
        self.hash = tail.hash
        self.keys: dict[str, Line] = {}
        self._last = tail.line

    def take(self, entry: Entry, line: Line) -> None:
        self.seq, self.hash, self._last = line.seq, line.hash, line
        if entry.key:
            self.keys[entry.key] = line

    def tail(self, size: int) -> Tail:
        """The end of the log once the plan is written."""
        return Tail(self._last, size - len(self._last.data) - 1 if self._last else 0, size, 0)


class Append:
    """One caller's append while it waits for its turn."""

    def __init__(self, entries: Sequence[Entry], find: Find | None) -> None:
        self.entries = entries
        self.find = find
        self.lines: list[Line] = []
        self.error: BaseException | None = None
        self.done = False
        self._asleep: Lock | None = None

    def sleep(self) -> None:
        """From here on `wait` blocks until `wake`."""
        self._asleep = Lock()
        self._asleep.acquire()

    def wait(self, timeout: float | None) -> bool:
        return self._asleep is None or self._asleep.acquire(timeout=-1 if timeout is None else timeout)

    def wake(self) -> None:
        if self._asleep is not None and self._asleep.locked():
            self._asleep.release()

    def fail(self, error: BaseException) -> None:
        if self.error is None:
            self.error = error
            self.lines = []
