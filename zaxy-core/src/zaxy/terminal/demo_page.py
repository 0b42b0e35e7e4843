"""The demonstration as a person reads it: step by step, and then what to type next."""

from __future__ import annotations

import os
import shutil

from zaxy.clients.entries import BY_NAME, command_line
from zaxy.errors import ZaxyError
from zaxy.plugins.install_hints import quoted
from zaxy.terminal.demo import Shown, Step
from zaxy.terminal.screen import BOLD, DIM, GREEN, RED, Terminal, cells, plain, wrapped
from zaxy.workspace import find_workspace

OPENING = "What memory does, in a temporary folder. Nothing of yours is touched."
NEXT = "Now your own project. In its folder, this finds the agents that you use, shows what it would write, and asks:"
NEXT_IF_FAILED = "This says what is wrong with a package:"


def step_lines(number: int, step: Step, terminal: Terminal) -> list[str]:
    lines = [terminal.painted(f"{number}. {step.heading}", BOLD), terminal.painted(f"   $ {step.command}", DIM)]
    for shown in step.shown:
        lines += _shown(shown, terminal)
    if not step.ok:
        lines.append(terminal.painted("   This is not what should be shown: the installation does not work.", RED))
    return lines


def _shown(shown: Shown, terminal: Terminal) -> list[str]:
    """A line with its source beside it, or below it where that does not fit."""
    about = "  ".join(filter(None, (plain(shown.about), shown.citation)))
    text = f"   {plain(shown.text)}"
    if not about or cells(f"{text}  {about}") <= terminal.width:
        return [text + terminal.painted(f"  {about}", DIM)] if about else [text]
    fits = cells(f"     {about}") <= terminal.width
    below = [f"     {about}"] if fits else wrapped(about, terminal.width, "     ")
    return [*wrapped(plain(shown.text), terminal.width, "   "), *(terminal.painted(line, DIM) for line in below)]


def closing_lines(done: int, failed: int, *, seconds: float, kept: str, terminal: Terminal) -> list[str]:
    """How it went, and where it is if it was kept."""
    verdict = f"{failed} of {done} steps failed" if failed else f"All {done} steps showed what they should"
    lines = [terminal.painted(f"{verdict}, in {seconds:.1f} seconds.", BOLD, RED if failed else GREEN)]
    return [*lines, f"The folder is kept: {kept}"] if kept else lines


def next_commands(failed: int) -> list[str]:
    """What to type next: this Zaxy by its name where a shell finds it, else by its path."""
    words = command_line()
    found = shutil.which(BY_NAME)
    if found and os.path.realpath(found) == os.path.realpath(words[0]):
        words = (BY_NAME,)
    typed = " ".join(map(quoted, words))
    return [f"{typed} plugins check"] if failed else [*_into_the_project(), f"{typed} init"]


def _into_the_project() -> list[str]:
    try:
        return [f"cd {quoted(find_workspace().root)}"]
    except ZaxyError:  # none is at hand: the home folder, for one
        return []


def next_lines(failed: int, terminal: Terminal) -> list[str]:
    said = NEXT_IF_FAILED if failed else NEXT
    return ["", *wrapped(said, terminal.width), *(f"   {plain(typed)}" for typed in next_commands(failed))]
