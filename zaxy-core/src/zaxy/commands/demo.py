"""`zaxy demo`: memory shown in a temporary folder."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from time import monotonic
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.commands.typer_options import AsJson
from zaxy.printing import say, show_page
from zaxy.terminal.demo import Step, demo_folder, demo_steps
from zaxy.terminal.demo_page import OPENING, closing_lines, next_commands, next_lines, step_lines
from zaxy.terminal.screen import terminal_of

app = new_app("demo")


@command(app, "demo")
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the folder, and say where it is.")] = False,
    as_json: AsJson = False,
) -> None:
    started, terminal = monotonic(), terminal_of(sys.stdout)
    done = list[Step]()
    if not as_json:
        say(OPENING)
    with demo_folder(keep) as folder, closing(demo_steps(folder)) as steps_shown:
        for step in steps_shown:
            done.append(step)
            if not as_json:
                show_page("\n".join(["", *step_lines(len(done), step, terminal)]))
    failed = sum(not step.ok for step in done)
    kept, seconds = str(folder) if keep else "", monotonic() - started
    if as_json:
        summary = {"ok": not failed, "seconds": round(seconds, 2), "folder": kept or None}
        steps = [step.as_dict() for step in done]
        following = {"steps": steps, "next": next_commands(failed)}
        say(json.dumps(summary | following, indent=2, ensure_ascii=False))
    else:
        went = closing_lines(len(done), failed, seconds=seconds, kept=kept, terminal=terminal)
        show_page("\n".join(["", *went, *next_lines(failed, terminal)]))
    raise typer.Exit(1 if failed else 0)
