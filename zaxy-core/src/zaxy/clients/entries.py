"""The entry that starts Zaxy's server, as a client's configuration names it."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from zaxy.api.models import ServerEntry
from zaxy.errors import InvalidRequest, Unavailable
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import Workspace, default_session, domain_of

NAME = "zaxy"
BY_NAME = "zaxy"
"""The program in a file that others use too: on each machine, what is found there under this name."""
SESSION_HEADER = "x-zaxy-session-id"


def serves_many_projects(scopes: Sequence[str]) -> bool:
    """Whether a client keeps servers for all projects: such a configuration names none of them.

    `zaxy serve` then finds the log, the graph and the session from the folder in which the client starts it.
    """
    return "user" in scopes


def shared_entry(url: str = "") -> ServerEntry:
    """The entry of a configuration that serves many projects."""
    return ServerEntry(NAME, url=checked_url(url)) if url else _local({})


def entry_by_name(project_variable: str = "") -> ServerEntry:
    """The entry of a file that works on every machine: no path of this one is in it. The server finds the project from
    the folder that it is started in, or by the variable that a client replaces with it."""
    place = ("--workspace", project_variable) if project_variable else ()
    return ServerEntry(NAME, command=BY_NAME, args=("serve", *place))


def project_entry(workspace: Workspace, domain: str = "", url: str = "") -> ServerEntry:
    """The entry of a configuration that belongs to one project."""
    domain_name = domain_of(workspace, {**os.environ, "ZAXY_DOMAIN": domain} if domain else None)
    session = check_session_id(f"{domain_name}-default" if domain else default_session(workspace))
    if url:
        return ServerEntry(NAME, url=checked_url(url), headers={SESSION_HEADER: session})
    return _local(
        {
            "EVENTLOOM_PATH": workspace.eventloom,
            "EVENTLOOM_THREAD": session,
            "ZAXY_DOMAIN": domain_name,
        }
    )


def _local(env: dict[str, str]) -> ServerEntry:
    command, *arguments = command_line()
    return ServerEntry(NAME, command=command, args=(*arguments, "serve"), env=env)


def command_line() -> tuple[str, ...]:
    """How this Zaxy is started, by an absolute path: programs with a window have another PATH than a shell."""
    name = "zaxy.exe" if os.name == "nt" else "zaxy"
    for folder in _script_folders():
        script = os.path.join(folder, name)
        if os.path.isfile(script) and os.access(script, os.X_OK):
            return (os.path.abspath(script),)
    if not sys.executable:
        raise Unavailable("the path of this Python is not known", "Run the installed 'zaxy' command.")
    # -P: clients start it in the project's folder, whose files must not be imported.
    return (os.path.abspath(sys.executable), "-P", "-m", "zaxy")


def _script_folders() -> list[str]:
    """Where the console script of this Python's packages can be, nearest first. Links are not followed: a virtual
    environment's Python is a link to one outside it."""
    beside = [os.path.dirname(sys.executable)] if sys.executable else []
    return [
        *beside,
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
    ]


def checked_url(url: str) -> str:
    """The address of a remote server, refused if it carries what could be a secret."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or not url.isprintable() or " " in url:
        raise InvalidRequest("that is not the URL of a server", "Give one like https://host/mcp.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidRequest(
            "the URL has a name, a password or a query in it, which a configuration file would give away",
            "Give the bare address, like https://host/mcp; secrets belong into the environment.",
        )
    return url


def home_folder(environ: Mapping[str, str]) -> Path | None:
    """The user's home folder, if it is known."""
    named = environ.get("HOME") or environ.get("USERPROFILE")
    if named:
        return Path(os.path.abspath(named))
    try:
        return Path.home()
    except RuntimeError:
        return None
