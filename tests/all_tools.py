"""The tools of the default install, in the order of the listing: those of the core and that of zaxy-export."""

from __future__ import annotations

from zaxy.api.tools import ToolFunction
from zaxy.serve.catalog import Catalog, own_tools
from zaxy.serve.packs import with_token
from zaxy_export.tools import MEMORY_EXPORT


def all_tools() -> Catalog:
    """None of a pack can be called here."""
    return Catalog(own_tools()).with_tools([ToolFunction(with_token(MEMORY_EXPORT), lambda call: {})])
