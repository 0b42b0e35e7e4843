"""One module for each command group. It parses, calls and prints, and holds no logic."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    import typer

    F = TypeVar("F", bound=Callable[..., None])


def run_app(module: str, words: Sequence[str]) -> int:
    """Run the typer app of a command group. `words` begins with the group's name, or is a command of one word."""
    from importlib import import_module

    return run_typer(import_module(module).app, words)


def run_typer(app: typer.Typer, words: Sequence[str]) -> int:
    from zaxy.__main__ import COMMANDS
    from zaxy.plugins.guard import keep_stdout

    keep_stdout()
    try:
        grouped = all(row.words != words[0] for row in COMMANDS)
        app(list(words[1:] if grouped else words), prog_name=f"zaxy {words[0]}" if grouped else "zaxy")
    except SystemExit as leaving:  # typer ends this way, even after success
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return 0


def new_app(group: str) -> typer.Typer:
    """An app for one group. `zaxy.__main__` prints the errors, not typer."""
    import typer

    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback(help=f"The commands under 'zaxy {group}'.")(lambda: None)
    return app


def command(app: typer.Typer, words: str) -> Callable[[F], F]:
    """Register a function under its words, with its summary from the table of commands."""
    from zaxy.__main__ import COMMANDS

    row = next(row for row in COMMANDS if row.words == words)
    return app.command(words.split()[-1], help=row.summary)


def with_groups(**groups: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options that several commands share: each parameter named here is a named tuple, whose fields are options."""
    from functools import wraps
    from inspect import Parameter, signature
    from typing import get_type_hints

    def options_of(parameter: Parameter) -> list[Parameter]:
        group = groups.get(parameter.name)
        if group is None:
            return [parameter]
        kinds, defaults = get_type_hints(group, include_extras=True), group._field_defaults
        return [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kinds[name])
            for name in group._fields
        ]

    def spread(function: Callable[..., None]) -> Callable[..., None]:
        own = signature(function, eval_str=True)
        options = [option for parameter in own.parameters.values() for option in options_of(parameter)]

        @wraps(function)
        def run(**given: Any) -> None:
            grouped = {name: group(*map(given.pop, group._fields)) for name, group in groups.items()}
            function(**given, **grouped)

        run.__signature__ = own.replace(parameters=options)  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in options}
        return run

    return spread
