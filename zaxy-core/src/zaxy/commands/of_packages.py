"""Runs a command that a package brings: its code is imported here, and nowhere before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zaxy.commands.doors import call_of
from zaxy.errors import InternalError, ZaxyError
from zaxy.plugins.guard import describe, keep_stdout
from zaxy.plugins.host import PluginHost
from zaxy.plugins.manifest import COMMANDS_POINT
from zaxy.workspace import find_workspace

if TYPE_CHECKING:
    from zaxy.plugins.commands import PackageCommand


def run(command: PackageCommand, arguments: Sequence[str]) -> int:
    """The exit code of the command. It runs in the main thread, as long as it takes; a defect names its package."""
    keep_stdout()
    bound = PluginHost.for_command(find_workspace()).get(COMMANDS_POINT, command.name)
    call = call_of(command.words, arguments, summary=command.summary, package=command.package)
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
