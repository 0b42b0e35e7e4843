"""The end of a log: its last event, found without reading the rest, and what an interrupted write left behind it."""

from __future__ import annotations

from zaxy.eventloom.canonical import decode
from zaxy.eventloom.grammar import fault_of, malformed
from zaxy.eventloom.record import MAX_LINE_BYTES, TOO_LONG, Damaged, Line, NewerFormat, parse_line
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zaxy.eventloom.disk import Disk

FIRST_CHUNK_BYTES, CHUNK_BYTES = 1 << 12, 1 << 16
"""The last line mostly lies within the first."""


class Tail(NamedTuple):
    """Where the log ends. `size` bytes hold complete batches; what follows was never acknowledged."""

    line: Line | None
    start: int
    """Where the last line begins."""
    size: int
    torn: int
    """How many bytes follow the last complete batch."""

    @property
    def seq(self) -> int:
        return self.line.seq if self.line else 0

    @property
    def hash(self) -> str | None:
        return self.line.hash if self.line else None


EMPTY = Tail(None, 0, 0, 0)


def read_tail(disk: Disk, fd: int, size: int, known: Line | None = None) -> Tail:
    """The end of the last complete batch, for a writer. A last line that is terminated but wrong is damage.

    `known`: a line that was proven before; the same bytes are not proven again.
    """
    end = _last_line_end(disk, fd, size)
    while end > 0:
        start = _line_start(disk, fd, end)
        data = _line(disk, fd, start, end)
        line = known if known and known.data == data else _in_order(disk, fd, start, parse_line(data))
        batch = line.record.get("batch")
        if batch is None or batch["index"] == batch["count"] - 1:
            if reason := fault_of(line.record):
                raise Damaged(reason)
            return Tail(line, start, end, size - end)
        end = _batch_start(disk, fd, line, start)  # the writer died within a batch: all of it is cut
    return Tail(None, 0, 0, size)


def readable_tail(disk: Disk, fd: int, size: int, *, session: str, known: Line | None = None) -> tuple[Tail, str]:
    """The end of what can be read, and what is wrong behind or at it; empty if nothing is.

    Damaged lines at the end have no place in the chain, so reading ends before them. A line that has one, and is wrong
    in another way, stays the last.
    """
    end, wrong = size, ""
    while True:
        try:
            return read_tail(disk, fd, end, known), wrong
        except Damaged as error:
            wrong = wrong or str(error)
        end = _last_line_end(disk, fd, end)
        start = _last_line_end(disk, fd, end - 1)
        try:
            return Tail(_placed(disk, fd, start, end, session=session), start, end, size - end), wrong
        except Damaged:
            end = start


def _placed(disk: Disk, fd: int, start: int, end: int, *, session: str) -> Line:
    """The line, if it has a place in the chain, whatever it says."""
    data = _line(disk, fd, start, end)
    try:
        record = _in_order(disk, fd, start, parse_line(data)).record
        reason = fault_of(record)
    except Damaged as error:
        if error.record is None:
            raise
        record, reason = _in_order(disk, fd, start, Line(error.record, data)).record, str(error)
    return Line(malformed(record, reason, session) if reason else record, data)


def _in_order(disk: Disk, fd: int, start: int, line: Line) -> Line:
    """The line that begins at an offset, if it continues the one before it. If that is damaged, its number must at
    least be possible."""
    seq, prev = line.seq, line.record["prev"]
    if not start:
        if (seq, prev) != (1, None):
            raise Damaged("it is the first line, and not the first event")
        return line
    try:
        before = decode(_line(disk, fd, _line_start(disk, fd, start), start))
        number, hash_ = (before["seq"], before["hash"]) if isinstance(before, dict) else (None, None)
    except (ValueError, LookupError, RecursionError, Damaged):
        number, hash_ = None, None
    if number is None and seq <= start:  # an event has more than one byte
        return line
    if (number, hash_) != (seq - 1, prev):
        raise Damaged("it does not continue the event before it")
    return line


def _line(disk: Disk, fd: int, start: int, end: int) -> bytes:
    """The bytes between two offsets, without the line end."""
    if end - 1 - start > MAX_LINE_BYTES:
        raise Damaged(TOO_LONG)
    return disk.read(fd, end - 1 - start, start)


def _batch_start(disk: Disk, fd: int, line: Line, start: int) -> int:
    """Where the batch of this line begins. Lines are cut only after they were checked to be of that batch."""
    for index in reversed(range(line.record["batch"]["index"])):
        if not start:
            raise Damaged("the batch that it belongs to has no beginning")
        end, start = start, _line_start(disk, fd, start)
        before = parse_line(_line(disk, fd, start, end))
        if before.record.get("batch") != {**line.record["batch"], "index": index} or before.hash != line.record["prev"]:
            raise Damaged("the batch that it belongs to is not whole")
        line = before
    end = start
    start = _line_start(disk, fd, end) if end else 0
    if line.record["prev"] != (parse_line(_line(disk, fd, start, end)).hash if end else None):
        raise Damaged("it does not continue the event before it")
    return end


def unchecked_tail(disk: Disk, fd: int, size: int) -> Tail:
    """The end of the last terminated line, whatever that line holds."""
    try:
        return read_tail(disk, fd, size)
    except (Damaged, NewerFormat):
        end = _last_line_end(disk, fd, size)
        return Tail(None, 0, end, size - end)


def _last_line_end(disk: Disk, fd: int, size: int, least: int = 0) -> int:
    """The offset after the last line end between two offsets; `least` if there is none."""
    position, chunk = size, FIRST_CHUNK_BYTES
    while position > least:
        begin = max(least, position - chunk)
        found = disk.read(fd, position - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        position, chunk = begin, CHUNK_BYTES
    return least


def _line_start(disk: Disk, fd: int, end: int) -> int:
    """Where the line that ends before `end` (its line end included) begins; one that is too long is damage."""
    least = max(end - 1 - MAX_LINE_BYTES, 0)
    start = _last_line_end(disk, fd, end - 1, least)
    if start == least and least and disk.read(fd, 1, least - 1) != b"\n":
        raise Damaged(TOO_LONG)
    return start
