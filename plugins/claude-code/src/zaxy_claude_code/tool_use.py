"""A call of a tool and its result, made into what happened: a command ran, a file was edited, a tool was called.

Of a file's content and a tool's arguments nothing is kept: a path and line counts, and the arguments' names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from zaxy.api import hunks_of, lines_in, numbers_of_edit, whole_file
from zaxy_claude_code.bounded import WINDOW, names_of, text_within, whole_number

EDITS = {"Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
"""The tools that change a file, and the argument that names it."""
COMMAND = "Bash"
EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,6})\b\s*")
REFUSED = ("The user doesn't want to", "User rejected tool use", "Permission to use", "Permission for this action")
MAX_COMMAND_CHARS = 16 << 10
MAX_PATH_CHARS = 1000

Happening = tuple[str, dict[str, object]]
"""An event's type and payload."""


class Call(NamedTuple):
    tool: str
    arguments: Mapping[str, object]


class Result(NamedTuple):
    text: str
    is_error: bool
    details: object
    """The client's own account of it, `toolUseResult`: an object for most tools, a text for errors."""

    @property
    def fields(self) -> Mapping[str, object]:
        return self.details if isinstance(self.details, dict) else {}

    @property
    def was_refused(self) -> bool:
        """Whether the tool never ran: a person or a rule said no."""
        text = self.text.removeprefix("Error: ")
        return self.is_error and text.startswith(REFUSED)


def what_happened(call: Call, result: Result) -> Happening:
    command = call.arguments.get("command")
    if call.tool == COMMAND and isinstance(command, str) and command and not result.was_refused:
        return "command.completed", _command(command, result)
    path = call.arguments.get(EDITS.get(call.tool, ""))
    if isinstance(path, str) and path and not result.is_error:
        return "file.edit.applied", _edit(call, path, result)
    return "tool.call.completed", _tool_call(call, result)


def _command(command: str, result: Result) -> dict[str, object]:
    found = EXIT_CODE.match(result.text) if result.is_error else None
    stdout, stderr = (_text(result.fields.get(name)) for name in ("stdout", "stderr"))
    ran_to_its_end = not result.fields.get("interrupted") and not result.fields.get("backgroundTaskId")
    payload: dict[str, object] = {"command": text_within(command, MAX_COMMAND_CHARS)}
    if found:
        payload["exit_code"] = int(found[1])
        stderr = stderr or result.text[found.end() :]
    elif result.is_error:
        stderr = stderr or result.text
    elif ran_to_its_end:
        payload["exit_code"] = 0  # of a command that succeeds the code is not given
    if not result.is_error and not result.fields:
        stdout = result.text
    payload |= {name: text_within(text, WINDOW) for name, text in (("stdout", stdout), ("stderr", stderr)) if text}
    return payload


def _edit(call: Call, path: str, result: Result) -> dict[str, object]:
    is_new = call.tool == "Write" and result.fields.get("type") == "create"
    payload: dict[str, object] = {
        "path": text_within(path, MAX_PATH_CHARS),
        "operation": "created" if is_new else "modified",
    }
    if counted := _lines_of_patch(result.fields.get("structuredPatch")):
        payload["lines_added"], payload["lines_removed"] = counted
    hunks = hunks_of(result.fields.get("structuredPatch"))
    before, after = _texts(call, result, is_new)
    if is_new and after is not None:
        hunks = whole_file(lines_in(after))
    return payload | numbers_of_edit(hunks, before, after)


def _texts(call: Call, result: Result, is_new: bool) -> tuple[str | None, str | None]:
    """The whole text of the file before an edit and after it, where the client has it: to be counted."""
    original = result.fields.get("originalFile")
    before = "" if is_new else original if isinstance(original, str) else None
    if call.tool == "Write":
        content = call.arguments.get("content")
        return before, content if isinstance(content, str) else None
    return before, _after_edits(before, call.arguments) if before and not result.fields.get("userModified") else None


def _after_edits(text: str, arguments: Mapping[str, object]) -> str | None:
    edits = arguments.get("edits")
    for edit in edits if isinstance(edits, list) else [arguments]:
        old, new = (edit.get("old_string"), edit.get("new_string")) if isinstance(edit, Mapping) else (None, None)
        if not isinstance(old, str) or not isinstance(new, str) or old not in text:
            return None
        text = text.replace(old, new, -1 if edit.get("replace_all") else 1)
    return text


def _lines_of_patch(patch: object) -> tuple[int, int] | None:
    """How many lines a patch adds and removes; None where the client tells no patch."""
    if not isinstance(patch, list) or not patch:
        return None
    hunks = [hunk.get("lines") for hunk in patch if isinstance(hunk, dict)]
    signs = [line[:1] for lines in hunks if isinstance(lines, list) for line in lines if isinstance(line, str)]
    return (signs.count("+"), signs.count("-"))


def _tool_call(call: Call, result: Result) -> dict[str, object]:
    payload: dict[str, object] = {
        "tool_name": text_within(call.tool, 200) or "unknown",
        "status": "refused" if result.was_refused else "error" if result.is_error else "ok",
        "argument_keys": names_of(call.arguments),
        "result_summary": f"text of {len(result.text)} characters",
    }
    duration = whole_number(result.fields.get("durationMs", result.fields.get("totalDurationMs")))
    return payload if duration is None else {**payload, "duration_ms": duration}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
