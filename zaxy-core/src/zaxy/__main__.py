"""The `zaxy` command: a table of commands, of which only the one asked for is imported.

Commands of packages stand in their manifests: where a built-in command is asked for, nobody looks for them.
Importing typer costs more than everything else here together, so it happens only behind the commands that need it.
"""

from __future__ import annotations

import atexit
import gc
import sys

from zaxy import __version__
from zaxy.command_table import ALIASES, COMMANDS, GROUPS, MEANT
from zaxy.errors import InternalError, InvalidRequest, ZaxyError
from zaxy.printing import OutputLost, columns, leave_stdout, named_row, prepare_streams, say, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from zaxy.command_table import CommandRow
    from zaxy.plugins.commands import PackageCommand

    Listed = CommandRow | PackageCommand

INTERRUPTED = 130
"""What shells expect of a command that was ended with Ctrl-C; typer says the same."""
NEAR = 0.6
"""How much of a mistyped word a command must have to be suggested, from 0 to 1."""
ABOUT = "Memory for AI agents that can be trusted because it can be checked."
OPTIONS = {
    "-h, --help": "Show this help. 'zaxy COMMAND --help' explains one command.",
    "-V, --version": "Show the version.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the thing asked for is not so, 2 wrong usage, 130 Ctrl-C."""
    # Python looks for cycles once more as it ends. Nothing is left to be found, and looking costs as much as it does
    # to start Python.
    atexit.register(gc.freeze)
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in ALIASES:
        words[0] = ALIASES[words[0]]
    try:
        return _run(words)
    except OutputLost as lost:
        leave_stdout()
        if lost.reader_has_gone:  # as behind `| head`: nothing is left to tell
            return 0
        say(f"zaxy: {lost}\n  Print to a place that takes it.", err=True)
        return 1
    except KeyboardInterrupt:
        say("interrupted", err=True)
        return INTERRUPTED


def _run(words: list[str]) -> int:
    try:
        return _dispatch(words)
    except ZaxyError as error:
        return _report(error, as_json="--json" in words)
    except Exception as error:
        import traceback

        say(traceback.format_exc(), err=True, end="")
        defect = InternalError(f"{type(error).__name__}: {error}", "This is a defect: please report it.")
        return _report(defect, as_json="--json" in words)


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["help"] and words[1:]:
        return _dispatch([*words[1:], "--help"])
    if not words or words[0] in ("--help", "-h", "help"):
        say(_help())
        return 0
    if words[0] in ("--version", "-V"):
        say(f"zaxy {__version__}")
        return 0
    alone = len(words) == 1 or words[1].startswith("-")
    if alone and _is_group(words[0], COMMANDS):
        return _show_group(words)
    for command in COMMANDS:
        typed = command.words.split()
        if words[: len(typed)] == typed:
            if command.attribute:
                return _function("zaxy.commands", "run_target")(command, words[len(typed) :])
            if command.hot:
                return _function(command.module, command.hot)(words[len(typed) :])
            return _function("zaxy.commands", "run_app")(command.module, words)
    brought = _brought()
    chosen = max((one for one in brought if _begins(words, one.words)), key=lambda one: len(one.words), default=None)
    if chosen is not None:
        arguments = words[len(chosen.words.split()) :]
        return _function("zaxy.commands.of_packages", "run")(chosen, arguments)
    if alone and _is_group(words[0], brought):
        return _show_group(words)
    raise _unknown(words)


def _show_group(words: list[str]) -> int:
    say(_help(words[0]))
    return 0 if words[1:2] in (["--help"], ["-h"]) else 2


def _is_group(word: str, commands: Iterable[Listed]) -> bool:
    return any(command.words.startswith(f"{word} ") for command in commands)


def _begins(words: list[str], with_words: str) -> bool:
    typed = with_words.split()
    return words[: len(typed)] == typed


def _brought() -> list[PackageCommand]:
    """The commands of installed packages, from their manifests."""
    from zaxy.plugins.commands import package_commands

    return package_commands()


def _function(module: str, name: str) -> Callable[..., int]:
    from importlib import import_module

    function: Callable[..., int] = getattr(import_module(module), name)
    return function


def _help(group: str = "") -> str:
    """The page of all commands, or of those that begin with one word."""
    headings: dict[str, list[Listed]] = {} if group else {heading: [] for heading in GROUPS}
    every: list[Listed] = [*COMMANDS, *_brought()]
    for command in every:
        if _is_listed(command, group):
            headings.setdefault(_heading(command), []).append(command)
    rows = {heading: _rows(listed, group) for heading, listed in headings.items() if listed}
    rows["Options"] = list(OPTIONS.items())[: 1 if group else None]
    across = max(len(name) for named in rows.values() for name, _ in named) + 4
    width = columns()
    lines = [f"Usage: zaxy {group or 'COMMAND'} {'COMMAND ' if group else ''}[OPTIONS]"]
    lines += [] if group else ["", *wrapped(ABOUT, width)]
    for heading, named in rows.items():
        lines += ["", f"{heading}:"]
        for name, summary in named:
            lines += named_row(name, summary, across, width=width)
    return "\n".join(lines)


def _is_listed(command: Listed, group: str) -> bool:
    return command.words.startswith(f"{group} ") if group else not getattr(command, "hidden", False)


def _heading(command: Listed) -> str:
    return command.group if command.group in GROUPS else getattr(command, "heading", command.group)


def _rows(listed: Iterable[Listed], group: str) -> list[tuple[str, str]]:
    """Commands with their sentences. In the page of all, those that begin with the same word are one row."""
    families: dict[str, list[Listed]] = {}
    for command in listed:
        families.setdefault(command.words if group else command.words.split()[0], []).append(command)
    rows = []
    for first, members in families.items():
        names = [command.words.partition(" ")[2] for command in members]
        together = len(members) > 1 and all(names)
        rows.append((first, ", ".join(names)) if together else (members[0].words, members[0].summary))
    return rows


def _unknown(words: list[str]) -> ZaxyError:
    from difflib import get_close_matches

    from zaxy.plugins.commands import command_out_of_use
    from zaxy.plugins.install_hints import install_hint
    from zaxy.plugins.roster import package_of

    if lost := command_out_of_use(words):
        name, plugin = lost
        reason = f": {plugin.error}" if plugin.error else ""
        return InvalidRequest(f"'zaxy {name}' is of {plugin.package}, which is {plugin.state}{reason}", plugin.hint)
    # What follows the command's words (options, arguments) is not part of the name that was mistyped.
    names = [word for word in words[:2] if not word.startswith("-")]
    typed = " ".join(names)
    known = [*(command.words for command in COMMANDS), *(command.words for command in _brought())]
    first_words = dict.fromkeys([*known, *(words.split()[0] for words in known)])
    missing = [typed, *(name for name in names[:1] if name not in first_words)]
    for name in missing:
        if package := package_of(f"zaxy {name}"):
            return InvalidRequest(
                f"'zaxy {name}' is a command of {package}, which is not installed or not in use",
                f"Install it: {install_hint(package)}\n  'zaxy plugins list' shows why an installed one is not in use.",
            )
    near = [words[0]] if words[0] in MEANT else []
    if not near:
        near = get_close_matches(typed, known if len(names) > 1 else first_words, n=1, cutoff=NEAR)
    if not near and names:
        near = get_close_matches(names[0], [*first_words, *MEANT], n=1, cutoff=NEAR)
    hint = f"Did you mean 'zaxy {MEANT.get(near[0], near[0])}'? " if near else ""
    return InvalidRequest(
        f"there is no command 'zaxy {typed or words[0]}'",
        f"{hint}'zaxy --help' lists the commands.",
    )


def _report(error: ZaxyError, as_json: bool) -> int:
    if as_json:
        import json

        say(json.dumps(error.as_dict(), indent=2, ensure_ascii=False))
    else:
        say(f"zaxy: {error.message}\n  {error.remediation}", err=True)
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
