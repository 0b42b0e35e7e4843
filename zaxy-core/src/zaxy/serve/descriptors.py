"""File descriptors as byte streams, read and written by threads of their own that never keep the process alive."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Semaphore, Thread

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

READ_AT_ONCE = 64 << 10
READ_AHEAD = 16
"""Chunks that are read before anybody asks for them: a client that floods is made to wait."""


class ReadDescriptor(ByteReceiveStream):
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = Semaphore(READ_AHEAD)
        self._ended = False
        Thread(target=self._work, name="zaxy-reading", daemon=True).start()

    async def receive(self, max_bytes: int = READ_AT_ONCE) -> bytes:
        """A chunk as it came; `max_bytes` is not less than what is read at once."""
        if self._ended:
            raise anyio.EndOfStream
        chunk = await self._chunks.get()
        self._room.release()
        if not chunk:
            self._ended = True
            raise anyio.EndOfStream
        return chunk

    async def aclose(self) -> None:
        """The thread may be waiting for bytes; it ends with the process."""
        self._ended = True

    def _work(self) -> None:
        chunk = b" "
        while chunk:
            self._room.acquire()
            try:
                chunk = os.read(self._descriptor, READ_AT_ONCE)
            except OSError:
                chunk = b""
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)


class WriteDescriptor(ByteSendStream):
    """What is sent is written whole, also where the sender is cancelled meanwhile: frames are never torn."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._items: SimpleQueue[tuple[bytes, Future[None]]] = SimpleQueue()
        Thread(target=self._work, name="zaxy-writing", daemon=True).start()

    async def send(self, item: bytes) -> None:
        written: Future[None] = Future()
        self._items.put((item, written))
        try:
            await asyncio.wrap_future(written)
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """The descriptor is closed with the process: a write may be under way."""

    def _work(self) -> None:
        while True:
            data, written = self._items.get()
            if not written.set_running_or_notify_cancel():
                continue
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                written.set_exception(error)
            else:
                written.set_result(None)


@contextmanager
def ended_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` in the event loop when the process is asked to stop."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)
    if sys.platform == "win32":  # its loop is woken by every signal, and takes no handlers
        for number in numbers:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))
        yield
        return
    for number in numbers:
        loop.add_signal_handler(number, end)  # a plain handler would not end a wait that has just begun
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
