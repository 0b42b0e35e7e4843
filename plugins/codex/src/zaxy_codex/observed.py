"""Observations as Zaxy's log takes them, from what a record tells: bounded, without content of files or arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from zaxy.api import without_private
from zaxy_codex.belonging import real_folder
from zaxy_codex.commands import Outcome
from zaxy_codex.patches import Edit

ACTOR = "codex"
PARENT = "parent"
"""Who speaks to a subagent: the agent that started it, and no user."""
WINDOW = 8192
"""So much of either end of an output is handed on; the core takes secrets out of it and keeps an excerpt."""
MAX_TURN_CHARS = 160_000
"""Characters of a turn. The log takes 1 MiB, and some characters take six bytes there."""
CUT = "\n…[cut]…\n"
MAX_KEYS = 64


class Observed(NamedTuple):
    """An observation without its place."""

    type: str
    actor: str
    payload: dict[str, Any]


def observed_turn(role: str, text: str, index: int) -> Observed:
    return Observed(
        "transcript.turn", role, {"role": role, "content": _ends(text, MAX_TURN_CHARS), "turn_index": index}
    )


def observed_task(text: str, index: int) -> Observed:
    """What a subagent is asked to do."""
    turn = observed_turn("user", text, index)
    return turn._replace(actor="assistant", payload={**turn.payload, "speaker": PARENT})


def observed_end() -> Observed:
    """That a subagent is done with its task."""
    return Observed("subagent.completed", ACTOR, {})


def observed_command(command: str, outcome: Outcome) -> Observed:
    payload = {
        "command": _ends(command, 2 * WINDOW),
        "exit_code": outcome.exit_code,
        "stdout": _ends(outcome.output, 2 * WINDOW),
        "duration_ms": outcome.duration_ms,
    }
    return Observed(
        "command.completed", ACTOR, {key: value for key, value in payload.items() if value not in (None, "")}
    )


def observed_edit(edit: Edit, folder: str, workspace: str) -> Observed:
    payload: dict[str, Any] = {
        "path": _shown_path(edit.path, folder, workspace),
        "operation": edit.operation,
        "lines_added": edit.added,
        "lines_removed": edit.removed,
        **edit.numbers,
    }
    if edit.renamed_from:
        payload["renamed_from"] = _shown_path(edit.renamed_from, folder, workspace)
    return Observed("file.edit.applied", ACTOR, payload)


def observed_call(
    tool: str, failed: bool, *, arguments: Mapping[str, Any], result: object, duration: object = None
) -> Observed:
    payload = {
        "tool_name": clean(tool)[:256],
        "status": "error" if failed else "ok",
        "argument_keys": sorted(clean(str(key))[:64] for key in arguments)[:MAX_KEYS],
        "result_summary": _shape(result),
        "duration_ms": milliseconds(duration),
    }
    return Observed(
        "tool.call.completed", ACTOR, {key: value for key, value in payload.items() if value not in (None, "")}
    )


def observed_compaction(summary: str) -> Observed:
    said = _ends(summary, MAX_TURN_CHARS) if summary.strip() else "the conversation was compacted"
    return Observed("transcript.compacted", ACTOR, {"summary": said})


def observed_rollback(turns: object) -> Observed:
    count = turns if type(turns) is int and 0 < turns < 2**53 else 1
    said = "the last turn was" if count == 1 else f"the last {count} turns were"
    return Observed("transcript.rolled_back", "user", {"turns": count, "summary": f"{said} taken back"})


def milliseconds(duration: object) -> int | None:
    """Codex writes a duration as whole seconds and nanoseconds, or as milliseconds."""
    if isinstance(duration, Mapping):
        seconds, nanos = duration.get("secs"), duration.get("nanos")
        if type(seconds) is int and type(nanos) is int and 0 <= seconds < 2**40:
            return seconds * 1000 + nanos // 1_000_000
        return None
    return duration if type(duration) is int and 0 <= duration < 2**53 else None


def utc(time: object) -> str:
    """The time as the log writes times; empty where there is none, or one without a zone."""
    if not isinstance(time, str) or len(time) > 40:
        return ""
    if len(time) == 24 and time[23] == "Z" and time[19] == "." and time[10] == "T" and time[20:23].isdigit():
        fast = f"{time[:23]}000Z"  # as Codex writes it; only what is in it must be a time
        return fast if _is_time(time[:19]) else ""
    try:
        moment = datetime.fromisoformat(time)
        text = moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return ""
    return text if moment.tzinfo else ""


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _shown_path(path: str, folder: str, workspace: str) -> str:
    """The path within the workspace, with slashes; whole if it is elsewhere."""
    if path.startswith("file://") or os.path.isabs(path):
        whole = real_folder(path)
    else:
        whole = real_folder(os.path.join(folder, path))
    root = real_folder(workspace).rstrip(os.sep) + os.sep
    shown = whole[len(root) :] if whole.startswith(root) else whole
    return clean(shown.replace(os.sep, "/"))[:1000]


def _shape(result: object) -> str:
    """What kind of thing came back, without any of it."""
    if result is None:
        return ""
    if isinstance(result, str):
        return f"text of {len(result)} characters"
    if isinstance(result, list):
        return f"list of {len(result)}"
    return "object" if isinstance(result, Mapping) else type(result).__name__


def _ends(text: str, max_chars: int) -> str:
    text = clean(without_private(text))  # before it is cut: half a private part cannot be found
    if len(text) <= max_chars:
        return text
    head = (max_chars - len(CUT)) // 2
    return text[:head] + CUT + text[head + len(CUT) - max_chars :]


def clean(text: str) -> str:
    """Without halves of surrogate pairs, which JSON can carry and the log refuses."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
