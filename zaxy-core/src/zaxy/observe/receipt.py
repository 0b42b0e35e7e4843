"""What memory costs, by what is on record: the tokens that it put into prompts, and those that it spent on models.

Each use of memory that hands words to a model leaves a mark with their number. Nothing in Zaxy calls a model. If
anything of Zaxy's ever did, its record would have to say how many tokens that took, and they would be counted here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

INJECTED = "memory.context.injected"
SHOWN = (INJECTED, "memory.checkout.completed", "memory.bootstrap.shown")
"""The marks of words that were handed to a model."""
OWN_ACTORS = ("zaxy", "zaxy-hook", "zaxy-import")
"""Those as whom Zaxy records."""
TOKENS, MODEL_TOKENS = "tokens", "model_tokens"


def injected_tokens(event_type: str, actor: str, payload: Mapping[str, object] | None) -> int:
    """How many tokens an event says that memory put into a prompt; 0 for one that is no such mark."""
    return _number(payload, TOKENS) if event_type in SHOWN and actor == OWN_ACTORS[0] else 0


def model_tokens(actor: str, payload: Mapping[str, object] | None) -> int:
    """How many tokens of a model an event of Zaxy's own says that were spent."""
    return _number(payload, MODEL_TOKENS) if actor in OWN_ACTORS else 0


def _number(payload: Mapping[str, object] | None, field: str) -> int:
    value = (payload or {}).get(field)
    return value if type(value) is int and value > 0 else 0
