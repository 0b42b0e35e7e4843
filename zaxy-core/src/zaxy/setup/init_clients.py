"""The clients that init knows: how one notices that they are there, and what is written for each of them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from zaxy.api.models import ServerEntry
from zaxy.api.points import IdeConfigWriter
from zaxy.clients.entries import NAME, project_entry, serves_many_projects, shared_entry
from zaxy.clients.hook_clients import CODEX, HOOK_CLIENTS, HookClient
from zaxy.clients.hook_configs import with_hooks, without_hooks
from zaxy.clients.hook_files import hook_command, hooks_file
from zaxy.clients.installing import target_of, writer_of
from zaxy.errors import Conflict, InvalidRequest, ZaxyError
from zaxy.observe.capture_config import CAPTURE_FILE, capture_config_text
from zaxy.observe.watcher import resume_command, watching
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import owner_of
from zaxy.setup.init_record import Part
from zaxy.workspace import FOLDER, Workspace

IGNORED = "# Memory stays on this machine: none of it is committed.\n*\n"


class KnownClient(NamedTuple):
    name: str
    in_project: tuple[str, ...]
    """What in a project's folder tells that it is used there."""
    at_home: tuple[str, ...]
    programs: tuple[str, ...]
    step: str
    """What the user does next."""


KNOWN = (
    KnownClient(
        "claude-code",
        (".mcp.json", ".claude", "CLAUDE.md"),
        (".claude", ".claude.json"),
        ("claude",),
        "Claude Code: start it here anew and approve the server zaxy when it asks.",
    ),
    KnownClient(
        "codex",
        (".codex",),
        (".codex",),
        ("codex",),
        "Codex: start it here anew; '/hooks' there shows the hooks and lets you trust them.",
    ),
    KnownClient(
        "cursor",
        (".cursor", ".cursorrules"),
        (".cursor",),
        ("cursor", "cursor-agent"),
        "Cursor: open the folder anew and switch the server zaxy on in its MCP settings.",
    ),
    KnownClient("vscode", (".vscode",), (), ("code",), "VS Code: open .vscode/mcp.json and start the server zaxy."),
    KnownClient(
        "gemini",
        (".gemini", "GEMINI.md"),
        (".gemini",),
        ("gemini",),
        "Gemini CLI: start it here anew; '/mcp' there shows the server zaxy.",
    ),
    KnownClient(
        "hermes", (".hermes.md", "HERMES.md"), (".hermes",), ("hermes",), "Hermes: type /reload-mcp, or start it anew."
    ),
)
BY_NAME = {client.name: client for client in KNOWN}
PRESETS: dict[str, tuple[str, ...]] = {
    "local-codex": ("codex",),
    "local-claude": ("claude-code",),
    "local-cursor": ("cursor",),
    "local-gemini": ("gemini",),
    "local-hermes": ("hermes",),
    "minimal": (),
}


class Found(NamedTuple):
    name: str
    by: str
    """Why it is set up: where it was found, or that it was named."""


class Piece(NamedTuple):
    """Something of ours that belongs into a file: text in, text out."""

    path: Path
    part: Part
    what: str
    install: Callable[[str], str]
    inside: Path | None = None
    """The folder between which and the file no link may stand."""
    mode: int | None = None
    """The mode of a file that has to be made."""


class Refusal(NamedTuple):
    what: str
    reason: str
    action: str


class Offer(NamedTuple):
    """What can be written for one client, what cannot, and what is left for the user to do."""

    pieces: tuple[Piece, ...]
    refused: tuple[Refusal, ...]
    steps: tuple[str, ...]


class Site(NamedTuple):
    """Where a project and its user are, for those who write there."""

    workspace: Workspace
    session: str
    domain: str
    environ: Mapping[str, str]
    host: PluginHost
    """Makes the writers of clients' configuration."""
    watched: bool = False
    """Whether a watcher is, or will be, set up to read what clients keep of their sessions."""

    @property
    def root(self) -> Path:
        return Path(self.workspace.root)

    @property
    def home(self) -> Path | None:
        return home_of(self.environ)


def home_of(environ: Mapping[str, str]) -> Path | None:
    """The user's folder as the environment names it, if it is there; nobody's is guessed."""
    named = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    return Path(named) if os.path.isabs(named) and os.path.isdir(named) else None


# Which clients


def chosen_clients(
    preset: str, named: tuple[str, ...], workspace: Workspace, environ: Mapping[str, str]
) -> tuple[Found, ...]:
    """Those that were named; where none was, those that are there."""
    if preset and preset not in PRESETS:
        raise InvalidRequest(f"there is no preset {preset!r:.40}", f"Choose one of {', '.join(PRESETS)}.")
    unknown = [name for name in named if name not in BY_NAME]
    if unknown:
        raise InvalidRequest(
            f"{unknown[0]!r:.40} is not a client that init sets up",
            f"Choose one of {', '.join(BY_NAME)}; 'zaxy ide-config' knows more.",
        )
    if preset or named:
        asked = dict.fromkeys((*PRESETS.get(preset, ()), *named))
        return tuple(Found(name, f"by the preset {preset}" if name not in named else "named") for name in asked)
    return tuple(_found(workspace, environ))


def _found(workspace: Workspace, environ: Mapping[str, str]) -> Iterator[Found]:
    home = home_of(environ)
    for client in KNOWN:
        signs = [sign for sign in client.in_project if os.path.exists(os.path.join(workspace.root, sign))]
        places = [sign for sign in client.at_home if home is not None and (home / sign).exists()]
        programs = [name for name in client.programs if shutil.which(name, path=environ.get("PATH"))]
        if signs:
            yield Found(client.name, f"{signs[0]} is in the project")
        elif places:
            yield Found(client.name, f"~/{places[0]} is there")
        elif programs:
            yield Found(client.name, f"'{programs[0]}' is installed")


# What is written


def own_pieces(workspace: Workspace) -> list[Piece]:
    """What belongs to the workspace whatever the clients: in a git repository, that memory is not committed."""
    if not _in_git(workspace.root) or not _is_within(workspace.eventloom, workspace.root):
        return []
    path = Path(workspace.eventloom, ".gitignore")
    part = Part("ignore")
    return [Piece(path, part, "the list of ignored files", _kept_or(IGNORED), Path(workspace.root), 0o600)]


def offer_of(name: str, site: Site) -> Offer:
    """What init writes for a client."""
    pieces, refused, steps = list[Piece](), list[Refusal](), list[str]()
    try:
        pieces.append(_server_piece(name, site))
        steps.append(BY_NAME[name].step)
    except ZaxyError as error:
        refused.append(Refusal("the MCP server", error.message, error.remediation))
    if name == CODEX.name:
        path = site.root / CAPTURE_FILE
        whole = _kept_or(capture_config_text())
        pieces.append(Piece(path, Part("capture", name), f"the capture in {path}", whole, site.root))
        steps.append(f"Capture what Codex does: {resume_command(site.workspace)}")
    if name in HOOK_CLIENTS:
        pieces.append(_hooks_piece(HOOK_CLIENTS[name], site))
    return Offer(tuple(pieces), tuple(refused), tuple(steps))


def server_of(site: Site, writer: IdeConfigWriter | None = None) -> ServerEntry:
    """The server as a client is told to start it; without a writer, as one in the project is."""
    if writer is not None and serves_many_projects(writer.scopes):
        return shared_entry()
    entry = project_entry(site.workspace, site.domain)
    return replace(entry, env={**entry.env, "EVENTLOOM_THREAD": site.session})


def _server_piece(name: str, site: Site) -> Piece:
    writer = writer_of(site.host, name)
    path = target_of(writer, next(iter(writer.scopes)), site.root, site.home, site.environ)
    entry = server_of(site, writer)

    def install(text: str) -> str:
        """One that is there is left, be it ours as it should be or somebody's own."""
        try:
            return writer.install(text, entry, False)
        except ZaxyError as error:
            if error.code != "conflict":
                raise
            if writer.install(text, entry, True) == text:
                return text
        fix = f"zaxy ide-config {name} --install --force"
        raise Conflict(f"{path} has another server named {NAME}", f"To replace just that one: {fix}")

    inside = site.root if site.root in path.parents else None
    return Piece(path, Part("mcp", name), f"the MCP server in {path}", install, inside)


def _hooks_piece(client: HookClient, site: Site) -> Piece:
    """The hooks of a client; only those for moments where the watcher records the rest, which would be told twice."""
    command = hook_command(site.workspace)
    path = hooks_file(client, site.workspace.root)
    moments = site.watched and owner_of(site.host.roster, "capture_adapters", client.name) is not None

    def install(text: str) -> str:
        try:
            return with_hooks(text, client, command, moments=moments)
        except ZaxyError as error:
            if error.code != "conflict":
                raise
            wanted = with_hooks(text, client, command, force=True, moments=moments)
            if text in (wanted, with_hooks(text, client, command, force=True, moments=not moments)):
                return wanted
        fix = f"zaxy hooks {client.name} --output {client.files[0]} --force"
        raise Conflict(f"{path} has other hooks of Zaxy", f"To replace just those: {fix}")

    return Piece(path, Part("hooks", client.name), f"the hooks in {path}", install, site.root)


def will_be_watched(workspace: Workspace, clients: Iterable[str]) -> bool:
    """Whether a watcher reads what clients keep of their sessions, or will when init is done."""
    return CODEX.name in clients or watching(workspace).configured


def _kept_or(whole: str) -> Callable[[str], str]:
    """A file that is all ours; one that is there already is left as it is."""
    return lambda text: text or whole


# Taking it out again


def take_out(site: Site, part: Part, text: str) -> str:
    """A file's text without one part of ours."""
    if part.kind == "mcp":
        return writer_of(site.host, part.client).remove(text, NAME)
    if part.kind == "hooks" and part.client in HOOK_CLIENTS:
        return without_hooks(text, HOOK_CLIENTS[part.client])
    raise Conflict("it was changed since", "Delete it yourself if you do not need it.")


def may_write(site: Site, path: Path) -> bool:
    """Whether a file is one that init writes here: what a record says is not trusted further than that."""
    offers = [offer_of(name, site).pieces for name in BY_NAME]
    return any(path == piece.path for pieces in (own_pieces(site.workspace), *offers) for piece in pieces)


def _in_git(root: str) -> bool:
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return False
    return True


def _is_within(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder and os.path.basename(path) == FOLDER
