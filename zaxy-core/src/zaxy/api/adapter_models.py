"""The values that pass between the core and what reaches outside: captured files, clients, exports, tools.

`zaxy.api.models` has them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zaxy.api.models import JsonObject

# Capture


@dataclass(frozen=True, slots=True)
class Source:
    """One session file of a client, or whatever it keeps a session in."""

    id: str
    """Stable over renames, compression and restarts; part of every observation's key."""
    path: Path
    session: str = ""
    """The client's own name of the session, if it has one."""


@dataclass(frozen=True, slots=True)
class Observation:
    type: str
    actor: str
    payload: JsonObject
    key: str
    """Where it came from (source and position), never what it says: the same place gives the same key."""
    occurred_at: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    observations: tuple[Observation, ...]
    mark: str
    """The adapter's own note of how far it has read; handed back at the next reading."""
    done: bool
    """Whether the source holds nothing more for now."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How many records of each kind were passed over because the adapter does not know them."""


# Client configuration


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """The MCP server as a client's configuration should name it: a command, or a URL."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    startup_timeout_s: int = 90


# Export


@dataclass(frozen=True, slots=True)
class Parcel:
    """A finished bundle on disk, ready to be delivered."""

    path: Path
    size: int
    sha256: str
    media_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Receipt:
    destination: str
    size: int
    sha256: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class KeyPair:
    private_pem: bytes = field(repr=False)
    public_pem: bytes
    public_key: bytes
    """The raw public key, as bundles carry it."""


# Tools


@dataclass(frozen=True, slots=True)
class Tool:
    """An MCP tool. Its name has only the characters a-z and _: some clients hide every tool otherwise."""

    name: str
    description: str
    input_schema: JsonObject
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    profiles: tuple[str, ...] = ("full",)
    """The tool profiles that list it; every tool can be called under any profile."""
