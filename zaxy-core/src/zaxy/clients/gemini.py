"""Gemini CLI: `.gemini/settings.json` of the project, for the server and for the hooks."""

from __future__ import annotations

from typing import Any

from zaxy.api import ClientCapture, ClientSigns, FileClient, HookEvent, JsonHooks, ServerEntry
from zaxy.api.client_hooks import AS_HOOK_OUTPUT, CONTEXT, SHUTDOWN, SPOKEN, all_tools_but

FILE = ".gemini/settings.json"
SHELL, EDITS = "run_shell_command", ("replace", "write_file")


class Gemini(FileClient):
    title = "Gemini CLI"
    signs = ClientSigns((".gemini", "GEMINI.md"), (".gemini",), ("gemini",))
    project_file = FILE
    hooks = JsonHooks(
        files=(FILE,),
        events=(
            HookEvent("SessionStart", "session-start"),
            HookEvent("SessionStart", CONTEXT, options=AS_HOOK_OUTPUT),
            HookEvent("BeforeAgent", "user-prompt-submit"),
            HookEvent("AfterTool", "command", SHELL),
            HookEvent("AfterTool", "file-edit", "|".join(EDITS)),
            HookEvent("AfterTool", "tool-call", all_tools_but(SHELL, *EDITS)),
            HookEvent("PreCompress", "precompact"),
            HookEvent("AfterAgent", "transcript-turn", options=SPOKEN),
            HookEvent("AfterAgent", "stop"),
            HookEvent("SessionEnd", "stop", options=SHUTDOWN),
        ),
        milliseconds=True,
        named=True,
    )
    capture = ClientCapture("gemini")
    next_step = "Gemini CLI: start it here again; '/mcp' there shows the server zaxy."

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        entry = super().entry(server)
        if server.url:
            # `url` would mean the older transport there.
            entry = {"httpUrl": entry.pop("url"), **entry}
        return {**entry, "timeout": server.startup_timeout_s * 1000}
