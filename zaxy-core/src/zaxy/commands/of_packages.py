"""Runs a command that a package brings: its code is imported here, and nowhere before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from zaxy.api.command_line import CommandCall
from zaxy.commands.events import existing_session, open_memory, session_of
from zaxy.errors import InternalError, ZaxyError
from zaxy.plugins.guard import describe, keep_stdout
from zaxy.plugins.host import PluginHost
from zaxy.plugins.manifest import COMMANDS_POINT
from zaxy.workspace import find_workspace

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess
    from zaxy.plugins.commands import PackageCommand


def run(command: PackageCommand, arguments: Sequence[str]) -> int:
    """The exit code of the command. It runs in the main thread, as long as it takes; a defect names its package."""
    keep_stdout()
    bound = PluginHost.for_command(find_workspace()).get(COMMANDS_POINT, command.name)
    call = CommandCall(command.words, tuple(arguments), partial(_opened, command.package), command.summary)
    try:
        code: Any = bound.instance.run(call)
    except ZaxyError:
        raise
    except SystemExit as leaving:
        code = leaving.code
    except Exception as error:
        raise InternalError(
            f"'zaxy {command.words}' of {command.package} raised {describe(error)}",
            f"Report it to its authors, or disable it: ZAXY_PLUGINS_DISABLE={bound.row.name}",
        ) from error
    return code if isinstance(code, int) else int(code is not None)


@contextmanager
def _opened(
    package: str,
    workspace: str | None = None,
    eventloom_path: str | None = None,
    *,
    session_id: str | None = None,
    recorded: bool = False,
) -> Iterator[MemoryAccess]:
    from zaxy.access import access_to
    from zaxy.rights import Permission

    with open_memory(workspace, eventloom_path) as memory:
        if recorded:
            session = existing_session(session_id, memory.workspace, memory.sessions())
        else:
            session = session_of(session_id, memory.workspace)
        yield access_to(memory, Permission(session=session), package=package)
