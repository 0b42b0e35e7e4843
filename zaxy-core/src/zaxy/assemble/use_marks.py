"""Marks that memory was used, written behind the reply: a sync would be a sixth of what a checkout takes.

They come in order, before anything that the same memory writes later, and the process does not end without them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread

from zaxy.api.models import JsonObject
from zaxy.errors import ZaxyError

Mark = tuple[str, JsonObject, str]
"""The event's type, its payload, and the session that it goes to."""


class UseMarks:
    def __init__(self, write: Callable[[str, JsonObject, str], None]) -> None:
        self._write = write
        self._waiting: deque[Mark] = deque()
        self._changed = Condition()
        self._writing: Thread | None = None

    def add(self, event_type: str, payload: JsonObject, session: str) -> None:
        """Write a mark soon. A session that cannot be written can still be read: its mark is dropped."""
        with self._changed:
            self._waiting.append((event_type, payload, session))
            if self._writing is None:
                # Not a daemon: the interpreter waits for it.
                self._writing = Thread(target=self._run, name="zaxy-use-marks")
                self._writing.start()

    def flush(self) -> None:
        """Return when everything that was added is written."""
        if self._writing is None:
            return
        with self._changed:
            self._changed.wait_for(lambda: self._writing is None)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._writing = None
                    self._changed.notify_all()
                    return
                mark = self._waiting.popleft()
            with suppress(ZaxyError):
                self._write(*mark)
