"""Cursor: `.cursor/mcp.json` and `.cursor/hooks.json` of the project."""

from __future__ import annotations

from zaxy.api import ClientCapture, ClientSigns, FileClient, HookEvent, JsonHooks
from zaxy.api.client_hooks import AS_ADDITIONAL, CONTEXT, SHUTDOWN, SPOKEN


class CursorClient(FileClient):
    title = "Cursor"
    signs = ClientSigns((".cursor", ".cursorrules"), (".cursor",), ("cursor", "cursor-agent"))
    project_file = ".cursor/mcp.json"
    project_variable = "${workspaceFolder}"
    hooks = JsonHooks(
        files=(".cursor/hooks.json",),
        events=(
            HookEvent("sessionStart", "session-start"),
            HookEvent("sessionStart", CONTEXT, options=AS_ADDITIONAL),
            HookEvent("beforeSubmitPrompt", "user-prompt-submit"),
            HookEvent("afterShellExecution", "command"),
            HookEvent("afterFileEdit", "file-edit"),
            HookEvent("afterMCPExecution", "tool-call", occasional=True),
            HookEvent("preCompact", "precompact"),
            HookEvent("afterAgentResponse", "transcript-turn", options=SPOKEN),
            HookEvent("sessionEnd", "stop", options=SHUTDOWN),
        ),
        grouped=False,
        version=1,
    )
    capture = ClientCapture("cursor")
    next_step = "Cursor: open the folder again and switch the server zaxy on in its MCP settings."
