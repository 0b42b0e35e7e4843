"""What starting costs: imports and commands, in CPU time, against `python -c pass` in the same run.

Runs are interleaved and medians compared, so that a busy machine slows all of them alike. Bytecode is cached, as it is
after an ordinary installation. Commands that read or write memory have each a workspace of their own, with a small log
and followers that are up to it: none pays for what another one wrote.

What plugins add is measured against the same command without them: with fifty more, each of which brings a command.
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
from zaxy import Draft, Memory
from zaxy.api.catalog import API_CURRENT, version_text

PLUGINS = 50
EVENTS = 300
TARGET, APPEND_TARGET, CONTEXT_TARGET, READ_TARGET = 4.0, 5.0, 12.0, 14.0
QUESTION = "Where do we store the cache?"


class Measured(NamedTuple):
    name: str
    arguments: list[str]
    target: float | None = None
    workspace: str = ""
    """The folder of its own that it runs in, with a log."""

    @property
    def limit(self) -> float | None:
        return self.target and 2 * self.target


class Growth(NamedTuple):
    """A command with all the plugins, against the same one without them."""

    words: str
    target: float

    @property
    def name(self) -> str:
        return f"zaxy {self.words} ({PLUGINS} more)"

    @property
    def without(self) -> str:
        return f"zaxy {self.words} (none more)"

    @property
    def limit(self) -> float:
        """Twice as much may be added."""
        return 2 * self.target - 1


def _python(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def _zaxy(*words: str) -> list[str]:
    return [sys.executable, "-m", "zaxy", *words]


BASELINE = Measured("python -c pass", _python("pass"))
IMPORTS = [
    Measured(f"import {name}", _python(f"import {name}"))
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
    Measured(
        "zaxy append",
        _zaxy("append", "note.taken", "--payload", '{"text": "Lunch is at noon."}'),
        APPEND_TARGET,
        "append",
    ),
    Measured("zaxy hook-context", _zaxy("hook-context", "--source", "bench"), CONTEXT_TARGET, "context"),
    Measured("zaxy query", _zaxy("query", QUESTION, "--json"), READ_TARGET, "query"),
    Measured("zaxy verbatim", _zaxy("verbatim", QUESTION, "--json"), READ_TARGET, "verbatim"),
    Measured("zaxy checkout", _zaxy("checkout", QUESTION), READ_TARGET, "checkout"),
    Measured("zaxy config list", _zaxy("config", "list")),
    Measured("zaxy plugins check core", _zaxy("plugins", "check", "core")),
]


GROWTH = [
    Growth("--help", 1.6),
    Growth("plugins list", 1.6),
    Growth("plugins show core", 1.2),
    Growth("plugins check core", 1.2),
    Growth("plugins check", 1.6),  # it imports every one of them
]
COMMAND = """
class Go:
    def __init__(self, context):
        self.context = context

    def run(self, call):
        return 0
"""


def install_with_command(site: Path, name: str) -> None:
    """A plugin that provides a sink and a command, as an installer leaves it."""
    package = name.replace("-", "_")
    command = {"point": "commands", "words": f"{name} go", "target": f"{package}.go:Go", "summary": "Goes."}
    sink = {"point": "export_sinks", "name": name}
    version = version_text(API_CURRENT)
    install_plugin(site, name, provides=[sink, command], api={"min": version, "max": version})
    (site / package / "go.py").write_text(COMMAND, encoding="utf-8")


def measure(rounds: int) -> dict[str, float]:
    """Median CPU milliseconds of each row."""
    spent: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        for number in range(PLUGINS):
            install_with_command(site, f"plugin-{number}")
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environ |= {"PYTHONPATH": str(site), "PYTHONPYCACHEPREFIX": str(Path(folder) / "cache")}
        environ |= {"ZAXY_STATE_DIR": str(Path(folder) / "state")}
        os.environ["ZAXY_STATE_DIR"] = environ["ZAXY_STATE_DIR"]
        for row in COMMANDS:
            if row.workspace:
                _fill(Path(folder) / row.workspace)
        for turn in range(rounds + 1):
            costs = {
                row.name: _cpu(row.arguments, os.path.join(folder, row.workspace), environ)
                for row in (BASELINE, *IMPORTS, *COMMANDS)
            }
            for growth in GROWTH:
                words = _zaxy(*growth.words.split())
                costs[growth.name] = _cpu(words, folder, environ)
                costs[growth.without] = _cpu(words, folder, {**environ, "PYTHONPATH": ""})
            if turn:  # the first round fills the cache
                for name, cost in costs.items():
                    spent.setdefault(name, []).append(cost)
    return {name: statistics.median(costs) for name, costs in spent.items()}


def _fill(project: Path) -> None:
    """Some hundred events in a workspace's log, all of them followed."""
    project.mkdir()
    decisions = [
        Draft("decision.made", "ann", {"decision": f"Store part {number} of the cache in SQLite", "key": f"{number}"})
        for number in range(EVENTS // 2)
    ]
    notes = [
        Draft("note.taken", "bob", {"text": f"The deployment to staging took {number} seconds."})
        for number in range(EVENTS // 2)
    ]
    with Memory.open(project) as memory:
        memory.append_many([draft for pair in zip(decisions, notes, strict=True) for draft in pair])
        memory.follow()


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
        bounds = f"{row.target:7.1f} {row.limit:7.1f}" if row.target else f"{'-':>7} {'-':>7}"
        lines.append(f"{row.name:40} {medians[row.name]:8.1f} {ratio:7.2f} {bounds}")
        if row.limit and ratio > row.limit:
            broken.append(row.name)
    lines.append(f"\n{'against the same without them':40} {'CPU ms':>8} {'ratio':>7} {'target':>7} {'limit':>7}")
    for growth in GROWTH:
        ratio = medians[growth.name] / medians[growth.without]
        bounds = f"{growth.target:7.1f} {growth.limit:7.1f}"
        lines.append(f"{growth.name:40} {medians[growth.name]:8.1f} {ratio:7.2f} {bounds}")
        if ratio > growth.limit:
            broken.append(growth.name)
    return "\n".join(lines), broken


if __name__ == "__main__":
    shown, broken = table(measure(rounds=int(sys.argv[1]) if len(sys.argv) > 1 else 15))
    print(shown)
    if broken:
        sys.exit(f"over the limit: {', '.join(broken)}")
