"""`zaxy hook-context`, which clients run when a session starts: what it prints becomes part of the first prompt.

So it prints that or nothing, and exits with 0 whatever happens; what went wrong stands in the hook error log.
"""

from __future__ import annotations

from zaxy.commands.options import CommandLine, Option, help_rows, parameters, say_help
from zaxy.errors import InvalidRequest
from zaxy.observe.context_command import FORMS, TEXT, ContextCall
from zaxy.printing import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OPTIONS = (
    Option("--eventloom-path", "PATH", "the folder that holds the log"),
    Option("--workspace", "PATH", "the project's folder, used to find the log"),
    Option("--session-id", "ID", "the session; default: the workspace's own"),
    Option("--source", "NAME", "the client, by its name; default: unknown"),
    Option("--client-session", "ID", "the client's own id of its session"),
    Option("--format", "NAME", f"how the client reads it: {', '.join(FORMS)}"),
    Option("--stdin-json", "", "take what no option gives from the client's JSON on standard input"),
    Option("--strict", "", "tell errors on stderr and exit with 1, for tests and people"),
)
PARAMETERS = tuple(parameters(OPTIONS))
HELP = f"""Usage: zaxy hook-context [OPTIONS]

Print where the work stands: short, cited, and read off the end of the log alone. What is printed is on record as
memory.context.injected. It exits with 0 and prints nothing if anything fails, unless --strict is given; what went
wrong goes to .eventloom/runtime/hook-errors.log.

Options:
{help_rows(OPTIONS)}"""


def run(arguments: Sequence[str]) -> int:
    line = CommandLine(OPTIONS, arguments)
    if line.help:
        say_help(HELP)
        return 0
    given = {name[2:].replace("-", "_"): value for name, value in line.values.items() if value}
    form = given.pop("format", TEXT)
    call = ContextCall(given, "--stdin-json" in line.values, form)
    try:
        if line.others:
            raise InvalidRequest(
                f"it does not take {line.others[0]:.40}", "'zaxy hook-context --help' lists the options."
            )
        text = call.text()
    except BaseException as error:  # an interrupt too: a client must never see one of ours
        problem = call.failed(error)
        if "--strict" in line.values:
            say(f"zaxy: {problem.message}\n  {problem.remediation}", err=True)
        return 1 if "--strict" in line.values else 0
    if text:
        say(text)
    return 0
