"""Following while a server runs, so that a read finds the followers nearly there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread

from zaxy.errors import ZaxyError
from zaxy.follow.loop import Loop

EVERY = 0.5
SECONDS_AT_A_TIME = 1.0
"""For one session, so that a long log does not keep the others waiting."""


class Background:
    """A thread that brings every session's followers up to the log again and again, until it is stopped."""

    def __init__(self, loop: Loop, sessions: Callable[[], list[str]], every: float = EVERY) -> None:
        self._loop = loop
        self._sessions = sessions
        self._every = every
        self._starting = Lock()
        self._stop = Event()
        self._thread = Thread(target=self._run, name="zaxy-following", daemon=True)

    def start(self) -> None:
        with self._starting:
            if not self._stop.is_set():
                self._thread.start()
                self._loop.pace.in_background = True

    def stop(self) -> None:
        """Return when the thread has ended: nothing is written afterwards. One that was not started never will be."""
        with self._starting:
            self._stop.set()
            self._loop.pace.in_background = False
            started = self._thread.ident is not None
        if started:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0 if self._loop.pace.wanted() else self._every):
            # A read says what keeps a follower; here nobody listens.
            with suppress(ZaxyError):
                for session in self._sessions():
                    self._work_on_wanted()
                    self._work_on(session)

    def _work_on_wanted(self) -> None:
        """What somebody reads comes before what nobody has asked for."""
        for session in self._loop.pace.wanted():
            self._work_on(session)

    def _work_on(self, session: str) -> None:
        if self._stop.is_set():
            return
        try:
            self._loop.work_on(session, SECONDS_AT_A_TIME)
        except ZaxyError:
            self._loop.pace.done(session)  # the next read wants it again
