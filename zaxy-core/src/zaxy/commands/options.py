"""The options of commands that must start quickly: read, listed and described without importing a parser."""

from __future__ import annotations

from zaxy.errors import InvalidRequest
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
PLACE = (WORKSPACE, EVENTLOOM_PATH)


def purpose_of(text: str) -> Any:
    """The value of `PURPOSE`: a preset by its name, or an object; empty where none is given."""
    if not text.lstrip().startswith("{"):
        return text
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
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


def parameters(options: Sequence[Option], required: Sequence[str] = ()) -> tuple[dict[str, object], ...]:
    """The same for the contract. `required`: the names of those that must be given."""
    return tuple(
        {"name": option.name, "type": KINDS.get(option.value, "str"), "required": option.name in required}
        for option in options
    )
