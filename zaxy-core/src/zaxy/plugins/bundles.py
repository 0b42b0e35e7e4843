"""The one place where the core looks for zaxy-export, which writes and reads bundles. Most have it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zaxy.errors import NotFound, Unavailable
from zaxy.plugins.host import PluginHost
from zaxy.plugins.install_hints import install_hint

if TYPE_CHECKING:
    from zaxy_export import Imported as Imported, Selector as Selector, Signer as Signer, Written as Written

PACKAGE = "zaxy-export"


def package_of_bundles(host: PluginHost) -> Any:
    """Its module, with `export_memory` and `import_into`."""
    try:
        row = host.load(PACKAGE)
    except NotFound:
        raise Unavailable(
            f"bundles of memory are written and read by {PACKAGE}, which is not installed",
            f"Install it: {install_hint(PACKAGE)}",
        ) from None
    if not row.usable:
        reason = f" at {row.stage}: {row.error}" if row.error else ""
        raise Unavailable(f"the plugin {row.name} ({row.package}) is {row.state}{reason}", row.hint)
    return import_module(row.module)
