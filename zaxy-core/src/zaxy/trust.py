"""Whose a workspace is: this user's own, or one that came from elsewhere and is not believed yet.

A workspace's file carries a mark over its id for each user that made or trusted it, made with the key in that user's
own folder: moving or renaming the workspace keeps it, and nobody else can make one.
"""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from hmac import compare_digest

from zaxy.errors import ZaxyError
from zaxy.security.paths import is_of_this_user
from zaxy.user_state import change_state, read_state, user_key, why_not_kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FIELD = "users"
"""In a workspace's file: the marks, each under a name of the key that made it."""
FIRST_RUN = "first-run.json"
ID_CHARS = 32
SPOOL = "spool"
"""The folder for what hooks record where the log is in another store. It is delivered when that is opened next."""


def is_id(identity: object) -> bool:
    """Whether it can be a workspace's id: 16 bytes in hexadecimal."""
    return isinstance(identity, str) and len(identity) == ID_CHARS and not identity.strip("0123456789abcdef")


def is_marked(kept: Mapping[str, Any]) -> bool:
    """Whether this user has made or trusted the workspace with this file."""
    marks = kept.get(FIELD)
    if not isinstance(marks, dict) or not is_id(kept.get("id")):
        return False
    name, mark = _mark(kept["id"])
    return compare_digest(str(marks.get(name, "")).encode(), mark.encode())


def marked(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The same file with this user's mark; as it was where the key cannot be kept, since it would fit nobody later."""
    if why_not_kept():
        return dict(kept)
    _first_run()  # from now on what has no mark is not older than marks are
    marks = kept.get(FIELD)
    name, mark = _mark(kept["id"])
    return {**kept, FIELD: {**(marks if isinstance(marks, dict) else {}), name: mark}}


def id_of_place(eventloom: str) -> str:
    """The id of a workspace whose own file is not read, by its place."""
    place = os.fsencode(os.path.realpath(eventloom))
    return blake2b(place, key=user_key(), person=b"place", digest_size=ID_CHARS // 2).hexdigest()


def holds_a_log(eventloom: str) -> bool:
    """Whether there is anything in a folder that could be believed."""
    return any(_has_logs(folder) for folder in (eventloom, os.path.join(eventloom, SPOOL)))


def was_here_before(eventloom: str, file: str) -> bool:
    """Whether a workspace without marks counts as this user's own, since it is older than marks are.

    It was there when this user first ran a Zaxy that makes marks, belongs to this user, and did not come with a
    repository: git does not track it. The moment of a file's last change cannot be set by an archive or a clone.
    """
    from zaxy.security.git_index import tracks

    try:
        status = os.lstat(file if os.path.lexists(file) else eventloom)
    except OSError:
        return False
    is_older = status.st_ctime_ns <= _first_run()
    return is_older and is_of_this_user(eventloom) and not tracks(os.path.dirname(eventloom), eventloom)


def _mark(identity: str) -> tuple[str, str]:
    """The name of this user's key, and its mark for a workspace."""
    key = user_key()
    name = blake2b(b"", key=key, person=b"user", digest_size=8).hexdigest()
    return name, blake2b(identity.encode(), key=key, person=b"workspace", digest_size=16).hexdigest()


def _has_logs(folder: str) -> bool:
    try:
        return any(name.endswith(".jsonl") for name in os.listdir(folder))
    except OSError:
        return False


def _first_run() -> int:
    """When this user first ran a Zaxy that makes marks, in nanoseconds since 1970; now, if this is the first run."""
    now = time.time_ns()
    kept = read_state(FIRST_RUN).get("time_ns")
    if isinstance(kept, int):
        return kept
    try:
        change_state(FIRST_RUN, lambda state: state.setdefault("time_ns", now))
    except (OSError, ZaxyError):
        return now
    kept = read_state(FIRST_RUN).get("time_ns")
    return kept if isinstance(kept, int) else now
