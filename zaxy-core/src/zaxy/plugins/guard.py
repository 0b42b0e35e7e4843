"""Calls outside code so that it does no harm: within a time limit, safe from `sys.exit`, and away from stdout."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

if TYPE_CHECKING:
    from queue import SimpleQueue

T = TypeVar("T")
MAX_WAIT_SECONDS = 0.5


class PluginHung(Exception):
    """The call did not return in time, or the plugin is still busy with an earlier call."""


class PluginLeft(Exception):
    """The call tried to end the process (`sys.exit`) or to pose as an interrupt."""


class Runner:
    """Runs the code that a plugin has for one point in a thread of its own, one call after the other.

    A call that takes too long is abandoned, not killed: Python cannot kill it. While it lasts, later calls are refused
    at once. So a hanging plugin costs one thread and one wait.
    """

    def __init__(self, name: str) -> None:
        from queue import SimpleQueue

        self._name = name
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._late: _Job | None = None
        self._turn = threading.Lock()

    def run(self, what: str, function: Callable[[], T], budget: float) -> T:
        """The function's result, or its exception; `PluginLeft` instead of one that would end the process.

        A plugin that calls another of its own providers does so within the call that it answers.
        """
        if threading.current_thread() is self._thread:
            return function()
        with self._turn:
            if self._late is not None and not self._late.done.is_set():
                raise PluginHung(f"it is still busy with {self._late.what}")
            self._late = None
            job = _Job(what, function)
            self._start()
            self._jobs.put(job)
            if not _in_time(job, budget):
                self._late = job
                raise PluginHung(f"{what} did not come back within {budget:g} s")
        if job.error is None:
            return job.result  # type: ignore[return-value]
        if isinstance(job.error, Exception):
            raise job.error
        raise PluginLeft(f"{what} raised {describe(job.error)}") from job.error

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=f"zaxy-plugin-{self._name}", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            self._jobs.get().work()


class _Job:
    def __init__(self, what: str, function: Callable[[], object]) -> None:
        self.what = what
        self.done = threading.Event()
        self.result: object = None
        self.error: BaseException | None = None
        self._function = function

    def work(self) -> None:
        try:
            self.result = self._function()
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: see PluginLeft
            self.error = error
        finally:
            self.done.set()


def _in_time(job: _Job, budget: float) -> bool:
    """Whether a job is done in time. Time does not count while the whole process is stopped (SIGSTOP)."""
    while budget > 0:
        wait = min(budget, MAX_WAIT_SECONDS)
        if job.done.wait(wait):
            return True
        budget -= wait
    return False


def describe(error: BaseException) -> str:
    """The exception in words, even if it cannot be printed."""
    try:
        return repr(error) if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
    except BaseException:
        return type(error).__name__


def keep_stdout() -> None:
    """From here on, only the main thread prints to stdout. Everything else goes to stderr.

    Plugin code runs in other threads. So neither its prints nor those of C libraries and child processes, which
    write to descriptor 1, can damage what a program reads from us.
    """
    if sys.stdout is not sys.__stdout__ or sys.stdout is None:
        return  # another stream is in its place already
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = _MainThreadStdout(
        open(ours, "wb"),  # noqa: SIM115 - it lives as long as the process
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        line_buffering=sys.stdout.line_buffering,
    )


@contextmanager
def capture_prints() -> Iterator[Callable[[], str]]:
    """Catch what outside code prints meanwhile. After `keep_stdout`, only outside code uses descriptor 1."""
    from tempfile import TemporaryFile

    kept = os.dup(1)
    with TemporaryFile() as caught:
        os.dup2(caught.fileno(), 1)
        try:
            yield lambda: (caught.seek(0), caught.read(4096).decode(errors="replace"))[1]
        finally:
            os.dup2(kept, 1)
            os.close(kept)


class _MainThreadStdout(io.TextIOWrapper):
    """The program's own stdout. Other threads reach descriptor 1 instead, by text, bytes and number."""

    def write(self, text: str) -> int:
        if _in_main_thread() or sys.__stdout__ is None:
            return super().write(text)
        written = sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return written

    @property
    def buffer(self) -> Any:
        return super().buffer if _in_main_thread() or sys.__stdout__ is None else _descriptor_1()

    def fileno(self) -> int:
        return super().fileno() if _in_main_thread() else 1


def _descriptor_1() -> BinaryIO:
    return open(1, "wb", buffering=0, closefd=False)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
