"""What one checkout and one query do, counted: what they open, lock, read, prove, ask of SQLite and call.

Counts are the same on every machine, so these limits hold as they are. The followers are up to the log and the modules
are loaded before anything is counted, and the question is a new one.
"""

from __future__ import annotations

import functools
import os
import re
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parents[1]))
import zaxy
from bench.log import Row, print_table
from bench.scale import SESSION, questions, write_log
from zaxy.eventloom import bulk, record
from zaxy.memory import Memory

if sys.platform == "win32":
    sys.exit("bench:trace counts locks of fcntl, which only POSIX systems have")
import fcntl

EVENTS = 10_000
MOST_CALLS = {"checkout": 7_000, "query": 3_000}
"""A checkout judges a dozen rows sentence by sentence, which is a third of its calls."""
MORE_THAN_SHOWN = 10
HERE = __file__
CORE = os.path.dirname(zaxy.__file__) + os.sep
_CITED = re.compile(rb"eventloom://[^/]+/events/([0-9]+)#")


class Trace:
    """What was counted while it was on."""

    def __init__(self, folder: Path) -> None:
        self.on = False
        self._log, self._lock = str(folder / f"{SESSION}.jsonl"), str(folder / f"{SESSION}.lock")
        self.begin()

    def begin(self) -> None:
        """Forget what was counted."""
        self.opens = 0
        self.locks: Counter[str] = Counter()
        self.proven: Counter[int] = Counter()
        self.reads = 0
        self.bytes_read = 0
        self.statements: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.changes: Counter[str] = Counter()
        self.shown: set[int] = set()

    @contextmanager
    def counting(self) -> Iterator[None]:
        self.begin()
        self.on = True
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            self.on = False

    # What the system is asked for

    def install(self) -> None:
        """Watch from here on; nothing of it can be taken back, so it is for a process of its own."""
        sys.addaudithook(self._audit)
        os.pread = self._counted_read(os.pread)
        os.read = self._counted_read(os.read)
        self._watch_sqlite()
        self._watch_proofs()

    def _audit(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and str(given[0]) == self._log:
            self.opens += 1
        elif event == "fcntl.flock" and given[1] & (fcntl.LOCK_SH | fcntl.LOCK_EX) and _is(given[0], self._lock):
            self.locks["shared" if given[1] & fcntl.LOCK_SH else "exclusive"] += 1

    def _counted_read(self, read: Callable[..., bytes]) -> Callable[..., bytes]:
        def counted(fd: int, *given: Any) -> bytes:
            data = read(fd, *given)
            if self.on and _is(fd, self._log):
                self.reads += 1
                self.bytes_read += len(data)
            return data

        return counted

    def _watch_sqlite(self) -> None:
        connect = sqlite3.connect

        @functools.wraps(connect)
        def watched(*given: Any, **named: Any) -> sqlite3.Connection:
            connection = connect(*given, **named)
            connection.set_trace_callback(self._statement)
            return connection

        sqlite3.connect = watched

    def _statement(self, statement: str) -> None:
        # What FTS5 asks of its own tables comes marked as a comment: nobody here has written it.
        if self.on and not statement.startswith("--"):
            word = " ".join(statement.split()[:1]).upper()
            self.statements[word] = self.statements.get(word, 0) + 1

    # Which lines are proven

    def _watch_proofs(self) -> None:
        """Wherever a module has one of the three functions under its own name, put one that counts into its place."""
        depth = threading.local()
        for original in (bulk.prove, bulk.parse_quickly, record.parse_line):
            counted = self._counted_proof(original, depth)
            for name, module in list(sys.modules.items()):
                if name.startswith("zaxy."):
                    for held in [held for held, value in vars(module).items() if value is original]:
                        setattr(module, held, counted)

    def _counted_proof(self, prove: Callable[[bytes], Any], depth: threading.local) -> Callable[[bytes], Any]:
        """One of them calls another: the line counts once."""

        @functools.wraps(prove)
        def counted(data: bytes) -> Any:
            if self.on and not getattr(depth, "inside", False):
                seq = int(orjson.loads(data)["seq"])
                self.proven[seq] = self.proven.get(seq, 0) + 1
            before, depth.inside = getattr(depth, "inside", False), True
            try:
                return prove(data)
            finally:
                depth.inside = before

        return counted

    # What is called

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event != "call" or file == HERE:
            return
        self.calls[_folder(file)] += 1
        if file.startswith(CORE):
            before = _nearest(frame.f_back)
            if before and before != _folder(file):
                self.changes[f"{before} to {_folder(file)}"] += 1


def _is(fd: int, path: str) -> bool:
    """Whether a descriptor is of the file at a path. It calls nothing in Python: that would be counted."""
    try:
        one, other = os.fstat(fd), os.stat(path)
    except OSError:
        return False
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def _folder(file: str) -> str:
    """A folder of the core; its top modules are one, and so is all that is not of the core."""
    if not file.startswith(CORE):
        return "outside"
    return os.path.dirname(file.removeprefix(CORE)) or "zaxy"


def _nearest(frame: FrameType | None) -> str:
    """The folder of the core that the call came from, through whatever lies between."""
    while frame is not None and not frame.f_code.co_filename.startswith(CORE):
        frame = frame.f_back
    return _folder(frame.f_code.co_filename) if frame is not None else ""


# The table


def most(counted: Counter[Any], count: int = 4) -> str:
    return ", ".join(f"{name} {number}" for name, number in counted.most_common(count))


def rows_of(read: str, trace: Trace, judged: bool) -> Iterator[Row]:
    """The limits are those of a checkout; a query stays below them, and is shown beside it."""

    def row(name: str, measured: int, limit: int, figures: str, bound: int | None = None) -> Row:
        bound = limit if bound is None else bound
        return Row(f"{read}: {name}", measured, limit, False, figures, judged, bound)

    twice = {seq: times for seq, times in trace.proven.items() if times > 1}
    unseen = len(trace.proven.keys() - trace.shown)
    yield row("opens of the log", trace.opens, 1, "")
    yield row("locks of the log", trace.locks.total(), 2, most(trace.locks))
    yield row("lines proven more than once", len(twice), 0, most(Counter(twice)))
    figures = f"{len(trace.proven)} were proven, {len(trace.shown)} shown"
    yield row("lines proven and not shown", unseen, MORE_THAN_SHOWN, figures)
    kib = trace.bytes_read / 1024
    yield Row(f"{read}: reads of the log", None, 0, False, f"{trace.reads}, {kib:,.1f} KiB in all")
    yield row("SQL statements", trace.statements.total(), 60, most(trace.statements))
    yield row("changes of folder", trace.changes.total(), 250, most(trace.changes))
    yield row("Python calls", trace.calls.total(), 2_500, most(trace.calls), MOST_CALLS[read])


def finish_behind(before: list[threading.Thread]) -> None:
    """Wait for what a read has begun and left to another thread, such as the mark of a checkout: it counts too."""
    for thread in threading.enumerate():
        if thread not in before and not thread.daemon:
            thread.join()


def measure() -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_log(folder, EVENTS)
        texts = [f"what did they say about {' '.join(words)}" for words in questions(EVENTS)]
        trace = Trace(folder / ".eventloom")
        trace.install()
        with closing(Memory.open(folder)) as memory:
            reads: tuple[tuple[str, Callable[..., Any]], ...] = (("checkout", memory.checkout), ("query", memory.query))
            for text in texts[:3]:
                for _, read in reads:
                    read(text, session=SESSION)
            for number, (read_name, read) in enumerate(reads):
                memory.follow(SESSION)  # the marker of a checkout is an event too
                before = threading.enumerate()
                with trace.counting():
                    reply = read(texts[-1 - number], session=SESSION)
                    finish_behind(before)
                trace.shown = {int(seq) for seq in _CITED.findall(orjson.dumps(reply.as_dict()))}
                if not trace.shown:
                    raise RuntimeError(f"the {read_name} showed nothing")
                yield from rows_of(read_name, trace, judged=read_name == "checkout")


if __name__ == "__main__":
    print_table(measure())
