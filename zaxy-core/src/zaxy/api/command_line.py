"""What a command is given, built in or of a package, and a ready form for those who use typer.

The hot commands load this, so it imports next to nothing.
"""

from __future__ import annotations

import sys

from zaxy.printing import ROOM_FOR_TWO_COLUMNS, OutputLost, columns, progress_of, say
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, ClassVar

    from zaxy.api.access import MemoryAccess
    from zaxy.api.log_access import LogAccess
    from zaxy.api.provider import ProviderContext

_calls: list[CommandCall] = []
"""Those that run, the last one innermost. A process runs one command; threads that it starts belong to it."""


def _no_door(*_: object, **__: object) -> Any:
    raise NotImplementedError("this call was made without it")


class CommandCall(NamedTuple):
    """One call of a command."""

    words: str
    """What was typed behind `zaxy`, such as `acme status`."""
    arguments: tuple[str, ...]
    """What came behind those words: arguments and options."""
    open_memory: Callable[..., AbstractContextManager[MemoryAccess]]
    """`with call.open_memory() as memory`: that of the current folder, or of `workspace=` and `eventloom_path=`, the
    values of the options `--workspace` and `--eventloom-path` that the core's own commands have. `session_id=` is that
    of `--session-id`: where it is given, it is `memory.session`. With `recorded=True` that session must have events."""
    summary: str = ""
    """The sentence of the manifest, with which help lists the command."""
    open_log: Callable[..., LogAccess] = _no_door
    """The log alone, which starts sooner, and works where memory does not. It takes what `open_memory` takes;
    `file=` is a log file instead of a session."""
    append: Callable[..., dict[str, Any]] = _no_door
    """Append one event and open nothing else: `call.append(event_type, payload)`, with what `MemoryAccess.append` takes
    and what `open_memory` takes. It answers with `seq`, `id`, `hash`, `citation` and `session_id`, and with `replayed`
    where the key had been used."""

    @staticmethod
    def say(text: str, *, err: bool = False) -> None:
        """Print for people: what was recorded cannot steer their terminal."""
        say(text, err=err)

    @staticmethod
    def progress(what: str, unit: str = "events") -> Callable[[int, int], None] | None:
        """Called with how much is done and of how much, it counts up on a terminal; None where nobody looks."""
        return progress_of(what, unit)


class TyperCommand:
    """A command, or a group of them, made of a typer app whose functions ask for their call by `current_call`."""

    app: ClassVar[Any]
    """The `typer.Typer` of the package; each of its commands has the last of the words as its name. One without a
    docstring is explained by the sentence of the manifest."""

    def __init__(self, context: ProviderContext) -> None:
        self.context = context

    def run(self, call: CommandCall) -> int:
        return run_typer(self.app, call)


def run_typer(app: Any, call: CommandCall) -> int:
    """The exit code of the command of a typer app that has the last of the call's words as its name."""
    *group, last = call.words.split()
    for command in app.registered_commands:
        if command.name == last and not command.help and not (command.callback and command.callback.__doc__):
            command.help = call.summary
    alone = len(app.registered_commands) == 1 and not app.registered_groups and app.registered_callback is None
    typed, shown = (call.arguments, [*group, last]) if alone else ((last, *call.arguments), group)
    try:
        run_during(call, lambda: run_plainly(app, typed, prog_name=" ".join(["zaxy", *shown])))
    except SystemExit as leaving:  # typer ends this way, even after success
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return 0


def run_plainly(app: Any, words: Sequence[str], *, prog_name: str) -> None:
    """Run a typer app whose help is plain text, as that of the commands without typer is: no name is cut."""
    from typer.main import get_command

    app.rich_markup_mode = None
    command: Any = get_command(app)
    width = columns()
    if width < ROOM_FOR_TWO_COLUMNS:
        for one in (command, *getattr(command, "commands", {}).values()):
            _below_names(one)
    try:
        command(list(words), prog_name=prog_name, help_option_names=["-h", "--help"], terminal_width=width)
    except SystemExit:
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":  # so typer's own printing ends where the reader has gone
            raise OutputLost(BrokenPipeError()) from None
        raise
    except OSError as error:
        if _is_of_typers_printing(error):
            raise OutputLost(error) from error
        raise


def _is_of_typers_printing(error: OSError) -> bool:
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_name == "echo" and at.tb_frame.f_globals["__name__"].startswith("typer."):
            return True
        at = at.tb_next
    return False


def _below_names(command: Any) -> None:
    """Let its help have each text below what it explains."""
    usual = command.context_class.formatter_class

    class Narrow(usual):  # type: ignore[misc, valid-type]
        def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
            super().write_dl(rows, col_max=2, col_spacing=col_spacing)

    command.context_class = type("NarrowContext", (command.context_class,), {"formatter_class": Narrow})


def run_during(call: CommandCall, function: Callable[[], object]) -> None:
    """Call a function, for which that is the current call."""
    _calls.append(call)
    try:
        function()
    finally:
        _calls.pop()


def current_call() -> CommandCall:
    """The call that runs: for functions that get options only."""
    return _calls[-1]
