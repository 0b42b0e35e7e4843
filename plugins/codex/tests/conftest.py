from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "fixtures"))  # for codex_files, which the tests share
