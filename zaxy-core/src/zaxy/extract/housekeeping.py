"""Zaxy's own bookkeeping: in the log, but never returned as facts, evidence or replay unless asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zaxy.api.models import Event

OWN_ACTOR = "zaxy"
HOOK_ACTOR = "zaxy-hook"
HEARTBEAT = "hook.heartbeat"
TYPES = frozenset(
    (
        "memory.bootstrap.shown",
        "memory.checkout.completed",
        "memory.reminder.suggested",
        "memory.ref.updated",
        "event.erased",
        "tool.call.completed",
        HEARTBEAT,
    )
)


def is_housekeeping(event: Event) -> bool:
    """Whether type and actor both say that Zaxy wrote it for itself; a hook's heartbeat counts as well."""
    if event.type not in TYPES:
        return False
    return event.actor == OWN_ACTOR or (event.type == HEARTBEAT and event.actor == HOOK_ACTOR)
