"""`zaxy init`: what is there is found, what would be written is planned as text, and only then is anything written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api.models import Event, ServerEntry
from zaxy.clients.editing import naming
from zaxy.clients.entries import NAME
from zaxy.clients.files import ConfigFile, read_file, write_file
from zaxy.clients.installed import open_clients
from zaxy.clients.recorders import hooks_are_gone, keep_recorder
from zaxy.errors import InvalidRequest, NotFound, ZaxyError
from zaxy.eventloom.opening import open_event_log
from zaxy.observe.recording import read_recording
from zaxy.owner.owner import clear_left_over, has_left_over, is_held
from zaxy.plugins.roster import InstalledPlugin, chosen_graph, install_advice, load_roster, owner_of, package_of
from zaxy.security.session_ids import check_session_id
from zaxy.settings import Settings
from zaxy.setup.genesis import Missing, WorkspaceFacts, missing_records, record
from zaxy.setup.init_clients import (
    ClientPlan,
    DetectedClient,
    FileEdit,
    Target,
    chosen_clients,
    nobodys_target,
    plan_client,
    server_of,
    take_out,
    why_not_ours_to_write,
    written_files,
)
from zaxy.setup.init_record import (
    Part,
    Record,
    SettingChange,
    bytes_of,
    change_of,
    kept_path,
    read_record,
    write_record,
)
from zaxy.setup.init_undo import REMOVED, Undone, undo
from zaxy.setup.left_overs import clear_left_overs, left_overs
from zaxy.setup.outside_record import is_outside, keep_outside, known_outside, outside_change
from zaxy.setup.server_trial import Trial, try_server
from zaxy.workspace import Workspace, named_domain

KILLED = "a write that was killed had left it"
QUESTION = "Which workspace is this?"
NO_CLIENT = "Set up a client: zaxy init --client NAME. 'zaxy ide-config --help' names those that are installed."
NOT_OWN = "This memory came from elsewhere, and is not believed: look at it, then run zaxy trust."


class PlannedFile(NamedTuple):
    """A file that is to be written, as it is and as it will be."""

    read: ConfigFile
    after: str
    parts: tuple[Part, ...]

    @property
    def path(self) -> Path:
        return self.read.path


class LeftAlone(NamedTuple):
    """What was asked for and cannot be done, and why; everything else is."""

    client: str
    what: str
    reason: str
    action: str


VECTORS = {"static": "vectors", "sentence": "sentence-transformers", "off": "none"}
"""The lanes that find by meaning, by what people call them."""


@dataclass(frozen=True)
class InitOptions:
    """What was asked for on the command line."""

    preset: str = ""
    clients: tuple[str, ...] = ()
    backend: str = ""
    domain: str = ""
    vectors: str = ""
    recorder: str = ""
    shared: bool | None = None
    """Whether the project's files are for others too; None where nobody has said."""


@dataclass(frozen=True)
class Plan:
    workspace: Workspace
    options: InitOptions
    session: str
    identity: WorkspaceFacts
    clients: tuple[DetectedClient, ...]
    settings: tuple[SettingChange, ...]
    files: tuple[PlannedFile, ...]
    unchanged: tuple[Path, ...]
    """Files that say already what they should."""
    left_alone: tuple[LeftAlone, ...]
    missing: Missing
    stale_owner: bool
    server: ServerEntry
    """The server as a client will start it."""
    next_steps: tuple[str, ...]
    recorders: dict[str, str]
    """Who records what a client does from now on, where that is new."""
    undecided: tuple[str, ...]
    """The project's files, by their names in it, of which nobody has said whether they are for others too."""

    @property
    def changes(self) -> bool:
        return bool(self.settings or self.files or self.missing.any or self.stale_owner or self.recorders)


@dataclass(frozen=True)
class Done:
    """What came of a plan."""

    files: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    trial: Trial | None = None
    failure: ZaxyError | None = None
    """Why the server did not answer."""
    left_alone: tuple[LeftAlone, ...] = field(default=())

    @property
    def ok(self) -> bool:
        return self.failure is None and not self.left_alone


def make_plan(workspace: Workspace, options: InitOptions, environ: Mapping[str, str] = os.environ) -> Plan:
    """What init would do. Nothing is written."""
    settings = _setting_changes(workspace, options)
    stored = workspace.stored_settings().changed({change.env: change.after for change in settings})
    domain = _domain(workspace, options) or f"ws-{_identity_so_far(workspace)[:8]}"
    session = check_session_id(Settings(stored=stored).eventloom_thread or f"{domain}-default")
    with open_clients(stored) as known:
        clients = chosen_clients(known, options.preset, named=options.clients, workspace=workspace, environ=environ)
        target = Target(workspace, session, domain, environ, known, options.recorder, options.shared)
        plans = [(found.name, plan_client(found.name, target)) for found in clients]
        files = _planned_files([(client, edit) for client, plan in plans for edit in plan.edits])
        server = server_of(target)
    refused = [LeftAlone(client, *refusal) for client, plan in plans for refusal in plan.refused]
    with closing(open_event_log(workspace)) as log:
        missing = missing_records(log, session, workspace.root)
    return Plan(
        workspace=workspace,
        options=options,
        session=session,
        identity=WorkspaceFacts(domain, chosen_graph(Settings(stored=stored))),
        clients=clients,
        settings=settings,
        files=files.changed,
        unchanged=files.unchanged,
        left_alone=(*refused, *files.left_alone),
        missing=missing,
        stale_owner=has_left_over(workspace) and not is_held(workspace),
        server=server,
        next_steps=_next_steps(workspace, plans),
        recorders=_new_recorders(workspace, plans, {left.client for left in files.left_alone}),
        undecided=() if options.shared is not None else _new_in_project(workspace.root, files.changed),
    )


def _new_in_project(root: str, files: Sequence[PlannedFile]) -> tuple[str, ...]:
    """The files of a project that name Zaxy's program from now on, and did not so far."""
    new = [file for file in files if NAME not in file.read.text and Path(root) in file.path.parents]
    naming_it = (file.path for file in new if any(part.kind in ("mcp", "hooks") for part in file.parts))
    return tuple(path.relative_to(root).as_posix() for path in naming_it)


def _new_recorders(
    workspace: Workspace, plans: Sequence[tuple[str, ClientPlan]], left_alone: Set[str]
) -> dict[str, str]:
    """Who records each client from now on, where that is new; a client whose files stay as they are stays so too."""
    recording = read_recording(workspace.eventloom)
    return {
        client: plan.recorder
        for client, plan in plans
        if plan.recorder and client not in left_alone and recording.recorder_now(client) != plan.recorder
    }


def _next_steps(workspace: Workspace, plans: Sequence[tuple[str, ClientPlan]]) -> tuple[str, ...]:
    steps = [step for _, plan in plans for step in plan.steps] if plans else [NO_CLIENT]
    first = [] if workspace.is_own else [NOT_OWN]
    before = ", ".join(f"{plan.sessions} of {client}" for client, plan in plans if plan.sessions)
    earlier = [f"Sessions from before are there ({before}). To take them in: zaxy capture once"] if before else []
    return (*first, *steps, *earlier)


def settled(plan: Plan, environ: Mapping[str, str] = os.environ) -> Plan:
    """The plan as it is carried out: a folder whose name gives no domain is named by its id, which is made now."""
    if _domain(plan.workspace, plan.options) or os.path.exists(plan.workspace.identity_file):
        return plan
    plan.workspace.identity()
    return make_plan(plan.workspace, plan.options, environ)


def _domain(workspace: Workspace, options: InitOptions) -> str:
    return named_domain(workspace, {"ZAXY_DOMAIN": options.domain} if options.domain else None)


def _identity_so_far(workspace: Workspace) -> str:
    """The workspace's id without making one: a plan writes nothing."""
    return workspace.identity() if os.path.exists(workspace.identity_file) else "0" * 32


def _setting_changes(workspace: Workspace, options: InitOptions) -> tuple[SettingChange, ...]:
    stored = workspace.stored_settings()
    wanted: dict[str, Any] = {}
    if options.backend:
        now = Settings(stored=stored)
        plugin = _backend_plugin(options.backend, now)
        if chosen_graph(now) != options.backend:
            embedded = plugin.manifest is None or "server" not in plugin.manifest.needs
            wanted["PROJECTION_BACKEND"] = None if embedded else options.backend
            if embedded:
                wanted["ZAXY_EMBEDDED_ENGINE"] = options.backend
    if options.vectors:
        wanted["ZAXY_LANES"] = _lane_named(options.vectors, Settings(stored=stored))
    if options.domain and named_domain(workspace) != _domain(workspace, options):
        wanted["ZAXY_DOMAIN"] = options.domain
    changes = (SettingChange(env, stored.kept(env), value) for env, value in wanted.items())
    return tuple(change for change in changes if change.before != change.after)


def _backend_plugin(backend: str, settings: Settings) -> InstalledPlugin:
    """The plugin that provides a graph store; one that needs a server is no engine of this process."""
    roster = load_roster(settings)
    owner = owner_of(roster, "projection_backends", backend)
    if owner is not None:
        return owner[0]
    if package_of(backend) or any(row.name == backend for row in roster.rows):
        raise NotFound(f"the graph store {backend} is not installed", install_advice(backend))
    raise InvalidRequest(
        f"there is no backend {backend!r:.40}", f"Choose one of {', '.join(installed_backends(settings))}."
    )


def _lane_named(vectors: str, settings: Settings) -> str:
    """The lane that a word on the command line means. It must be installed."""
    lane = VECTORS.get(vectors, vectors)
    roster = load_roster(settings)
    if lane == VECTORS["off"] or (owner_of(roster, "retrieval_lanes", lane) and lane != "verbatim"):
        return lane
    if package_of(lane):
        raise NotFound(f"the lane {lane} is not installed", install_advice(lane))
    raise InvalidRequest(f"there is no lane {vectors!r:.40}", f"Choose one of {', '.join(VECTORS)}.")


def installed_backends(settings: Settings) -> list[str]:
    rows = (row for row in load_roster(settings).rows if row.usable and row.manifest)
    provided = (one for row in rows if row.manifest for one in row.manifest.provides)
    return list(dict.fromkeys(one.name for one in provided if one.point == "projection_backends"))


class _Files(NamedTuple):
    changed: tuple[PlannedFile, ...]
    unchanged: tuple[Path, ...]
    left_alone: tuple[LeftAlone, ...]


def _planned_files(edits: Sequence[tuple[str, FileEdit]]) -> _Files:
    """What all edits together make of the files; one that cannot be made leaves the others as they are."""
    planned: dict[Path, PlannedFile] = {}
    left_alone = []
    for client, edit in edits:
        try:
            planned[edit.path] = _with_edit(planned.get(edit.path), edit)
        except ZaxyError as error:
            left_alone.append(LeftAlone(client, edit.what, naming(edit.path, error).message, error.remediation))
    changed = tuple(file for file in planned.values() if file.parts)
    unchanged = tuple(path for path, file in planned.items() if not file.parts)
    return _Files(changed, unchanged, tuple(left_alone))


def _with_edit(so_far: PlannedFile | None, edit: FileEdit) -> PlannedFile:
    if so_far is None:
        read = read_file(edit.path, edit.inside)
        so_far = PlannedFile(read if read.exists else ConfigFile(edit.path, None, edit.mode), read.text, ())
    after = edit.install(so_far.after)
    if after == so_far.after:
        return so_far
    return so_far._replace(after=after, parts=(*so_far.parts, edit.part))


# Writing


def carry_out(plan: Plan) -> Done:
    """Write what was planned: the log first, since without it nothing else is of use. Each change is recorded first."""
    workspace = plan.workspace
    events = _recorded(plan)
    workspace.keep_out_of_git()
    workspace.note_place()
    kept = read_record(workspace)
    for change in plan.settings:
        kept = kept._replace(settings=(*kept.settings, change))
        write_record(workspace, kept)
        workspace.store_setting(change.env, change.after)
    written, left_alone = list[str](), list(plan.left_alone)
    for file in plan.files:
        try:
            kept = _written(workspace, kept, file)
            written.append(str(file.path))
        except ZaxyError as error:
            write_record(workspace, kept)
            left_alone.append(LeftAlone("", str(file.path), error.message, error.remediation))
    if plan.stale_owner:
        clear_left_over(workspace)
    with open_clients(workspace.stored_settings()) as clients:
        for client, recorder in plan.recorders.items():
            keep_recorder(clients.get(client), workspace, recorder)
    trial, failure = try_plan(plan, plan.changes)
    return Done(tuple(written), events, trial, failure, tuple(left_alone))


def _recorded(plan: Plan) -> tuple[Event, ...]:
    if not plan.missing.any:
        return ()
    with closing(open_event_log(plan.workspace)) as log:
        made = record(log, plan.session, workspace=plan.workspace, missing=plan.missing, identity=plan.identity)
    return tuple(made)


def _written(workspace: Workspace, kept: Record, file: PlannedFile) -> Record:
    """Write one file and record it before: if the machine stops in between, undo finds the file as it was."""
    after = bytes_of(file.after)
    root = workspace.root
    folders = tuple(kept_path(folder, root) for folder in _missing_folders(file.path))
    change = change_of(kept_path(file.path, root), file.read.content, after=after, parts=file.parts, folders=folders)
    longer = kept._replace(files=(*kept.files, change))
    write_record(workspace, longer)
    if is_outside(change.path, root):
        keep_outside(workspace, [*known_outside(workspace), outside_change(change)])
    write_file(file.read, file.after, keep_backup=False)
    return longer


def _missing_folders(path: Path) -> list[Path]:
    """The folders that must be made for a file, the outermost first."""
    return [folder for folder in reversed(path.parents) if not folder.exists()]


def try_plan(plan: Plan, checkout: bool) -> tuple[Trial | None, ZaxyError | None]:
    """Start the server as the clients will; ask it for a checkout, or for what leaves no trace in the log."""
    server = plan.server
    tool, arguments = ("memory_checkout", {"query": QUESTION}) if checkout else ("memory_capabilities", {})
    try:
        command = (server.command, *server.args)
        return try_server(command, plan.workspace.root, env=server.env, tool=tool, arguments=arguments), None
    except ZaxyError as error:
        return None, error


def undo_init(workspace: Workspace, dry_run: bool = False, environ: Mapping[str, str] = os.environ) -> list[Undone]:
    """Take out what init has written in a workspace; the log stays."""
    with open_clients(workspace.stored_settings()) as clients:
        target = nobodys_target(workspace, clients, environ)
        find = left_overs if dry_run else clear_left_overs
        cleared = [Undone(path, REMOVED, KILLED) for path in find(workspace, written_files(target))]
        outcomes = undo(workspace, partial(take_out, target), partial(why_not_ours_to_write, target), dry_run)
        for client in clients.all() if outcomes and not dry_run else ():
            hooks_are_gone(clients, client, workspace)
        return [*cleared, *outcomes]
