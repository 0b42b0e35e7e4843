"""Checks of `commands`."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from zaxy.api import ZaxyError
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect
from zaxy_testkit.checks.shape import check_shape
from zaxy_testkit.checks.trial_memory import own_state, trial_call

POINT = "commands"
ODD = "--no-option-has-this-name"


@dataclass(frozen=True)
class CommandCase(Case):
    calls: Mapping[str, Sequence[str]]
    """By the words of each command, as the manifest has them: arguments with which it succeeds in an empty memory."""


@dataclass(frozen=True)
class Outcome:
    code: object
    out: str
    err: str


check_shape(POINT)


@check(POINT)
def its_example_calls_succeed(case: CommandCase, bench: Workbench) -> None:
    """Return 0 when it is done. Look at the reply: an empty memory is no error."""
    expect(bool(case.calls), "the case has no example call")
    for words, arguments in case.calls.items():
        done = ran(case, bench, words, arguments)
        expect(done.code == 0, f"'zaxy {words}' ended with {done.code!r}: {done.err[-200:]}")


@check(POINT)
def every_command_explains_itself(case: CommandCase, bench: Workbench) -> None:
    """Answer --help with the usage on stdout, and with exit code 0. argparse and typer do so by themselves."""
    for words in case.calls:
        done = ran(case, bench, words, ("--help",))
        expect(done.code == 0, f"'zaxy {words} --help' ended with {done.code!r}")
        expect(f"zaxy {words}" in done.out, f"'zaxy {words} --help' does not say how it is typed: {done.out[:120]!r}")


@check(POINT)
def an_unknown_option_is_wrong_usage(case: CommandCase, bench: Workbench) -> None:
    """End with exit code 2, or raise InvalidRequest, where the words cannot be understood; print nothing to stdout."""
    for words, arguments in case.calls.items():
        done = ran(case, bench, words, (*arguments, ODD))
        expect(done.code == 2, f"'zaxy {words} {ODD}' ended with {done.code!r}, not 2")
        expect(not done.out, f"'zaxy {words} {ODD}' printed to stdout: {done.out[:120]!r}")


@check(POINT)
def json_is_json(case: CommandCase, bench: Workbench) -> None:
    """Where a command knows --json, all that it prints to stdout is one JSON value: programs read it."""
    for words, arguments in case.calls.items():
        if "--json" in ran(case, bench, words, ("--help",)).out:
            done = ran(case, bench, words, (*arguments, "--json"))
            try:
                json.loads(done.out)
            except ValueError:
                raise CheckFailed(f"'zaxy {words} --json' printed {done.out[:120]!r}") from None


def ran(case: CommandCase, bench: Workbench, words: str, arguments: Sequence[str]) -> Outcome:
    """What a call of a command came to. An exception that is no refusal fails the check."""
    out, err = io.StringIO(), io.StringIO()
    command: Any = bench.make(case)
    call = trial_call(bench.scratch, words, arguments, provider=command)
    with own_state(bench.scratch), redirect_stdout(out), redirect_stderr(err):
        try:
            code: object = command.run(call)
        except ZaxyError as error:
            code = error.exit_code
        except SystemExit as leaving:
            code = 0 if leaving.code is None else leaving.code
        except Exception as error:
            raise CheckFailed(f"'zaxy {words} {' '.join(arguments)}' raised {error!r}") from error
    return Outcome(code, out.getvalue(), err.getvalue())
