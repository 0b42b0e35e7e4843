"""The first line of a connection to the owner, which is ours and not the protocol's: who calls, and what for."""

from __future__ import annotations

import json

from zaxy.tuples import NamedTuple

LONGEST = 4096
CLIENT, PING, MEMORY = "client", "ping", "memory"
KINDS = (CLIENT, PING, MEMORY)
"""A client of the protocol; one who asks whether the owner lives; a command that asks the owner's memory."""
ALIVE = b"alive\n"
"""What the owner answers to each line of a ping."""


class Caller(NamedTuple):
    """Whoever a connection is for. Session and profile are what its own server was told, which is not the owner."""

    kind: str
    id: str = ""
    """Random, and the same for all connections that are made for one client."""
    session: str = ""
    """The session that its calls mean where they name none."""
    profile: str = ""

    @property
    def line(self) -> bytes:
        return json.dumps({"zaxy": self._asdict()}).encode() + b"\n"


def caller_of(line: bytes) -> Caller | None:
    """Who introduces themselves in a line; None if it is no introduction."""
    try:
        told = json.loads(line)["zaxy"]
        caller = Caller(*(str(told[name]) for name in Caller._fields))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return caller if caller.kind in KINDS else None
