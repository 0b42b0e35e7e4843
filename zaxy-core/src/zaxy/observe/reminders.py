"""When a hook should leave a reminder to use memory, found out from the end of the log alone.

There is at most one for each reason until memory is used again, so a model that ignores it gets it once.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager

from zaxy.assemble.reminder_sentences import MESSAGES, sentence_for
from zaxy.eventloom.disk import DISK
from zaxy.eventloom.lock import SessionLock
from zaxy.eventloom.record import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zaxy.eventloom.record import Entry

TYPE = "memory.reminder.suggested"
USES = ("memory.checkout.completed", "memory.bootstrap.shown")
STALE_EVENTS = 8
LONG_SESSION_TURNS = 8
LONG_RUN_MS = 5 * 60 * 1000
BOUNDARIES = ("session-start", "resume", "precompact")
HEARTBEAT, PROMPT = "heartbeat", "user-prompt-submit"
FIRST_LOOK = 1 << 16
FARTHEST_LOOK = 1 << 22
"""So much of the log's end is looked at, at most: some ten thousand events, in about 3 ms."""
LOCK_WAIT = 0.25
LOCK = os.path.join("runtime", "reminders.lock")

_END = b',"v":%d}' % VERSION
_OWN = b'\n{"actor":"zaxy",'
"""How each of Zaxy's own lines begins: `actor` is the first key of a record, and a line end never stands within one."""
_USED = tuple(b'"type":"%b"%b' % (used.encode(), _END) for used in USES)
_REMINDED = b'"type":"%b"%b' % (TYPE.encode(), _END)
_PROMPTED = b'"type":"hook.user_prompt_submitted"%b\n' % _END
_BEGUN = b'"type":"hook.session_started"%b\n' % _END
_HEARTBEAT = b'"type":"hook.heartbeat"%b\n' % _END


class Unused:
    """What the end of a log tells about the time since memory was last used."""

    def __init__(self, events: int, reasons: frozenset[str], prompts: int = 0) -> None:
        self.events = events
        self.prompts = prompts
        """How many of them are prompts, since a session of the client began."""
        self.reasons = reasons
        """Why there were reminders since."""


def due_reason(trigger: str, payload: Mapping[str, object], unused: Unused) -> str:
    """Why a reminder is due with this hook; empty if none is."""
    if trigger == HEARTBEAT:
        return ""
    turns = unused.prompts + 1 if trigger == PROMPT else 0
    applies = {
        "status_question": payload.get("reminder_class") == "status_question",
        "context_boundary": trigger in BOUNDARIES or _number(payload, "duration_ms") >= LONG_RUN_MS,
        "long_session": max(_number(payload, "turn_count"), turns) >= LONG_SESSION_TURNS,
        "stale_memory_activity": unused.events + 1 >= STALE_EVENTS,
    }
    return next((reason for reason in MESSAGES if applies[reason] and reason not in unused.reasons), "")


def reminder(reason: str) -> Entry:
    from zaxy.eventloom.admission import OWN_ACTOR, checked_entry

    return checked_entry(TYPE, OWN_ACTOR, {"reason": reason, "message": sentence_for(reason)})


def since_last_use(path: str) -> Unused:
    """What a session's log says, read from its end without a lock: at worst a line that is being written is missed."""
    try:
        fd = DISK.open_to_read(path)
    except FileNotFoundError:
        return Unused(0, frozenset())
    try:
        size = DISK.size(fd)
        for look in (FIRST_LOOK, FARTHEST_LOOK):
            begin = max(0, size - look)
            data = DISK.read(fd, size - begin, begin)
            data = b"\n" + data if begin == 0 else data[data.find(b"\n") :]
            used = _last_use(data)
            if used >= 0 or begin == 0:
                break
    finally:
        DISK.close(fd)
    return _unused_in(data[max(used, 0) :])


@contextmanager
def only_one(folder: str) -> Iterator[None]:
    """Held by the one hook of a workspace that may leave a reminder just now; `unavailable` if another one holds it."""
    from zaxy.security.paths import own_folder_within

    around = own_folder_within(folder, os.path.dirname(LOCK), create=True)
    lock = SessionLock(os.path.join(around, os.path.basename(LOCK)), DISK)
    try:
        with lock.exclusive(LOCK_WAIT):
            yield
    finally:
        lock.close()


def _last_use(data: bytes) -> int:
    """Where the line ends that marks the last use of memory; -1 if there is none."""
    start = len(data)
    while (start := data.rfind(_OWN, 0, start)) >= 0:
        end = data.find(b"\n", start + 1)
        if end >= 0 and data[start:end].endswith(_USED):
            return end
    return -1


def _unused_in(data: bytes) -> Unused:
    """`data` begins with the line end before its first line."""
    lines = max(0, data.count(b"\n") - 1)
    events = lines - data.count(_OWN) - data.count(_HEARTBEAT)
    prompts = data.count(_PROMPTED, max(0, data.rfind(_BEGUN)))
    return Unused(max(0, events), frozenset(_reasons(data)), prompts)


def _reasons(data: bytes) -> Iterator[str]:
    start = 0
    while (start := data.find(_OWN, start)) >= 0:
        end = data.find(b"\n", start + 1)
        if end < 0:
            return
        if data[start:end].endswith(_REMINDED):
            yield _reason(data[start:end])
        start = end


def _reason(line: bytes) -> str:
    """Why there was a reminder. The line is not proven, and may hold anything."""
    try:
        return str(json.loads(line)["payload"]["reason"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def _number(payload: Mapping[str, object], field: str) -> int:
    value = payload.get(field)
    return value if isinstance(value, int) else 0
