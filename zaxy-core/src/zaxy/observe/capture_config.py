"""`zaxy-capture.json` in a folder of the project, such as that of a client: that a watcher captures this project.

It also says with which options the watcher is started.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.errors import InvalidRequest, Unavailable, ZaxyError
from zaxy.security.small_files import read_small_json

FILE_NAME = "zaxy-capture.json"
FORMAT = 1
INTERVAL = 2.0
MIN_INTERVAL, MAX_INTERVAL = 0.1, 3600.0


class CaptureConfig(NamedTuple):
    """How `zaxy capture start` starts the watcher where its options say nothing else."""

    graph: bool = False
    """Whether the followers are brought up to what was captured in the same pass."""
    interval: float = INTERVAL
    """Seconds between two passes."""
    adapter: str = ""
    """The one for whose sake the file was written; all that are installed are used."""


DEFAULT = CaptureConfig()


def capture_config_text(adapter: str, config: CaptureConfig = DEFAULT) -> str:
    """The file's text; `adapter` is the one for whose sake it is written."""
    values = {"format": FORMAT, "capture": adapter, "graph": config.graph, "interval_seconds": config.interval}
    return json.dumps(values, indent=2) + "\n"


def capture_file(root: Path) -> Path | None:
    """The file of a project, in one of its hidden folders, the first by name; None where there is none."""
    return next(iter(sorted(root.glob(f".*/{FILE_NAME}"))), None)


def read_capture_config(root: Path) -> CaptureConfig | None:
    """What the file says; None where there is no file."""
    path = capture_file(root)
    if path is None:
        return None
    try:
        values: Any = read_small_json(str(path))
    except (OSError, ValueError) as error:
        raise _unusable(path, getattr(error, "strerror", None) or "it is not JSON") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise _unusable(path, f"it is not of format {FORMAT}")
    graph = values.get("graph", False)
    if not isinstance(graph, bool):
        raise _unusable(path, "its 'graph' is not true or false")
    interval = checked_interval(values.get("interval_seconds", INTERVAL))
    return CaptureConfig(graph, interval, str(values.get("capture", "")))


def checked_interval(seconds: object) -> float:
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if number and MIN_INTERVAL <= seconds <= MAX_INTERVAL:  # type: ignore[operator]
        return float(seconds)  # type: ignore[arg-type]
    raise InvalidRequest(
        f"{seconds!r:.40} is not an interval",
        f"Give seconds, from {MIN_INTERVAL:g} to {MAX_INTERVAL:g}.",
    )


def _unusable(path: Path, reason: str) -> ZaxyError:
    return Unavailable(
        f"{path} cannot be used: {reason}",
        "Remove it, and let 'zaxy init' write it again.",
    )
