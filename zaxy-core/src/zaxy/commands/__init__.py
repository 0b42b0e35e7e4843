"""One module for each command group. It parses, calls and prints, and holds no logic.

A command that works with memory is run as one of a package is, and imports what that may import: `zaxy.api`. The others
are the platform itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    import typer
    from typer.core import TyperCommand

    from zaxy.command_table import CommandRow

    F = TypeVar("F", bound=Callable[..., None])


def run_target(row: CommandRow, arguments: Sequence[str]) -> int:
    """Run a command as one of a package is run. It has no context: a built-in one keeps no settings or files."""
    from importlib import import_module

    from zaxy.commands.doors import call_of

    made: Any = getattr(import_module(row.module), row.attribute)(None)
    code: int = made.run(call_of(row.words, arguments, summary=row.summary))
    return code


def run_app(module: str, words: Sequence[str]) -> int:
    """Run the typer app of a command group. `words` begins with the group's name, or is a command of one word."""
    from importlib import import_module

    from zaxy.api.command_line import run_plainly
    from zaxy.command_table import COMMANDS
    from zaxy.plugins.guard import keep_stdout

    keep_stdout()
    app = import_module(module).app
    try:
        grouped = all(row.words != words[0] for row in COMMANDS)
        run_plainly(app, words[1:] if grouped else words, prog_name=f"zaxy {words[0]}" if grouped else "zaxy")
    except SystemExit as leaving:  # typer ends this way, even after success
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return 0


def new_app(group: str) -> typer.Typer:
    """An app for one group. `zaxy.__main__` prints the errors, not typer."""
    import typer

    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback(help=f"The commands under 'zaxy {group}'.")(lambda: None)
    return app


def command(app: typer.Typer, words: str, *, cls: type[TyperCommand] | None = None) -> Callable[[F], F]:
    """Register a function under its words, with its summary from the table of commands."""
    from zaxy.command_table import COMMANDS

    row = next(row for row in COMMANDS if row.words == words)
    return app.command(words.split()[-1], cls=cls, help=row.summary)
