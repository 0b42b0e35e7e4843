"""Zaxy's own bookkeeping: in the log, but never returned as facts, evidence or replay unless asked for."""

from __future__ import annotations

from zaxy.api.event_types import CORE_TYPES
from zaxy.eventloom.admission import IMPORTED_PREFIX, OWN_ACTOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from zaxy.api.models import Event

HOOK_ACTOR = "zaxy-hook"
IMPORT_ACTOR = "zaxy-import"
IMPORTED_ERASED = f"{IMPORTED_PREFIX}erased"
"""Stands for an event whose payload was erased before it was exported; what that had closed stays closed."""
HEARTBEAT = "hook.heartbeat"
TYPES = frozenset([one.name for one in CORE_TYPES if one.housekeeping])
INERT = TYPES - {"event.erased"}
"""What Zaxy itself writes of these types adds nothing to any follower."""


def is_housekeeping(event: Event, of_packages: Container[str] = ()) -> bool:
    """Whether type and actor both say that Zaxy wrote it for itself, here or where it was imported from.

    A hook's heartbeat counts as well, and `of_packages`: the types that packages keep for themselves.
    """
    if event.type.startswith(IMPORTED_PREFIX):
        return event.actor == IMPORT_ACTOR
    if event.type not in TYPES:
        return event.type in of_packages
    return event.actor == OWN_ACTOR or (event.type == HEARTBEAT and event.actor == HOOK_ACTOR)


def without_housekeeping(events: Iterable[Event], of_packages: Container[str] = ()) -> list[Event]:
    return [event for event in events if not is_housekeeping(event, of_packages)]
