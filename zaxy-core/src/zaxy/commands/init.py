"""`zaxy init`: set up a project, or take everything out again."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from zaxy.commands import command, new_app
from zaxy.commands.typer_options import AsJson, WorkspaceFolder
from zaxy.errors import Conflict, InvalidRequest
from zaxy.plugins.roster import clients_of, load_roster
from zaxy.printing import say, show_page
from zaxy.settings import Settings
from zaxy.setup.init import VECTORS, InitOptions, carry_out, installed_backends, make_plan, settled, undo_init
from zaxy.setup.init_clients import MINIMAL
from zaxy.terminal.init_page import (
    done_as_dict,
    done_lines,
    plan_as_dict,
    plan_lines,
    undo_lines,
    undone_as_dict,
)
from zaxy.terminal.screen import terminal_of
from zaxy.workspace import Workspace, find_workspace

app = new_app("init")
_SETTINGS = Settings().lenient()
PRESETS = [*(facts.preset for facts in clients_of(load_roster(_SETTINGS)) if facts.preset), MINIMAL]
BACKENDS = installed_backends(_SETTINGS)


@command(app, "init")
def init(
    preset: Annotated[str, typer.Option("--preset", help=f"What to set up: {', '.join(PRESETS)}.")] = "",
    client: Annotated[
        list[str] | None, typer.Option("--client", help="A client; may be given again. Default: those that are found.")
    ] = None,
    *,
    backend: Annotated[str, typer.Option("--backend", help=f"The graph store: {', '.join(BACKENDS)}.")] = "",
    vectors: Annotated[
        str, typer.Option("--vectors", help=f"Find by meaning too: {', '.join(VECTORS)}, or the name of a lane.")
    ] = "",
    domain: Annotated[str, typer.Option("--domain", help="What this project's sessions are named after.")] = "",
    recorder: Annotated[
        str, typer.Option("--recorder", help="Who records what the clients do: hooks or capture.")
    ] = "",
    shared: Annotated[
        bool | None,
        typer.Option("--shared/--no-shared", help="Write project files that work on every machine, or only here."),
    ] = None,
    workspace: WorkspaceFolder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be written.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take out what init wrote.")] = False,
    as_json: AsJson = False,
) -> None:
    found = find_workspace(workspace)
    if undo:
        _undo(found, yes, dry_run, as_json)
        return
    terminal = terminal_of(sys.stdout)
    options = InitOptions(preset, tuple(client or ()), backend, domain, vectors, recorder, shared)
    plan = make_plan(found, options)
    if plan.undecided and not (yes or dry_run or as_json) and sys.stdin.isatty():
        plan = make_plan(found, replace(options, shared=_are_shared(plan.undecided)))
    if not as_json:
        show_page("\n".join(plan_lines(plan, terminal)))
    if dry_run:
        if as_json:
            say(json.dumps(plan_as_dict(plan), indent=2, ensure_ascii=False))
        raise typer.Exit(1 if plan.left_alone else 0)
    if plan.changes and not yes:
        _ask(as_json, "Write this?")
    plan = settled(plan)
    done = carry_out(plan)
    if as_json:
        say(json.dumps({**plan_as_dict(plan), **done_as_dict(done)}, indent=2, ensure_ascii=False))
    else:
        show_page("\n".join(done_lines(plan, done, terminal)))
    raise typer.Exit(0 if done.ok else 1)


def _undo(workspace: Workspace, yes: bool, dry_run: bool, as_json: bool) -> None:
    terminal = terminal_of(sys.stdout)
    if not yes and not dry_run and not as_json and sys.stdin.isatty():
        show_page("\n".join(undo_lines(undo_init(workspace, dry_run=True), workspace, terminal, True)))
        _ask(as_json, "Take it out?")
    outcomes = undo_init(workspace, dry_run)
    if as_json:
        say(json.dumps(undone_as_dict(outcomes), indent=2, ensure_ascii=False))
    else:
        show_page("\n".join(undo_lines(outcomes, workspace, terminal, dry_run)))
    raise typer.Exit(0 if all(one.ok for one in outcomes) else 1)


def _are_shared(files: Sequence[str]) -> bool:
    """Whether files of a project are meant for others too: then they have no path of this machine."""
    say(f"{' and '.join(', '.join(files).rsplit(', ', 1))}: for you on this machine, or committed for others too?")
    return typer.confirm("Write them for others too, without paths of this machine?", default=False)


def _ask(as_json: bool, question: str) -> None:
    """Go on if a person says yes; where nobody can be asked, say how to go on."""
    if as_json or not sys.stdin.isatty():
        raise InvalidRequest(
            "nothing was written: there is nobody to ask",
            "Pass --yes to write it, or --dry-run to see it only.",
        )
    if not typer.confirm(question, default=True):
        raise Conflict("nothing was written", "Run it again whenever you like.")
