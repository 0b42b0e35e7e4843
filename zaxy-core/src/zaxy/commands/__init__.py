"""One module for each command group. It parses, calls and prints, and holds no logic."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    import typer

    F = TypeVar("F", bound=Callable[..., None])


def run_app(module: str, words: Sequence[str]) -> int:
    """Run the typer app of a command group. `words` begins with the group's name, or is a command of one word."""
    from importlib import import_module

    return run_typer(import_module(module).app, words)


def run_typer(app: typer.Typer, words: Sequence[str]) -> int:
    from zaxy.command_table import COMMANDS
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
    from zaxy.command_table import COMMANDS

    row = next(row for row in COMMANDS if row.words == words)
    return app.command(words.split()[-1], help=row.summary)
