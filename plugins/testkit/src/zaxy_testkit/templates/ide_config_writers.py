"""The client Acme, described whole: `.acme/mcp.json` has its servers, `.acme/hooks.json` its hooks.

Texts come in and go out: the core reads, backs up and writes the files. `FileClient` and `JsonHooks` edit them without
touching anything else; what Acme does differently is overridden below.
"""

from __future__ import annotations

from typing import Any

from zaxy.api import ClientSigns, FileClient, HookEvent, JsonHooks, ServerEntry
from zaxy.api.client_hooks import SHUTDOWN, SPOKEN, all_tools_but


class AcmeClient(FileClient):
    title = "Acme"
    signs = ClientSigns(in_project=(".acme",), at_home=(".acme",), programs=("acme",))
    project_file = user_file = ".acme/mcp.json"
    servers = "servers"
    hooks = JsonHooks(
        files=(".acme/hooks.json",),
        events=(
            HookEvent("SessionStart", "session-start"),
            HookEvent("Prompt", "user-prompt-submit"),
            HookEvent("AfterTool", "command", "Shell"),
            HookEvent("AfterTool", "file-edit", "Edit"),
            HookEvent("AfterTool", "tool-call", all_tools_but("Shell", "Edit")),
            HookEvent("Compact", "precompact"),
            HookEvent("Answer", "transcript-turn", options=SPOKEN),
            HookEvent("SessionEnd", "stop", options=SHUTDOWN),
        ),
    )
    next_step = "Acme: start it here again; it asks whether the server zaxy may run."

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        return {**super().entry(server), "startup_timeout": server.startup_timeout_s}
