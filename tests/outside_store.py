"""A store that somebody else wrote: the one that `zaxy plugins new` makes, installed without pip."""

from __future__ import annotations

from pathlib import Path

import installed
from zaxy_testkit.templates import event_stores

NAME = "acme-log"
PLUGIN = """
from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_event_stores():
    return [Provider("acme-log", "acme_log.store:Store", "The log in SQLite.")]
"""


def install(site: Path, api: str = "0.3") -> None:
    provides = [{"point": "event_stores", "name": NAME}]
    manifest = installed.manifest_of(NAME, api={"min": api, "max": api}, provides=provides)
    modules = {"plugin.py": PLUGIN, "store.py": Path(event_stores.__file__).read_text(encoding="utf-8")}
    installed.install(site, NAME, modules, manifest, f"[zaxy.plugins]\n{NAME} = acme_log.plugin\n")
