"""What reading a session must know in order to go on, and how that is kept in a mark.

A mark is written to disk as it is, so nothing that was said or typed is in it: of a call that waits for its result only
the place is kept, and of a text only a digest.
"""

from __future__ import annotations

import json
from typing import NamedTuple

FORMAT = 1
MAX_CALLS = 256
MAX_FINISHED = 256
MAX_UNMATCHED = 32


class State(NamedTuple):
    offset: int = 0
    """Where the next record begins, in the bytes of the plain file."""
    given: int = 0
    """How many observations of that record were given already: a limit came between them."""
    thread: str = ""
    """The session's own id; empty before its first record."""
    subagent: bool = False
    born: str = ""
    """When a session that began as a copy of another was begun; what is older was copied."""
    boundary: int = 0
    """Records with a lower ordinal were copied."""
    parent: str = ""
    """The session whose records may be repeated here; empty once a record of its own was met."""
    parent_offset: int = 0
    folder: str = ""
    """The folder in which the session works now."""
    turn: int = 0
    roles_in_events: tuple[str, ...] = ()
    """The roles whose words come as events too; their other copies are passed over from then on."""
    unmatched: tuple[str, ...] = ()
    """Digests of words that were given, and whose other copy may follow."""
    calls: tuple[tuple[str, int], ...] = ()
    """Calls that wait for their results, with their places."""
    running: tuple[tuple[str, int], ...] = ()
    """Programs that still run, by Codex's number, with the places of their calls."""
    finished: tuple[str, ...] = ()
    """Calls whose result was given, and may come once more."""

    def called(self, call: str, offset: int) -> State:
        return self._replace(calls=(*self.calls, (call, offset))[-MAX_CALLS:])

    def place_of(self, call: str) -> int | None:
        return next((offset for known, offset in self.calls if known == call), None)

    def finish(self, call: str) -> State:
        if not call:
            return self
        waiting = tuple(known for known in self.calls if known[0] != call)
        return self._replace(calls=waiting, finished=(*self.finished, call)[-MAX_FINISHED:])


def mark_of(state: State, file: tuple[int, int] | None = None) -> str:
    """`file` is size and time of a file that was read to its end: it need not be opened again until they change."""
    kept = {name: value for name, value in state._asdict().items() if value != State._field_defaults[name]}
    return json.dumps({"format": FORMAT, **kept, **({"file": file} if file else {})}, separators=(",", ":"))


def state_of(mark: str) -> tuple[State, tuple[int, int] | None]:
    """The state that a mark keeps. What cannot be read means the start: keys tell what is known already."""
    try:
        kept = json.loads(mark) if mark else {}
        if kept.pop("format", FORMAT) != FORMAT:
            return State(), None
        file = kept.pop("file", None)
        for name in ("calls", "running"):
            kept[name] = tuple((str(call), int(offset)) for call, offset in kept.get(name, ()))
        for name in ("roles_in_events", "unmatched", "finished"):
            kept[name] = tuple(map(str, kept.get(name, ())))
        return State(**kept), (int(file[0]), int(file[1])) if file else None
    except (ValueError, TypeError, AttributeError, IndexError):
        return State(), None
