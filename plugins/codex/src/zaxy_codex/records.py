"""What a record of a session means: the state after it, and what it gives to observe.

Codex tells most things twice, once as it sent them to the model (`response_item`) and once as it showed them
(`event_msg`); each thing is given once, whichever copy comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from zaxy.api import without_private
from zaxy_codex import observed
from zaxy_codex.commands import (
    MORE_INPUT,
    SHELL_TOOLS,
    Outcome,
    called_command,
    command_text,
    decoded,
    outcome_of,
    text_of,
)
from zaxy_codex.observed import Observed
from zaxy_codex.patches import BEGIN, Edit, edits_in_patch, edits_of_changes
from zaxy_codex.state import MAX_UNMATCHED, State

PATCH_TOOL = "apply_patch"
QUIET = frozenset(
    "inter_agent_communication inter_agent_communication_metadata world_state security_risk_score "
    "session_meta turn_context".split()
)
QUIET_ITEMS = frozenset(
    "agent_message reasoning tool_search_call tool_search_output web_search_call image_generation_call compaction "
    "compaction_summary context_compaction".split()
)
QUIET_EVENTS = frozenset(
    "token_count task_started turn_started thread_goal_updated thread_settings_applied agent_reasoning "
    "context_compacted entered_review_mode exited_review_mode".split()
)
QUIET_DONE = frozenset(
    "Reasoning Plan ContextCompaction ImageView ImageGeneration EnteredReviewMode ExitedReviewMode HookPrompt".split()
)
ADDED_BY_CODEX = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "<skill",
    "<collaboration_mode",
    "<subagent_notification>",
    "<user_shell_command>",
    "<personality_spec>",
    "# AGENTS.md instructions",
)
"""How messages begin that are sent in the user's name, and that no user wrote."""
ITEM, EVENT = "item", "event"
MEMORYS_OWN = ("mcp__zaxy__", "zaxy__", "zaxy.")
"""Tools of Zaxy's server, which records their calls itself: memory does not remember being asked."""


class Meaning(NamedTuple):
    state: State
    found: list[Observed]
    unknown: str = ""
    """The kind of a record that is not known."""


class Session(NamedTuple):
    """What a record's meaning depends on besides its state."""

    workspace: str
    call_at: Callable[[int], Mapping[str, Any]]
    """The payload of the call that stands at a place."""


def meaning(record: Mapping[str, Any], state: State, session: Session) -> Meaning:
    """The meaning of a record that belongs to the workspace; its place is the state's offset."""
    kind, payload = record.get("type"), record.get("payload")
    body: Mapping[str, Any] = payload if isinstance(payload, dict) else {}
    inner = body.get("type")
    if kind == "response_item":
        return _response_item(inner, body, state, session)
    if kind == "event_msg":
        return _event(inner, body, state, session)
    if kind == "compacted":
        return Meaning(state, [observed.observed_compaction(_text(body.get("message")))])
    if kind in QUIET:
        return Meaning(state, [])
    return Meaning(state, [], str(kind)[:60] if isinstance(kind, str) else "unreadable")


def _response_item(kind: object, body: Mapping[str, Any], state: State, session: Session) -> Meaning:
    call = _text(body.get("call_id"))
    if kind == "message":
        role, text = body.get("role"), text_of(body.get("content"))
        if role not in ("user", "assistant") or text.lstrip().startswith(ADDED_BY_CODEX):
            return Meaning(state, [])
        return _turn(role, text, ITEM, state)
    if kind in ("function_call", "custom_tool_call", "local_shell_call"):
        return Meaning(state.called(call, state.offset) if call and call not in state.finished else state, [])
    if kind in ("function_call_output", "custom_tool_call_output"):
        place = state.place_of(call)
        return (
            _result(call, session.call_at(place), output=body.get("output"), state=state, session=session)
            if place is not None
            else (Meaning(state, []))
        )
    if kind in QUIET_ITEMS:
        return Meaning(state, [])
    return Meaning(state, [], f"response_item {kind}"[:60])


def _result(call: str, asked: Mapping[str, Any], *, output: object, state: State, session: Session) -> Meaning:
    """A call and what came back."""
    name = _text(asked.get("name")) or ("local_shell" if asked.get("type") == "local_shell_call" else "")
    place, done = state.place_of(call) or 0, state.finish(call)
    patch = _patch_in(name, asked)
    if patch:
        failed = outcome_of(output).exit_code not in (None, 0) or _looks_failed(output)
        return Meaning(done, _edits(edits_in_patch(patch), failed, done, session))
    if name == MORE_INPUT:
        return _more_of_running(str(decoded(asked.get("arguments")).get("session_id")), output, done, session)
    if name in SHELL_TOOLS:
        outcome = outcome_of(output)
        if outcome.running:
            return Meaning(done._replace(running=(*done.running, (outcome.running, place))), [])
        return Meaning(done, _commands(asked, outcome))
    name = f"{_text(asked.get('namespace'))}{name}"
    if name.startswith(MEMORYS_OWN):
        return Meaning(done, [])
    arguments = decoded(asked.get("arguments"))
    found = observed.observed_call(
        name or "unknown", _looks_failed(output), arguments=arguments, result=text_of(output)
    )
    return Meaning(done, [found])


def _more_of_running(number: str, output: object, state: State, session: Session) -> Meaning:
    place = next((place for known, place in state.running if known == number), None)
    outcome = outcome_of(output)
    if place is None or outcome.exit_code is None:
        return Meaning(state, [])
    left = tuple(known for known in state.running if known[0] != number)
    return Meaning(state._replace(running=left), _commands(session.call_at(place), outcome))


def _commands(asked: Mapping[str, Any], outcome: Outcome) -> list[Observed]:
    action = asked.get("action")
    given = command_text(action.get("command")) if isinstance(action, dict) else called_command(asked.get("arguments"))
    return [observed.observed_command(given, outcome)] if given.strip() else []


def _patch_in(name: str, asked: Mapping[str, Any]) -> str:
    """The patch that a call applies, also one that is handed to a shell: it is file content, and no command."""
    if name == PATCH_TOOL:
        arguments = decoded(asked.get("arguments"))
        return _text(asked.get("input")) or _text(arguments.get("input")) or _text(arguments.get("patch")) or BEGIN
    if name in SHELL_TOOLS:
        command = called_command(asked.get("arguments"))
        return command if BEGIN in command and PATCH_TOOL in command else ""
    return ""


def _edits(edits: list[Edit], failed: bool, state: State, session: Session) -> list[Observed]:
    if failed or not edits:
        return [observed.observed_call(PATCH_TOOL, failed, arguments={}, result=None)]
    return [observed.observed_edit(edit, state.folder, session.workspace) for edit in edits]


def _event(kind: object, body: Mapping[str, Any], state: State, session: Session) -> Meaning:
    call = _text(body.get("call_id"))
    if kind in ("user_message", "agent_message"):
        role = "user" if kind == "user_message" else "assistant"
        return _turn(role, _text(body.get("message")), EVENT, state)
    if kind == "item_completed":
        item = body.get("item")
        return _item(item if isinstance(item, dict) else {}, state, session)
    if kind == "patch_apply_end":
        failed = body.get("success") is False
        return _once(call, state, lambda done: _edits(edits_of_changes(body.get("changes")), failed, done, session))
    if kind == "mcp_tool_call_end":
        asked, result = body.get("invocation"), body.get("result")
        found = _mcp_call(asked if isinstance(asked, dict) else {}, result, body.get("duration"))
        return _once(call, state, lambda done: found)
    if kind == "web_search_end":
        return _once(
            call,
            state,
            lambda done: [observed.observed_call("web_search", False, arguments={"query": ""}, result=None)],
        )
    if kind in ("task_complete", "turn_complete"):
        after, found, _ = _end_of_turn(state, session)
        return Meaning(after, [*found, observed.observed_end()] if state.subagent else found)
    if kind == "turn_aborted":
        return _end_of_turn(state, session)
    if kind == "thread_rolled_back":
        return Meaning(state, [observed.observed_rollback(body.get("num_turns"))])
    if kind in QUIET_EVENTS:
        return Meaning(state, [])
    return Meaning(state, [], f"event_msg {kind}"[:60])


def _item(item: Mapping[str, Any], state: State, session: Session) -> Meaning:
    """A finished item of a session in pages."""
    kind, call = item.get("type"), _text(item.get("id"))
    if kind in ("UserMessage", "AgentMessage"):
        role = "user" if kind == "UserMessage" else "assistant"
        return _turn(role, text_of(item.get("content")) or _text(item.get("text")), EVENT, state)
    if kind == "CommandExecution":
        code, took = item.get("exit_code"), observed.milliseconds(item.get("duration_ms", item.get("duration")))
        outcome = Outcome(code if type(code) is int else None, _text(item.get("aggregated_output")), took)
        command = command_text(item.get("command"))
        return _once(call, state, lambda done: [observed.observed_command(command, outcome)] if command.strip() else [])
    if kind == "FileChange":
        failed = item.get("status") in ("failed", "declined")
        return _once(call, state, lambda done: _edits(edits_of_changes(item.get("changes")), failed, done, session))
    if kind == "McpToolCall":
        result = {"Err": item["error"]} if item.get("error") else item.get("result")
        found = _mcp_call(item, result, item.get("duration_ms", item.get("duration")), item.get("status") == "failed")
        return _once(call, state, lambda done: found)
    if kind == "WebSearch":
        return _once(
            call,
            state,
            lambda done: [observed.observed_call("web_search", False, arguments={"query": ""}, result=None)],
        )
    if kind in QUIET_DONE:
        return Meaning(state, [])
    return Meaning(state, [], f"item {kind}"[:60])


def _once(call: str, state: State, found: Callable[[State], list[Observed]]) -> Meaning:
    """What is recorded of a call, unless it was before."""
    if call in state.finished:
        return Meaning(state, [])
    done = state.finish(call)
    return Meaning(done, found(done))


def _mcp_call(asked: Mapping[str, Any], result: object, duration: object, failed: bool = False) -> list[Observed]:
    name = f"mcp__{_text(asked.get('server'))}__{_text(asked.get('tool'))}"
    if name.startswith(MEMORYS_OWN):
        return []
    answer = result.get("Ok", result) if isinstance(result, dict) else result
    failed = (
        failed
        or (isinstance(result, dict) and "Err" in result)
        or (isinstance(answer, dict) and (answer.get("isError") is True or answer.get("is_error") is True))
    )
    return [
        observed.observed_call(
            name, failed, arguments=decoded(asked.get("arguments")), result=text_of(answer) or None, duration=duration
        )
    ]


def _end_of_turn(state: State, session: Session) -> Meaning:
    """Commands that were begun and whose end is not there: given without an exit code."""
    found: list[Observed] = []
    for _, place in (*state.calls, *state.running):
        asked = session.call_at(place)
        name = _text(asked.get("name"))
        if (name in SHELL_TOOLS or asked.get("type") == "local_shell_call") and not _patch_in(name, asked):
            found += _commands(asked, Outcome(None, ""))
    for call, _ in state.calls:
        state = state.finish(call)
    return Meaning(state._replace(running=()), found)


def _turn(role: str, text: str, origin: str, state: State) -> Meaning:
    """Words, which mostly come twice: the item comes first and is given, and its event uses up the digest."""
    if origin == EVENT and role not in state.roles_in_events:
        state = state._replace(roles_in_events=(*state.roles_in_events, role))
    elif origin == ITEM and role in state.roles_in_events:
        return Meaning(state, [])
    if not text.strip():
        return Meaning(state, [])
    text = without_private(text)
    digest = blake2b(f"{role}\n{text}".encode("utf-8", "replace"), digest_size=8).hexdigest()
    if origin == EVENT and digest in state.unmatched:
        at = state.unmatched.index(digest)
        return Meaning(state._replace(unmatched=state.unmatched[:at] + state.unmatched[at + 1 :]), [])
    if origin == ITEM:
        state = state._replace(unmatched=(*state.unmatched, digest)[-MAX_UNMATCHED:])
    is_task = state.subagent and role == "user"
    found = observed.observed_task(text, state.turn) if is_task else observed.observed_turn(role, text, state.turn)
    return Meaning(state._replace(turn=state.turn + 1), [found])


def _looks_failed(output: object) -> bool:
    if isinstance(output, dict) and output.get("success") is False:
        return True
    return text_of(output)[:80].lower().startswith(("failed", "error", "apply_patch verification failed", "err:"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
