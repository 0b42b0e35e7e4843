"""Which paths of the HTTP server are which plugin's, known without importing any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zaxy.plugins.http_paths import RESERVED, overlap
from zaxy.plugins.manifest import ROUTES_POINT as POINT
from zaxy.plugins.roster import InstalledPlugin, Roster, owner_of


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
        if why := _why_not(route, settled):
            notice(f"the route {route.path} of {route.package} is left out: {why}")
        else:
            settled.append(route)
    return settled


def routes_left_out(roster: Roster, row: InstalledPlugin) -> list[str]:
    """Why paths of one plugin are left out."""
    notices: list[str] = []
    routes_of(roster, notices.append)
    return [notice for notice in notices if f" of {row.package} is left out: " in notice]


def _why_not(route: PluginRoute, settled: list[PluginRoute]) -> str:
    if taken := next((path for path in RESERVED if overlap(route.path, path)), ""):
        return f"{taken} is the server's own"
    holder = next((one for one in settled if overlap(route.path, one.path) and one.name != route.name), None)
    if holder is None:
        return ""
    return (
        f"{holder.package} has {holder.path}. To have it the other way round, set "
        f"ZAXY_PLUGINS_DISABLE={holder.package}."
    )


def _named(roster: Roster) -> Iterator[PluginRoute]:
    for row, provided in roster.providers:
        if provided.point != POINT:
            continue
        owner = owner_of(roster, POINT, provided.name)
        if owner is None or owner[0] is not row:
            continue
        yield from (PluginRoute(path, provided.name, row.package) for path in provided.paths)
