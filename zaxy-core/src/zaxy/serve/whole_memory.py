"""The memory itself, for what needs more of it than packages are given: following, and handing it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from zaxy.api.tools import Call
    from zaxy.memory import Memory


def whole_memory(call: Call) -> Memory:
    """A call of the server's own is made with the memory; only a package gets a view of it."""
    return cast("Memory", call.memory)
