"""Where the JSON of a client's hooks says what, found in manifests: no plugin is imported, and no pluggy."""

from __future__ import annotations

import os

from zaxy.api.catalog import HOOK_FIELDS
from zaxy.plugins.discovery import announced, locate
from zaxy.security.small_files import parsed_json, read_named_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_NAME = "zaxy-plugin.json"
NO_CLIENT = ("", "generic", "unknown")
Places = dict[str, tuple[str, ...]]


def places_of(source: str) -> Places:
    """The places of every field in the JSON of a client, those that its manifest names first.

    Where the client is not known, the places of all clients of the core are tried too.
    """
    core = _clients(os.path.dirname(__file__))
    tables = [core[source]] if source in core else []
    if not tables and source not in NO_CLIENT:
        tables = [clients[source] for clients in _clients_of_packages(source) if source in clients][:1]
    if tables:
        return {field: (*tables[0].get(field, ()), *places) for field, places in HOOK_FIELDS.items()}
    return {
        field: (*places, *(place for table in core.values() for place in table.get(field, ())))
        for field, places in HOOK_FIELDS.items()
    }


def _clients_of_packages(source: str) -> Iterator[dict[str, Places]]:
    """The clients of each package. One whose plugin has the client's name comes first: it mostly is the one."""
    for announcement in sorted(announced(), key=lambda each: each.name != source):
        for module in dict.fromkeys((announcement.module.rpartition(".")[0], announcement.module)):
            try:
                spec = locate(module) if module else None
            except Exception:  # a broken import hook of somebody else's is no reason to lose an event
                continue
            for folder in (spec.submodule_search_locations or ()) if spec else ():
                yield _clients(folder)


def _clients(folder: str) -> dict[str, Places]:
    """The clients of a manifest. What is malformed is left out here: `zaxy plugins check` names it."""
    try:
        manifest = parsed_json(read_named_file(os.path.join(folder, FILE_NAME)))
        return {
            provided["name"]: next((_table(row) for row in manifest.get("clients", ()) if row["name"] == name), {})
            for provided in manifest["provides"]
            if provided["point"] == "ide_config_writers" and (name := provided["name"])
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _table(row: dict[str, object]) -> Places:
    table = row.get("hook_json", {})
    return {field: tuple(map(str, places)) for field, places in table.items()}  # type: ignore[attr-defined]
