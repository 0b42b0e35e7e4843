"""`zaxy ide-config`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from zaxy.clients.editing import EditedFile
from zaxy.clients.ide_config import EntryOptions, PlannedEntry, plan_entry
from zaxy.clients.installed import open_clients
from zaxy.commands import command, new_app
from zaxy.commands.typer_options import AsJson, EventloomPath, WorkspaceFolder
from zaxy.errors import InvalidRequest
from zaxy.plugins.manifest import CLIENTS_POINT, ClientOption
from zaxy.plugins.roster import advice_on, clients_of, load_roster, package_of
from zaxy.printing import say
from zaxy.settings import Settings
from zaxy.workspace import find_workspace, stored_settings_here

app = new_app("ide-config")

PANEL = "Options of single clients"
"""The part of the help for options that packages bring; the command's own contract is without them."""
ROSTER = load_roster(Settings().lenient())
NAMES = sorted({provided.name for _, provided in ROSTER.providers if provided.point == CLIENTS_POINT})


def with_options_of_clients(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that installed clients bring, each handed over by its flag."""
    signature = inspect.signature(function, eval_str=True)
    own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    options = {option.flag: option for facts in clients_of(ROSTER) for option in facts.options}.values()
    added = [
        inspect.Parameter(
            option.flag.strip("-").replace("-", "_"),
            inspect.Parameter.KEYWORD_ONLY,
            default=False if option.sets == "trust" else None,
            annotation=_type(option),
        )
        for option in options
    ]
    function.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    function.__annotations__ |= {parameter.name: parameter.annotation for parameter in added}
    return function


def _type(option: ClientOption) -> Any:
    declared = typer.Option(option.flag, help=option.help, rich_help_panel=PANEL)
    if option.sets == "trust":
        return Annotated[bool, declared]
    if option.choices:
        choices: Any = StrEnum("Choice", [(choice.upper(), choice) for choice in option.choices])  # type: ignore[misc]
        return Annotated[choices | None, declared]
    return Annotated[str | None, declared]


class WithOptionsOfPackages(TyperCommand):
    """An option of a package that is not in use is refused with how to get it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {option for parameter in self.params for option in parameter.opts}
        for flag in [word.partition("=")[0] for word in args if word.startswith("--")]:
            if flag not in known and (advice := advice_on(flag, ROSTER)):
                raise InvalidRequest(f"{flag} is an option of {package_of(flag)}, which is not in use", advice)
        return super().parse_args(ctx, args)


@command(app, "ide-config", cls=WithOptionsOfPackages)
@with_options_of_clients
def ide_config(
    client: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    install: Annotated[bool, typer.Option("--install", help="Put the entry into the client's file.")] = False,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Take the entry out of the client's file.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an entry that is there, and just it.")] = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    domain: Annotated[str, typer.Option("--domain", help="Names the default session: DOMAIN-default.")] = "",
    shared: Annotated[
        bool, typer.Option("--shared", help="For every machine: the command by name, no path of this one.")
    ] = False,
    url: Annotated[str, typer.Option("--url", help="The address of a remote server, instead of a command.")] = "",
    as_json: AsJson = False,
    **of_clients: object,
) -> None:
    if install and remove:
        raise InvalidRequest("--install and --remove exclude each other", "Pass one of them.")
    own = {f"--{name.replace('_', '-')}": str(value) for name, value in of_clients.items() if value}
    with open_clients(stored_settings_here()) as clients:
        options = EntryOptions(client, domain, url, shared, own)
        planned = plan_entry(clients, options, lambda: find_workspace(workspace, eventloom_path))
        for notice in planned.notices:
            say(f"notice: {notice}", err=True)
        if remove:
            _print_edited(planned, "removed", planned.remove(), as_json)
        elif install and not planned.is_command:
            _print_edited(planned, "installed", planned.install(force), as_json)
        elif as_json:
            say(json.dumps(_described(planned), indent=2, ensure_ascii=False))
        else:
            say(planned.text, end="")


def _described(planned: PlannedEntry) -> dict[str, Any]:
    path = str(planned.path) if planned.path else None
    return {"client": planned.client.name, "path": path, "text": planned.text, "notices": list(planned.notices)}


def _print_edited(planned: PlannedEntry, done: str, file: EditedFile, as_json: bool) -> None:
    backup = str(file.backup) if file.backup else None
    if as_json:
        reply = {**_described(planned), done: file.changed, "deleted": file.after is None, "backup": backup}
        say(json.dumps(reply, indent=2, ensure_ascii=False))
    elif not file.changed:
        say(f"{file.path} has no entry of {planned.server.name}" if done == "removed" else "nothing to change")
    elif file.after is None:
        say(f"deleted {file.path}, which held nothing else")
    else:
        say(f"{done} {planned.server.name} {'in' if done == 'installed' else 'from'} {file.path}")
        if backup:
            say(f"before: {backup}")
