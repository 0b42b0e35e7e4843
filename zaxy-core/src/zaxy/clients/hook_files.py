"""Putting hooks into a client's file and taking them out: whole or not at all, with a backup of what was there."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api.client_hooks import MOMENTS, HookCommand
from zaxy.api.points import ClientHooks
from zaxy.clients.editing import EditedFile, install_text, read_within, remove_text
from zaxy.clients.entries import BY_NAME, command_line
from zaxy.clients.files import read_file, write_file
from zaxy.clients.installed import Clients, InstalledClient, no_such_client, open_clients
from zaxy.clients.recorders import hooks_are_gone, keep_recorder, recorder_of
from zaxy.errors import Conflict, InvalidRequest
from zaxy.observe.recording import CAPTURE, HOOKS, choose_recorder
from zaxy.security.paths import make_folder_for
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import Workspace

GENERIC = "generic"
"""Stands for a client that no provider describes: it gets a script."""


class Hooked(NamedTuple):
    """What `zaxy hooks` did."""

    client: str
    text: str
    """The configuration, if it was to be printed."""
    files: tuple[EditedFile, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        files = [
            {"path": str(file.path), "changed": file.changed, "backup": str(file.backup) if file.backup else None}
            for file in self.files
        ]
        return {"client": self.client, "config": self.text or None, "files": files, "notes": list(self.notes)}


class HookOptions(NamedTuple):
    """What `zaxy hooks` was asked for."""

    output: Path | None = None
    remove: bool = False
    force: bool = False
    domain: str = ""
    recorder: str = ""
    """Who is to record what the client does; empty: the one that was chosen before, or serves it best."""
    shared: bool = False
    """Whether the file is for others too: without a path of this machine."""


def hooks_of(name: str, workspace: Workspace, options: HookOptions) -> Hooked:
    """Print, write or take out the hooks of a client."""
    if name == GENERIC:
        return _script(workspace, options)
    with open_clients(workspace.stored_settings()) as clients:
        client, hooks = client_with_hooks(clients, name)
        if options.remove:
            removed = _removed(client, hooks, workspace, options.output)
            hooks_are_gone(clients, client, workspace)
            return removed
        recorder = recorder_of(clients, client, workspace=workspace, asked=options.recorder)
        moments = recorder == CAPTURE
        note = _says(name, recorder)
        command = hook_command(workspace, name, options.domain, shared=options.shared)
        if options.output is None:
            return Hooked(name, hooks.install("", command, False, moments), (), (note,) if moments else ())
        path = options.output.absolute()
        workspace.note_place()
        make_folder_for(str(path))
        file = install_text(
            path, lambda text: hooks.install(text, command, options.force, moments), Path(workspace.root)
        )
        keep_recorder(client, workspace, recorder)
        trust = hooks.trust
        runs = f"{client.client.title} runs them once they are trusted: {trust[:1].lower()}{trust[1:]}"
        return Hooked(name, "", (file,), (*_outcomes([file]), note, *((runs,) if trust else ())))


def client_with_hooks(clients: Clients, name: str) -> tuple[InstalledClient, ClientHooks]:
    client = clients.get(name) if name in clients.names else None
    if client is None or client.hooks is None:
        known = [one.name for one, _ in clients.with_hooks()]
        raise no_such_client(clients, name, what="with hooks that Zaxy knows", known=[*known, GENERIC])
    return client, client.hooks


def _removed(client: InstalledClient, hooks: ClientHooks, workspace: Workspace, output: Path | None) -> Hooked:
    """Without a file, from all of the project's own that the client reads."""
    root = Path(workspace.root)
    paths = [output.absolute()] if output else [root / name for name in hooks.files]
    files = tuple(remove_text(path, hooks.remove, root) for path in paths)
    return Hooked(client.name, "", files, _outcomes(files) or ("there were no hooks of Zaxy's",))


def _outcomes(files: Sequence[EditedFile]) -> tuple[str, ...]:
    return tuple(f"{'removed' if file.after is None else 'wrote'} {file.path}" for file in files if file.changed)


def _says(client: str, recorder: str) -> str:
    if recorder == CAPTURE:
        return "Only moments are hooked: capture records commands, edits, tools and turns. See 'zaxy capture --help'."
    return f"These hooks record what {client} does, and what is said, prompts included; capture leaves that out."


def hook_command(workspace: Workspace, source: str, domain: str = "", *, shared: bool = False) -> HookCommand:
    """What the hooks of a workspace run. A domain names the session; without one each hook finds it by itself.

    `shared`: the file is for others too, and has no path of this machine.
    """
    session = check_session_id(f"{domain}-default") if domain else ""
    if shared:
        return HookCommand((BY_NAME,), source, "", session)
    return HookCommand(command_line(), source, workspace.eventloom, session)


def renew_hooks(client: InstalledClient, path: Path, workspace: Workspace) -> EditedFile:
    """Write the hooks that are there again, for where Zaxy and the log are now; what they record, and where, stays."""
    hooks = client.hooks
    assert hooks is not None
    ours = hooks.find(read_within(path, None).text)
    session = next((named for handler in ours if (named := handler.option("--session-id"))), "")
    moments = all(handler.trigger in MOMENTS for handler in ours)
    shared = any(handler.words[0] == BY_NAME for handler in ours)
    command = replace(hook_command(workspace, client.name, shared=shared), session=session)
    workspace.note_place()
    return install_text(path, lambda text: hooks.install(text, command, True, moments))


# The script for any other client


def _script(workspace: Workspace, options: HookOptions) -> Hooked:
    if options.remove:
        raise InvalidRequest("the script is a file of its own", "Delete it.")
    if options.shared:
        raise InvalidRequest("the script is for this machine", "Leave --shared out.")
    script = shell_script(hook_command(workspace, GENERIC, options.domain))
    files = () if options.output is None else (_write_script(options.output.absolute(), script, options.force),)
    if files:
        choose_recorder(workspace.eventloom, GENERIC, HOOKS)
    return Hooked(GENERIC, "" if files else script, files, _outcomes(files))


def _write_script(path: Path, text: str, force: bool) -> EditedFile:
    """Write a whole file of ours; one that is there is left alone unless it is to be replaced."""
    read = read_file(path)
    if read.exists and read.content != text.encode("utf-8") and not force:
        raise Conflict(f"{path} is there already", "Name another file, or pass --force to replace it.")
    make_folder_for(str(path))
    return EditedFile(path, read.content, text.encode("utf-8"), write_file(read, text))


def shell_script(command: HookCommand) -> str:
    """A script for any client that runs commands: it takes a trigger and the options of `zaxy hook-event`."""
    program = shlex.join(command.program)
    session = ("--session-id", command.session) if command.session else ()
    fixed = shlex.join(("--source", command.source, "--eventloom-path", command.eventloom, *session))
    return f"""#!/bin/sh
# Records what an agent's client does in Zaxy's log. Let the client run it at its own events, for example:
#   sh zaxy-hooks.sh session-start
#   sh zaxy-hooks.sh user-prompt-submit --prompt "$PROMPT"
#   sh zaxy-hooks.sh command --command "$COMMAND" --exit-code "$STATUS" --stdout "$OUTPUT"
#   sh zaxy-hooks.sh file-edit --path "$FILE" --operation modified
#   sh zaxy-hooks.sh tool-call --tool-name "$TOOL" --tool-status ok --arguments-json "$ARGUMENTS"
#   sh zaxy-hooks.sh transcript-turn --role assistant --content "$TEXT" --turn-index "$TURN"
#   sh zaxy-hooks.sh precompact
#   sh zaxy-hooks.sh stop --turn-count "$TURN"
# A client that writes JSON on standard input needs only the trigger and --stdin-json.
# It prints nothing and exits with 0, also if Zaxy is gone.
[ -x {shlex.quote(command.program[0])} ] || exit 0
exec {program} hook-event {fixed} "$@"
"""
