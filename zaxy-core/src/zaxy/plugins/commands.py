"""The commands that packages bring. What is typed and a sentence on it stand in manifests, so nobody is imported."""

from __future__ import annotations

from zaxy.plugins.manifest import COMMANDS_POINT
from zaxy.plugins.roster import load_roster, owner_of
from zaxy.settings import Settings
from zaxy.tuples import NamedTuple
from zaxy.workspace import stored_settings_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zaxy.plugins.roster import InstalledPlugin, Roster


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


def command_out_of_use(words: list[str]) -> tuple[str, InstalledPlugin] | None:
    """The command that these words begin with, and its plugin, if that is installed and not in use."""
    for row in load_roster(Settings(stored=stored_settings_here())).rows:
        for provided in row.manifest.provides if row.manifest and not row.usable else ():
            typed = provided.words.split()
            if typed and words[: len(typed)] == typed:
                return provided.words, row
    return None


def commands_of(roster: Roster) -> list[PackageCommand]:
    found = [
        PackageCommand(provided.words, provided.summary, provided.group, provided.name, row.package)
        for row, provided in roster.providers
        if provided.point == COMMANDS_POINT
        and (owner := owner_of(roster, COMMANDS_POINT, provided.name)) is not None
        and owner[0].package == row.package
    ]
    return sorted(found, key=lambda command: (command.heading, command.words))
