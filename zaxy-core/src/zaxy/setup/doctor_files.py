"""What the doctor looks at around the log's files: whether git tracks them."""

from __future__ import annotations

import os
from shlex import quote

from zaxy.setup.doctor import OK, WARNING, DoctorCheck, DoctorContext, Finding
from zaxy.setup.git_index import tracks


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


CHECKS = (DoctorCheck("git", check_git),)
