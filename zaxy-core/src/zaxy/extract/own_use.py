"""Records of the use of memory itself: they stay in the log and in replay, and tell nothing about the work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zaxy.extract.texts import PROSE, first_text

if TYPE_CHECKING:
    from zaxy.api.models import Event

FEEDBACK = ("memory.feedback", "memory.reinforced")
COMPOSED = ("memory.synthesis.", "memory.evidence.")
"""What composed answers are recorded as: they repeat the question, and rest on rows that speak for themselves."""
CORRECTED = "memory.synthesis.corrected"
"""A correction tells what is right."""
TOOL_CALL = "tool.call.completed"
GENESIS = "session.genesis"
WORDS = (*PROSE, "prompt", "message", "question", "response", "reply")
"""Fields of a hook's or a session's event that hold words of a person or an agent."""
_OWN_TOOL = re.compile(
    r"(?:.*[^a-z0-9])?zaxy(?![a-z0-9])|(?:memory|coordination)[_.][a-z_]+$|context_(?:after_turn|assemble)$"
)


def is_own_use(event: Event) -> bool:
    """Whether it says only that memory was used, that a session came or went, or that a hook was called."""
    kind, payload = event.type, event.payload or {}
    if kind == TOOL_CALL:
        return is_own_tool(first_text(payload, ("tool_name", "tool", "name")))
    if kind.startswith(("hook.", "session.")) and kind != GENESIS:
        return not first_text(payload, WORDS)
    return kind in (*FEEDBACK, GENESIS) or (kind.startswith(COMPOSED) and kind != CORRECTED)


def is_own_tool(name: str) -> bool:
    """Whether a client means one of our tools: `memory_query`, `mcp__zaxy__memory_query`, `zaxy.memory_query`."""
    return _OWN_TOOL.match(name.casefold()) is not None
