"""A capture adapter for tests, installed as anybody's: each line of `<workspace>/.seen/*.jsonl` is an observation.

`one@helper.jsonl` is what the subagent `helper` of `one` did.
"""

from __future__ import annotations

import json
from pathlib import Path

import installed
from zaxy.observe.capture_config import DEFAULT, FILE_NAME, CaptureConfig, capture_config_text

PLUGIN = """
from zaxy.api import Provider, hookimpl

@hookimpl
def zaxy_capture_adapters():
    return [Provider("{name}", "{package}.made:Made", "Made for tests.")]
"""
ADAPTER = """
import json, time
from zaxy.api import Observation, Reading, Source

class Made:
    def __init__(self, context):
        pass

    def sources(self, workspace):
        {before_sources}
        files = sorted((workspace / ".seen").glob("*.jsonl"))
        return [self.source(file) for file in files]

    def source(self, file):
        parent, _, agent = file.stem.partition("@")
        about = dict(agent=agent, parent=parent) if agent else dict()
        return Source(f"{name}:{{file.stem}}", file, file.stem, **about)

    def read(self, source, mark, limit):
        {before_read}
        at = int(mark or 0)
        lines = source.path.read_text().splitlines()
        told = [self.observation(source, n, json.loads(lines[n])) for n in range(at, min(at + limit, len(lines)))]
        at += len(told)
        return Reading(tuple(told), str(at), done=at >= len(lines))

    def observation(self, source, n, line):
        return Observation(
            line.get("type", "transcript.turn"), line.get("actor", "user"), line["payload"], f"{{source.id}}:{{n}}",
            line.get("occurred_at", ""),
        )
"""


def install_adapter(site: Path, name: str, before_sources: str = "pass", before_read: str = "pass") -> None:
    package = name.replace("-", "_")
    filled = {"name": name, "package": package, "before_sources": before_sources, "before_read": before_read}
    installed.install(
        site,
        name,
        {"plugin.py": PLUGIN.format(**filled), "made.py": ADAPTER.format(**filled)},
        installed.manifest_of(name, provides=[{"point": "capture_adapters", "name": name}]),
        f"[zaxy.plugins]\n{name} = {package}.plugin\n",
    )


def write_seen(workspace: Path, *lines: object, file: str = "one") -> None:
    """Let the client write; a text is a turn of the user."""
    path = workspace / ".seen" / f"{file}.jsonl"
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as out:
        for line in lines:
            told = {"payload": {"role": "user", "content": line}} if isinstance(line, str) else line
            out.write(json.dumps(told) + "\n")


def write_capture_config(root: Path, config: CaptureConfig = DEFAULT) -> Path:
    """Configure the capture of a project, as init does for Codex."""
    path = root / ".codex" / FILE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(capture_config_text("codex", config), encoding="utf-8")
    return path
