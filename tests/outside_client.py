"""A client that somebody else wrote, with its configuration, its hooks and its capture, installed without pip.

It uses nothing of Zaxy but `zaxy.api`, and what `docs/plugins/ide_config_writers.md` says.
"""

from __future__ import annotations

from pathlib import Path

import installed

NAME = "acme-code"
PLUGIN = """
from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_ide_config_writers():
    return [Provider("acme-code", "acme_code.client:AcmeCode", "Acme Code.")]


@hookimpl
def zaxy_capture_adapters():
    return [Provider("acme-code", "acme_code.adapter:Sessions", "What Acme Code did.")]
"""
CLIENT = """
from zaxy.api import ClientCapture, ClientSigns, FileClient, HookEvent, JsonHooks
from zaxy.api.client_hooks import SPOKEN


class AcmeCode(FileClient):
    title = "Acme Code"
    signs = ClientSigns(in_project=(".acme",), at_home=(".acme",), programs=("acme-code",))
    project_file = ".acme/settings.json"
    servers = "servers"
    hooks = JsonHooks(
        files=(".acme/settings.json",),
        events=(
            HookEvent("begin", "session-start"),
            HookEvent("ran", "command", "shell"),
            HookEvent("wrote", "file-edit", "write"),
            HookEvent("answered", "transcript-turn", options=SPOKEN),
            HookEvent("end", "stop"),
        ),
    )
    capture = ClientCapture("acme-code", ".acme/zaxy-capture.json")
    next_step = "Acme Code: restart it."
"""
ADAPTER = """
import json
from zaxy.api import Observation, Reading, Source


class Sessions:
    def __init__(self, context):
        pass

    def sources(self, workspace):
        files = sorted((workspace / ".acme").glob("*.log"))
        return [Source(f"acme-code:{file.stem}", file, file.stem) for file in files]

    def read(self, source, mark, limit):
        lines = [line for line in source.path.read_text().splitlines(keepends=True) if line.endswith("\\n")]
        at = int(mark or 0)
        new = [
            Observation("command.completed", "assistant", json.loads(lines[n]), f"{source.id}:{n}")
            for n in range(at, min(at + limit, len(lines)))
        ]
        at += len(new)
        return Reading(tuple(new), str(at), done=at >= len(lines))
"""
HOOK_JSON = {
    "workspace": ["project.folder"],
    "command": ["call.line"],
    "stdout": ["call.printed"],
    "exit_code": ["call.code"],
    "path": ["file"],
    "content": ["answer.words"],
}


def install(site: Path) -> None:
    manifest = installed.manifest_of(
        NAME,
        api={"min": "0.2", "max": "0.2"},
        provides=[{"point": "ide_config_writers", "name": NAME}, {"point": "capture_adapters", "name": NAME}],
        clients=[
            {
                "name": NAME,
                "preset": "local-acme",
                "options": [{"flag": "--acme-config", "sets": "path", "help": "Acme Code: the file to write."}],
                "hook_json": HOOK_JSON,
            }
        ],
    )
    modules = {"plugin.py": PLUGIN, "client.py": CLIENT, "adapter.py": ADAPTER}
    installed.install(site, NAME, modules, manifest, f"[zaxy.plugins]\n{NAME} = acme_code.plugin\n")
