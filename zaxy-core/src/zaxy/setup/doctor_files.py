"""What the doctor looks at around our files: whether git tracks the log, and what killed writes have left."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

from zaxy.api.health import OK, WARNING, Finding
from zaxy.clients.installed import open_clients
from zaxy.security.git_index import tracks
from zaxy.setup.doctor import FIX, DoctorCheck, DoctorContext
from zaxy.setup.init_clients import nobodys_target, written_files
from zaxy.setup.left_overs import clear_left_overs, left_overs


def check_git(context: DoctorContext) -> list[Finding]:
    """A log in a repository goes wherever that goes, and changing the branch changes it under its writers."""
    if not tracks(context.workspace.root, context.eventloom):
        return [Finding("git", OK, "git does not track the log")]
    message = (
        "the log is tracked by git: everybody who gets the repository gets your memory, and a change of branch or a "
        "pull replaces the log while it is in use"
    )
    folder = os.path.relpath(context.eventloom, context.workspace.root)
    ignored = f"{folder}/".replace(os.sep, "/")
    commands = f"git rm -r --cached {quote(folder)} && echo {quote(ignored)} >> .gitignore"
    after = "then commit. The files stay, and so does what earlier commits hold."
    action = f"In {quote(context.workspace.root)}: {commands}; {after}"
    return [Finding("git", WARNING, message, action)]


def check_left_overs(context: DoctorContext) -> list[Finding]:
    found = left_overs(context.workspace, _written(context))
    if not found:
        return [Finding("left_overs", OK, "no write was killed half way")]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return [Finding("left_overs", WARNING, f"a write that was killed left {found[0]}{more}", FIX)]


def fix_left_overs(context: DoctorContext) -> None:
    clear_left_overs(context.workspace, _written(context))


def _written(context: DoctorContext) -> set[Path]:
    with open_clients(context.workspace.stored_settings()) as clients:
        return written_files(nobodys_target(context.workspace, clients, context.environ))


CHECKS = (DoctorCheck("git", check_git), DoctorCheck("left_overs", check_left_overs, fix_left_overs))
