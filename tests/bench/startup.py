"""What starting costs: imports and commands, in CPU time, against `python -c pass` in the same run.

Runs are interleaved and medians compared, so that a busy machine slows all of them alike. Bytecode is cached, as it is
after an ordinary installation.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

if os.name != "posix":
    sys.exit("bench:startup measures CPU time with os.wait4, which only POSIX systems have")

sys.path.insert(0, str(Path(__file__).parents[1]))
from installed import install_plugin

PLUGINS = 50
TARGET = 4.0
LIMIT = 2 * TARGET


class Measured(NamedTuple):
    name: str
    arguments: list[str]
    target: float | None


def _python(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def _zaxy(*words: str) -> list[str]:
    return [sys.executable, "-m", "zaxy", *words]


BASELINE = Measured("python -c pass", _python("pass"), None)
IMPORTS = [
    Measured(f"import {name}", _python(f"import {name}"), None)
    for name in ("json", "typing", "dataclasses", "importlib.metadata", "pluggy", "zaxy.api", "typer", "pydantic")
]
COMMANDS = [
    Measured("zaxy --version", _zaxy("--version"), TARGET),
    Measured("zaxy --help", _zaxy("--help"), TARGET),
    Measured(f"zaxy plugins list ({PLUGINS} plugins)", _zaxy("plugins", "list"), TARGET),
    Measured("zaxy hook-event", _zaxy("hook-event", "heartbeat", "--source", "bench"), TARGET),
    Measured(
        f"zaxy hook-event --stdin-json ({PLUGINS} plugins)",
        _zaxy("hook-event", "heartbeat", "--source", "plugin-7", "--stdin-json"),
        TARGET,
    ),
    Measured("zaxy config list", _zaxy("config", "list"), None),
    Measured("zaxy plugins check core", _zaxy("plugins", "check", "core"), None),
]


def measure(rounds: int) -> dict[str, float]:
    """Median CPU milliseconds of each row."""
    spent: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        for number in range(PLUGINS):
            install_plugin(site, f"plugin-{number}")
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environ |= {"PYTHONPATH": str(site), "PYTHONPYCACHEPREFIX": str(Path(folder) / "cache")}
        for turn in range(rounds + 1):
            for row in (BASELINE, *IMPORTS, *COMMANDS):
                cost = _cpu(row.arguments, folder, environ)
                if turn:  # the first round fills the cache
                    spent.setdefault(row.name, []).append(cost)
    return {name: statistics.median(costs) for name, costs in spent.items()}


def _cpu(arguments: list[str], cwd: str, environ: dict[str, str]) -> float:
    process = subprocess.Popen(arguments, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{arguments} exited with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def table(medians: dict[str, float]) -> tuple[str, list[str]]:
    """The table, and the rows that broke their limit."""
    lines = [f"{'':40} {'CPU ms':>8} {'ratio':>7} {'target':>7} {'limit':>7}"]
    broken = []
    for row in (BASELINE, *IMPORTS, *COMMANDS):
        ratio = medians[row.name] / medians[BASELINE.name]
        bounds = f"{row.target:7.1f} {LIMIT:7.1f}" if row.target else f"{'-':>7} {'-':>7}"
        lines.append(f"{row.name:40} {medians[row.name]:8.1f} {ratio:7.2f} {bounds}")
        if row.target and ratio > LIMIT:
            broken.append(row.name)
    return "\n".join(lines), broken


if __name__ == "__main__":
    shown, broken = table(measure(rounds=int(sys.argv[1]) if len(sys.argv) > 1 else 15))
    print(shown)
    if broken:
        sys.exit(f"over the limit: {', '.join(broken)}")
