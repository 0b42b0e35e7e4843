"""Where a session comes from: a user, another agent that started it, another session that it goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Origin(NamedTuple):
    subagent: bool = False
    parent: str = ""
    """The session of the agent that started it; empty where Codex does not say."""
    copied_from: str = ""
    """The session whose records it may repeat at its beginning."""


def origin_of(payload: Mapping[str, Any]) -> Origin:
    """As a session's first record tells it."""
    source = payload.get("source")
    spawned = source.get("subagent") if isinstance(source, dict) else None
    spawn = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
    forked = payload.get("forked_from_id")
    started = (payload.get("parent_thread_id"), spawn.get("parent_thread_id") if isinstance(spawn, dict) else None)
    return Origin(spawned is not None or source == "subagent", _first(*started, forked), _first(forked, *started))


def _first(*names: object) -> str:
    return next((name for name in names if isinstance(name, str) and name), "")
