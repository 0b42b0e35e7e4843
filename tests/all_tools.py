"""The tools that are installed, in the order of the listing: the core, zaxy-coordinate, zaxy-export."""

from __future__ import annotations

from conftest import missing_package
from zaxy.api.tools import ToolFunction
from zaxy.serve.catalog import Catalog, own_tools
from zaxy.serve.packs import with_token


def all_tools() -> Catalog:
    """None of a pack can be called here."""
    packs = []
    if not missing_package("coordinate"):
        from zaxy_coordinate.tools import TOOLS

        packs += TOOLS
    if not missing_package("export"):
        from zaxy_export.tools import MEMORY_EXPORT

        packs.append(MEMORY_EXPORT)
    return Catalog(own_tools()).with_tools([ToolFunction(with_token(tool), lambda call: {}) for tool in packs])
