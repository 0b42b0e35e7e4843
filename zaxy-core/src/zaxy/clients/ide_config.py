"""What `zaxy ide-config` was asked for, worked out: the entry, the text to paste, and the file that it belongs in."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from zaxy.api.models import ServerEntry
from zaxy.api.points import IdeConfigWriter
from zaxy.clients.entries import NAME, home_folder, project_entry, serves_many_projects, shared_entry
from zaxy.clients.installing import Change, install, remove, target_of, writer_of
from zaxy.errors import Forbidden, InvalidRequest, ZaxyError
from zaxy.plugins.host import PluginHost
from zaxy.workspace import Workspace


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line."""

    client: str
    domain: str = ""
    url: str = ""
    codex_scope: str = ""
    codex_trusted: bool = False
    hermes_config: str = ""


@dataclass(frozen=True)
class Offer:
    """An entry for a client, and where it would go."""

    client: str
    writer: IdeConfigWriter
    server: ServerEntry
    text: str
    """What to paste, or the command to run."""
    path: Path | None
    """None where nothing is written: the client only prints, or has a command of its own for it."""
    inside: Path | None = None
    trusted: bool = True
    notices: tuple[str, ...] = ()

    def install(self, force: bool) -> Change:
        if self.path is None:
            raise _only_printed(self.client)
        if not self.trusted:
            raise Forbidden(
                f"Codex reads {self.path} only in a project that it trusts",
                "Trust the project in Codex, then pass --codex-trusted-project too.",
            )
        return install(self.writer, self.path, self.server, force, self.inside)

    def remove(self) -> Change:
        if self.path is None:
            raise _only_printed(self.client)
        return remove(self.writer, self.path, self.server.name, self.inside)


def make_offer(
    host: PluginHost, wish: Wish, workspace: Callable[[], Workspace], environ: Mapping[str, str] = os.environ
) -> Offer:
    """Work out the entry and its place. The workspace is looked for only where it matters: the configuration of a
    client that serves many projects can be made in any folder."""
    _refuse_options_of_others(wish)
    writer = writer_of(host, wish.client)
    scopes = tuple(writer.scopes)
    if serves_many_projects(scopes):
        server = shared_entry(wish.url)
        named = f"--domain is not written: the configuration of {wish.client} serves every project"
        notices = (named,) if wish.domain else ()
    else:
        server = project_entry(workspace(), wish.domain, wish.url)
        notices = ()
    if not scopes:
        return Offer(wish.client, writer, server, writer.render(server), None)
    if wish.client == "codex" and not wish.codex_scope:
        return Offer(wish.client, writer, server, codex_command(server), None, notices=notices)
    scope = wish.codex_scope or scopes[0]
    root = Path(workspace().root) if scope == "project" else None
    if wish.hermes_config:
        path = Path(os.path.abspath(os.path.expanduser(wish.hermes_config)))
    else:
        path = target_of(writer, scope, root or Path(os.getcwd()), home_folder(environ), environ)
    trusted = wish.codex_trusted or (wish.client, scope) != ("codex", "project")
    return Offer(wish.client, writer, server, writer.render(server), path, root, trusted, notices)


def codex_command(server: ServerEntry) -> str:
    """The command with which Codex itself adds the server."""
    if server.url:
        return f"codex mcp add {server.name} --url {server.url}\n"
    words = [server.command, *server.args]
    started = subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
    return f"codex mcp add {server.name} -- {started}\n"


def _refuse_options_of_others(wish: Wish) -> None:
    if wish.client != "codex" and (wish.codex_scope or wish.codex_trusted):
        option = "--codex-config-scope" if wish.codex_scope else "--codex-trusted-project"
        raise InvalidRequest(f"{option} is about codex, not {wish.client}", "Leave it out.")
    if wish.client != "hermes" and wish.hermes_config:
        raise InvalidRequest(f"--hermes-config is about hermes, not {wish.client}", "Leave it out.")


def _only_printed(client: str) -> ZaxyError:
    if client == "codex":
        return InvalidRequest(
            "Codex keeps its servers itself, unless a scope is named",
            f"Run 'codex mcp remove {NAME}', or pass --codex-config-scope project or user.",
        )
    return InvalidRequest(
        f"the configuration of {client} is printed, never written",
        f"Run 'zaxy ide-config {client}' and paste what it prints.",
    )
