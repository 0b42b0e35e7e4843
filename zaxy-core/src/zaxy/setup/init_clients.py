"""The clients that init sets up: how one notices that they are there, and what is written for each of them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from zaxy.api.client_hooks import HookCommand
from zaxy.api.clients import ClientCapture
from zaxy.api.models import ServerEntry
from zaxy.api.points import Client, ClientHooks
from zaxy.clients.entries import BY_NAME, NAME, entry_by_name, project_entry, serves_many_projects, shared_entry
from zaxy.clients.files import read_file
from zaxy.clients.hook_files import hook_command
from zaxy.clients.installed import Clients, InstalledClient, no_such_client, target_of
from zaxy.clients.recorders import recorder_of
from zaxy.errors import Conflict, InvalidRequest, ZaxyError
from zaxy.observe.capture_config import capture_config_text
from zaxy.observe.recording import CAPTURE
from zaxy.observe.watcher import resume_command
from zaxy.setup.init_record import Part
from zaxy.workspace import Workspace

NOBODY = "undo"
"""Stands for the domain where only the places of files are asked for."""
MINIMAL = "minimal"
"""The preset that sets up no client."""


Variant = Callable[[str, bool], str]
"""A form of what is ours in a file: its text, and whether ours that is there may be replaced, to the new text."""


class DetectedClient(NamedTuple):
    name: str
    by: str
    """Why it is set up: where it was found, or that it was named."""


class FileEdit(NamedTuple):
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


class ClientPlan(NamedTuple):
    """What can be written for one client, what cannot, and what is left for the user to do."""

    edits: tuple[FileEdit, ...]
    refused: tuple[Refusal, ...]
    steps: tuple[str, ...]
    recorder: str = ""
    """Who records what the client does: its hooks, or capture."""
    sessions: int = 0
    """How many sessions the client has written here that capture could take in."""


class Target(NamedTuple):
    """Where a project and its user are, and the clients that can be set up there."""

    workspace: Workspace
    session: str
    domain: str
    environ: Mapping[str, str]
    clients: Clients
    recorder: str = ""
    """Who is to record what they do; empty: the one that was chosen before, or serves each of them best."""
    shared: bool | None = None
    """Whether the project's files are for others too, without a path of this machine; None: as they are there, or for
    this machine."""

    def by_name(self, program: str) -> bool:
        """Whether a file in which a program starts Zaxy is to be for others too; empty for a new file."""
        return self.shared if self.shared is not None else program == BY_NAME

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
    clients: Clients, preset: str, *, named: tuple[str, ...], workspace: Workspace, environ: Mapping[str, str]
) -> tuple[DetectedClient, ...]:
    """Those that were named; where none was, those that are there."""
    presets = clients.presets
    if preset and preset not in (*presets, MINIMAL):
        advice = clients.how_to_get(preset) or f"Choose one of {', '.join((*presets, MINIMAL))}."
        raise InvalidRequest(f"there is no preset {preset!r:.40}", advice)
    for name in named:
        if name not in clients.names:
            raise no_such_client(clients, name, what="that is installed", known=clients.names)
    if preset or named:
        of_preset = (presets[preset],) if preset in presets else ()
        asked = dict.fromkeys((*of_preset, *named))
        return tuple(
            DetectedClient(name, f"by the preset {preset}" if name not in named else "named") for name in asked
        )
    return tuple(_detected(clients, workspace, environ))


def _detected(clients: Clients, workspace: Workspace, environ: Mapping[str, str]) -> Iterator[DetectedClient]:
    home = home_of(environ)
    for installed in clients.all():
        name = installed.name
        try:
            signs = installed.client.signs
        except ZaxyError:
            continue  # its package is broken, as the doctor says
        in_project = [sign for sign in signs.in_project if os.path.exists(os.path.join(workspace.root, sign))]
        at_home = [sign for sign in signs.at_home if home is not None and (home / sign).exists()]
        programs = [program for program in signs.programs if shutil.which(program, path=environ.get("PATH"))]
        if in_project:
            yield DetectedClient(name, f"{in_project[0]} is in the project")
        elif at_home:
            yield DetectedClient(name, f"~/{at_home[0]} is there")
        elif programs:
            yield DetectedClient(name, f"'{programs[0]}' is installed")


# What is written


def plan_client(name: str, target: Target) -> ClientPlan:
    """What init writes for a client."""
    try:
        installed = target.clients.get(name)
    except ZaxyError as error:
        return ClientPlan((), (Refusal("the client", error.message, error.remediation),), ())
    client, edits, refused, steps = installed.client, list[FileEdit](), list[Refusal](), list[str]()
    recorder = recorder_of(
        target.clients, installed, workspace=target.workspace, set_up=_has_capture(client), asked=target.recorder
    )
    try:
        edits.append(_server_edit(installed, target))
        steps += [client.next_step] if client.next_step else []
    except ZaxyError as error:
        refused.append(Refusal("the MCP server", error.message, error.remediation))
    if client.capture is not None and client.capture.file and recorder == CAPTURE:
        always = resume_command(target.workspace)
        edits.append(_capture_edit(name, client.capture, target))
        steps.append(f"{client.title} is captured while its server zaxy runs. At all times: {always}")
    if installed.hooks is not None:
        edits.append(_hooks_edit(installed, installed.hooks, target, moments=recorder == CAPTURE))
    sessions = target.clients.sources_of(client, target.workspace.root)
    return ClientPlan(tuple(edits), tuple(refused), tuple(steps), recorder, sessions)


def _has_capture(client: Client) -> bool:
    """Whether init sets up a watcher for it."""
    return client.capture is not None and bool(client.capture.file)


def server_of(target: Target, client: Client | None = None) -> ServerEntry:
    """The server as a client is to start it; without a client, as one in the project is."""
    if client is not None and serves_many_projects(client.scopes):
        return shared_entry()
    if client is None and target.shared:
        return entry_by_name()
    entry = project_entry(target.workspace, target.domain)
    return replace(entry, env={**entry.env, "EVENTLOOM_THREAD": target.session})


def server_in(path: Path, installed: InstalledClient, target: Target) -> ServerEntry:
    """The server as a file is to name it: by its name in a project's file that is for others too."""
    program = ""
    with suppress(ZaxyError):  # what is wrong with it is said when it is written
        there = installed.client.find(read_file(path).text, NAME)
        program = there.command if there else ""
    if target.root in path.parents and target.by_name(program):
        return entry_by_name(installed.project_variable)
    return server_of(target, installed.client)


def _server_edit(installed: InstalledClient, target: Target) -> FileEdit:
    name, client = installed.name, installed.client
    if not client.scopes:
        raise InvalidRequest(
            f"the configuration of {name} is printed, never written", f"Paste what it prints: zaxy ide-config {name}"
        )
    path = target_of(client, next(iter(client.scopes)), workspace=target.root, home=target.home, environ=target.environ)
    # What is ours is also the other form, and what was written where the project was before.
    entries = [server_in(path, installed, target), entry_by_name(installed.project_variable)]
    entries += [server_of(before, client) for before in (target, *_where_it_was(target))]
    variants: list[Variant] = [partial(_with_server, client, entry) for entry in entries]
    fix = f"zaxy ide-config {name} --install --force"
    other = Conflict(f"{path} has another server named {NAME}", f"To replace just that one: {fix}")
    install = partial(_unless_other, variants, other)
    inside = target.root if target.root in path.parents else None
    return FileEdit(path, Part("mcp", name), f"the MCP server in {path}", install, inside)


def _with_server(client: Client, entry: ServerEntry, text: str, force: bool) -> str:
    return client.install(text, entry, force)


def _where_it_was(target: Target) -> list[Target]:
    """The same where the project was before it was moved: files still name those places."""
    workspace = target.workspace
    before = (workspace._replace(eventloom=place) for place in workspace.places() if place != workspace.eventloom)
    return [target._replace(workspace=one) for one in before]


def _hooks_edit(installed: InstalledClient, hooks: ClientHooks, target: Target, *, moments: bool) -> FileEdit:
    """The hooks of a client; only those for `moments` where capture records the rest: it would be there twice."""
    path = target.root / hooks.files[0]
    program = ""
    with suppress(ZaxyError):
        program = next((handler.words[0] for handler in hooks.find(read_file(path).text)), "")
    shared = target.by_name(program)
    workspaces = [one.workspace for one in (target, *_where_it_was(target))]
    commands = [hook_command(target.workspace, installed.name, shared=form) for form in (shared, not shared)]
    commands += [hook_command(workspace, installed.name) for workspace in workspaces]
    fix = f"zaxy hooks {installed.name} --output {hooks.files[0]} --force"
    other = Conflict(f"{path} has other hooks of Zaxy", f"To replace just those: {fix}")
    variants: list[Variant] = [
        partial(_with_hooks, hooks, command, moments=which) for command in commands for which in (moments, not moments)
    ]
    install = partial(_unless_other, variants, other)
    return FileEdit(path, Part("hooks", installed.name), f"the hooks in {path}", install, target.root)


def _with_hooks(hooks: ClientHooks, command: HookCommand, text: str, force: bool, *, moments: bool) -> str:
    return hooks.install(text, command, force, moments)


def _unless_other(variants: Sequence[Variant], other: ZaxyError, text: str) -> str:
    """The text with what is wanted, the first of the variants; what is there is replaced only if it is one of them."""
    wanted = variants[0]
    try:
        return wanted(text, False)
    except ZaxyError as error:
        if error.code != "conflict":
            raise
    if text in [install(text, True) for install in variants]:
        return wanted(text, True)
    raise other


def _capture_edit(name: str, capture: ClientCapture, target: Target) -> FileEdit:
    path = target.root / capture.file
    whole = _kept_or(capture_config_text(capture.adapter))
    return FileEdit(path, Part("capture", name), f"the capture in {path}", whole, target.root)


def _kept_or(whole: str) -> Callable[[str], str]:
    """A file that is all ours; one that is there already is left as it is."""
    return lambda text: text or whole


# Taking it out again


def take_out(target: Target, part: Part, text: str) -> str:
    """A file's text without one part of ours."""
    if part.kind == "mcp":
        return target.clients.get(part.client).client.remove(text, NAME)
    hooks = target.clients.get(part.client).hooks if part.kind == "hooks" else None
    if hooks is not None:
        return hooks.remove(text)
    raise Conflict("it was changed since", "Delete it yourself if you do not need it.")


def why_not_ours_to_write(target: Target, path: Path, parts: Sequence[Part]) -> str:
    """Why a file is not one that init writes here, and "" if it is: what a record says is not trusted further."""
    if path in written_files(target):
        return ""
    for part in parts:
        if advice := target.clients.how_to_get(part.client):
            return f"{part.client} is not a client that is installed. {advice}"
    return "init does not write this file, so its record is not followed"


def written_files(target: Target) -> set[Path]:
    """Every file that init writes here for some client."""
    plans = [plan_client(name, target).edits for name in target.clients.names]
    captures = [client.client.capture for client in target.clients.all()]
    return {
        *(edit.path for edits in plans for edit in edits),
        *(target.root / capture.file for capture in captures if capture is not None and capture.file),
    }


def nobodys_target(workspace: Workspace, clients: Clients, environ: Mapping[str, str]) -> Target:
    """Where only the places of files are asked for, which depend on no session."""
    return Target(workspace, f"{NOBODY}-default", NOBODY, environ, clients)
