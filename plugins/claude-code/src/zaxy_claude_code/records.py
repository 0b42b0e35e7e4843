"""One record of a session file, made into what it tells: a turn, a finished call, a compaction, a summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from zaxy.api import Observation
from zaxy_claude_code.bounded import MAX_TURN_CHARS, text_within, utc_text, whole_number
from zaxy_claude_code.tool_use import Call, Result, what_happened

CLIENT = "claude-code"
TURN = "transcript.turn"
ENDED = "subagent.completed"
PARENT = "parent"
"""Who speaks to a subagent: the agent that started it, and no user."""
SILENT = frozenset(("progress", "file-history-snapshot", "queue-operation", "custom-title", "ai-title"))
"""Kinds of records that are known and tell nothing to remember."""
SILENT_BLOCKS = frozenset(("thinking", "redacted_thinking", "tool_use"))
SHOWN = {"image": "[image]", "document": "[document]"}
OWN_TOOLS = "mcp__zaxy__"
"""Calls of memory's own tools, which its server records by itself."""
CLIENTS_OWN = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "<system-reminder>", "<task-notification>")
"""What a user's record begins with when the client wrote it by itself."""
SLASH_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.S)
SLASH_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.S)
SHELL_INPUT = re.compile(r"<bash-input>(.*?)</bash-input>", re.S)

Record = Mapping[str, Any]
NOTHING: Record = {"type": "nothing"}
"""Stands for a record that is passed over."""


class Place(NamedTuple):
    """Where a record stands: a record without an id of its own is named by it."""

    session: str
    offset: int
    turn: int
    """How many turns come before it."""
    of_subagent: bool = False


def calls_of(record: Record) -> dict[str, Call]:
    """The calls of tools that an assistant's record makes, by their ids; their results come in later records."""
    if record.get("type") != "assistant":
        return {}
    return {
        block["id"]: Call(block["name"], block["input"] if isinstance(block.get("input"), dict) else {})
        for block in _blocks(record)
        if block.get("type") == "tool_use" and isinstance(block.get("id"), str) and isinstance(block.get("name"), str)
    }


def answered_by(record: Record) -> list[str]:
    """The ids of the calls whose results a record brings."""
    if record.get("type") != "user":
        return []
    found = [block.get("tool_use_id") for block in _blocks(record) if block.get("type") == "tool_result"]
    return [call for call in found if isinstance(call, str)]


def is_passed_over(record: Record, of_subagent: bool) -> bool:
    """The client's own notes are no part of a conversation. A subagent's words are no part of its parent's, nor are
    those that it inherited part of its own."""
    elsewhere = record.get("forkedFrom") if of_subagent else record.get("isSidechain")
    return bool(record.get("isMeta") or record.get("isApiErrorMessage") or elsewhere)


def observations_of(
    record: Record, place: Place, call_of: Callable[[str], Call | None], skipped: Counter[str]
) -> list[Observation]:
    """What a record tells, in its order; `call_of` knows the calls that were made before."""
    kind = _kind(record)
    if record is NOTHING or kind in SILENT:
        return []
    if kind == "assistant":
        happenings = _of_assistant(record, place, skipped)
    elif kind == "user":
        happenings = _of_user(record, place, call_of=call_of, skipped=skipped)
    elif kind == "system":
        happenings = _of_system(record)
    elif kind == "summary":
        happenings = _of_summary(record.get("summary"))
    else:
        skipped[text_within(kind, 64) or "no type"] += 1
        return []
    return [_observation(record, place, part, happening) for part, happening in enumerate(happenings)]


Happening = tuple[str, str, dict[str, object]]
"""Actor, event type, payload."""
Happenings = Iterator[Happening]


def _of_assistant(record: Record, place: Place, skipped: Counter[str]) -> Happenings:
    content = _content(record)
    text = content if isinstance(content, str) else _said(record, SILENT_BLOCKS, "assistant", skipped)
    if text.strip():
        yield _turn("assistant", text)
        if place.of_subagent and record["message"].get("stop_reason") == "end_turn":
            yield CLIENT, ENDED, {}


def _of_user(
    record: Record, place: Place, *, call_of: Callable[[str], Call | None], skipped: Counter[str]
) -> Happenings:
    results = [block for block in _blocks(record) if block.get("type") == "tool_result"]
    details = record.get("toolUseResult") if len(results) == 1 else None
    for block in results:
        identity = block.get("tool_use_id")
        call = call_of(identity) if isinstance(identity, str) else None
        if call is None:
            skipped["a result without its call"] += 1
        elif not call.tool.startswith(OWN_TOOLS):
            yield (CLIENT, *what_happened(call, Result(_result_text(block), block.get("is_error") is True, details)))
    content = _content(record)
    text = content if isinstance(content, str) else _said(record, frozenset(("tool_result",)), "user", skipped)
    if record.get("isCompactSummary"):
        yield from _of_summary(text)
    elif said := _words_of_user(text):
        yield _task(said) if place.of_subagent else _turn("user", said)


def _of_system(record: Record) -> Happenings:
    """Of the client's notices only a compaction matters: what was said before it is no longer before the model."""
    if record.get("subtype") == "compact_boundary":
        details = record.get("compactMetadata")
        details = details if isinstance(details, dict) else {}
        payload: dict[str, object] = {"summary": "the conversation was compacted"}
        if details.get("trigger") in ("auto", "manual"):
            payload["trigger"] = details["trigger"]
        if (tokens := whole_number(details.get("preTokens"))) is not None:
            payload["tokens_before"] = tokens
        yield CLIENT, "transcript.compacted", payload


def _of_summary(text: object) -> Happenings:
    if isinstance(text, str) and text.strip():
        yield CLIENT, "transcript.summarized", {"summary": text_within(text, MAX_TURN_CHARS)}


def _turn(role: str, text: str) -> Happening:
    return role, TURN, {"role": role, "content": text_within(text, MAX_TURN_CHARS)}


def _task(text: str) -> Happening:
    _, turn, payload = _turn("user", text)
    return "assistant", turn, {**payload, "speaker": PARENT}


def _words_of_user(text: str) -> str:
    """What the user typed: a command of the client as it was typed, and nothing of what the client itself put in."""
    text = text.strip()
    if not text.startswith("<"):
        return text
    if text.startswith(CLIENTS_OWN):
        return ""
    if text.startswith("<command-") and (command := SLASH_COMMAND.search(text)):
        arguments = SLASH_ARGUMENTS.search(text)
        return f"{command[1]} {arguments[1] if arguments else ''}".strip()
    if shell := SHELL_INPUT.match(text):
        return f"! {shell[1]}"
    return text


def _said(record: Record, silent: frozenset[str], side: str, skipped: Counter[str]) -> str:
    said = []
    for block in _blocks(record):
        kind = _kind(block)
        if kind == "text" and isinstance(block.get("text"), str):
            said.append(block["text"])
        elif kind in SHOWN:
            said.append(SHOWN[kind])
        elif kind not in silent:
            skipped[f"{side}/{text_within(kind, 64)}"] += 1
    return "\n\n".join(said)


def _kind(of: Record) -> str:
    kind = of.get("type")
    return kind if isinstance(kind, str) else ""


def _result_text(block: Record) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _content(record: Record) -> object:
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _blocks(record: Record) -> list[Record]:
    content = _content(record)
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _observation(record: Record, place: Place, part: int, happening: Happening) -> Observation:
    actor, event_type, payload = happening
    origin = record.get("forkedFrom")
    forked: Record = origin if isinstance(origin, dict) else {}
    named = "" if place.of_subagent else _named(forked.get("sessionId"), record.get("sessionId"))
    session = named or place.session
    context: dict[str, object] = {"source": f"{CLIENT}:{session}"}
    if event_type == TURN:
        context["turn_index"] = place.turn
    folder = record.get("cwd")
    if isinstance(folder, str) and folder:
        context["workspace"] = text_within(folder, 1000)
    # The record's own id names it: a session that is forked or resumed repeats records in a file of its own.
    identity = _named(forked.get("messageUuid"), record.get("uuid")) or f"{place.session}@{place.offset}"
    key = f"{CLIENT}:{identity}:{part}"
    return Observation(event_type, actor, {**context, **payload}, key, utc_text(record.get("timestamp")))


def _named(*names: object) -> str:
    """The first that can be a name of the client's."""
    fit = (name for name in names if isinstance(name, str) and 0 < len(name) <= 100 and name.isprintable())
    return next(fit, "")
