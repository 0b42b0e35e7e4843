"""The options of commands that must start quickly: read, listed and described without importing a parser."""

from __future__ import annotations

from zaxy.errors import InvalidRequest
from zaxy.printing import columns, named_row, say, wrapped
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

KINDS = {"": "bool", "N": "int"}
HELP = "-h, --help"
MAX_DIGITS = 19


class Option(NamedTuple):
    name: str
    value: str
    """What its value is called in the usage: N for a whole number, empty for a switch."""
    help: str
    minimum: int | None = None
    maximum: int | None = None

    def read(self, text: str) -> str | int | bool | None:
        """What a text means as its value; None where that is not plain."""
        if not self.value:
            return True
        if self.value != "N":
            return text or None
        # Very many digits are more than Python reads, and are no number that anybody means.
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < MAX_DIGITS else None
        return number if number is not None and self._within_bounds(number) else None

    def _within_bounds(self, number: int) -> bool:
        return (self.minimum is None or number >= self.minimum) and (self.maximum is None or number <= self.maximum)


JSON = Option("--json", "", "Print JSON.")
SESSION_ID = Option("--session-id", "ID", "The session. Default: the workspace's own.")
WORKSPACE = Option("--workspace", "FOLDER", "The project's folder.")
EVENTLOOM_PATH = Option("--eventloom-path", "FOLDER", "The folder that holds the log.")
PURPOSE = Option("--purpose", "PURPOSE", "A preset such as coding, or a JSON object.")
EVENT = "The event: its number, such as 8, its citation, its id, or the first digits of its hash."
PLACE = (WORKSPACE, EVENTLOOM_PATH)


def purpose_of(text: str) -> Any:
    """The value of `PURPOSE`: a preset by its name, or an object; empty where none is given."""
    if not text.lstrip().startswith("{"):
        return text
    import json

    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidRequest("the purpose is nested too deep", "Nest it less: a purpose has plain fields.") from None
    except ValueError as error:
        raise InvalidRequest(
            f"the purpose is not JSON: {error}", 'Pass a preset, or an object: \'{"task": "..."}\'.'
        ) from None


class CommandLine:
    """The words after a command. A mistake is kept and not raised: what it means is up to the command."""

    def __init__(self, options: Sequence[Option], words: Sequence[str]) -> None:
        self.values: dict[str, str] = {}
        """By the option's name. A value that is missing is empty, and so is that of a switch."""
        self.others: list[str] = []
        """Words that are neither an option nor its value."""
        self.help = False
        known = {option.name: option for option in options}
        left = iter(words)
        for word in left:
            name, equals, value = word.partition("=")
            if word in HELP.split(", "):
                self.help = True
            elif name not in known or (equals and not known[name].value):
                self.others.append(word)
            elif known[name].value and not equals:
                # The next word is the value whatever it looks like: a text may begin with a hyphen.
                self.values[name] = next(left, "")
            else:
                self.values[name] = value


def help_rows(options: Sequence[Option]) -> str:
    rows = [(f"{option.name} {option.value}".rstrip(), option.help) for option in options]
    width = max(len(name) for name, _ in (*rows, (HELP, "")))
    return "\n".join(f"  {name:{width}}  {text}" for name, text in (*rows, (HELP, "show this help")))


def say_help(text: str) -> None:
    """Print the help of a command without typer, within the width of the terminal."""
    rows = [tuple(line.strip().split("  ", 1)) for line in text.splitlines() if _is_row(line)]
    across = max((len(row[0]) for row in rows), default=0) + 4
    width = columns()
    lines: list[str] = []
    paragraph = ""
    for line in (*text.splitlines(), ""):
        if line and not _is_row(line):
            paragraph = f"{paragraph} {line.strip()}" if paragraph else line
            continue
        lines += wrapped(paragraph, width, " " * (len(paragraph) - len(paragraph.lstrip())))
        if line:
            name, said = line.strip().split("  ", 1)
            lines += named_row(name, said.strip(), across, width=width)
        else:
            lines.append("")
        paragraph = ""
    say("\n".join(lines[:-1]))


def _is_row(line: str) -> bool:
    return line.startswith("  ") and "  " in line.strip()


def parameters(options: Sequence[Option], required: Sequence[str] = ()) -> tuple[dict[str, object], ...]:
    """The same for the contract. `required`: the names of those that must be given."""
    return tuple(
        {"name": option.name, "type": KINDS.get(option.value, "str"), "required": option.name in required}
        for option in options
    )
