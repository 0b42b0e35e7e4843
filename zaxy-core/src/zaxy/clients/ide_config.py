"""What `zaxy ide-config` was asked for, worked out: the entry, the text to paste, and the file that it belongs in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zaxy.api.clients import PROJECT
from zaxy.api.models import ServerEntry
from zaxy.clients.editing import EditedFile, install_text, remove_text
from zaxy.clients.entries import entry_by_name, home_folder, project_entry, serves_many_projects, shared_entry
from zaxy.clients.installed import Clients, InstalledClient, target_of
from zaxy.errors import Forbidden, InvalidRequest, ZaxyError
from zaxy.workspace import Workspace


@dataclass(frozen=True)
class EntryOptions:
    """What was asked for on the command line."""

    client: str
    domain: str = ""
    url: str = ""
    shared: bool = False
    """Whether the file is for others too: without a path of this machine."""
    own: Mapping[str, str] = field(default_factory=dict)
    """The options that clients bring, by flag; those that were not given are absent."""


@dataclass(frozen=True)
class PlannedEntry:
    """An entry for a client, and where it would go."""

    client: InstalledClient
    server: ServerEntry
    text: str
    """What to paste, or the command to run."""
    path: Path | None
    """None where nothing is written: the client only prints, or has a command of its own for it."""
    inside: Path | None = None
    refusal: ZaxyError | None = None
    """Why it may not be written there."""
    notices: tuple[str, ...] = ()

    @property
    def is_command(self) -> bool:
        """Whether the text is a command of the client's own, to be run instead of installing anything."""
        return self.path is None and bool(self.client.client.scopes)

    def install(self, force: bool) -> EditedFile:
        if self.path is None or self.refusal is not None:
            raise self.refusal or _only_printed(self.client.name)
        return install_text(self.path, lambda text: self.client.client.install(text, self.server, force), self.inside)

    def remove(self) -> EditedFile:
        if self.path is None:
            raise self.refusal or _only_printed(self.client.name)
        return remove_text(self.path, lambda text: self.client.client.remove(text, self.server.name), self.inside)


def plan_entry(
    clients: Clients,
    options: EntryOptions,
    workspace: Callable[[], Workspace],
    environ: Mapping[str, str] = os.environ,
) -> PlannedEntry:
    """Work out the entry and its place. The workspace is looked for only where it matters: the configuration of a
    client that serves many projects can be made in any folder."""
    given = _own_values(clients, options)
    name, installed = options.client, clients.get(options.client)
    client, scopes = installed.client, tuple(installed.client.scopes)
    notices: tuple[str, ...] = ()
    if options.shared and options.url:
        raise InvalidRequest("--shared is about a server on each machine, and --url names one", "Pass one of them.")
    if options.shared:
        server = entry_by_name(installed.project_variable)
        named = "--domain is not written: each machine names its sessions by itself"
        notices = (named,) if options.domain else ()
    elif serves_many_projects(scopes):
        server = shared_entry(options.url)
        named = f"--domain is not written: the configuration of {name} serves every project"
        notices = (named,) if options.domain else ()
    else:
        server = project_entry(workspace(), options.domain, options.url)
    if not scopes:
        return PlannedEntry(installed, server, client.render(server), None)
    command = "" if "scope" in given or "path" in given else client.own_command(server)
    if command:
        kept = _kept_by_the_client(clients, installed)
        return PlannedEntry(installed, server, command, None, refusal=kept, notices=notices)
    scope = given.get("scope") or scopes[0]
    root = Path(workspace().root) if scope == PROJECT else None
    if "path" in given:
        path = Path(os.path.abspath(os.path.expanduser(given["path"])))
    else:
        path = target_of(client, scope, workspace=root or Path(os.getcwd()), home=home_folder(environ), environ=environ)
    trust = clients.option(name, "trust")
    refusal = _not_trusted(client.title, path, trust) if trust and scope == PROJECT and "trust" not in given else None
    return PlannedEntry(installed, server, client.render(server), path, root, refusal, notices)


def _own_values(clients: Clients, options: EntryOptions) -> dict[str, str]:
    """What the client's own options set: its scope, its path, its trust."""
    values = {}
    for name, facts in clients.facts.items():
        for option in facts.options:
            if option.flag not in options.own:
                continue
            if name != options.client:
                raise InvalidRequest(f"{option.flag} is about {name}, not {options.client}", "Leave it out.")
            values[option.sets] = options.own[option.flag]
    return values


def _not_trusted(title: str, path: Path, flag: str) -> ZaxyError:
    return Forbidden(
        f"{title} reads {path} only in a project that it trusts",
        f"Trust the project in {title}, then pass {flag} too.",
    )


def _kept_by_the_client(clients: Clients, client: InstalledClient) -> ZaxyError:
    title, flag = client.client.title, clients.option(client.name, "scope")
    return InvalidRequest(
        f"{title} keeps its servers itself, unless a scope is named",
        f"Let {title} take it out, or pass {flag} {' or '.join(sorted(client.client.scopes))}.",
    )


def _only_printed(client: str) -> ZaxyError:
    return InvalidRequest(
        f"the configuration of {client} is printed, never written",
        f"Run 'zaxy ide-config {client}' and paste what it prints.",
    )
