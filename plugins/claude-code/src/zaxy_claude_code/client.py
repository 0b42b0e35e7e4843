"""Claude Code: `.mcp.json` and `.claude/settings.local.json` of the project."""

from __future__ import annotations

from typing import Any

from zaxy.api import ClientCapture, ClientSigns, FileClient, HookEvent, JsonHooks, ServerEntry
from zaxy.api.client_hooks import AS_TEXT, CONTEXT, SHUTDOWN, SPOKEN, all_tools_but

SHELL, EDITS = "Bash", ("Edit", "MultiEdit", "NotebookEdit", "Write")


class ClaudeCode(FileClient):
    title = "Claude Code"
    signs = ClientSigns((".mcp.json", ".claude", "CLAUDE.md"), (".claude", ".claude.json"), ("claude",))
    project_file = ".mcp.json"
    hooks = JsonHooks(
        files=(".claude/settings.local.json", ".claude/settings.json"),
        events=(
            HookEvent("SessionStart", "session-start"),
            HookEvent("SessionStart", CONTEXT, options=AS_TEXT),
            HookEvent("UserPromptSubmit", "user-prompt-submit"),
            HookEvent("PostToolUse", "command", SHELL),
            HookEvent("PostToolUse", "file-edit", "|".join(EDITS)),
            HookEvent("PostToolUse", "tool-call", all_tools_but(SHELL, *EDITS)),
            HookEvent("PostToolUseFailure", "command", SHELL),
            HookEvent("PostToolUseFailure", "tool-call", all_tools_but(SHELL)),
            HookEvent("PreCompact", "precompact"),
            HookEvent("Stop", "transcript-turn", options=SPOKEN),
            HookEvent("SessionEnd", "stop", options=SHUTDOWN),
        ),
        exec_form=True,
        off_key="disableAllHooks",
    )
    capture = ClientCapture("claude-code")
    next_step = "Claude Code: start it here again and approve the server zaxy when it asks."

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        return {"type": "http" if server.url else "stdio", **super().entry(server)}
