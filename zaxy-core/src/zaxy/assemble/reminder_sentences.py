"""The sentences that remind a model of its memory, by the reason that a hook has recorded.

A hook loads this module too, so it imports nothing.
"""

from __future__ import annotations

TO_DO = (
    "Call memory_checkout with the task at hand, and trust only current facts that carry a citation; "
    "if it is unclear what memory holds, call memory_bootstrap first."
)
MESSAGES = {
    "status_question": "The user asks where the work stands, and memory may know more than the conversation does.",
    "context_boundary": "The context has just begun, been resumed or been cut: what was known may be missing from it.",
    "long_session": "The session has grown long: what was decided early may have changed or dropped out of sight.",
    "stale_memory_activity": "Much has happened since memory was last used.",
}


def sentence_for(reason: object) -> str:
    """What a reason is shown as; empty for one that no hook of ours gives."""
    known = MESSAGES.get(reason) if isinstance(reason, str) else None
    return f"{known} {TO_DO}" if known else ""
