"""`zaxy ide-config`."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from zaxy.clients.ide_config import Offer, Wish, make_offer
from zaxy.clients.installing import Change, client_writers
from zaxy.commands import command, new_app
from zaxy.commands.events import AsJson, EventloomPath, WorkspaceFolder
from zaxy.errors import InvalidRequest
from zaxy.workspace import find_workspace, stored_settings_here

app = new_app("ide-config")


class Scope(StrEnum):
    """Where Codex keeps a server."""

    PROJECT = "project"
    USER = "user"


@command(app, "ide-config")
def ide_config(
    client: Annotated[
        str, typer.Argument(help="claude-code, claude-desktop, codex, cursor, gemini, vscode, or one of a plugin.")
    ],
    install: Annotated[bool, typer.Option("--install", help="Put the entry into the client's file.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the entry out of the client's file.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an entry that is there, and just it.")] = False,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    domain: Annotated[str, typer.Option("--domain", help="Names the default session: DOMAIN-default.")] = "",
    url: Annotated[str, typer.Option("--url", help="The address of a remote server, instead of a command.")] = "",
    codex_config_scope: Annotated[
        Scope | None, typer.Option("--codex-config-scope", help="Codex: write its TOML, of the project or the user.")
    ] = None,
    codex_trusted_project: Annotated[
        bool, typer.Option("--codex-trusted-project", help="Codex: this project is trusted, so its file is read.")
    ] = False,
    hermes_config: Annotated[str, typer.Option("--hermes-config", help="Hermes: the config.yaml to write.")] = "",
    as_json: AsJson = False,
) -> None:
    if install and remove:
        raise InvalidRequest("--install and --remove exclude each other", "Pass one of them.")
    scope = codex_config_scope.value if codex_config_scope else ""
    wish = Wish(client, domain, url, scope, codex_trusted_project, hermes_config)
    with client_writers(stored_settings_here()) as host:
        offer = make_offer(host, wish, lambda: find_workspace(workspace, eventloom_path))
        for notice in offer.notices:
            typer.echo(f"notice: {notice}", err=True)
        if remove:
            _tell(offer, "removed", offer.remove(), as_json)
        elif install and not (client == "codex" and not scope):
            _tell(offer, "installed", offer.install(force), as_json)
        elif as_json:
            typer.echo(json.dumps(_described(offer), indent=2, ensure_ascii=False))
        else:
            typer.echo(offer.text, nl=False)


def _described(offer: Offer) -> dict[str, Any]:
    path = str(offer.path) if offer.path else None
    return {"client": offer.client, "path": path, "text": offer.text, "notices": list(offer.notices)}


def _tell(offer: Offer, done: str, change: Change, as_json: bool) -> None:
    backup = str(change.backup) if change.backup else None
    if as_json:
        told = {**_described(offer), done: change.changed, "deleted": change.after is None, "backup": backup}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
    elif not change.changed:
        typer.echo(f"{change.path} has no entry of {offer.server.name}" if done == "removed" else "nothing to change")
    elif change.after is None:
        typer.echo(f"deleted {change.path}, which held nothing else")
    else:
        typer.echo(f"{done} {offer.server.name} {'in' if done == 'installed' else 'from'} {change.path}")
        if backup:
            typer.echo(f"before: {backup}")
