"""The values that pass between the core and what reaches outside: captured files, clients, exports, tools.

`zaxy.api.models` has them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    agent: str = ""
    """The client's own name of the subagent whose session it is: it is recorded in a session of its own."""
    parent: str = ""
    """With `agent`: the `session` that the subagent works for."""


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
class ExportRow:
    """An entry of a bundle: an event, or an entity or edge that the built-in rules make of one."""

    citation: str
    seq: int
    grain: str
    """`event` or `semantic`."""
    kind: str
    """The type of the event; else `entity:` or `edge:` with the type."""
    content: JsonObject
    source: str
    valid_from: str
    valid_to: str = ""
    id: str = ""
    """The SHA-256 of the entry's canonical bytes, in hex, where the bundle has it: it is signed, and whole."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A finished bundle on disk, ready to be delivered: its bytes, and its entries as rows."""

    path: Path
    size: int
    sha256: str
    media_type: str = "application/json"
    rows: Iterable[ExportRow] = field(default=(), repr=False, compare=False)
    """For a sink with the capability `rows`. They are read from the file as they are asked for, each time again."""
    manifest: JsonObject = field(default_factory=dict, compare=False)
    """What the bundle says of itself: all of it but its entries."""


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


# Import


@dataclass(frozen=True, slots=True)
class ForeignEvent:
    """An event that was not recorded here, as an importer hands it over."""

    origin: str
    """What names it for good where it came from: its citation, or for what has none any text, such as
    `chat:17/turn:4`. It is kept even if the event is erased, so it must not be made of what the event says."""
    time: str | None
    """When it was recorded there. It counts as `occurred_at`, unless the payload has one."""
    type: str
    actor: str
    payload: JsonObject | None
    sensitivity: str = "internal"
    erased: bool = False
    """Whether its payload was erased before it came here, which leaves None of it."""
    closings: Sequence[JsonObject] = ()
    """What it had closed, if that cannot be read off its payload: `{"at": time, "seq": seq, "row": place}`. `seq` is of
    the log that its citation names, `row` the place of a thing among those of that event; without it all of them are
    meant. Only what comes with the same import is closed."""


@dataclass(frozen=True, slots=True)
class ImportReceipt:
    """What an import did."""

    new: int
    known: int
    """Events that an earlier import had brought, or that were recorded here at first."""
    as_data: int
    """Events that count as plain data here: erased ones, and those of types that only Zaxy or a package writes."""
    citation: str
    """The event that records the import; empty if nothing was new."""


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
    admin: bool = False
    """Where an admin token is set, and in production always, it is only for those who have that token. They send it
    as the argument `admin_token`, which the core adds to the schema and keeps to itself, or in a header."""
    seconds: float = 0.0
    """How long a call may take; 0 for the budget that every call into a plugin has."""
