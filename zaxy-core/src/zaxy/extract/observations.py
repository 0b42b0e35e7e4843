"""What was seen happening: commands, edits, tool calls, a session's moments, subagents.

Nothing of a file's content, a tool's arguments or a prompt becomes part of a row, whatever the payload holds.
"""

from __future__ import annotations

from zaxy.api.models import JsonObject
from zaxy.extract.properties import EXCERPT
from zaxy.extract.rule import NAMED_BY, Rule
from zaxy.extract.texts import cut, first_text

OBSERVATIONS = ("command.completed", "file.edit.applied", "tool.call.completed", "transcript.turn")
"""What capture and hooks bring in while an agent works."""


def command_text(payload: JsonObject) -> str:
    """`pytest: exit 0; 557 passed`."""
    command, code = first_text(payload, ("command",)), first_text(payload, ("exit_code",))
    output = cut(first_text(payload, ("stdout", "stderr")), EXCERPT)
    ended = "; ".join(part for part in (f"exit {code}" if code else "", output) if part)
    return ": ".join(part for part in (command, ended) if part) or "a command"


def edit_text(payload: JsonObject) -> str:
    """`modified src/a.py (+3 -1)`."""
    path, operation = first_text(payload, ("path",)), first_text(payload, ("operation",)) or "edited"
    counts = (("+", first_text(payload, ("lines_added",))), ("-", first_text(payload, ("lines_removed",))))
    changed = " ".join(sign + count for sign, count in counts if count)
    return f"{operation} {path or 'a file'}" + (f" ({changed})" if changed else "")


def call_text(payload: JsonObject) -> str:
    """`memory_append: ok; seq=42`."""
    tool, status = first_text(payload, ("tool_name", "tool")) or "a tool", first_text(payload, ("status",))
    result = cut(first_text(payload, ("result_summary", "error")), EXCERPT)
    ended = "; ".join(part for part in (status, result) if part)
    return f"{tool}: {ended}" if ended else f"{tool} was called"


def moment_text(payload: JsonObject) -> str:
    """`precompact: manual, turn 7`."""
    trigger = first_text(payload, ("trigger",))
    reason, turn = first_text(payload, ("reason",)), first_text(payload, ("turn_count",))
    about = ", ".join(part for part in (reason, f"turn {turn}" if turn else "") if part)
    return ": ".join(part for part in (trigger, about) if part) or "a moment of the session"


def subagent_text(payload: JsonObject) -> str:
    return " ".join(("subagent", first_text(payload, ("subagent_session_id", "subagent")))).strip()


def _moment(relation: str) -> Rule:
    """Without a summary it is named by its trigger: of a thousand plain stops the last one is current."""
    return Rule(
        "hook_checkpoint",
        named_by=(*NAMED_BY, "subject", "summary", "trigger"),
        texts=("summary",),
        keeps=("trigger", "reason", "turn_count", "workspace", "transcript_path"),
        teller="session",
        relation=relation,
        describe=moment_text,
    )


def _subagent(status: str) -> Rule:
    return Rule(
        "subagent_run",
        named_by=("key", "subagent_session_id", "name", "title", "id", "subagent"),
        texts=("summary", "result"),
        keeps=("subagent_session_id", "parent_session_id", "integrity", "outcome"),
        teller="parent session",
        relation="completed_subagent",
        status=status,
        describe=subagent_text,
    )


def _seen(entity_type: str, relation: str, keeps: tuple[str, ...]) -> Rule:
    """Each is an occurrence of its own: running a command again does not make untrue what it printed before."""
    return Rule(entity_type, ("key", "id"), ("summary",), keeps, teller="session", relation=relation)


RULES = {
    "command.completed": _seen(
        "command_run",
        "observed_command",
        keeps=("command", "exit_code", "stdout", "stderr", "duration_ms", "workspace"),
    )._replace(describe=command_text),
    "file.edit.applied": _seen(
        "file_edit",
        "observed_file_edit",
        keeps=("path", "operation", "lines_added", "lines_removed", "workspace"),
    )._replace(describe=edit_text, heading="artifacts"),
    "tool.call.completed": _seen(
        "tool_call",
        "observed_tool_call",
        keeps=("tool_name", "status", "argument_keys", "result_summary", "duration_ms", "workspace"),
    )._replace(describe=call_text),
    "hook.checkpoint": _moment("has_checkpoint"),
    "hook.session_started": _moment("started"),
    "hook.resumed": _moment("has_checkpoint"),
    "hook.user_prompt_submitted": _moment("has_checkpoint"),
    "hook.stop": _moment("has_checkpoint"),
    "hook.precompact": _moment("has_checkpoint"),
    "session.ended": _moment("ended"),
    "subagent.cleaned": _subagent("cleaned"),
    "subagent.completed": _subagent("completed"),
}
