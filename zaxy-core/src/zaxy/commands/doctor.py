"""`zaxy doctor`: look at everything that memory needs, and fix what may be fixed."""

from __future__ import annotations

import json
from itertools import chain
from typing import Annotated

import typer

from zaxy.api.health import ERROR
from zaxy.commands import command, new_app
from zaxy.commands.typer_options import AsJson, EventloomPath, WorkspaceFolder
from zaxy.plugins.guard import keep_stdout
from zaxy.printing import say, show_page
from zaxy.setup.doctor import DoctorContext, examine
from zaxy.setup.doctor_packages import package_checks
from zaxy.setup.doctor_round import CHECKS
from zaxy.terminal.doctor_page import closing_line, row_lines
from zaxy.terminal.screen import terminal_of_rows
from zaxy.workspace import find_workspace

app = new_app("doctor")


@command(app, "doctor")
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Fix what may be fixed without asking.")] = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    keep_stdout()
    terminal = terminal_of_rows()
    context = DoctorContext(find_workspace(workspace, eventloom_path))
    rows = []
    for row in examine(context, chain(CHECKS, package_checks(context)), fix):
        rows.append(row)
        if not as_json:
            show_page("\n".join(row_lines(row, terminal)))
    failed = any(row.status == ERROR for row in rows)
    if as_json:
        reply = {"ok": not failed, "rows": [row.as_dict() for row in rows]}
        say(json.dumps(reply, indent=2, ensure_ascii=False))
    else:
        show_page("\n" + closing_line(rows, terminal))
    raise typer.Exit(1 if failed else 0)
