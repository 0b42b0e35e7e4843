"""Which clients of a workspace have Zaxy's hooks, and whether those can work: found in their own files."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.clients import json_text
from zaxy.clients.files import read_file
from zaxy.clients.hook_clients import CLAUDE_CODE, CODEX, HOOK_CLIENTS, MOMENTS, HookClient
from zaxy.clients.hook_configs import Handler, handlers, invalid_reason
from zaxy.errors import ZaxyError
from zaxy.workspace import Workspace

INSTALLED, NOT_TRUSTED, NOT_INSTALLED = "installed", "not_trusted", "not_installed"
PARTLY, DISABLED, BROKEN, INVALID = "partly_installed", "disabled", "broken", "invalid"
TO_TRUST = "Start codex in this folder, open /hooks, and trust the hooks of .codex/hooks.json."


class Install(NamedTuple):
    client: str
    status: str
    file: str
    """Empty if no file has hooks of ours."""
    message: str
    action: str = ""

    @property
    def ok(self) -> bool:
        return self.status in (INSTALLED, NOT_INSTALLED)

    def as_dict(self) -> dict[str, Any]:
        return {
            "client": self.client,
            "installed": self.status not in (NOT_INSTALLED, INVALID),
            "status": self.status,
            "file": self.file or None,
            "message": self.message,
            "action": self.action,
        }


def hook_installs(workspace: Workspace, environ: Mapping[str, str] | None = None) -> list[Install]:
    """One row for each client that has hooks."""
    return [hook_install(client, workspace, environ) for client in HOOK_CLIENTS.values()]


def hook_install(client: HookClient, workspace: Workspace, environ: Mapping[str, str] | None = None) -> Install:
    """What the files of a client say. The first that holds hooks of ours, or cannot be read, is told of."""
    environ = os.environ if environ is None else environ
    off = False
    found: Install | None = None
    for name in client.files:
        path = Path(workspace.root, name)
        try:
            text = read_file(path).text
            reason, ours = invalid_reason(text, client), handlers(text, client)
        except ZaxyError as error:
            reason, ours, text = error.message, [], ""
        if reason and found is None:
            mend = f"Mend {name}; it is left as it is."
            found = Install(client.name, INVALID, name, f"{client.name} cannot use {name}: {reason}", mend)
        elif ours and (found is None or found.status == INVALID):
            found = _judged(client, name, path, ours, workspace, environ)
        off = off or (client is CLAUDE_CODE and _hooks_are_off(text))
    if found is None:
        install = f"zaxy hooks {client.name} --output {client.files[0]}"
        return Install(client.name, NOT_INSTALLED, "", "no hooks of Zaxy's", install)
    if off and found.status != INVALID:
        return found._replace(
            status=DISABLED,
            message="installed, but disableAllHooks turns every hook off",
            action="Take disableAllHooks out of the settings.",
        )
    return found


def _judged(
    client: HookClient, name: str, path: Path, ours: Sequence[Handler], workspace: Workspace, environ: Mapping[str, str]
) -> Install:
    again = f"zaxy hooks {client.name} --output {name} --force"
    broken = next((reason for handler in ours if (reason := _broken(handler, workspace))), "")
    if broken:
        return Install(client.name, BROKEN, name, broken, again)
    # A watcher makes the observations needless, so only the moments must be there.
    missing = {each.trigger for each in client.observed} & MOMENTS - {handler.trigger for handler in ours}
    if missing:
        return Install(client.name, PARTLY, name, f"no handler for {', '.join(sorted(missing))}", again)
    trusted = [handler for handler in ours if client is not CODEX or _is_trusted(handler, path, environ)]
    if len(trusted) < len(ours):
        count = f"{len(ours) - len(trusted)} of {len(ours)} hooks"
        return Install(client.name, NOT_TRUSTED, name, f"installed, not yet trusted: Codex skips {count}", TO_TRUST)
    return Install(client.name, INSTALLED, name, f"{len(ours)} handlers")


def _broken(handler: Handler, workspace: Workspace) -> str:
    """Why a handler records nothing, or into another log than this workspace's; empty if it does neither."""
    program = handler.words[0]
    if shutil.which(program) is None:
        return f"{program} is not there any more"
    log = handler.option("--eventloom-path")
    if log and os.path.realpath(os.path.join(workspace.root, log)) != os.path.realpath(workspace.eventloom):
        return f"they record into another log, {log}"
    return ""


def _hooks_are_off(text: str) -> bool:
    return bool(text) and json_text.value_at(text, ["disableAllHooks"]) is True


def _is_trusted(handler: Handler, path: Path, environ: Mapping[str, str]) -> bool:
    """Whether Codex has a note that the user trusts it. That the note is of the same command only Codex can tell."""
    event = re.sub(r"(?<!^)(?=[A-Z])", "_", handler.event).lower()
    group, number = handler.place
    states = _codex_states(environ)
    for file in {os.path.abspath(path), os.path.realpath(path)}:
        state = states.get(f"{file}:{event}:{group}:{number}")
        if isinstance(state, dict) and state.get("trusted_hash") and state.get("enabled") is not False:
            return True
    return False


def _codex_states(environ: Mapping[str, str]) -> dict[str, Any]:
    home = environ.get("CODEX_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".codex")
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            states = tomllib.load(file).get("hooks", {})
    except (OSError, ValueError):
        return {}
    state = states.get("state") if isinstance(states, dict) else None
    return state if isinstance(state, dict) else {}
