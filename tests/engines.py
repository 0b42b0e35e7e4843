"""Engines that are not to be had everywhere: what needs one is skipped, with the reason."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

NO_KUZU = "Kuzu is not installed: it has no wheel for this Python on this system"
needs_kuzu = pytest.mark.skipif(find_spec("kuzu") is None, reason=NO_KUZU)
