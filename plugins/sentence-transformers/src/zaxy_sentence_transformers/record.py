"""What was last seen of a model when it ran, for the doctor, which does not load it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from zaxy.api import atomic_file, read_small_json

FILE = "last-run.json"


def note(folder: Path, **seen: object) -> None:
    """Add to what is known. Where nothing can be written, nothing is."""
    with suppress(OSError), atomic_file(str(folder / FILE)) as file:
        file.write(json.dumps({**noted(folder), **seen}).encode())


def noted(folder: Path) -> dict[str, Any]:
    try:
        found = read_small_json(str(folder / FILE))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
