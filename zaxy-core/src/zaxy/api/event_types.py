"""Event types as plain data: what the owner of a family declares of each, and which families are the core's own."""

from __future__ import annotations

from zaxy.tuples import NamedTuple

ANYBODY, PACKAGE = "anybody", "package"
WRITERS = (ANYBODY, PACKAGE)
FIELD_KINDS = ("text", "number", "boolean", "list", "object")
PLACEHOLDER = r"\{([a-z][a-z0-9_]*)\}"
"""How a sentence names a field of the payload."""
CORE_FAMILIES = frozenset(
    "command decision document event fact file goal handoff hook imported issue memory session skill "
    "subagent task tool transcript user verification workspace".split()
)
"""The first words of the types that the core knows."""
KEPT_FAMILIES = {"coordination": "zaxy-coordinate"}
"""Families that are kept for one package each: no other may own it, and where that one is not in use nobody writes
it."""


class EventType(NamedTuple):
    """One type of a family: who may write it, what its rule may give, and how it is shown."""

    name: str
    written_by: str = ANYBODY
    """`package`: only the package that owns the family, through the memory that its tools are handed."""
    housekeeping: bool = False
    """Kept in the log, and never shown as facts, evidence or replay unless asked for."""
    sentence: str = ""
    """What an event of the type says, with the names of fields in braces."""
    heading: str = ""
    """Under which the working set shows what an event of the type is about; empty for nowhere."""
    entities: tuple[str, ...] = ()
    """The types of the entities that its rule gives, that of what the event is about first."""
    relations: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    """The fields of its payload, with their kinds."""
    living: tuple[str, ...] = ()
    """Those of its entities that live through several events, and that ids and titles name."""
    quiet: bool = False
    """In the graph and in replay, and never found by its words: it records how memory was used, and tells nothing of
    the work."""


CORE_TYPES = (
    EventType("memory.bootstrap.shown", PACKAGE, housekeeping=True),
    EventType("memory.checkout.completed", PACKAGE, housekeeping=True),
    EventType("memory.context.injected", PACKAGE, housekeeping=True),
    EventType("memory.reminder.suggested", PACKAGE, housekeeping=True),
    EventType("memory.imported", PACKAGE, housekeeping=True),
    EventType("memory.ref.updated", PACKAGE, housekeeping=True),
    EventType("event.erased", PACKAGE, housekeeping=True),
    EventType("tool.call.completed", housekeeping=True),
    EventType("hook.heartbeat", housekeeping=True),
    EventType("memory.invalidated"),
    EventType("imported.erased", PACKAGE),
)
"""The core's types that its rules alone do not describe. Of those that anybody writes, only Zaxy's own events are
housekeeping."""


def family_of(event_type: str) -> str:
    """The first word of a type."""
    return event_type.partition(".")[0]
