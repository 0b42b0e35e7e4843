"""Memory that leaves with proof: bundles that others can verify, in whole or in part, and their way back in.

The names for Python are here. Each is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zaxy_export.building import export_memory as export_memory
    from zaxy_export.bundle import Signer as Signer, Written as Written
    from zaxy_export.disclosure import disclose as disclose
    from zaxy_export.importing import Imported as Imported, import_into as import_into
    from zaxy_export.selector import Selector as Selector
    from zaxy_export.signing import KeyFiles as KeyFiles, generate as generate, signer_of as signer_of
    from zaxy_export.verification import (
        Verified as Verified,
        parts_of_file as parts_of_file,
        verify as verify,
        verify_export as verify_export,
        verify_memory_export_subset as verify_memory_export_subset,
    )

_HOMES = {
    "building": "export_memory",
    "bundle": "Signer Written",
    "disclosure": "disclose",
    "importing": "Imported import_into",
    "selector": "Selector",
    "signing": "KeyFiles generate signer_of",
    "verification": "Verified parts_of_file verify verify_export verify_memory_export_subset",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"zaxy_export has no {name!r}")
    from importlib import import_module

    return getattr(import_module(f"zaxy_export.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
