"""What an append must know of installed plugins, kept so that no manifest is read for it.

Redaction and the families of event types stand before every append, and hooks must start fast. So what manifests say of
them is kept in the user's state folder, beside the dates of all that it was found in, and only those are looked at.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

from zaxy import __version__
from zaxy.api.event_types import KEPT_FAMILIES, family_of
from zaxy.errors import ZaxyError
from zaxy.settings import Settings
from zaxy.user_state import change_state, read_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from zaxy.plugins.roster import InstalledPlugin
    from zaxy.settings import Stored

STATE = "of-plugins.json"
FORMAT = f"2 of {__version__}"
MAX_ENVIRONMENTS = 8
"""How many Python environments of a user are remembered."""
SETTLED_NS = 2_000_000_000
"""A folder that changed less than this ago may change again without another date."""


def kept_of_plugins(stored: Callable[[], Stored]) -> dict[str, Any]:
    """`rows`: the secret shapes that plugins in use bring. `families`: the first words of the event types they own,
    but for those that are kept for a package: these are reserved whether it is in use or not."""
    folders = _dates(_folders())
    kept: dict[str, Any] = read_state(STATE).get(sys.prefix, {})
    is_fresh = kept.get("format") == FORMAT and kept["folders"] == folders and kept["files"] == _dates(kept["files"])
    if is_fresh and not kept["packages"]:
        return kept
    settings = Settings(stored=stored())
    chosen = [sorted(settings.plugins_disable), sorted(settings.plugins_prefer)]
    if not is_fresh or kept["chosen"] != chosen:
        kept = {"format": FORMAT, "folders": folders, "chosen": chosen, **_found(settings)}
        _keep(kept)
    return kept


def _folders() -> list[str]:
    """The folders of `sys.path` in which something is installed; the current one is mostly none of them."""
    return [folder for folder in map(os.path.abspath, sys.path) if _holds_distributions(folder)]


def _holds_distributions(folder: str) -> bool:
    try:
        return any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder))
    except OSError:
        return os.path.isfile(folder)  # a zip may hold some


def _dates(paths: Iterable[str]) -> dict[str, list[int]]:
    """When each was last changed, and its size; nothing of what is not there."""
    dates = {}
    for path in paths:
        try:
            found = os.stat(path)
        except OSError:
            continue
        dates[path] = [found.st_mtime_ns, found.st_size]
    return dates


def _found(settings: Settings) -> dict[str, Any]:
    """What plugins in use bring, who brings anything, and the files that say so."""
    from zaxy.plugins.manifest import FILE_NAME
    from zaxy.plugins.package_files import ManifestError, places_of_file
    from zaxy.plugins.roster import CORE, load_roster
    from zaxy.plugins.secret_rows import rows_of

    roster = load_roster(settings)
    bringing = [row for row in roster.rows if row.manifest and (row.manifest.secret_shapes or _families(row))]
    in_use = [row for row in bringing if row.usable]
    files = []
    for row in roster.rows:
        if row.package != CORE.package:
            names = (FILE_NAME, row.manifest.secret_shapes if row.manifest else "")
            try:
                files += [path for name in names if name for path in places_of_file(row.module, name)]
            except ManifestError:
                continue
    return {
        "files": _dates(files),
        "packages": [row.package for row in bringing],
        "rows": [list(shape) for row in in_use for shape in rows_of(row).shapes],
        "families": sorted({family for row in in_use for family in _families(row)}),
    }


def _families(row: InstalledPlugin) -> set[str]:
    types = row.manifest.event_types if row.manifest else ()
    return {family_of(one.name) for one in types} - KEPT_FAMILIES.keys()


def _keep(found: dict[str, Any]) -> None:
    dates = [date for date, _ in (*found["folders"].values(), *found["files"].values())]
    if time_ns() - max(dates, default=0) < SETTLED_NS:
        return

    def change(state: dict[str, Any]) -> None:
        state.pop(sys.prefix, None)
        state[sys.prefix] = found
        for environment in list(state)[:-MAX_ENVIRONMENTS]:
            del state[environment]

    try:
        change_state(STATE, change)
    except (OSError, ZaxyError):
        return  # it is looked for again the next time
