"""`zaxy plugins list`, kept apart from the other plugin commands because it must not import typer."""

from __future__ import annotations

import sys

from zaxy.commands.options import CommandLine, Option, help_rows, parameters, say_help
from zaxy.errors import InvalidRequest
from zaxy.plugins import listing
from zaxy.plugins.roster import load_roster
from zaxy.printing import columns, is_looked_at, say
from zaxy.settings import Settings
from zaxy.workspace import stored_settings_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OPTIONS = (Option("--json", "", "print JSON"),)
PARAMETERS = parameters(OPTIONS)
HELP = f"""Usage: zaxy plugins list [--json]

List the installed plugins, without importing any: name, version, package, points, API, state and hint.
A plugin is 'ready' until something imports it; 'zaxy plugins check' imports all of them.

Options:
{help_rows(OPTIONS)}"""


def run(arguments: Sequence[str]) -> int:
    line = CommandLine(OPTIONS, arguments)
    if line.help:
        say_help(HELP)
        return 0
    if line.others:
        raise InvalidRequest(
            f"'zaxy plugins list' does not take {line.others[0]!r}",
            "It takes --json only. 'zaxy plugins show NAME' tells about one plugin.",
        )
    roster = load_roster(Settings(stored=stored_settings_here()))
    width = columns() if is_looked_at(sys.stdout) else sys.maxsize
    say(listing.as_json(roster) if line.values else listing.as_table(roster, width))
    return 0
