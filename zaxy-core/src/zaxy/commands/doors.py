"""The doors to memory that every command is given: the whole of it, the log alone, and one append.

Each imports what it needs when it is used: a hot command uses one of them.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

from zaxy.api.command_line import CommandCall
from zaxy.errors import NotFound
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import default_session, find_workspace, stored_settings_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from zaxy.api.access import MemoryAccess
    from zaxy.api.log_access import LogAccess
    from zaxy.workspace import Workspace


def call_of(words: str, arguments: Sequence[str], *, summary: str, package: str = "") -> CommandCall:
    """The call of a command. `package`: whose it is; empty for one of the core."""
    doors = (partial(_opened_memory, package), summary, _opened_log, partial(_append, package))
    return CommandCall(words, tuple(arguments), *doors)


@contextmanager
def _opened_memory(
    package: str,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    *,
    session_id: str | None = None,
    recorded: bool = False,
) -> Iterator[MemoryAccess]:
    """A read waits until the followers have caught up, and shows it."""
    from zaxy.access import access_to
    from zaxy.owner.client import memory_of
    from zaxy.plugins.guard import keep_stdout
    from zaxy.printing import progress_of
    from zaxy.rights import Permission

    keep_stdout()
    with memory_of(find_workspace(workspace, eventloom_path), progress_of("following")) as memory:
        if recorded:
            session = existing_session(session_id, memory.workspace, memory.sessions())
        else:
            session = session_of(session_id, memory.workspace)
        yield access_to(memory, Permission(session=session), package=package)


def _opened_log(
    workspace: str | None = None,
    eventloom_path: str | None = None,
    *,
    session_id: str | None = None,
    recorded: bool = False,
    file: str = "",
) -> LogAccess:
    from zaxy.commands.log_of_command import LogOfCommand, log_in_file
    from zaxy.eventloom.opening import open_event_log
    from zaxy.plugins.guard import keep_stdout

    keep_stdout()
    if file:
        # A file has no settings of its own: those of the workspace that was named count, or of this folder.
        named = find_workspace(workspace, eventloom_path) if workspace or eventloom_path else None
        return log_in_file(file, named.stored_settings if named else stored_settings_here)
    found = find_workspace(workspace, eventloom_path)
    log = open_event_log(found)
    session = existing_session(session_id, found, log.sessions()) if recorded else ""
    meant = lambda: session or session_of(session_id, found)  # noqa: E731
    return LogOfCommand(log, found.stored_settings, meant, folder=found.root, workspace=found)


def _append(
    package: str,
    event_type: str,
    payload: object,
    *,
    actor: str = "assistant",
    workspace: str | None = None,
    eventloom_path: str | None = None,
    session_id: str | None = None,
    **details: Any,
) -> dict[str, Any]:
    from zaxy.commands.quick_append import quick_append
    from zaxy.observe.recording import read_recording, to_the_second
    from zaxy.printing import say

    found = find_workspace(workspace, eventloom_path)
    session_of(session_id, found)
    said: dict[str, Any] = {"event_type": event_type, "actor": actor, "payload": payload, **details}
    reply = quick_append(found, partial(session_of, session_id), package=package, **said)
    if since := read_recording(found.eventloom).paused_since:
        pause = f"recording is paused since {to_the_second(since)}"
        say(f"{pause}; what you append yourself is recorded all the same", err=True)
    return reply


def existing_session(named: str | None, workspace: Workspace, known: Sequence[str]) -> str:
    """The session that is meant, which must be among those that have a log."""
    session = session_of(named, workspace)
    if session in known:
        return session
    if not known:
        raise NotFound(
            f"nothing is recorded in {workspace.root} yet",
            'Record something: zaxy remember "The demo is on the 14th"',
        )
    there = ", ".join(known[:8])
    raise NotFound(f"there is no session {session} (there are: {there})", "'zaxy sessions' lists them.")


def session_of(named: str | None, workspace: Workspace) -> str:
    return check_session_id(named if named is not None else default_session(workspace))
