"""A command's result as a client writes it for its model, in lines such as `Output: …` and `Exit Code: 1`."""

from __future__ import annotations

import re

from zaxy.tuples import NamedTuple

BEGINNING = re.compile(r"\s*(?:<untrusted_context>\s*)?Output: ")
LABELS = "Error|Exit Code|Signal|Background PIDs|Process Group PGID"
END = re.compile(rf"(?:\n(?:{LABELS}): [^\n]*)+(?:\n</untrusted_context>)?\s*$")
NO_OUTPUT = "(empty)"
MAX_END = 4096
"""The lines behind the output are looked for in so much of the end."""


class CommandReport(NamedTuple):
    output: str
    exit_code: int | None
    """It is said of a command that failed only: without it, a signal or an error the command succeeded."""


def read_report(text: str) -> CommandReport | None:
    """What the report says; None for a text that is none, such as plain output."""
    begun = BEGINNING.match(text)
    ended = END.search(text, max(begun.end() - 1, len(text) - MAX_END)) if begun else None
    if begun is None or ended is None:
        return None
    output, lines = text[begun.end() : ended.start()], ended[0]
    code = re.search(r"\nExit Code: (-?\d{1,10})\s", lines)
    succeeded = not re.search(r"\n(?:Error|Signal|Exit Code): ", lines)
    return CommandReport("" if output == NO_OUTPUT else output, int(code[1]) if code else 0 if succeeded else None)
