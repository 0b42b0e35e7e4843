"""The commands of the core with their arguments and options, read off the functions that run them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args, get_type_hints

from zaxy.contracts.sample_memory import naming

Parameter = dict[str, Any]


def described_commands() -> Iterator[tuple[Any, list[Parameter]]]:
    """The rows of the table of commands, each with its parameters."""
    for command in import_module("zaxy.command_table").COMMANDS:
        with naming(f"command {command.words}"):
            parameters = command_parameters(command)
        yield command, parameters


def command_parameters(command: Any) -> list[Parameter]:
    """The arguments and options of a row of the table."""
    module = import_module(command.module)
    if command.attribute:
        return target_parameters(getattr(module, command.attribute), command.words)
    return list(module.PARAMETERS) if command.hot else list(typer_parameters(module.app, command.words.split()[-1]))


def target_parameters(target: Any, words: str) -> list[Parameter]:
    """The parameters of a command by its target, where that is made with typer or is a hot command."""
    app = getattr(target, "app", None)
    return list(typer_parameters(app, words.split()[-1]) if app else getattr(target, "parameters", ()))


def typer_parameters(app: Any, name: str) -> Iterator[Parameter]:
    """The parameters of one command of a typer app, read off its function rather than typer's insides."""
    function = next(command.callback for command in app.registered_commands if command.name == name)
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        kind, declared = get_args(hints[parameter.name])
        if getattr(declared, "rich_help_panel", None):
            continue  # a package brings it, and its contract has it
        # typer.Option("--json") keeps its first word where a default would be.
        words = [word for word in (declared.default, *(declared.param_decls or ())) if isinstance(word, str)]
        shown = next((word for word in words if word.startswith("--")), parameter.name.upper())
        described = " | ".join(part.__name__ for part in get_args(kind) or (kind,) if part is not type(None))
        yield {"name": shown, "type": described, "required": parameter.default is inspect.Parameter.empty}
