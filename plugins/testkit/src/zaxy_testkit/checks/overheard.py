"""What a provider says besides its answers: on stdout and stderr, and in the log of the process."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from tempfile import TemporaryFile
from typing import IO


class Overheard:
    """Texts that are complete once the body of `listening` has ended."""

    stdout = ""
    stderr = ""
    log = ""


@contextmanager
def listening() -> Iterator[Overheard]:
    """Catch what is said meanwhile by Python, by libraries in C and by child processes."""
    heard, log = Overheard(), _Log()
    root = logging.getLogger()
    level = root.level
    root.addHandler(log)
    root.setLevel(logging.DEBUG)
    try:
        with TemporaryFile() as out, TemporaryFile() as err:
            try:
                with _in_place_of("stdout", out), _in_place_of("stderr", err):
                    yield heard
            finally:
                heard.stdout, heard.stderr = _text(out), _text(err)
    finally:
        root.removeHandler(log)
        root.setLevel(level)
        heard.log = "\n".join(log.lines)


@contextmanager
def _in_place_of(name: str, caught: IO[bytes]) -> Iterator[None]:
    """Let a stream lead into a file: Python's own, which a test runner may have replaced, and its descriptor."""
    descriptor = {"stdout": 1, "stderr": 2}[name]
    redirect = {"stdout": redirect_stdout, "stderr": redirect_stderr}[name]
    getattr(sys, name).flush()
    kept = os.dup(descriptor)
    with ExitStack() as undo:
        undo.callback(os.close, kept)
        undo.callback(os.dup2, kept, descriptor)
        os.dup2(caught.fileno(), descriptor)
        stream = undo.enter_context(open(descriptor, "w", encoding="utf-8", errors="replace", closefd=False))
        with redirect(stream):
            yield


def _text(caught: IO[bytes]) -> str:
    caught.seek(0)
    return caught.read().decode(errors="replace")


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))
