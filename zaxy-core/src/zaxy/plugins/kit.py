"""The one place where the core looks for zaxy-testkit. Most have it, and the core works without it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

PACKAGE = "zaxy-testkit"
MODULE = "zaxy_testkit"


def part_of_kit(name: str) -> ModuleType | None:
    """A module of the kit, or None where the kit is not installed."""
    try:
        return import_module(f"{MODULE}.{name}")
    except ModuleNotFoundError as error:
        if error.name != MODULE:
            raise
        return None


def how_to_install_kit() -> str:
    from zaxy.plugins.install_hints import install_hint

    return f"Install it: {install_hint(PACKAGE)}"
