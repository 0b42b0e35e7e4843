"""The commands that packages bring. What is typed and a sentence on it stand in manifests, so nobody is imported."""

from __future__ import annotations

from zaxy.plugins.manifest import COMMANDS_POINT
from zaxy.plugins.roster import load_roster, owner_of
from zaxy.settings import Settings
from zaxy.tuples import NamedTuple
from zaxy.workspace import stored_settings_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zaxy.plugins.roster import Roster


class PackageCommand(NamedTuple):
    words: str
    summary: str
    group: str
    """The heading under which the help lists it; empty for the package's name."""
    name: str
    package: str

    @property
    def heading(self) -> str:
        return f"{self.group} ({self.package})" if self.group else self.package


def package_commands() -> list[PackageCommand]:
    """The commands of every usable plugin, in the order in which help lists them."""
    return commands_of(load_roster(Settings(stored=stored_settings_here())))


def commands_of(roster: Roster) -> list[PackageCommand]:
    found = [
        PackageCommand(provided.words, provided.summary, provided.group, provided.name, row.package)
        for row, provided in roster.providers
        if provided.point == COMMANDS_POINT
        and (owner := owner_of(roster, COMMANDS_POINT, provided.name)) is not None
        and owner[0].package == row.package
    ]
    return sorted(found, key=lambda command: (command.heading, command.words))
