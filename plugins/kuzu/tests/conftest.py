from __future__ import annotations

from pathlib import Path

import pytest

from engines import needs_kuzu


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where Kuzu has no wheel, only what is said about the package is tested, and not the engine."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and "TestPlugin" not in item.nodeid:
            item.add_marker(needs_kuzu)
