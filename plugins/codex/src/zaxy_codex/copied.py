"""Sessions that begin as a copy of another: what was copied is that one's, and is not given again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zaxy_codex.lines import Line, parsed
from zaxy_codex.observed import utc
from zaxy_codex.origins import origin_of
from zaxy_codex.state import State

NextLine = Callable[[str, int], Line | None]
"""The line of another session at an offset, by that session's id."""


def begun(payload: Mapping[str, Any], time: str, state: State) -> State:
    """The state after a session's first record."""
    origin = origin_of(payload)
    base = payload.get("history_base")
    ends = (payload.get("subagent_history_start_ordinal"), base.get("end_ordinal_exclusive") if base else None)
    return state._replace(
        thread=str(payload.get("id") or payload.get("session_id") or "unknown"),
        subagent=origin.subagent,
        parent=origin.copied_from,
        born=(utc(payload.get("timestamp")) or time) if origin.copied_from else "",
        boundary=max((end for end in ends if type(end) is int), default=0),
    )


def was_copied(record: Mapping[str, Any], state: State, next_line: NextLine) -> tuple[bool, State]:
    """Whether a record was copied from the session before, and the state after asking."""
    ordinal = record.get("ordinal")
    if type(ordinal) is int and ordinal < state.boundary:
        return True, state
    if not state.parent:
        return _is_older(record, state), state
    line = next_line(state.parent, state.parent_offset)
    while line is not None and (original := parsed(line.data)).get("type") == "session_meta":
        line = next_line(state.parent, line.end)
    if line is not None and utc(original.get("timestamp")) <= state.born and _says_the_same(record, original):
        return True, state._replace(parent_offset=line.end)
    if _is_older(record, state):
        return True, state
    return False, state._replace(parent="")


def _is_older(record: Mapping[str, Any], state: State) -> bool:
    time = utc(record.get("timestamp"))
    return bool(state.born and time and time < state.born)


def _says_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.get("type") == other.get("type") and one.get("payload") == other.get("payload")
