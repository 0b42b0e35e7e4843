"""The end of a log: its last event, found without reading the rest, and what an interrupted write left behind it."""

from __future__ import annotations

from zaxy.eventloom.record import Damaged, Line, NewerFormat, parse_line
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
    """The end of the last complete batch. A last line that is terminated but wrong is damage.

    `known`: a line that was proven before; the same bytes are not proven again.
    """
    end = _last_line_end(disk, fd, size)
    while end > 0:
        start = _line_start(disk, fd, end)
        data = disk.read(fd, end - 1 - start, start)
        line = known if known and known.data == data else parse_line(data)
        batch = line.record.get("batch")
        if batch is None or batch["index"] == batch["count"] - 1:
            return Tail(line, start, end, size - end)
        end = _batch_start(disk, fd, line, start)  # the writer died within a batch: all of it is cut
    return Tail(None, 0, 0, size)


def _batch_start(disk: Disk, fd: int, line: Line, start: int) -> int:
    """Where the batch of this line begins. Lines are cut only after they were checked to be of that batch."""
    for index in reversed(range(line.record["batch"]["index"])):
        if not start:
            raise Damaged("the batch that it belongs to has no beginning")
        end, start = start, _line_start(disk, fd, start)
        before = parse_line(disk.read(fd, end - 1 - start, start))
        if before.record.get("batch") != {**line.record["batch"], "index": index} or before.hash != line.record["prev"]:
            raise Damaged("the batch that it belongs to is not whole")
        line = before
    end = start
    start = _line_start(disk, fd, end) if end else 0
    if line.record["prev"] != (parse_line(disk.read(fd, end - 1 - start, start)).hash if end else None):
        raise Damaged("it does not continue the event before it")
    return end


def unchecked_tail(disk: Disk, fd: int, size: int) -> Tail:
    """The end of the last terminated line, whatever that line holds."""
    try:
        return read_tail(disk, fd, size)
    except (Damaged, NewerFormat):
        end = _last_line_end(disk, fd, size)
        return Tail(None, 0, end, size - end)


def _last_line_end(disk: Disk, fd: int, size: int) -> int:
    """The offset after the last line end within `size`; 0 if there is none."""
    position, chunk = size, FIRST_CHUNK_BYTES
    while position > 0:
        begin = max(0, position - chunk)
        found = disk.read(fd, position - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        position, chunk = begin, CHUNK_BYTES
    return 0


def _line_start(disk: Disk, fd: int, end: int) -> int:
    """Where the line that ends before `end` (its line end included) begins."""
    return _last_line_end(disk, fd, end - 1) if end > 1 else 0
