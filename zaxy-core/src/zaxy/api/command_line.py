"""What a command of a package is given, and a ready form for those who use typer as the core does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from zaxy.printing import progress_of, say

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess
    from zaxy.api.provider import ProviderContext

_current: ContextVar[CommandCall] = ContextVar("command call")


@dataclass(frozen=True, slots=True)
class CommandCall:
    """One call of a command."""

    words: str
    """What was typed behind `zaxy`, such as `acme status`."""
    arguments: tuple[str, ...]
    """What came behind those words: arguments and options."""
    open_memory: Callable[..., AbstractContextManager[MemoryAccess]] = field(repr=False)
    """`with call.open_memory() as memory`: that of the current folder, or of `workspace=` and `eventloom_path=`, the
    values of the options `--workspace` and `--eventloom-path` that the core's own commands have. `session_id=` is that
    of `--session-id`: where it is given, it is `memory.session`. With `recorded=True` that session must have events."""
    summary: str = ""
    """The sentence of the manifest, with which help lists the command."""

    @staticmethod
    def say(text: str, *, err: bool = False) -> None:
        """Print for people: what was recorded cannot steer their terminal."""
        say(text, err=err)

    @staticmethod
    def progress(what: str) -> Callable[[int, int], None] | None:
        """Called with how much is done and of how much, it counts up on a terminal; None where nobody looks."""
        return progress_of(what)


class TyperCommand:
    """A command, or a group of them, made of a typer app whose functions ask for their call by `current_call`."""

    app: ClassVar[Any]
    """The `typer.Typer` of the package; each of its commands has the last of the words as its name. One without a
    docstring is explained by the sentence of the manifest."""

    def __init__(self, context: ProviderContext) -> None:
        self.context = context

    def run(self, call: CommandCall) -> int:
        token = _current.set(call)
        try:
            *group, last = call.words.split()
            self._explain(last, call.summary)
            alone = len(self.app.registered_commands) == 1 and not self.app.registered_groups
            typed = call.arguments if alone and self.app.registered_callback is None else (last, *call.arguments)
            shown = call.words.split() if typed is call.arguments else group
            self.app(list(typed), prog_name=" ".join(["zaxy", *shown]))
        except SystemExit as leaving:  # typer ends this way, even after success
            return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        finally:
            _current.reset(token)
        return 0

    def _explain(self, name: str, summary: str) -> None:
        for command in self.app.registered_commands:
            if command.name == name and not command.help and not (command.callback and command.callback.__doc__):
                command.help = summary


def current_call() -> CommandCall:
    """The call that runs: for the functions of a typer app, which get options only."""
    return _current.get()
