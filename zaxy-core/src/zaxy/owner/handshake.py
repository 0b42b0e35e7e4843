"""The first line of a connection to the owner: whose client is behind it. What follows is MCP."""

from __future__ import annotations

import json

from zaxy.tuples import NamedTuple

MAX_BYTES = 4096
PING = b'{"jsonrpc": "2.0", "id": "ping", "method": "ping"}\n'
"""Whatever the owner answers to it, it lives."""


class Caller(NamedTuple):
    """Who a connection is for. Session and profile are those of its own server's settings, not of the owner's."""

    id: str = ""
    """Random, and the same for all connections that are made for one client; empty for a command of this user."""
    session: str = ""
    """The session that its calls mean where they name none."""
    profile: str = ""

    @property
    def is_command(self) -> bool:
        return not self.id

    @property
    def line(self) -> bytes:
        return json.dumps({"zaxy": self._asdict()}).encode() + b"\n"


def caller_of(line: bytes) -> Caller | None:
    """The caller that a first line names; None if it names none."""
    try:
        fields = json.loads(line)["zaxy"]
        return Caller(*(str(fields[name]) for name in Caller._fields))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
