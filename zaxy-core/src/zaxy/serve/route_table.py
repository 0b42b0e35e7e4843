"""Which paths of the HTTP server are which plugin's, known without importing any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zaxy.plugins.http_paths import RESERVED, overlap
from zaxy.plugins.manifest import ROUTES_POINT as POINT
from zaxy.plugins.roster import Roster, owner_of


class PluginRoute(NamedTuple):
    path: str
    name: str
    """The provider's."""
    package: str


def routes_of(roster: Roster, notice: Callable[[str], None]) -> list[PluginRoute]:
    """The paths of all plugins that can be used, by their manifests alone.

    One that the core keeps, or that another one overlaps, is left out with a notice. Of two packages the one whose
    name comes first has it, in whatever order they are loaded.
    """
    settled: list[PluginRoute] = []
    for route in sorted(_named(roster), key=lambda route: (route.package, route.path)):
        taken = next((path for path in RESERVED if overlap(route.path, path)), "")
        holder = next((one for one in settled if overlap(route.path, one.path) and one.name != route.name), None)
        if taken:
            notice(f"the route {route.path} of {route.package} is left out: {taken} is the server's own")
        elif holder:
            notice(
                f"the route {route.path} of {route.package} is left out: {holder.package} has {holder.path}. To have "
                f"it the other way round, set ZAXY_PLUGINS_DISABLE={holder.package}."
            )
        else:
            settled.append(route)
    return settled


def _named(roster: Roster) -> Iterator[PluginRoute]:
    for row, provided in roster.providers:
        owner = owner_of(roster, provided.point, provided.name)
        if provided.point != POINT or owner is None or owner[0] is not row:
            continue
        yield from (PluginRoute(path, provided.name, row.package) for path in provided.paths)
