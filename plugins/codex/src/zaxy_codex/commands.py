"""Commands that Codex ran: what was typed, and how it ended, from the call and the text that came back."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

SHELL_TOOLS = frozenset(("exec_command", "shell", "shell_command", "local_shell", "container.exec"))
MORE_INPUT = "write_stdin"
SHELLS = re.compile(r"(?:.*[/\\])?(?:bash|sh|zsh|dash|fish|pwsh|powershell|cmd)(?:\.exe)?")
SHELL_OPTIONS = frozenset(("-c", "-lc", "-ic", "-lic", "-Command", "/c", "/C"))
EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)\b", re.MULTILINE)
RUNNING = re.compile(r"^Process running with session ID (\d+)\b", re.MULTILINE)
TOOK = re.compile(r"^Wall time: ([0-9.]+) seconds?\b", re.MULTILINE)
OUTPUT = re.compile(r"^Output:\n?", re.MULTILINE)
HEADER = 2000
"""Characters in which the lines above the output are looked for: what a program prints may look like them."""


class Outcome(NamedTuple):
    exit_code: int | None
    output: str
    duration_ms: int | None = None
    running: str = ""
    """Codex's number of a program that has not ended yet."""


def command_text(command: object) -> str:
    """The command line; a shell that only wraps it is left out."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return ""
    if len(command) == 3 and SHELLS.fullmatch(command[0]) and command[1] in SHELL_OPTIONS:
        return str(command[2])
    return shlex.join(command)


def called_command(arguments: object) -> str:
    """The command line in a shell tool's arguments, which are JSON in a text."""
    given = decoded(arguments)
    return command_text(given.get("cmd") or given.get("command"))


def decoded(arguments: object) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
    return arguments if isinstance(arguments, dict) else {}


def outcome_of(output: object) -> Outcome:
    """How a command ended, from what its tool gave back."""
    text = text_of(output)
    wrapped = decoded(text) if text.startswith("{") else {}
    if isinstance(wrapped.get("output"), str):  # older versions wrap the text, with what is known of it beside
        metadata = wrapped.get("metadata")
        known = metadata if isinstance(metadata, dict) else {}
        return Outcome(_whole(known.get("exit_code")), wrapped["output"], _milliseconds(known.get("duration_seconds")))
    header = text[:HEADER]
    start = OUTPUT.search(header)
    header = header[: start.start()] if start else header
    exited, running, took = (pattern.search(header) for pattern in (EXITED, RUNNING, TOOK))
    return Outcome(
        int(exited[1]) if exited else None,
        text[start.end() :] if start else text,
        _milliseconds(float(took[1])) if took and took[1].count(".") < 2 and took[1] != "." else None,
        running[1] if running and not exited else "",
    )


def text_of(content: object) -> str:
    """The text of what may be a text, or a list of parts of which some are texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("content", content.get("output")))
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _whole(value: object) -> int | None:
    return value if type(value) is int and abs(value) < 2**53 else None


def _milliseconds(seconds: object) -> int | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < 2**40:
        return None
    return round(seconds * 1000)
