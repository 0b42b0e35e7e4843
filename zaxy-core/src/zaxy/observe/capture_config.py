"""`.codex/zaxy-capture.json`: that this project is captured by a watcher, and with which options it is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.errors import InvalidRequest, Unavailable, ZaxyError

CAPTURE_FILE = ".codex/zaxy-capture.json"
FORMAT = 1
INTERVAL = 2.0
MIN_INTERVAL, MAX_INTERVAL = 0.1, 3600.0


class CaptureConfig(NamedTuple):
    """How `zaxy capture start` starts the watcher where its options say nothing else."""

    graph: bool = False
    """Whether the followers are brought up to what was captured in the same pass."""
    interval: float = INTERVAL
    """Seconds between two passes."""


DEFAULT = CaptureConfig()


def capture_config_text(config: CaptureConfig = DEFAULT) -> str:
    """The file's text."""
    told = {"format": FORMAT, "capture": "codex", "graph": config.graph, "interval_seconds": config.interval}
    return json.dumps(told, indent=2) + "\n"


def write_capture_config(root: Path, config: CaptureConfig = DEFAULT) -> Path:
    path = root / CAPTURE_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(capture_config_text(config), encoding="utf-8")
    return path


def read_capture_config(root: Path) -> CaptureConfig | None:
    """What the file says; None where there is no file."""
    path = root / CAPTURE_FILE
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _unusable(path, getattr(error, "strerror", None) or "it is not JSON") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise _unusable(path, f"it is not of format {FORMAT}")
    graph = told.get("graph", False)
    if not isinstance(graph, bool):
        raise _unusable(path, "its 'graph' is not true or false")
    return CaptureConfig(graph, checked_interval(told.get("interval_seconds", INTERVAL)))


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
        "Remove it, or let 'zaxy init --preset local-codex' write it.",
    )
