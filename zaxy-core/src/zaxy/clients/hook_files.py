"""Putting hooks into a client's file and taking them out: whole or not at all, with a backup of what was there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.clients.entries import command_line
from zaxy.clients.files import ConfigFile, delete_file, drop_backup, drop_empty_folders, read_file, write_file
from zaxy.clients.hook_clients import CODEX, GENERIC, MOMENTS, HookClient, HookCommand, hook_client
from zaxy.clients.hook_configs import handlers, shell_script, with_hooks, without_hooks
from zaxy.clients.installing import Change
from zaxy.errors import Conflict, InvalidRequest, ZaxyError, error_of
from zaxy.observe.capture_config import CAPTURE_FILE
from zaxy.plugins.roster import load_roster, owner_of
from zaxy.security.session_ids import check_session_id
from zaxy.settings import Settings
from zaxy.workspace import Workspace

TRUST = "Codex runs them once they are trusted: start codex in this folder, open /hooks, and trust them."
WATCHED = f"{CAPTURE_FILE} is there, so only moments are hooked: the watcher records commands, edits, tools and turns."


class Hooked(NamedTuple):
    """What `zaxy hooks` did."""

    client: str
    text: str
    """The configuration, if it was to be printed."""
    changes: tuple[Change, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        files = [
            {
                "path": str(change.path),
                "changed": change.changed,
                "backup": str(change.backup) if change.backup else None,
            }
            for change in self.changes
        ]
        return {"client": self.client, "config": self.text or None, "files": files, "notes": list(self.notes)}


def hooks_of(name: str, workspace: Workspace, output: Path | None, remove: bool, force: bool, domain: str) -> Hooked:
    """Print, write or take out the hooks of a client, as the command of that name is told to."""
    if remove and name == GENERIC:
        raise InvalidRequest("the script is a file of its own", "Delete it.")
    if remove:
        return _taken_out(hook_client(name), workspace, output)
    command = hook_command(workspace, domain)
    if name == GENERIC:
        script = shell_script(command)
        changes = () if output is None else (write_script(output.absolute(), script, force),)
        return Hooked(name, "" if output else script, changes, _told(changes))
    client = hook_client(name)
    moments = watcher_records(client, workspace)
    notes = (WATCHED,) if moments else ()
    if output is None:
        return Hooked(name, with_hooks("", client, command, moments=moments), (), notes)
    changes = (install_hooks(client, output.absolute(), command, force, moments, Path(workspace.root)),)
    return Hooked(name, "", changes, (*_told(changes), *notes, *((TRUST,) if client is CODEX else ())))


def _taken_out(client: HookClient, workspace: Workspace, output: Path | None) -> Hooked:
    """Without a file, from all of the project's own that the client reads."""
    root = Path(workspace.root)
    paths = [output.absolute()] if output else [root / name for name in client.files]
    changes = tuple(remove_hooks(client, path, root) for path in paths)
    if not any(change.changed for change in changes):
        return Hooked(client.name, "", changes, ("there were no hooks of Zaxy's",))
    return Hooked(client.name, "", changes, _told(changes))


def _told(changes: Sequence[Change]) -> tuple[str, ...]:
    return tuple(
        f"{'removed' if change.after is None else 'wrote'} {change.path}" for change in changes if change.changed
    )


def watcher_records(client: HookClient, workspace: Workspace) -> bool:
    """Whether a watcher is configured that reads this client's own files: hooks would record it a second time."""
    if not os.path.exists(os.path.join(workspace.root, CAPTURE_FILE)):
        return False
    settings = Settings(stored=workspace.stored_settings()).lenient()
    return owner_of(load_roster(settings), "capture_adapters", client.name) is not None


def hook_command(workspace: Workspace, domain: str = "") -> HookCommand:
    """What the hooks of a workspace run. A domain names the session; without one each hook finds it by itself."""
    session = check_session_id(f"{domain}-default") if domain else ""
    return HookCommand(command_line(), workspace.eventloom, session)


def hooks_file(client: HookClient, root: str) -> Path:
    """The file of a project that Zaxy writes a client's hooks to."""
    return Path(root, client.files[0])


def install_hooks(
    client: HookClient,
    path: Path,
    command: HookCommand,
    force: bool = False,
    moments: bool = False,
    inside: Path | None = None,
) -> Change:
    """Put the hooks into the file. `moments`: only those that a capture watcher does not make needless."""
    read = _read(path, inside)
    change = _planned(read, lambda text: with_hooks(text, client, command, force, moments))
    if change.after is None or not change.changed:
        return change
    return Change(path, change.before, change.after, write_file(read, change.after.decode("utf-8")))


def renew_hooks(client: HookClient, path: Path, workspace: Workspace, inside: Path | None = None) -> Change:
    """Write the hooks that are there anew, for where Zaxy and the log are now; what they record, and where, stays."""
    ours = handlers(_read(path, inside).text, client)
    session = next((named for handler in ours if (named := handler.option("--session-id"))), "")
    moments = all(handler.trigger in MOMENTS for handler in ours)
    command = hook_command(workspace)._replace(session=session)
    return install_hooks(client, path, command, force=True, moments=moments, inside=inside)


def remove_hooks(client: HookClient, path: Path, inside: Path | None = None) -> Change:
    """Take the hooks out of the file; one that held nothing else goes, and the folders that then are empty."""
    read = _read(path, inside)
    if not read.exists:
        return Change(path, None, None)
    change = _planned(read, lambda text: without_hooks(text, client))
    if not change.changed:
        return change
    if change.after:
        write_file(read, change.after.decode("utf-8"), keep_backup=False)
        drop_backup(read, change.after)
        return change
    delete_file(read)
    if inside is not None and inside in path.parents:
        drop_empty_folders(path, inside)
    return Change(path, change.before, None)


def write_script(path: Path, text: str, force: bool = False) -> Change:
    """Write a whole file of ours; one that is there is left alone unless it is to be replaced."""
    read = read_file(path)
    if read.exists and read.content != text.encode("utf-8") and not force:
        raise Conflict(f"{path} is there already", "Name another file, or pass --force to replace it.")
    return Change(path, read.content, text.encode("utf-8"), write_file(read, text))


def _read(path: Path, inside: Path | None) -> ConfigFile:
    return read_file(path, inside if inside is not None and inside in path.parents else None)


def _planned(read: ConfigFile, edit: Callable[[str], str]) -> Change:
    try:
        return Change(read.path, read.content, edit(read.text).encode("utf-8"))
    except ZaxyError as error:
        if str(read.path) in error.message:
            raise
        raise error_of(error.code, f"{read.path}: {error.message}", error.remediation) from None
