"""The values that pass between the core and its plugins: frozen, plain, without behaviour of their own.

Times are ISO 8601 texts in UTC with microseconds, such as `2026-06-15T00:00:00.000000Z`. They sort by time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zaxy.api.quick_init import quick_init

if TYPE_CHECKING:
    from zaxy.api.adapter_models import (
        ExportRow as ExportRow,
        ForeignEvent as ForeignEvent,
        ImportReceipt as ImportReceipt,
        KeyPair as KeyPair,
        Observation as Observation,
        Parcel as Parcel,
        Reading as Reading,
        Receipt as Receipt,
        ServerEntry as ServerEntry,
        Source as Source,
        Tool as Tool,
    )

JsonObject = Mapping[str, object]


# The log


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that is to be appended: the store gives it its place, id, time, digest and hash."""

    type: str
    actor: str
    payload: JsonObject
    sensitivity: str = "internal"
    caused_by: str = ""
    idempotency_key: str = ""
    redacted: tuple[tuple[str, str], ...] = ()
    """Which secrets were taken out of the payload: the JSON pointer and the kind of each."""
    salt: str = ""
    """32 hex digits that go into the payload's digest. The core gives each draft its own; empty: any random ones."""


@quick_init
@dataclass(frozen=True, slots=True)
class Event:
    """An event of the log."""

    session: str
    seq: int
    id: str
    type: str
    actor: str
    time: str
    payload: JsonObject | None
    """None when the payload was erased for good."""
    hash: str
    prev: str | None
    sensitivity: str = "internal"
    caused_by: str = ""
    idempotency_key: str = ""

    @property
    def citation(self) -> str:
        return f"eventloom://{self.session}/events/{self.seq}#{self.hash}"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a session's log: the last event that was taken, and where the next one begins."""

    seq: int
    hash: str
    offset: int
    """The store's own measure of position (a byte offset, a row number): kept and given back unchanged."""
    fed_by: str = ""
    """Which extractors, in which versions, fed a follower up to here: kept and given back unchanged."""


@dataclass(frozen=True, slots=True)
class Page:
    events: tuple[Event, ...]
    cursor: Cursor | None
    """Where to read on; None in a session without events."""


@dataclass(frozen=True, slots=True)
class PlannedAppend:
    """What an append comes to: the lines that are to be written now, and the line of each draft."""

    new: tuple[NewLine, ...]
    lines: tuple[bytes, ...]
    """One for each draft: its own new one, or that of the event which had its idempotency key before."""


class NewLine(NamedTuple):
    """A line that is to be written, with what a store looks lines up by."""

    seq: int
    hash: str
    type: str
    key: str
    """The idempotency key; empty if it has none."""
    line: bytes


class Damage(NamedTuple):
    seq: int
    """The damaged place in the log. Everything before it is intact."""
    offset: int
    """Where the line begins, in a log of files; 0 elsewhere."""
    reason: str


class Report(NamedTuple):
    """What came of verifying a session's log."""

    session: str
    events: int
    """How many events are intact, counted from the first."""
    head: str
    """The hash of the last intact event; empty if there is none."""
    erased: int
    torn: int
    """Bytes of an interrupted write after the last complete batch. They are no damage."""
    damage: Damage | None
    log_at_fault: bool = False
    """Whether the log itself is wrong, and not the given citation or the age of this version."""
    malformed: tuple[Damage, ...] = ()
    """Events that break the grammar of the format. The chain goes on through them, and the others can be read."""

    @property
    def ok(self) -> bool:
        return self.damage is None


# What is extracted from an event


class EntityRef(NamedTuple):
    entity_type: str
    name: str


@quick_init
@dataclass(frozen=True, slots=True)
class Entity:
    name: str
    entity_type: str
    summary: str
    properties: JsonObject = field(default_factory=dict)
    observed_at: str = ""
    """When it began to hold, if not at the event's own time."""
    merges: bool = False
    """Whether it continues the life of one thing: properties that it does not mention are kept from the version that
    holds, and one that is None is taken away. Otherwise it replaces the whole."""
    default_summary: bool = False
    """Whether the summary only stands in for one: a version into which it merges keeps its own."""
    ids: tuple[str, ...] = ()
    """The keys and ids by which its event names it, the first one counts most. Names are resolved before rows reach a
    backend, which need not keep these."""
    titles: tuple[str, ...] = ()
    """The titles and names by which its event calls it."""


@quick_init
@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two entities, which other events may have brought."""

    source: EntityRef
    target: EntityRef
    relation_type: str
    confidence: float = 1.0
    inferred: bool = False
    inference_method: str = ""
    evidence: str = ""
    valid_from: str = ""
    valid_to: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """What an event ends: the rows of an entity, or of the event `seq`, that hold at its own time or later. With both
    it ends only the rows of that entity which that event opened."""

    at: str
    """From when on it no longer holds; never empty."""
    entity: EntityRef | None = None
    seq: int | None = None
    extractor: str = ""
    """Whose rows alone it ends: those that this extractor of a plugin made. Empty: any."""


@quick_init
@dataclass(frozen=True, slots=True)
class Extraction:
    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()
    closings: tuple[Closing, ...] = ()


@quick_init
@dataclass(frozen=True, slots=True)
class ExtractedEvent:
    event: Event
    rows: Extraction
    sentence: str = ""
    """What it says, where the owner of its type has a sentence for that."""
    housekeeping: bool = False
    """Whether it is bookkeeping, which no search should find."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive events of one session, with what was extracted from each."""

    session: str
    events: tuple[ExtractedEvent, ...]


# The graph


@dataclass(frozen=True, slots=True)
class AsOf:
    """The moment a read looks from: what was true at `valid_at`, as far as was known after event `known_at`."""

    valid_at: str = ""
    """Empty: after all times, where only rows without an end hold. What is so now is asked for by the moment: Zaxy
    gives the clock's, or the time of the newest event where the clock is behind it. A backend needs no clock."""
    known_at: int | None = None
    """None: everything known. A row has the end that was known then; one that was closed later is shown open."""


@dataclass(frozen=True, slots=True)
class EntityRow:
    """One version of an entity: true from `valid_from` to `valid_to`, known from `opened_seq` to `closed_seq`."""

    entity: Entity
    valid_from: str
    valid_to: str
    """Empty while no end is known; it may lie in the future."""
    opened_seq: int
    closed_seq: int | None
    """The event that brought this end."""
    event_hash: str


@dataclass(frozen=True, slots=True)
class EdgeRow:
    edge: Edge
    valid_from: str
    valid_to: str
    opened_seq: int
    closed_seq: int | None
    event_hash: str
    depth: int = 1
    """How many steps from where the walk began."""


@dataclass(frozen=True, slots=True)
class GraphStats:
    entities: int
    edges: int
    """Rows in all, closed ones included."""
    open_entities: int
    open_edges: int
    """Rows without an end."""


# Retrieval

MAX_ANSWERS = 100
"""How many events the words of one question find at most."""


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    session: str
    limit: int = 10
    as_of: AsOf = AsOf()


@dataclass(frozen=True, slots=True)
class Candidate:
    """An event that a lane proposes. Scores need no common scale: fusion normalises them lane by lane."""

    seq: int
    score: float
    content: str = ""
    metadata: JsonObject = field(default_factory=dict)


_OF_ADAPTERS = frozenset(
    "ExportRow ForeignEvent ImportReceipt KeyPair Observation Parcel Reading Receipt ServerEntry Source Tool".split()
)


def __getattr__(name: str) -> object:
    """The models that only adapters use. Reading memory needs none of them, and each costs time to make."""
    if name not in _OF_ADAPTERS:
        raise AttributeError(f"zaxy.api.models has no {name!r}")
    from zaxy.api import adapter_models

    return getattr(adapter_models, name)
