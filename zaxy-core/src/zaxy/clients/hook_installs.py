"""Which clients of a workspace have Zaxy's hooks, and whether those can work: found in their own files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api.client_hooks import MOMENTS, HookHandler
from zaxy.api.points import ClientHooks
from zaxy.clients.entries import BY_NAME
from zaxy.clients.files import read_file
from zaxy.clients.installed import Clients, InstalledClient
from zaxy.errors import ZaxyError
from zaxy.workspace import Workspace

INSTALLED, NOT_TRUSTED, NOT_INSTALLED = "installed", "not_trusted", "not_installed"
PARTLY, DISABLED, BROKEN, INVALID = "partly_installed", "disabled", "broken", "invalid"


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


def hook_installs(clients: Clients, workspace: Workspace, environ: Mapping[str, str] | None = None) -> list[Install]:
    """One row for each client that has hooks."""
    installs = []
    for client, hooks in clients.with_hooks():
        try:
            installs.append(hook_install(client, hooks, workspace, environ))
        except ZaxyError as error:  # its package is broken, which is no reason to say nothing of the others
            installs.append(Install(client.name, INVALID, "", error.message, error.remediation))
    return installs


def hook_install(
    client: InstalledClient, hooks: ClientHooks, workspace: Workspace, environ: Mapping[str, str] | None = None
) -> Install:
    """What the files of a client say. The first that holds hooks of ours, or cannot be read, is reported."""
    environ = os.environ if environ is None else environ
    switch, found = "", None
    for file in hooks.files:
        try:
            text = read_file(Path(workspace.root, file)).text
            reason, ours = hooks.invalid_reason(text), hooks.find(text)
            switch = switch or hooks.off_switch(text)
        except ZaxyError as error:
            reason, ours = error.message, []
        if reason and found is None:
            fix = f"Fix {file}; it is left as it is."
            found = Install(client.name, INVALID, file, f"{client.name} cannot use {file}: {reason}", fix)
        elif ours and (found is None or found.status == INVALID):
            found = _judged(client, hooks, file, ours, workspace=workspace, environ=environ)
    if found is None:
        install = f"zaxy hooks {client.name} --output {hooks.files[0]}"
        return Install(client.name, NOT_INSTALLED, "", "no hooks of Zaxy's", install)
    if switch and found.status != INVALID:
        return found._replace(
            status=DISABLED,
            message=f"installed, but {switch} turns every hook off",
            action=f"Take {switch} out of the settings.",
        )
    return found


def _judged(
    client: InstalledClient,
    hooks: ClientHooks,
    file: str,
    ours: Sequence[HookHandler],
    *,
    workspace: Workspace,
    environ: Mapping[str, str],
) -> Install:
    shared = " --shared" if any(handler.words[0] == BY_NAME for handler in ours) else ""
    again = f"zaxy hooks {client.name} --output {file} --force{shared}"
    broken = next((reason for handler in ours if (reason := _broken(handler, workspace))), "")
    if broken:
        return Install(client.name, BROKEN, file, broken, again)
    # A watcher makes the observations needless, so only the moments must be there.
    missing = set(hooks.triggers) & MOMENTS - {handler.trigger for handler in ours}
    if missing:
        return Install(client.name, PARTLY, file, f"no handler for {', '.join(sorted(missing))}", again)
    path = Path(workspace.root, file)
    skipped = [handler for handler in ours if not hooks.is_trusted(handler, path, environ)]
    if skipped:
        reasons = ", ".join(dict.fromkeys(_skip_reason(hooks, handler, path, environ) for handler in skipped))
        message = f"installed, {reasons}: {client.client.title} skips {len(skipped)} of {len(ours)} hooks"
        return Install(client.name, NOT_TRUSTED, file, message, hooks.trust)
    return Install(client.name, INSTALLED, file, f"{len(ours)} handlers")


def _skip_reason(hooks: ClientHooks, handler: HookHandler, path: Path, environ: Mapping[str, str]) -> str:
    """Why a client skips it. Hooks that are no `JsonHooks` cannot say."""
    try:
        reason = hooks.skip_reason(handler, path, environ)  # type: ignore[attr-defined]
    except (AttributeError, ZaxyError):
        reason = ""
    return reason or "not yet trusted"


def _broken(handler: HookHandler, workspace: Workspace) -> str:
    """Why a handler records nothing, or into another log than this workspace's; empty if it does neither."""
    program = handler.words[0]
    if shutil.which(program) is None:
        return f"{program} is not there any more"
    log = handler.option("--eventloom-path")
    if log and not os.path.exists(log) and workspace.was_at(log):
        return ""
    if log and os.path.realpath(os.path.join(workspace.root, log)) != os.path.realpath(workspace.eventloom):
        return f"they record into another log, {log}"
    return ""
