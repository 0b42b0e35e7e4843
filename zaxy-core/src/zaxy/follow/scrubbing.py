"""Followers forget a session for good: until no byte of it is left, that is noted beside them, and tried again.

The deletion of rows is a transaction, but the files keep older pages until they are rewritten, which a process that
reads them puts off. A note is written before the deletion, so that it outlives the process that forgets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from zaxy.api.models import Cursor
from zaxy.atomic_write import atomic_write
from zaxy.errors import ZaxyError
from zaxy.security.paths import own_folder
from zaxy.security.session_ids import check_session_id
from zaxy.security.small_files import read_small_json

if TYPE_CHECKING:
    from zaxy.follow.run import Resolver

NAMES = "names"
"""What things are called is kept beside the followers, and is wiped with them."""
FOLDER = "unscrubbed"


class Forgetful(Protocol):
    """A follower, or the names of things. One that leaves bytes behind has `try_scrub` too."""

    def cursor(self, session: str) -> Cursor | None: ...

    def wipe(self, session: str) -> None: ...


class Scrubber:
    """Under the lock of a session, notes of which followers must still forget it, and since which event."""

    def __init__(self, folder: str, followers: Mapping[str, Forgetful], resolver: Resolver | None) -> None:
        self._folder = os.path.join(folder, FOLDER)
        self._parts: dict[str, Forgetful] = {**followers, **({NAMES: resolver} if resolver else {})}

    def has_notes(self, session: str) -> bool:
        return os.path.exists(self._path(session))

    def noted(self, session: str) -> dict[str, int]:
        """The followers that must still forget a session, each with the event at whose erasure that was noted."""
        try:
            noted = read_small_json(self._path(session))
            return {name: since for name, since in noted.items() if type(since) is int}
        except OSError:
            return {}
        except (ValueError, AttributeError):  # nobody knows what it said: scrubbing all of them does no harm
            return dict.fromkeys(self._parts, 0)

    def expect(self, session: str, end: int) -> None:
        """Note that an event up to `end` will be erased: whatever has begun before must forget it then."""
        self._write(session, {**self.noted(session), **dict.fromkeys(self._parts, end)})

    def wipe(self, session: str, names: Collection[str], end: int) -> dict[str, ZaxyError]:
        """Let followers forget a session, whose log ends at `end`. Those that could not stay noted, with why."""
        noted = self.noted(session)
        self._write(session, {**noted, **{name: max(noted.get(name, 0), end) for name in names}})
        problems = {}
        for name in names:
            try:
                self._parts[name].wipe(session)
            except ZaxyError as error:
                problems[name] = error
        self._finish(session, [name for name in names if name not in problems], end)
        return problems

    def retry(self, session: str, end: int, is_known: Callable[[Cursor], bool]) -> None:
        """Try again what is noted, as far as the log has come to it, without waiting for anybody who reads.

        `is_known`: whether the log still holds the event of a cursor.
        """
        due = {name: since for name, since in self.noted(session).items() if name in self._parts and since <= end}
        done = [name for name, since in due.items() if self._has_forgotten(name, session, since, is_known=is_known)]
        self._finish(session, done, end)

    def _has_forgotten(self, name: str, session: str, since: int, *, is_known: Callable[[Cursor], bool]) -> bool:
        part = self._parts[name]
        try:
            cursor = part.cursor(session)
            if cursor is not None and (began_at(cursor) < since or not is_known(cursor)):
                part.wipe(session)
                return True
            scrub = getattr(part, "try_scrub", None)
            return bool(scrub(session)) if scrub else True
        except ZaxyError:
            return False

    def _finish(self, session: str, names: Collection[str], end: int) -> None:
        """Take followers off the note, unless it expects a later erasure."""
        noted = self.noted(session)
        left = {name: since for name, since in noted.items() if name not in names or since > end}
        if left != noted:
            self._write(session, left)

    def _write(self, session: str, noted: Mapping[str, int]) -> None:
        path = self._path(session)
        with suppress(OSError):  # on a full disk, forgetting matters more than the note of it
            if noted:
                own_folder(os.path.dirname(self._folder), create=True)
                own_folder(self._folder, create=True)
                atomic_write(path, json.dumps(noted).encode())
            else:
                os.unlink(path)

    def _path(self, session: str) -> str:
        return os.path.join(self._folder, f"{check_session_id(session)}.json")


def began_at(cursor: Cursor) -> int:
    """How far the log reached when a follower began: what was erased before that, it has never seen."""
    began = cursor.fed_by.rpartition("|")[2]
    return int(began) if began.isdigit() else 0
