"""Where programs that tests need are kept on this machine: outside the tree, and between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    caches = Path(chosen) if chosen else Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return caches / "zaxy-tests"
