"""Commands that read their words without typer, and so start quickly.

typer takes over where somebody asks for help, and where the words are not plainly right: it knows how to explain
that, and how every other command explains it.
"""

from __future__ import annotations

import gc

from zaxy.api.command_line import run_during, run_typer
from zaxy.commands.options import CommandLine, Option, parameters
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from zaxy.api.command_line import CommandCall

OBJECTS_BEFORE_A_SEARCH = 50_000
"""New objects after which Python looks for cycles; by default 700. What a command imports and makes, it keeps."""


class Argument(NamedTuple):
    """A word that a command needs, known by its place."""

    help: str


class HotCommand:
    """A function as a command: its arguments come by position, its options by name, in the order of its signature.

    An option without a default must be given.
    """

    def __init__(self, function: Callable[..., None], declared: Sequence[Argument | Option]) -> None:
        self.function = function
        self.defaults: dict[str, Any] = function.__kwdefaults__ or {}
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.declared = dict(zip(names, declared, strict=True))
        """By the names of the function's parameters."""
        self._arguments = code.co_argcount
        self._options = {name: option for name, option in self.declared.items() if isinstance(option, Option)}

    def __call__(self, context: object) -> HotCommand:
        """As the target of a manifest it is made with a context. It keeps nothing, so one serves all."""
        return self

    def run(self, call: CommandCall) -> int:
        """Run it with the words after its name; its exit code."""
        gc.set_threshold(OBJECTS_BEFORE_A_SEARCH)
        line = CommandLine(list(self._options.values()), call.arguments)
        given = self._options_given(line)
        if given is None or line.help or not self._fits(line.others):
            from zaxy.commands.hot_help import typer_app

            return run_typer(typer_app(self, call.words.split()[-1]), call)
        run_during(call, lambda: self.function(*line.others, **given))
        return 0

    def _fits(self, others: Sequence[str]) -> bool:
        return len(others) == self._arguments and not any(word.startswith("-") for word in others)

    def _options_given(self, line: CommandLine) -> dict[str, Any] | None:
        """The options' values by their names in the function; None where one is wrong or missing."""
        texts = {name: line.values[option.name] for name, option in self._options.items() if option.name in line.values}
        given = {name: self._options[name].read(text) for name, text in texts.items()}
        missing = self._options.keys() - self.defaults.keys() - given.keys()
        return None if missing or None in given.values() else given

    @property
    def parameters(self) -> list[dict[str, object]]:
        """The same for the contract."""
        arguments = [name.upper() for name, one in self.declared.items() if isinstance(one, Argument)]
        needed = [option.name for name, option in self._options.items() if name not in self.defaults]
        options = parameters(list(self._options.values()), needed)
        return [*({"name": name, "type": "str", "required": True} for name in arguments), *options]


def hot_command(*declared: Argument | Option) -> Callable[[Callable[..., None]], HotCommand]:
    """Make a function a hot command, with what stands for each of its parameters on the command line."""
    return lambda function: HotCommand(function, declared)
